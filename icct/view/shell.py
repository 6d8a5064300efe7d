"""The HTML around the view: live, where modules come from the server, or one file with all inside.

Both load the same ES modules from static/ by the names that an import map gives them; in one file
the map holds the modules themselves. No build step, and nothing is fetched from elsewhere.
"""

import base64
import json
import re
from functools import cache
from html import escape
from importlib import resources
from typing import Any

IMPORTED = re.compile(r'from "icct/([a-z_]+\.js)"')
TYPES = {".js": "text/javascript", ".css": "text/css"}
# What a self-contained file may do: nothing but what stands in it.
SAFE_FILE = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:; img-src data:"
)


@cache
def static_files() -> dict[str, bytes]:
    """Return name → content of everything that may be served: what is in static/, no more."""
    folder = resources.files("icct.view") / "static"
    return {item.name: item.read_bytes() for item in folder.iterdir() if item.is_file()}


def static_text(name: str) -> str:
    """Return the text of one of the static files."""
    return static_files()[name].decode("utf-8")


def import_map(prefix: str | None, start: str) -> str:
    """Return the import map of a module and all that it imports, as JSON.

    Args:
        prefix: Where a server has the modules; None puts them inside the map.
        start: The module that the page begins with.
    """
    names, waiting = set[str](), [start]
    while waiting:
        names.add(name := waiting.pop())
        waiting += set(IMPORTED.findall(static_text(name))) - names
    return json.dumps({"imports": {f"icct/{name}": _place(name, prefix) for name in sorted(names)}})


def _place(name: str, prefix: str | None) -> str:
    if prefix is not None:
        return f"{prefix}{name}"
    return f"data:text/javascript;base64,{base64.b64encode(static_files()[name]).decode('ascii')}"


def live_page(title: str, nonce: str) -> str:
    """Return the page that a server shows; all paths are relative to its own."""
    places = import_map("./static/", "live.js")
    return (
        f"{_head(title)}{_links('tree.css', 'view.css')}"
        f"<script type='importmap' nonce='{nonce}'>{places}</script></head>"
        f"<body>{static_text('view.html')}"
        f"<script type='module' src='static/live.js'></script></body></html>\n"
    )


def recorded_page(title: str, recording: str) -> str:
    """Return one HTML file that plays a recording, given as JSON, and needs nothing else."""
    return (
        f"{_head(title)}"
        f'<meta http-equiv="Content-Security-Policy" content="{SAFE_FILE}">'
        f"<style>{static_text('tree.css')}{static_text('view.css')}</style>"
        f"<script type='importmap'>{import_map(None, 'recorded.js')}</script></head>"
        f"<body>{static_text('view.html')}"
        f"<script type='application/json' id='recording'>{inside_html(recording)}</script>"
        "<script type='module'>import 'icct/recorded.js';</script></body></html>\n"
    )


def inside_html(text: str) -> str:
    """Return JSON that can stand inside a script element."""
    return text.replace("<", "\\u003c")


def as_json_in_html(value: Any) -> str:
    """Return a value as JSON that can stand inside a script element."""
    return inside_html(json.dumps(value))


def _head(title: str) -> str:
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='referrer' content='no-referrer'>"
        f"<title>{escape(title)}</title>"
    )


def _links(*names: str) -> str:
    return "".join(f"<link rel='stylesheet' href='static/{name}'>" for name in names)
