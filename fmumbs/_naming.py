"""Names of an FMU's variables (variableNamingConvention, FMI 2.0.4, section 2.2.9).

Structured names, such as S.w[2], become buses and vectors in some tools. Flat names have letters, digits and _ only:
S_w_2. Where that would give two variables one name, all dots and brackets of the FMU become __, or more.
"""

import re
from collections.abc import Sequence

from fmumbs.errors import ExportError

STRUCTURED, FLAT = CONVENTIONS = ("structured", "flat")

_LONGEST = 8  # separator
_SEPARATED = re.compile(r"[.\[]")


def flat_names(names: Sequence[str]) -> list[str]:
    """The flat names of (n,) structured names, which differ; so do the flat ones.

    Raises ExportError if no separator keeps them apart.
    """
    for count in range(1, _LONGEST + 1):
        separator = "_" * count
        flat = [_SEPARATED.sub(separator, name.replace("]", "")) for name in names]
        if len(set(flat)) == len(names):
            return flat
    twice = next(name for i, name in enumerate(flat) if name in flat[:i])
    both = [name for name, short in zip(names, flat, strict=True) if short == twice][:2]
    raise ExportError(
        f"'{both[0]}' and '{both[1]}' have the same flat name. Rename an element, or export structured names."
    )
