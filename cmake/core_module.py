"""Defines the extension module fmumbs._core for cffi: everything that fmumbs.h declares.

The declarations are the header without its preprocessor lines, which cffi cannot read.
"""

import re
from pathlib import Path

from cffi import FFI

header = Path(__file__).parents[1] / "fmumbs" / "core" / "fmumbs.h"
ffibuilder = FFI()
ffibuilder.cdef(re.sub(r"^[ \t]*#.*$", "", header.read_text(encoding="utf-8"), flags=re.MULTILINE))
ffibuilder.cdef('extern "Python" int fmumbs_interrupted(void *host);')  # the callback of fm_interrupt (run/interrupt.py)
ffibuilder.set_source("fmumbs._core", f'#include "{header.name}"')
