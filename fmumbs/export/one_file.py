"""The core as one C file, in which nothing is visible but the functions of FMI.

Headers come first, then the C files, each with the pieces (.inc) that it includes, in the order of core/sources.txt.
The headers' functions and constants become static. Where two files declare the same name, that of their file is put in
front of it: `check` of loops/loop_plan.c becomes `loop_plan_check`. Macros of a C file are undefined at its end.
Kernels for AVX2 and AVX-512, which need flags of their own, are left out: the others give the same bits.

C is read as the project's formatter writes it: a declaration outside of functions begins its line.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from posixpath import basename, dirname, normpath

from fmumbs.errors import ExportError

_CORE = Path(__file__).parents[1] / "core"
_FIRST = "fmi/one_file.h"
_UNIT = re.compile(r".*(?<!_avx2)(?<!_avx512)\.c")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)".*\n', re.MULTILINE)
_TEXT = r"""/\*[\s\S]*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""  # a comment, or characters between quotes
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|.)*", re.MULTILINE)
_TOKEN = re.compile(rf"{_TEXT}|(?P<name>(?<![\w.])(?<!->)[A-Za-z_]\w*)")  # not a member's name

_STANDARD = re.compile(r"fmi/fmi[23]\w*\.h")  # its headers, whose functions stay visible

_PROTOTYPE = re.compile(r"^(?!typedef|static|extern|return)(?=[a-z])([\w ]+[ *]+\w+\([^;{]*;)", re.MULTILINE)
_CONSTANT = re.compile(r"\bextern (?=const )")
_DEFINITION = re.compile(r"^(?=const \w+ \w+(?:\[\w+\])? = )", re.MULTILINE)

_STATIC = re.compile(r"^(?:static|FM_INLINE|FM_NOINLINE)\b[^=;({]*?\b(\w+)(?:\[[^=;]*)?\s*[(=;]", re.MULTILINE)
_TYPE = re.compile(r"^typedef\b[^;{]*?\b(\w+)(?:\([^;]*\))?;", re.MULTILINE)
_AFTER = re.compile(r"^\} (\w+)", re.MULTILINE)
_TAG = re.compile(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", re.MULTILINE)
_ENUM = re.compile(r"^(?:typedef )?enum\b[^{;]*\{([^}]*)\}", re.MULTILINE)
_UNDEFINED = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


@cache
def shipped() -> tuple[str, ...]:
    """The core's files in sources.txt, in order. Raises ExportError if the list is missing."""
    lines = map(str.strip, _read("sources.txt").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def core_files() -> dict[str, str]:
    """The texts of the core's files that ship, and of those that they include, by path, what is included first.

    Raises ExportError if one is missing.
    """
    texts: dict[str, str] = {}
    for name in shipped():
        _collect(name, texts)
    return texts


@cache
def core_source() -> bytes:
    """The one file, without the image, which stands before it. Raises ExportError if a file is missing."""
    files = core_files()
    headers = {name: _without_headers(name, text) for name, text in files.items() if name.endswith(".h")}
    units = {name: _with_pieces(name, files) for name in shipped() if _UNIT.fullmatch(name)}
    own = {name: set(_declared(text)) for name, text in units.items()}
    times = Counter(name for names in own.values() for name in names)
    taken = {name for text in headers.values() for name in (*_declared(text), *_MACRO.findall(text))}
    taken |= {name for name, count in times.items() if count > 1}
    stems = Counter(map(basename, units))
    pieces = [headers.pop(_FIRST)]
    for name, text in headers.items():
        pieces.append(f"/* {name} */\n{text if _STANDARD.fullmatch(name) else _hidden(text)}")
    for name, text in units.items():
        stem = (basename(name) if stems[basename(name)] == 1 else name.replace("/", "_")).removesuffix(".c")
        renamed = {one: f"{stem}_{one}" for one in own[name] & taken}
        pieces.append(f"/* {name} */\n{_unit(text, renamed)}")
    return "\n".join(pieces).encode()


def _read(name: str) -> str:
    try:
        return (_CORE / name).read_text(encoding="utf-8")
    except OSError as error:
        raise ExportError(f"the core's file '{name}' is not in {_CORE}. Reinstall fmumbs.") from error


def _collect(name: str, texts: dict[str, str]) -> None:
    if name in texts:
        return
    text = _read(name)
    for included in _INCLUDE.findall(text):
        if included != basename(name):  # a comment of FMI's
            _collect(_beside(name, included), texts)
    texts[name] = text


def _beside(name: str, included: str) -> str:
    return normpath(f"{dirname(name) or '.'}/{included}")


def _without_headers(name: str, text: str) -> str:
    """A header whose includes stand before it."""
    return _INCLUDE.sub(lambda match: match[0] if match[1] == basename(name) else "", text)


def _with_pieces(name: str, files: Mapping[str, str]) -> str:
    """A C file with its pieces in place, and without headers."""

    def piece(match: re.Match[str]) -> str:
        place = _beside(name, match[1])
        return _with_pieces(place, files) if place.endswith(".inc") else ""

    return _INCLUDE.sub(piece, files[name])


def _hidden(header: str) -> str:
    """A header whose functions and constants are static."""
    return _CONSTANT.sub("FM_ONE_FILE ", _PROTOTYPE.sub(r"FM_ONE_FILE \1", header))


def _unit(text: str, renamed: Mapping[str, str]) -> str:
    """A C file with other names for what it declares, whose macros end with it."""

    def other(match: re.Match[str]) -> str:
        return match[0] if match["name"] is None else renamed.get(match[0], match[0])

    text = _DEFINITION.sub("static ", _TOKEN.sub(other, text))
    macros = sorted(set(_MACRO.findall(text)) - set(_UNDEFINED.findall(text)))
    return text + "".join(f"#undef {name}\n" for name in macros)


def _declared(text: str) -> Iterator[str]:
    """What a file declares for itself outside of functions."""
    text = _DIRECTIVE.sub("", re.sub(_TEXT, " ", text))
    for pattern in (_STATIC, _TYPE, _AFTER, _TAG):
        yield from pattern.findall(text)
    for members in _ENUM.findall(text):
        yield from re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", members.strip())
