"""Which configurable values reach a graph and are never stored; it keeps none of them."""

import re
from collections.abc import Mapping
from typing import Any

_SECRET = re.compile(r"(?:.*[_-])?(?:key|token|secret|password|authorization)", re.IGNORECASE | re.DOTALL)


def secret(name: str) -> bool:
    """Say whether a name's last `_`/`-` part is that of a credential: `api_key` is, `max_tokens` is not."""
    return _SECRET.fullmatch(name) is not None


def without_secrets(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the mapping without its credentials."""
    return {name: value for name, value in (values or {}).items() if not secret(name)}
