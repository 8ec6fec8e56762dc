"""Starts and stops the HTTP server around the application; it answers no request and reads no thread itself.

Invariants: one process serves a folder; the first line on stdout is the URL, printed once GET /ok answers; SIGTERM
and SIGINT end streams, settle runs and exit 0.
"""

from deerflow_lite.config import Config
from deerflow_lite.server.address import free, resolved
from deerflow_lite.server.lifeline import FolderLock


def serve(config: Config) -> int:
    """Serve until SIGTERM or SIGINT and give the exit code; raises SettingInvalid or CannotServe before it starts."""
    wanted = resolved(config)
    lock = FolderLock(config.instance)
    lock.take()
    address = free(wanted)
    lock.give_back()
    if config.server == "cheroot":
        from deerflow_lite.server.in_process import serve_here

        serve_here(config, address)
    from deerflow_lite.server.worker import serve_in_worker

    return serve_in_worker(config, address)
