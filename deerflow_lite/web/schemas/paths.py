"""How the parameters inside paths are checked; a bad one is refused before anything is looked up.

A name that is not here is handed on as it stands.
"""

from marshmallow import fields

from deerflow_lite.web.schemas.fields import NotBlank, ThreadId

PATHS: dict[str, fields.Field[str]] = {
    "thread_id": ThreadId(metadata={"description": "id of a thread"}),
    "turn_id": NotBlank(metadata={"description": "id of a turn"}),
}
