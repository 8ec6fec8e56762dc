"""The OpenAPI document against the service: whatever it allows is answered as it says, and never with a 5xx.

FUZZ_EXAMPLES tries more requests an operation; half of them name things that exist.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests.service import Service

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "6"))
CHECKS = [
    not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_schema_conformance, checks.response_headers_conformance,
]  # fmt: skip
SETTINGS = settings(
    max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
WAITS = {"after_seconds"}


class Known:
    """Things that exist, for each name that the document has for them."""

    def __init__(self, service: Service) -> None:
        thread = service.thread()
        said = service.wait(thread, "chat", "a")["messages"]
        run = service.get(thread, "/runs")[0]["run_id"]
        self.ids = {
            "thread_id": thread, "run_id": run, "turn_id": run, "assistant_id": "chat", "namespace": "x",
            "checkpoint_id": service.get(thread)["head_checkpoint_id"], "message_id": said[1]["id"],
            "human_message_id": said[0]["id"],
        }  # fmt: skip

    def put_into(self, case: Any) -> None:
        """Name what exists wherever a request names something."""
        for part in (case.path_parameters, case.body, case.query):
            if isinstance(part, dict):
                part.update({name: self.ids[name] for name in part if name in self.ids})


def tried(operation: Any, known: Known) -> dict[int, int]:
    """Send what the document allows, check every answer and count the statuses."""
    statuses: dict[int, int] = {}

    @SETTINGS
    @given(case=operation.as_strategy(), real=st.booleans())
    def ask(case: Any, real: bool) -> None:
        if real and operation.method != "delete":
            known.put_into(case)
        if isinstance(case.body, dict):
            for name in WAITS & case.body.keys():
                del case.body[name]
        answer = case.call()
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        case.validate_response(answer, checks=CHECKS)

    ask()
    return statuses


@pytest.fixture
def service(serve: Callable[..., Service]) -> Service:
    return serve(graphs="chat=tests.sample_graphs:chat,noop=tests.sample_graphs:noop")


# the library shuffles with the module `random` while it makes requests
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
def test_every_answer_is_as_the_document_says(service: Service) -> None:
    known = Known(service)
    document = schemathesis.openapi.from_wsgi("/api/openapi.json", service.app)
    operations = [found.ok() for found in document.get_all_operations()]
    statuses = {f"{one.method} {one.path}": tried(one, known) for one in operations}
    assert len(statuses) == sum(len(methods) for methods in document.raw_schema["paths"].values())
    seen = {status for counted in statuses.values() for status in counted}
    assert {200, 204, 404, 422} <= seen
