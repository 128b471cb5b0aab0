"""What a step of an FMU for real time takes: a bound of every iteration, and what the default experiment took.

With fixed steps an integration step evaluates the accelerations as often as the scheme has stages. What it iterates
beside that ends by a count in the core. Mechanisms with an iteration without a useful bound are refused by name.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fmumbs.compiler.constraint_rows import RATES
from fmumbs.compiler.layout import lib
from fmumbs.compiler.options import RunOptions
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.errors import ExportError

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

CORRECTIONS = 100
"""Most corrections of an integration step: 25 of positions and 25 of velocities, done again once where those fail."""
NEWTON, HALVINGS = 60, 30
"""Most iterations for the normal forces of an evaluation, and trial steps of each."""
CUT_JOINT = 30
"""Most iterations for the coordinates of a cut joint at a position."""
WIDTHS = 6
"""Most distances from a singular position at which nodes of the interpolation are sought."""
STICKING = 7
"""Most evaluations in place of one while a law sticks, and of the choice whether it does."""
STACK = 16 * 1024
"""Bytes that no call needs more of; the tests paint the stack."""
MOST_STEPS = 10_000
"""Integration steps of the run that is counted."""
INFINITE = 1e299
"""Bounds of a law's velocities that are larger are infinite."""
_FIXED = [name for name, scheme in SCHEMES.items() if scheme.fixed]


@dataclass(frozen=True)
class Counts:
    """Of the integration steps of a run: their number; evaluations and corrections of the mean and the worst one."""

    steps: int
    evaluations: tuple[float, float]
    corrections: tuple[float, float]


def fixed_scheme(options: RunOptions) -> RunOptions:
    """The options with a scheme of fixed steps. Raises ExportError for another one."""
    scheme = options.get("scheme")
    if scheme is None:
        return {**options, "scheme": "rk4"}
    if scheme not in (*_FIXED, *(SCHEMES[name].number for name in _FIXED)):
        raise ExportError(
            f"the scheme '{scheme}' has no fixed steps, which realtime=True needs. Leave scheme out, or choose one of: "
            f"{', '.join(_FIXED)}."
        )
    return options


def check_bounded(image: "ModelImage") -> None:
    """Raises ExportError for a mechanism with an iteration that no count ends soon."""
    arrays, sizes = image.arrays, image.sizes
    found = []
    for i in range(sizes["laws"]):
        first, count = int(arrays["law_first"].flat[i]), int(arrays["law_count"].flat[i])
        bounds = arrays["law_range"].reshape(-1, 5)[first : first + count, 2:4]
        if np.any(np.abs(bounds) < INFINITE):
            found.append(str(image.variables.structured.text(int(arrays["law_name"].flat[i]))))
    if len(found) > 1:
        raise ExportError(
            f"'{found[0]}' and '{found[1]}' of '{image.name}' may stick at the same time: no useful count bounds the "
            "search for the laws that do. Make all but one smooth at rest, as by LuGre friction, or leave realtime out."
        )
    kinds = arrays["row_kind"].ravel()[: sizes["rows"]]
    holds = bool(np.isin(kinds, list(RATES.values())).any())
    slides = bool(np.any(arrays["general_speeds"] < arrays["general_screws"])) if sizes["generals"] else False
    if sizes["rows"] and (holds or slides):
        raise ExportError(
            f"'{image.name}' has nonholonomic joints and loops, whose positions may have to be assembled again within "
            "a step. Replace the loops or these joints, or leave realtime out."
        )


def counts_of(image: "ModelImage") -> Counts:
    """Of the default experiment with the inputs' start values, at most MOST_STEPS steps of it.

    Raises SolverError if it fails, such as by a step that is too long.
    """
    from fmumbs.run.solver import Solver

    solver, step = Solver(image), step_of(image)
    solver.assemble()
    names = image.variables.names()
    which = np.array([names.index(f"solver.{name}") for name in ("evaluations", "iterations")], np.uint32)
    steps = max(1, min(MOST_STEPS, round((image.default_experiment.stop or 1.0) / step)))
    read = np.empty((steps + 1, len(which)))
    read[0] = solver.read(which)
    for n in range(1, steps + 1):
        solver.step(n * step)
        read[n] = solver.read(which)
    each = np.diff(read, axis=0)
    mean, worst = each.mean(axis=0), each.max(axis=0)
    return Counts(steps, (float(mean[0]), float(worst[0])), (float(mean[1]), float(worst[1])))


def section(image: "ModelImage") -> tuple[str, str]:
    """Heading and text, in HTML, for the FMU's documentation. Raises as check_bounded and counts_of."""
    check_bounded(image)
    counts = counts_of(image)
    rows = [("evaluations of the accelerations", counts.evaluations), ("corrections of loops", counts.corrections)]
    table = "\n".join(
        f"<tr><td>{what}</td><td>{mean:.6g}</td><td>{worst:.6g}</td></tr>" for what, (mean, worst) in rows
    )
    return (
        "Real time",
        f"""<p>Integration steps are at most {step_of(image)} s long, and a communication step is divided
into equal ones. It should be a multiple of that, so that each takes the same number. The parameter
<code>solver.scheme</code> must stay that of fixed steps. No step allocates memory, and no call needs
more than {STACK // 1024} KB of stack where the compiler optimizes.</p>
<table>
<tr><th>in an integration step</th><th>mean</th><th>worst</th></tr>
{table}
</table>
<p>Counted over {counts.steps} steps of the default experiment. {" ".join(_bounds(image))}</p>""",
    )


def _bounds(image: "ModelImage") -> list[str]:
    """Sentences on what else is iterated, and what happens where a count ends."""
    arrays, sizes = image.arrays, image.sizes
    found = []
    if sizes["rows"]:
        found.append(
            f"A step whose loops {CORRECTIONS} corrections do not close returns Discard; the instance is then at the "
            "last successful time."
        )
        found.append(
            "Beside a singular position an evaluation is interpolated from others, at nodes that are sought at "
            f"{WIDTHS} distances at most."
        )
    if sizes["laws"]:
        found.append(
            f"While a force law sticks, an evaluation takes at most {STICKING} in all, and so does the choice of its "
            "mode at the end of an integration step and at the start of a communication step."
        )
    if sizes["cut_positions"]:
        found.append(f"Coordinates of cut joints take at most {CUT_JOINT} iterations, then the step returns Discard.")
    if sizes["frictions"] and np.any(arrays["friction_own"] != 0):
        found.append(
            f"The normal forces of friction take at most {NEWTON} iterations of at most {HALVINGS} trial steps in an "
            "evaluation; where these do not balance them, the step returns Discard. Where an evaluation does not hold "
            "what they follow, it takes one more for each of these frictions, and another."
        )
    return found


def step_of(image: "ModelImage") -> float:
    """The longest integration step [s]."""
    return float(image.arrays["options"].flat[lib.FM_OPTION_STEP])
