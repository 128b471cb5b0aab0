"""What a step of an FMU for real time takes: a bound of every iteration, and what the default experiment took.

With fixed steps an integration step evaluates the accelerations as often as the scheme has stages. What it iterates
beside that ends by a count in the core. Mechanisms with an iteration without a useful bound are refused by name.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fmumbs.compiler.constraint_rows import RATES
from fmumbs.compiler.layout import lib
from fmumbs.compiler.options import RunOptions
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.errors import ExportError, SolverError

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

CORRECTIONS = 4 * lib.FM_MOST_CORRECTIONS
"""Most corrections of an integration step: those of positions and of velocities, done again once where those fail."""
SINGULAR = 2 * (lib.FM_NODES + 2)
"""Most evaluations in place of one beside a singular position: at a stage, at the nodes of an interpolation and on the
branch, of stages that begin again once."""
NODES = 2 * lib.FM_MOST_CORRECTIONS * (lib.FM_MOST_WIDTHS * lib.FM_NODES + 1)
"""Most corrections of one search for these nodes and the branch: of positions and velocities, of each at each width."""
STACK = 16 * 1024
"""Bytes that no call needs more of; the tests paint the stack."""
MOST_STEPS = 10_000
"""Integration steps of the run that is counted."""
TRIED = 9
"""Shorter steps that are tried where a step is too long: down to a thousandth of it."""
_FIXED = [name for name, scheme in SCHEMES.items() if scheme.fixed]


@dataclass(frozen=True)
class Counts:
    """Of the integration steps of a run: their number; evaluations, corrections and floating-point operations of the
    mean and the worst one. Operations are None where the installation has no counting core.
    """

    steps: int
    evaluations: tuple[float, float]
    corrections: tuple[float, float]
    operations: tuple[float, float] | None


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


def _laws_that_stick(image: "ModelImage") -> list[str]:
    """Names of the force laws that may stick: their pieces have bounds of the velocity."""
    arrays, found = image.arrays, list[str]()
    for i in range(image.sizes["laws"]):
        first, count = int(arrays["law_first"].flat[i]), int(arrays["law_count"].flat[i])
        bounds = arrays["law_range"].reshape(-1, 5)[first : first + count, 2:4]
        if np.any(np.abs(bounds) < lib.FM_LARGEST_BOUND):
            found.append(str(image.variables.structured.text(int(arrays["law_name"].flat[i]))))
    return found


def _owned(image: "ModelImage") -> int:
    """How many frictions follow their joints' own normal forces."""
    own = image.arrays["friction_own"].reshape(-1, 3)[: image.sizes["frictions"]]
    return int(np.any(own != 0, axis=1).sum())


def check_bounded(image: "ModelImage") -> None:
    """Raises ExportError for a mechanism with an iteration that no count ends soon."""
    arrays, sizes = image.arrays, image.sizes
    found = _laws_that_stick(image)
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


def bounds_of(image: "ModelImage") -> tuple[int, int]:
    """Most evaluations and corrections of an integration step away from singular positions, by which it ends or fails.

    A step takes an evaluation a stage. In place of each there are several while a law sticks, and one for each friction
    by own normal forces, and two. The mode of a law that may stick is chosen when a communication step begins and when
    an integration step ends.
    """
    number = int(image.arrays["options"].flat[lib.FM_OPTION_SCHEME])
    scheme = next(one for one in SCHEMES.values() if one.number == number)
    loops, sticks, owned = image.sizes["rows"] > 0, bool(_laws_that_stick(image)), _owned(image)
    each = (lib.FM_MOST_STUCK if sticks else 1) * (2 + owned if owned else 1)
    return scheme.stages * each + (2 * _choice(image) if sticks else 0), CORRECTIONS if loops else 0


def _choice(image: "ModelImage") -> int:
    """Most evaluations for the mode of a law that may stick."""
    hard = bool(np.any(image.arrays["law_hard"].ravel()[: image.sizes["laws"]]))
    return int(lib.FM_MOST_CHOICE + (lib.FM_MOST_STRUCK if hard else 0))


def singular_bounds_of(image: "ModelImage") -> tuple[int, int]:
    """The same beside a singular position, which a loop may have.

    Each evaluation begins a search for nodes at most twice, and so does each correction after the step, and the first
    look there.
    """
    evaluations, corrections = bounds_of(image)
    return SINGULAR * evaluations, corrections + NODES * (2 * evaluations + corrections + 1)


def counts_of(image: "ModelImage") -> Counts:
    """Of the default experiment with the inputs' start values, at most MOST_STEPS steps of it.

    Raises ExportError if it fails but passes with shorter steps, which it names, else SolverError as it fails.
    """
    step = step_of(image)
    try:
        each = _run(image, step)
    except SolverError as error:
        fitting = _fitting_step(image, step)
        if fitting is None:
            raise
        steps = _steps(image, fitting)
        part = "" if steps < MOST_STEPS else f"the first {steps * fitting:g} s of "
        raise ExportError(
            f"steps of {step:g} s are too long for '{image.name}': {str(error).partition('. ')[0]}. "
            f"Give step={fitting:g} (--step {fitting:g}), with which {part}its default experiment can be run."
        ) from error
    mean, worst = each.mean(axis=0), each.max(axis=0)
    from fmumbs.export.counting import counted  # late: it runs as a module, too

    found = counted(image.bytes, step, len(each), 0)
    return Counts(
        len(each),
        (float(mean[0]), float(worst[0])),
        (float(mean[1]), float(worst[1])),
        (float(np.mean(found.operations)), float(max(found.operations))) if found else None,
    )


