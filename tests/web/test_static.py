"""The page's files as they are served: whole, ours or recorded, and in need of nothing from elsewhere."""

import hashlib
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deerflow_lite.web.pages import FOR_GOOD, PATHS, scripts, version
from tests.processes import ROOT

STATIC = ROOT / "deerflow_lite" / "web" / "static"
TABLE = re.compile(r"^\| (\S+) \| (\S+ \S+ \S+) \| ([0-9a-f]{64}) \|", re.MULTILINE)
OTHERS = ("vendor/", "swagger/")
IMPORTED = re.compile(
    r"""\b(?:import|export)\b[^;'"()=]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)""",
    re.MULTILINE,
)
FILE_LINES, LINE = 250, 120


def own(kind: str) -> list[str]:
    """Give our own files of a kind by their path below `static/`."""
    names = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob(f"*.{kind}"))
    return [name for name in names if not name.startswith(OTHERS)]


def recorded() -> dict[str, str]:
    return {name: digest for name, _, digest in TABLE.findall((STATIC / "VENDORED.md").read_text())}


def test_every_file_of_others_is_recorded_and_as_it_was_recorded() -> None:
    files = [path for folder in OTHERS for path in (STATIC / folder).rglob("*") if path.is_file()]
    real = {path.relative_to(STATIC).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert recorded() == real


def test_every_package_of_others_brings_its_licence() -> None:
    folders = {str(Path(name).parent) for name in recorded()}
    assert {folder for folder in folders if not (STATIC / folder / "LICENSE").is_file()} == set()


@pytest.mark.parametrize("name", [*own("js"), *(name for name in recorded() if re.match(r"vendor/(?!h\w+/)", name))])
def test_a_script_imports_only_files_that_are_served(name: str) -> None:
    source = (STATIC / name).read_text(encoding="utf-8") if name.endswith(".js") else ""
    for path in ("".join(found) for found in IMPORTED.findall(source)):
        assert path.startswith("."), f"{name} imports {path}"
        assert ((STATIC / name).parent / path).resolve().is_file(), f"{name} imports {path}"


@pytest.mark.parametrize("name", [*own("js"), *own("css")])
def test_a_file_of_ours_is_short_and_says_first_what_it_is(name: str) -> None:
    lines = (STATIC / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= FILE_LINES
    assert [line for line in lines if len(line) > LINE] == []
    assert lines[0].startswith(("// ", "/* "))


@pytest.mark.parametrize("name", [*own("js"), *own("css")])
def test_a_file_of_ours_names_no_other_host(name: str) -> None:
    source = (STATIC / name).read_text(encoding="utf-8")
    assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]{2,}", source) == []


@pytest.mark.parametrize("path", [*PATHS[:3], "/chats/some-chat"])
def test_each_address_gives_the_page_and_every_file_that_it_names_is_served(client: FlaskClient, path: str) -> None:
    page = client.get(path)
    assert (page.status_code, page.mimetype) == (200, "text/html")
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    folder = f"/static/kept/{version(STATIC)}/"
    assert {folder + name for name in ("app.js", "early.js", "css/tokens.css")} <= set(named)
    for file in named:
        with client.get(file) as answer:
            assert (answer.status_code, answer.headers["Cache-Control"]) == (200, FOR_GOOD), file
            kind = "text/css" if file.endswith(".css") else "image/svg+xml" if file.endswith(".svg") else "javascript"
            assert kind in answer.mimetype, (file, answer.mimetype)


def test_a_file_is_kept_for_good_only_under_the_address_of_what_it_holds(client: FlaskClient) -> None:
    for path in ("/static/app.js", "/static/kept/0123456789abcdef/app.js"):
        with client.get(path) as answer:
            assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache"), path
    assert client.get(f"/static/kept/{version(STATIC)}/absent.js").status_code == 404


def test_the_address_of_the_files_changes_with_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "base.css").write_text("a { color: red }")
    first = version(tmp_path)
    assert version(tmp_path) == first
    (tmp_path / "css" / "base.css").write_text("a { color: blue }")
    second = version(tmp_path)
    (tmp_path / "app.js").write_text("")
    assert len({first, second, version(tmp_path)}) == 3


def test_the_page_runs_nothing_inline(client: FlaskClient) -> None:
    text = client.get("/").text
    assert re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|javascript:", text) == []


def test_every_script_is_loaded_with_the_page_or_on_demand(client: FlaskClient) -> None:
    text = client.get("/").text
    missing = {name for name in scripts(STATIC) if f"/{name}" not in text}
    assert {name for name in missing if not name.startswith(("vendor/highlight/", "swagger/", "docs.js"))} == set()
