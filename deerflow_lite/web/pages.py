"""The pages: for now one that says that the service is up and how to talk to it; all of it works without a network."""

from flask import Flask, render_template, request

PATHS = ("/", "/chats", "/chats/archived", "/chats/<thread_id>")


def install(app: Flask) -> None:
    """Serve the page at each of its paths; which thread is meant is read by its script."""

    def page(thread_id: str | None = None) -> str:
        return render_template("home.html", base=request.host_url.rstrip("/"))

    for path in PATHS:
        app.add_url_rule(path, "page", page)
