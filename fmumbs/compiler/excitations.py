"""Excited modes: what moves them, and their paths as the core reads them (core/forces/excitation.c)."""

from collections.abc import Sequence

from fmumbs.compiler.layout import lib
from fmumbs.compiler.rows import Rows
from fmumbs.mechanism import Mode
from fmumbs.mechanism.path import Path

# fm_excitation_kind
BY_ACCELERATION, BY_POSITION, BY_PATH = (
    lib.FM_EXCITED_BY_ACCELERATION, lib.FM_EXCITED_BY_POSITION, lib.FM_EXCITED_BY_PATH,
)  # fmt: skip
_SMOOTH = 1e-9  # a smaller jump, relative to the largest value on the path, is round-off


def add_excitations(out: Rows, joint: int, modes: tuple[Mode, ...], p: int, u: int) -> None:
    """Adds the excited modes of a joint; their first variables are p and u."""
    for index, mode in enumerate(modes):
        path = -1
        if mode.path is not None:
            path = add_path(out, mode.path)
        out.add(
            excitation_kind=BY_PATH if mode.path else BY_POSITION if mode.input == "eta" else BY_ACCELERATION,
            excitation_joint=joint,
            excitation_p=p + index,
            excitation_u=u + index,
            excitation_path=path,
            excitation_cutoff=mode.cutoff,
            excitation_row=-1,
            excitation_transition=0.0,
            excitation_drive=-1,
            excitation_insist=0,
        )


def add_path(out: Rows, path: Path) -> int:
    """Adds a path; returns its index."""
    if path.wave is not None and path.wave[1] == 0.0:  # such as a coordinate along the normal of a circle
        path = Path.polynomial(path.wave[0])
    out.add(path_piece=len(out.rows.get("piece_time", ())), path_pieces=len(path.breaks), path_period=path.period)
    out.add(path_wave=path.wave or (0.0, 0.0, 0.0))
    for time, row, stop in zip(path.breaks, path.coefficients, _stops(path), strict=True):
        out.add(piece_time=time, piece_polynomial=row, piece_stop=int(stop))
    return len(out.rows["path_piece"]) - 1


def _stops(path: Path) -> list[bool]:
    """Whether the acceleration or its rate jumps at the start of each piece."""
    last = path.breaks[0] + path.period if path.period else path.breaks[-1]
    until = [*path.breaks[1:], last]
    ends = [_bends(c, end - t) for t, c, end in zip(path.breaks, path.coefficients, until, strict=True)]
    begins = [_bends(c, 0.0) for c in path.coefficients]
    large = [max(abs(side[order]) for side in begins + ends) for order in range(2)]
    out = []
    for i, begin in enumerate(begins):
        jumps = (abs(begin[order] - ends[i - 1][order]) > _SMOOTH * large[order] for order in range(2))
        out.append((i > 0 or path.period > 0.0) and any(jumps))
    return out


def _bends(c: Sequence[float], x: float) -> tuple[float, float]:
    """Second and third derivative of a piece at the time x after its break."""
    return (
        2 * c[2] + x * (6 * c[3] + x * (12 * c[4] + x * (20 * c[5] + x * (30 * c[6] + x * 42 * c[7])))),
        6 * c[3] + x * (24 * c[4] + x * (60 * c[5] + x * (120 * c[6] + x * 210 * c[7]))),
    )
