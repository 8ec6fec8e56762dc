"""The chat page: one document at each of its addresses; it reads no thread, its scripts ask the public API.

Invariants: every script and style is a file of ours, so that the page works without a network and runs nothing inline.
A browser keeps the files for good, for their address names what they hold: an unchanged page is opened without asking
for any of them, and a changed one is never mixed with what was kept.
"""

import hashlib
from pathlib import Path
from typing import Final

from flask import Flask, Response, render_template

PATHS = ("/", "/chats", "/chats/archived", "/chats/<thread_id>")
# Loaded when the page is: grammars are asked for one by one, the others belong to other pages.
LATER = ("swagger/", "vendor/highlight/", "docs.js", "early.js", "app.js")
FOR_GOOD: Final = "public, max-age=31536000, immutable"


def install(app: Flask) -> None:
    """Serve the page at each of its paths; which thread is meant is read by its script."""
    folder = Path(app.static_folder or "")
    styles = sorted(path.relative_to(folder).as_posix() for path in folder.glob("css/*.css"))
    modules = [name for name in scripts(folder) if not name.startswith(LATER)]
    current = version(folder)

    def page(thread_id: str | None = None) -> str:
        return render_template("page.html", files=f"/static/kept/{current}", styles=styles, modules=modules)

    def kept(of: str, filename: str) -> Response:
        answer = app.send_static_file(filename)
        if of == current:  # a page that was open before an upgrade asks for what an older version named
            answer.headers["Cache-Control"] = FOR_GOOD
        return answer

    for path in PATHS:
        app.add_url_rule(path, "page", page)
    app.add_url_rule("/static/kept/<of>/<path:filename>", "kept", kept)


def version(folder: Path) -> str:
    """Name what the files below a folder hold, by their sizes and times; 16 hex digits."""
    files = sorted((path.as_posix(), path.stat()) for path in folder.rglob("*.*"))
    told = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def scripts(folder: Path) -> list[str]:
    """Give the scripts below a folder by their path in it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.js"))
