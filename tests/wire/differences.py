"""What our answers do otherwise than the recorded server's, on purpose: one line each, with its reason."""

import re
from dataclasses import dataclass

from tests.wire.recorded import Finding


@dataclass(frozen=True)
class Difference:
    """`steps` and `where` are patterns of whole texts."""

    steps: str
    where: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Say whether this is why something differs."""
        return bool(re.fullmatch(self.steps, finding.step) and re.fullmatch(self.where, finding.where))


ROOT = "a thread begins with an empty settled checkpoint of its own, the base of its first turn"
TITLE = "the title of a thread is shown where its graph has one, from the first user text on"
OPERATOR = "what that server says of its own installation"
BEGINS = "a run that nothing holds up begins at once"
WHOLE = "a thread has every key from the first on"
RENAME = "a title alone is a rename: it writes no checkpoint, always works and lasts"
UNCHANGED = "what a client stores is stored as it is, or refused"
THREAD_IDS = "any short word can be the id of a thread"
PLACE = r"\.(parent_checkpoint|parent_checkpoint_id|parent_config)"
EVERYWHERE = (
    Difference(".*", r"body\.detail", "our sentences name the field and the reason"),
    Difference(".*", r"body\.errors", "our refusals also tell the reasons by field"),
    Difference(".*", r"body(\[\])?\.(title|head_checkpoint_id)", "a thread tells its title and where it stands"),
    Difference(".*", r"body(\[\])?\.(interrupts|error|config\.configurable)", WHOLE),
    Difference(".*", r".*\.langgraph_(version|api_\w+|plan|host|auth_\w+|request_id)", OPERATOR),
    Difference(".*", r".*\.(user_id|__\w+__)", OPERATOR),
    Difference(".*", r".*\.lc_versions\.langchain", "of what happens to be installed"),
    Difference(".*", r".*\.(step|langgraph_step)", ROOT),
    Difference(".*", r".*\.metadata\.(thread_id|created_by|checkpoint_id)", "the path and parent_checkpoint say it"),
    Difference(".*", r"sse\[\]\.data\[\]\.created_by", "the metadata of a message is not that of the run"),
    Difference("stream/017", r"sse\[\]\.data\.metadata\.checkpoint_ns", "a run is told its own namespace, too"),
    Difference("stream/017", r"sse\[\]\.data\.tags\[\]", ROOT),
    Difference(".*", r"body(\[\])?\.values\.title", TITLE),
    Difference(".*", r"(body|sse)\[\](\.data(\.payload)?)?" + PLACE, ROOT),
    Difference(".*", r"sse\[\]\.data\.thread_id", "the first event tells the thread, too"),
    Difference(".*", r"body(\[\])?\.(kwargs\..*|langsmith_session_name)", "a run keeps what was asked"),
)
THREADS = (
    Difference("threads/003", "status", "a thread that is there is given, unless `raise` is asked for"),
    Difference("threads/(008|021|022|034)", "status", THREAD_IDS),
    Difference("threads/011", "status", "null is the same as absent"),
    Difference("threads/013", r"body\.metadata\.\w+", UNCHANGED),
    Difference("threads/015", r"body\.metadata\.\w+", "the path says it"),
    Difference("threads/(016|036|041)", r"body(\[\]\.metadata\.graph_id)?", ROOT),
    Difference("threads/017", "status", "a thread without a graph takes the first; what that refuses is not made"),
    Difference("threads/035", "status", "keep_latest works: that server's recording kept its state in memory"),
    Difference("threads/036", "body.*", "035 pruned it"),
    Difference("threads/(030|040)", r"body\.values", WHOLE),
    Difference("threads/031", "status", "a thread that is not there is 404"),
)
SEARCH = (
    Difference("search/00[567]", "status", "filters are equalities on one key; what has no equality is refused"),
    Difference("search/(016|051)", "status", "that server fails where a thread has no values"),
    Difference("search/018", "status", THREAD_IDS),
    Difference("search/022", r"body\[\]\.thread_id", "ties are broken by id in the same direction"),
    Difference("search/043", "status", "null is the same as absent"),
    Difference("search/045", "status", "a mistyped filter must not answer a wider question"),
)
STATE = (
    Difference("state/(006|013)", "body", ROOT),
    Difference("state/009", "body", "GET and POST of a history answer the same"),
    Difference("state/01[01]", "status", "every form of `before` works"),
    Difference("state/014", r"body\[\].*", "the filter is of the step, which is one more: " + ROOT),
    Difference("state/019", r"body\.checkpoint\.checkpoint_ns", "every answer names a checkpoint in full"),
    Difference("state/02[23]", "status", "a checkpoint that is not there is 404"),
    Difference("state/(026|031|045)", "body.*", RENAME),
    Difference("state/0(29|43)", r"body\.(metadata\.graph_id|parent_checkpoint(_id)?)", ROOT),
    Difference("state/0(35|40)", "status", RENAME),
    Difference("state/036", "status", "an unknown channel is refused, not ignored"),
)
RUNS = (
    Difference("replay/00[158]", "body", ROOT),
    Difference("replay/011", "status", "a checkpoint that is not there is 404: that server starts from nothing"),
    Difference("replay/012", "status", "a checkpoint that is not there is 404, whatever its form"),
    Difference("replay/014", "body.*", "011 wrote nothing"),
    Difference("runs/003", r"body\.status", BEGINS),
    Difference("runs/007", "sse", "every stream can be taken up again"),
    Difference("runs/01[78]", "status", "a cancel that comes too late is no error: the run has ended"),
    Difference("runs/02[01]", "status", "a run that is not there is 404"),
    Difference("runs/032", "status", THREAD_IDS),
    Difference("runs/0(33|37|38)", r"body(\.values)?\.messages.*", "deleting a run keeps its checkpoints"),
    Difference("runs/034", "status", "context and configurable both reach the graph"),
    Difference("runs/04[25]", r"body(\[\])?\.status", BEGINS),
    Difference("runs/04[25]", r"body(\[\])?\.metadata\.graph_id", "every run tells its graph"),
    Difference("multitask/0(05|[1-4][1-8])", r"body\.status", BEGINS),
    Difference("multitask/0(06|40)", r"body\.values", TITLE),
    Difference("multitask/010", "status", RENAME),
    Difference("multitask/011", "status", "a thread is not deleted below a run"),
    Difference("multitask/020", r"body.*", "a turn left in the middle is settled before the next one"),
    Difference("multitask/025", "body", ROOT),
    Difference("multitask/03[25]", "(content-)?location", "a cancel makes nothing that has a place"),
    Difference("multitask/039", "status", "an active run is cancelled, not deleted: that server's thread stays busy"),
    Difference("reconnect/01[13]", "sse", "an id that is absent or no number is from the first event on"),
    Difference("reconnect/01[57]", r"sse.*", "metadata comes first in all modes; repeated modes all count"),
    Difference("reconnect/021", "sse", "every stream can be taken up again"),
    Difference("reconnect/03[25]", r"body\.status", BEGINS),
    Difference("reconnect/039", "status", "the stream of a whole thread is not served"),
    Difference("resume/009", "body", ROOT),
    Difference("resume/018", "status", "a command and an input contradict each other"),
    Difference("resume/019", "status", "a resume with nothing pending is refused"),
    Difference("stream/042", "status", "feedback is not served, and not dropped in silence"),
)
REST = (
    Difference("assistants/00[1345]", r"body(\[\]\.(assistant_id|graph_id|name))?", "the order is that of GRAPHS"),
    Difference("assistants/0(07|13|16)", "status", "an assistant answers to the name of its graph, too"),
    Difference("store/00[57]", r"body\.items\[\]\.(key|value\.\w)", "the last changed first"),
    Difference("meta/00[12]", r"body\.services", "there are no other services"),
    Difference("meta/003", r"body\.(version|flags|host)\..*|body\.version", OPERATOR),
    Difference("meta/004", "body", "the page stands here"),
    Difference("meta/006", "status", "a slash at the end is the same path"),
    Difference("meta/011", "status", "an empty body is {}"),
    Difference("meta/013", "status", "an empty answer is 204"),
)
DIFFERENCES: tuple[Difference, ...] = (*EVERYWHERE, *THREADS, *SEARCH, *STATE, *RUNS, *REST)
OUT_OF_ORDER = frozenset({"multitask/045", "multitask/046", "multitask/047"})  # of three clients at once
AWAITED = re.compile(r"threads/(006|007|019|026)")
