"""The worst integration step of FMUs for real time over the mean, of all models that ship: floating-point operations.

    python benchmarks/real_time.py [MODEL ...]

Each model is compiled with realtime's fixed steps, the longest of 1e-3, 1e-4, 1e-5 s that its default experiment takes,
and runs that experiment, at most 10 000 steps of it. Needs the counting core: python -m fmumbs.export.counting.
"""

import sys
from pathlib import Path

import fmumbs as fm
from fmumbs.errors import FmumbsError
from fmumbs.export.counting import build
from fmumbs.export.realtime import check_bounded, counts_of
from fmumbs.readers import read_model

MODELS = Path(__file__).parents[1] / "models"
CANDIDATES = (1e-3, 1e-4, 1e-5)


def measured(name: str) -> str:
    for step in CANDIDATES:
        image = fm.compile(read_model(name), scheme="rk4", step=step)
        check_bounded(image)
        try:
            counts = counts_of(image)
        except FmumbsError as error:
            if "too long" not in str(error):
                raise
            continue
        assert counts.operations is not None
        mean, worst = counts.operations
        return f"{step:<8g} {counts.steps:6d} {mean:12.0f} {worst:12.0f} {worst / mean:8.3f}"
    return f"needs steps below {CANDIDATES[-1]:g} s"


def main() -> None:
    build()
    names = sys.argv[1:] or sorted(path.stem for path in MODELS.glob("[!_]*.py"))
    print(f"{'model':24} {'step [s]':8} {'steps':>6} {'mean':>12} {'worst':>12} {'ratio':>8}")
    for name in names:
        try:
            found = measured(name)
        except FmumbsError as error:
            found = f"refused: {error}"[:100]
        print(f"{name:24} {found}", flush=True)


if __name__ == "__main__":
    main()
