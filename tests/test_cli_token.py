"""`deerflow-lite token` as a process, before the first start and beside a service that asks for tokens."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.processes import DEADLINE, Served, command


def token(instance: Path, *arguments: str, code: int = 0, **settings: Any) -> str:
    """Run a verb and give what it prints."""
    ran = command("token", *arguments, instance=instance, **settings)
    assert ran.returncode == code, ran.stderr
    return ran.stdout if code == 0 else ran.stderr


def status(served: Served, text: str) -> int:
    request = urllib.request.Request(served.url + "/api/threads/count", b"{}", {"X-Api-Key": text})
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_token_is_printed_alone_and_once_and_listed_without_its_text(tmp_path: Path) -> None:
    home = tmp_path / "home"
    text = token(home, "create", "alice").strip()
    assert text.startswith("dfl_") and len(text) == 60 and " " not in text
    made = json.loads(token(home, "create", "laptop", "--owner", "default", "--expires", "3", "--json"))
    assert (made["name"], made["owner"], made["revoked_at"]) == ("laptop", "default", None)
    assert made["expires_at"] > made["created_at"]
    listed = json.loads(token(home, "list", "--json"))
    assert [(one["name"], one["owner"]) for one in listed] == [("alice", "alice"), ("laptop", "default")]
    assert listed[1] == {name: value for name, value in made.items() if name != "token"}
    shown = token(home, "list")
    assert shown.splitlines()[0].split() == ["ID", "NAME", "OWNER", "CREATED", "(UTC)", "STATE"]
    assert [line.split()[1] for line in shown.splitlines()[1:]] == ["alice", "laptop"]
    for secret in (text, text[17:], made["token"]):
        assert secret not in shown + json.dumps(listed)
    assert token(home, "revoke", text[4:16]) == f"revoked {text[4:16]} (alice)\n"
    assert [one["revoked_at"] is None for one in json.loads(token(home, "list", "--json"))] == [False, True]
    assert token(tmp_path / "other", "list") == "There is no token.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["create", "a.b"], 1, "name: must be"), (["create", "a", "--owner", ""], 1, "owner: must be"),
     (["revoke", "nothing"], 1, "no token has the id"), (["create", "a", "--expires", "0"], 2, "0 is not in the range"),
     (["create"], 2, "Missing argument"), (["revoke"], 2, "Missing argument")],
)  # fmt: skip
def test_what_cannot_be_done_is_told_in_one_line(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    told = token(tmp_path, *arguments, code=code)
    assert said in told and told.count("\n") == 1


def test_tokens_of_a_memory_service_live_as_long_as_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "does not run" in token(home, "list", code=1, store="memory")
    served = Served(home, auth="tokens", store="memory", server="cheroot")
    assert status(served, token(home, "create", "alice", store="memory").strip()) == 200
    assert served.end() == 0
    assert "does not run" in token(home, "list", code=1, store="memory")


def test_a_token_made_or_revoked_beside_a_running_service_counts_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    served = Served(home, server="cheroot")
    served.ask("/api/threads", {"thread_id": "before"})
    assert served.end() == 0
    served = Served(home, auth="tokens")
    said = [served.line() for _ in range(4)]
    assert said[1] == "There is no token yet: `deerflow-lite token create NAME` makes one"
    assert said[2] == "1 chat belongs to the owner default: `deerflow-lite token create NAME --owner default` opens it"
    assert status(served, "") == 401
    text = token(home, "create", "me", "--owner", "default").strip()
    request = urllib.request.Request(served.url + "/api/threads/before", headers={"Authorization": f"Bearer {text}"})
    with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
        assert json.load(answer)["thread_id"] == "before"
    token(home, "revoke", text[4:16])
    assert status(served, text) == 401
    assert served.end() == 0


def test_an_address_that_others_reach_is_served_with_tokens_alone(tmp_path: Path) -> None:
    ran = command("serve", "--host", "0.0.0.0", "--port", "0", instance=tmp_path)
    assert ran.returncode == 2
    assert "HOST 0.0.0.0 is not a loopback address and AUTH is none: anybody could call it" in ran.stderr
    served = Served(tmp_path / "home", auth="tokens", host="0.0.0.0", allowed_hosts="127.0.0.1")
    assert served.url.startswith("http://0.0.0.0:")
    assert status(served, "x") in (401, 403)
    assert served.end() == 0
