"""Says to cffi what the extension module fmumbs._core is: everything that fmumbs.h declares.

The declarations are the header without its preprocessor lines, which cffi does not read.
"""

import re
from pathlib import Path

from cffi import FFI

header = Path(__file__).parents[1] / "fmumbs" / "core" / "fmumbs.h"
ffibuilder = FFI()
ffibuilder.cdef(re.sub(r"^[ \t]*#.*$", "", header.read_text(encoding="utf-8"), flags=re.MULTILINE))
ffibuilder.cdef('extern "Python" int fmumbs_interrupted(void *host);')  # what fm_interrupt asks (run/interrupt.py)
ffibuilder.set_source("fmumbs._core", f'#include "{header.name}"')
