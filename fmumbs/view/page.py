"""The page: one HTML file with its style, three.js, its own modules and its data in it, which loads nothing else.

Own modules are in page/*.js, in the order in which they use each other; they become one script without their imports.
three.js (MIT licence, in page/three.LICENSE.txt) is the file of the npm package, wrapped so that it needs no import.
"""

import json
import re
import webbrowser
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from fmumbs._files import whole
from fmumbs.errors import FmumbsError, SolverError
from fmumbs.view.data import as_json
from fmumbs.view.live import core

THREE_VERSION = "0.170.0"
THREE_SHA256 = "08fd7545d13d2c7fb65ab691530a802dafefd638596501854f267d0fb13c39e7"
MODULES = (
    "numbers", "recording", "camera", "files", "plots", "charts", "instances", "traces", "elements", "skin", "picture",
    "ghost", "modes", "live", "engine", "motion", "panel", "main",
)  # fmt: skip

_EXPORTS = re.compile(r"export\{([^{}]*)\};?\s*$")
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:class|function|const) (\w+)", re.MULTILINE)
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_HEIGHT = 560  # pixels in a notebook


class View:
    """A mechanism in motion as a page; a notebook shows it where it is the value of a cell.

    html: the page. failure: why the run that it shows ended early, None if it did not.
    """

    def __init__(self, name: str, data: dict[str, Any], failure: FmumbsError | None = None) -> None:
        self.name = name
        self._data = data
        self.failure = failure

    @cached_property
    def html(self) -> str:
        return html_of(self._data)

    def html_beside(self, script: str) -> str:
        """The page of a site with many: it loads what all have in common from a file with shared_script(), which is at
        the relative address `script`.
        """
        return html_of(self._data, script)

    def __repr__(self) -> str:
        return f"<View of '{self.name}': {len(self.html) / 1e6:.2f} MB>"

    def save(self, path: "str | PathLike[str]") -> Path:
        """Writes the page; the file appears when it is complete. Raises SolverError if it cannot be written."""
        target = Path(path)
        try:
            with whole(target) as file:
                file.write(self.html.encode())
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise SolverError(f"cannot write '{target}': {reason}. Choose another place.") from error
        return target

    def open(self, path: "str | PathLike[str] | None" = None) -> Path:
        """Writes the page, by default to NAME.html in the current folder, and opens it in a browser."""
        target = self.save(f"{self.name}.html" if path is None else path)
        webbrowser.open(target.resolve().as_uri())
        return target

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{_HEIGHT}px;border:1px solid #8884;border-radius:6px"
        return f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-downloads" style="{style}"></iframe>'


def html_of(data: dict[str, Any], script: str = "") -> str:
    """The page of data_of(). The same data give the same page. script: see View.html_beside()."""
    if script and data["live"]:
        data = data | {"live": {name: part for name, part in data["live"].items() if name != "core"}}
    own = f"<script>\n{_three()}\n</script>\n<script>\n{_code()}\n</script>"
    slots = {
        "title": escape(str(data["name"])),
        "style": _text("page.css"),
        "data": as_json(data),
        "code": f'<script src="{escape(script)}"></script>' if script else own,
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _text("page.html"))


def shared_script() -> str:
    """What the pages of View.html_beside() have in common: the core for browsers, three.js, and the page's own code."""
    return f"'use strict';\n{_three()}\nconst CORE = {json.dumps(core())};\n{_code()}\n"


@cache
def _text(name: str) -> str:
    return (files("fmumbs.view") / "page" / name).read_text(encoding="utf-8")


@cache
def _three() -> str:
    """The library as an expression: its exports become the fields of THREE."""
    source = _text("three.module.min.js")
    exports = _EXPORTS.search(source)
    assert exports is not None
    pairs = (pair.split(" as ") for pair in exports[1].split(","))
    fields = ",".join(f"{pair[-1]}:{pair[0]}" for pair in pairs)
    return f"const THREE=(()=>{{{source[: exports.start()]}return{{{fields}}}}})();"


@cache
def _code() -> str:
    """The modules as one script: each is a function that returns its exports."""
    parts = ['"use strict";', "const modules = {};"]
    for name in MODULES:
        source = _text(f"{name}.js")
        body = re.sub(r"^export ", "", _IMPORT.sub(r"const \1 = modules.\2;", source), flags=re.MULTILINE)
        parts.append(f"modules.{name} = (() => {{\n{body}return {{ {', '.join(_EXPORT.findall(source))} }};\n}})();")
    return "\n".join(parts)
