"""Defines the extension module fmumbs._core for cffi: all that fmumbs.h declares, and the numbers of an image.

The numbers are the enums, limits and header of table.h and the kinds of variables in variables.h, so that Python
repeats none of them. cffi cannot read preprocessor lines.
"""

import re
from pathlib import Path

from cffi import FFI

CORE = Path(__file__).parents[1] / "fmumbs" / "core"
HEADERS = ("fmumbs.h", "image/table.h", "image/variables.h")
interface, table, variables = (CORE.joinpath(name).read_text(encoding="utf-8") for name in HEADERS)

ffibuilder = FFI()
ffibuilder.cdef(re.sub(r"^[ \t]*#.*$", "", interface, flags=re.MULTILINE))
table = re.sub(r"/\*.*?\*/", "", table, flags=re.DOTALL)
for declared in re.findall(r"^typedef (?:enum [^;]*|struct [^}]*} \w+);", table, re.MULTILINE):
    ffibuilder.cdef(declared)
kinds = re.findall(r"^\s*[KG]\((\w+),", variables, re.MULTILINE)
ffibuilder.cdef(f"enum {{ {', '.join(f'FM_{kind}' for kind in kinds)}, ... }};")
for name in ("BODY_MODES", "BODY_SECONDS", "BYTE_ORDER", "PATH_POWERS", "LAW_POWERS_X", "LAW_POWERS_V"):
    ffibuilder.cdef(f"#define FM_{name} ...")
ffibuilder.cdef("static double const FM_LEAST_PERIOD, FM_LARGEST_BOUND, FM_LARGEST;")
ffibuilder.cdef("static char *const FM_IMAGE_MAGIC, *const FM_OIL_CAVITATES, *const FM_CONTACT_MISSED;")
ffibuilder.cdef('extern "Python" int fmumbs_interrupted(void *host);')  # for fm_interrupt (run/interrupt.py)
ffibuilder.set_source("fmumbs._core", "\n".join(f'#include "{name}"' for name in HEADERS))
