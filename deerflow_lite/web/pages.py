"""The chat page: one document at each of its addresses; it reads no thread, its scripts ask the public API.

Invariants: every script and style is a file of ours, so that the page works without a network and runs nothing inline.
"""

from pathlib import Path

from flask import Flask, render_template

PATHS = ("/", "/chats", "/chats/archived", "/chats/<thread_id>")
# Loaded when the page is: grammars are asked for one by one, the others belong to other pages.
LATER = ("swagger/", "vendor/highlight/", "docs.js", "early.js", "app.js")


def install(app: Flask) -> None:
    """Serve the page at each of its paths; which thread is meant is read by its script."""
    folder = Path(app.static_folder or "")
    styles = ["/static/" + path.relative_to(folder).as_posix() for path in sorted(folder.glob("css/*.css"))]
    modules = [f"/static/{name}" for name in scripts(folder) if not name.startswith(LATER)]

    def page(thread_id: str | None = None) -> str:
        return render_template("page.html", styles=styles, modules=modules)

    for path in PATHS:
        app.add_url_rule(path, "page", page)


def scripts(folder: Path) -> list[str]:
    """Give the scripts below a folder by their path in it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.js"))
