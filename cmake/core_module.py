"""Defines the extension module fmumbs._core for cffi: all that fmumbs.h declares, and the numbers of an image.

The numbers are the enums and limits of table.h and the kinds of variables in variables.h, so that Python repeats none
of them. cffi cannot read preprocessor lines.
"""

import re
from pathlib import Path

from cffi import FFI

CORE = Path(__file__).parents[1] / "fmumbs" / "core"
HEADERS = ("fmumbs.h", "image/table.h", "image/variables.h")
interface, table, variables = (CORE.joinpath(name).read_text(encoding="utf-8") for name in HEADERS)

ffibuilder = FFI()
ffibuilder.cdef(re.sub(r"^[ \t]*#.*$", "", interface, flags=re.MULTILINE))
for enum in re.findall(r"^typedef enum [^;]*;", re.sub(r"/\*.*?\*/", "", table, flags=re.DOTALL), re.MULTILINE):
    ffibuilder.cdef(enum)
kinds = re.findall(r"^\s*K\((\w+),", variables, re.MULTILINE)
ffibuilder.cdef(f"enum {{ {', '.join(f'FM_{kind}' for kind in kinds)}, ... }};")
ffibuilder.cdef("#define FM_BODY_MODES ...\nstatic double const FM_LEAST_PERIOD;\nstatic char *const FM_IMAGE_MAGIC;")
ffibuilder.cdef('extern "Python" int fmumbs_interrupted(void *host);')  # for fm_interrupt (run/interrupt.py)
ffibuilder.set_source("fmumbs._core", "\n".join(f'#include "{name}"' for name in HEADERS))
