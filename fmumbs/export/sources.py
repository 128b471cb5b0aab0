"""An FMU's sources/: one C file, the model image as an array and behind it the core (one_file.py).

A binary made from it needs no resources/. Only the functions of FMI are visible in it. They have the model's name as
prefix, so that several FMUs link statically into one program, unless a shared library is made.
"""

from fmumbs.export import installed

_ROW = 24  # bytes of the image in one line of C
_HEAD = """\
/* {name}.c: an FMU in one file of strict C99: the model image, and behind it the core of fmumbs.
 *
 *     cc -std=c99 -O2 -c {name}.c
 *
 * Link the object with -lm. Only functions of FMI are visible, as {name}_fmi2DoStep, and no folder resources/ is
 * read. A shared library needs their plain names: it is compiled with FMI2_OVERRIDE_FUNCTION_PREFIX or
 * FMI3_OVERRIDE_FUNCTION_PREFIX defined, or by CMake as a library called {name}.
 */
#if !defined(FMI2_OVERRIDE_FUNCTION_PREFIX) && !defined(FMI3_OVERRIDE_FUNCTION_PREFIX) && !defined({name}_EXPORTS)
#define FMI2_FUNCTION_PREFIX {name}_
#define FMI3_FUNCTION_PREFIX {name}_
#endif
#define FM_EMBEDDED_IMAGE 1

"""


def source_name(identifier: str) -> str:
    """The file to compile, in sources/. identifier: the name of the FMU's binary."""
    return f"{identifier}.c"


def source(identifier: str, image: bytes) -> tuple[bytes, bytes]:
    """The file in two parts: what the model gives, and the core. Raises ExportError if the core's files are missing."""
    return _HEAD.format(name=identifier).encode() + image_source(image), installed.core()


def image_source(image: bytes) -> bytes:
    """The image as C: `fm_embedded_image` and `fm_embedded_image_size`."""
    import numpy as np  # not needed by the build, which deflates the core

    digits = np.array([f"{value}," for value in range(256)], "S4")  # padded by zero bytes
    cells = np.zeros(-(-len(image) // _ROW) * _ROW, digits.dtype)
    cells[: len(image)] = digits[np.frombuffer(image, np.uint8)]
    lines = np.pad(cells.view(np.uint8).reshape(-1, _ROW * cells.itemsize), ((0, 0), (0, 1)), constant_values=ord("\n"))
    rows = lines.tobytes().translate(None, b"\0").decode().rstrip("\n")
    return (
        "/* The model image, as the exporter wrote it; the same bytes as resources/model.fmb. */\n"
        f"static const unsigned long fm_embedded_image_size = {len(image)}UL;\n"
        f"static const unsigned char fm_embedded_image[] = {{\n{rows}\n}};\n\n"
    ).encode()