def _run(image: "ModelImage", step: float) -> np.ndarray:
    """(steps, 2) evaluations and corrections of each step [s] of the default experiment. Raises SolverError."""
    from fmumbs.run.solver import Solver

    solver = Solver(image)
    solver.set("solver.step", step)
    solver.assemble()
    names = image.variables.names()
    which = np.array([names.index(f"solver.{name}") for name in ("evaluations", "iterations")], np.uint32)
    steps = _steps(image, step)
    read = np.empty((steps + 1, len(which)))
    read[0] = solver.read(which)
    for n in range(1, steps + 1):
        solver.step(n * step)
        read[n] = solver.read(which)
    return np.diff(read, axis=0)


def _steps(image: "ModelImage", step: float) -> int:
    """Of the default experiment, at most MOST_STEPS."""
    return max(1, min(MOST_STEPS, round((image.default_experiment.stop or 1.0) / step)))


def _fitting_step(image: "ModelImage", step: float) -> float | None:
    """The longest of the TRIED next shorter steps [s], in the series 5, 2, 1, with which _run() passes."""
    decade = math.floor(math.log10(step))
    series = [float(f"{digit}e{decade - n}") for n in range(TRIED // 3 + 1) for digit in (5, 2, 1)]
    for shorter in [one for one in series if one < step][:TRIED]:
        try:
            _run(image, shorter)
        except SolverError:
            continue
        return shorter
    return None


def section(image: "ModelImage") -> tuple[str, str]:
    """Heading and text, in HTML, for the FMU's documentation. Raises as check_bounded and counts_of."""
    check_bounded(image)
    counts = counts_of(image)
    names, most = ("evaluations of the accelerations", "corrections of loops"), bounds_of(image)
    table = "\n".join(
        f"<tr><td>{what}</td><td>{mean:.6g}</td><td>{worst:.6g}</td><td>{bound}</td></tr>"
        for what, (mean, worst), bound in zip(names, (counts.evaluations, counts.corrections), most, strict=True)
    )
    how = "Operations are not counted: the installation that made this FMU has no counting core."
    if counts.operations:
        mean, worst = counts.operations
        table += f"\n<tr><td>floating-point operations</td><td>{mean:.0f}</td><td>{worst:.0f}</td><td></td></tr>"
        how = "Operations are additions, subtractions, multiplications, divisions and square roots."
    return (
        "Real time",
        f"""<p>Integration steps are at most {step_of(image)} s long, and a communication step is divided
into equal ones. It should be a multiple of that, so that each takes the same number. The parameter
<code>solver.scheme</code> must stay that of fixed steps. No step allocates memory, and no call needs
more than {STACK // 1024} KB of stack where the compiler optimizes.</p>
<table>
<tr><th>in an integration step</th><th>mean</th><th>worst</th><th>never more than</th></tr>
{table}
</table>
<p>An evaluation is one sweep over all bodies and one factor of the loops' matrix; a correction is one solution with
such a factor, and at most one sweep and factor more. {how} Counted over {counts.steps} steps of the default
experiment. {" ".join(_bounds(image))}</p>""",
    )


def _bounds(image: "ModelImage") -> list[str]:
    """Sentences on what else is iterated, and what happens where a count ends."""
    sizes, found = image.sizes, list[str]()
    if sizes["rows"]:
        found.append(
            f"A step whose loops {CORRECTIONS} corrections do not close returns Discard; the instance is then at the "
            "last successful time."
        )
        evaluations, corrections = singular_bounds_of(image)
        found.append(
            f"Beside a singular position a step takes at most {SINGULAR} times as many evaluations, {evaluations}: "
            f"they are interpolated from others at {lib.FM_NODES} nodes, which are sought at {lib.FM_MOST_WIDTHS} "
            f"distances at most, with at most {2 * lib.FM_MOST_CORRECTIONS} corrections of each: in all never more "
            f"than {corrections}."
        )
    if _laws_that_stick(image):
        found.append(
            f"While a force law sticks, an evaluation takes at most {lib.FM_MOST_STUCK} in all, and the choice of its "
            f"mode, at the end of an integration step and at the start of a communication step, at most "
            f"{_choice(image)}."
        )
    if sizes["cut_positions"]:
        found.append(
            f"Coordinates of cut joints take at most {lib.FM_MOST_SEARCHES} iterations, then the step returns Discard."
        )
    if _owned(image):
        found.append(
            f"The normal forces of friction take at most {lib.FM_MOST_NORMAL_STEPS} iterations of at most "
            f"{lib.FM_MOST_HALVINGS} trial steps in an "
            "evaluation; where these do not balance them, the step returns Discard. Where an evaluation does not hold "
            "what they follow, it takes one more for each of these frictions, and another."
        )
    return found


def step_of(image: "ModelImage") -> float:
    """The longest integration step [s]."""
    return float(image.arrays["options"].flat[lib.FM_OPTION_STEP])
