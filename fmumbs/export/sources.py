"""An FMU's sources/: the core's C files as they ship with the package, and the model image as a C array.

The files are listed once, in core/sources.txt, which the build reads, too. FM_EMBEDDED_IMAGE is defined at the top of
the file that uses it, so that compiling the listed files without any flag makes a binary that needs no resources.
"""

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath

from fmumbs.errors import ExportError

IMAGE_FILE = "fm_embedded_image.c"
_CORE = Path(__file__).parents[1] / "core"
_EMBEDDED = "FM_EMBEDDED_IMAGE"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
_ROW = 24  # bytes of the image in one line of C


@cache
def shipped() -> tuple[str, ...]:
    """The core's files in sources.txt, in order. Raises ExportError if the list is missing."""
    lines = map(str.strip, _read("sources.txt").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def compiled_sources() -> tuple[str, ...]:
    """The C files of an FMU's sources/ to compile, in order."""
    return (*(name for name in shipped() if name.endswith(".c")), IMAGE_FILE)


def core_sources() -> dict[str, bytes]:
    """The core's files that ship, and those that they include, by path. Raises ExportError if one is missing."""
    texts: dict[str, str] = {}
    pending = list(reversed(shipped()))
    while pending:
        name = pending.pop()
        if name in texts:
            continue
        texts[name] = _read(name)
        pending += [normpath(f"{dirname(name) or '.'}/{included}") for included in _INCLUDE.findall(texts[name])]
    return {name: _defined(name, text).encode() for name, text in texts.items()}


def image_source(image: bytes) -> bytes:
    """The image as C: `fm_embedded_image` and `fm_embedded_image_size`."""
    import numpy as np  # not needed by the build, which reads the list of files

    digits = np.array([f"{value}," for value in range(256)], "S4")  # padded by zero bytes
    cells = np.zeros(-(-len(image) // _ROW) * _ROW, digits.dtype)
    cells[: len(image)] = digits[np.frombuffer(image, np.uint8)]
    lines = np.pad(cells.view(np.uint8).reshape(-1, _ROW * cells.itemsize), ((0, 0), (0, 1)), constant_values=ord("\n"))
    rows = lines.tobytes().translate(None, b"\0").decode().rstrip("\n")
    return (
        "/* The model image, as the exporter wrote it; the same bytes as resources/model.fmb. */\n"
        f"extern const unsigned char fm_embedded_image[];\n"
        f"extern const unsigned long fm_embedded_image_size;\n\n"
        f"const unsigned long fm_embedded_image_size = {len(image)}UL;\n"
        f"const unsigned char fm_embedded_image[] = {{\n{rows}\n}};\n"
    ).encode()


def _read(name: str) -> str:
    try:
        return (_CORE / name).read_text(encoding="utf-8")
    except OSError as error:
        raise ExportError(f"the core's file '{name}' is not in {_CORE}. Reinstall fmumbs.") from error


def _defined(name: str, text: str) -> str:
    if not name.endswith(".c") or _EMBEDDED not in text:
        return text
    return f"#ifndef {_EMBEDDED}\n#define {_EMBEDDED} 1 /* the image is in {IMAGE_FILE} */\n#endif\n{text}"
