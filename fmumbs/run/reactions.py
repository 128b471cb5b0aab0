"""Uniqueness of the reactions of a mechanism at the position of a Solver."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.analysis.divide_and_conquer import DivideAndConquer
from fmumbs.analysis.divide_and_conquer import divide_and_conquer as divide
from fmumbs.analysis.placed import Placed
from fmumbs.analysis.tools import ToolName
from fmumbs.analysis.uniqueness import Uniqueness
from fmumbs.analysis.uniqueness import uniqueness as verdict
from fmumbs.compiler.kinds import BODY
from fmumbs.compiler.names import Names
from fmumbs.compiler.placing import holding, placed
from fmumbs.errors import AssemblyError, FmumbsError, ModelError
from fmumbs.mechanism import Model
from fmumbs.run.hosted import Hosted
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]

NEARBY = 0.03  # distance of neighbouring positions [rad], or relative to the model's length
NEIGHBOURS = 3
IMMOBILE = 1e-9  # of a random motion: what loops leave of it where nothing moves
CLOSED = 1e-8  # relative to the model's length: if assembly fails although the loops close, the position is singular


def uniqueness(model: Model, solver: Solver | None = None) -> Uniqueness:
    """Which reactions a rigid model determines, and the rank at neighbouring positions.

    solver: of the same model with all its variables, at the position to examine; by default at the initial position.
    Raises AssemblyError if the loops do not close there.
    """
    solver = _started(model) if solver is None else solver
    found = verdict(place(model, solver))
    if len(model.joints) == len(model.bodies) and not model.couplings:  # a tree has no loop that could be singular
        return found
    nearby = _nearby(model, solver)
    return replace(found, nearby=tuple(r for r, _ in nearby), nearby_kept=tuple(kept for _, kept in nearby))


def divide_and_conquer(
    model: Model,
    tool: ToolName = "svd",
    order: Sequence[str] = (),
    own_inertias: bool = False,
    solver: Solver | None = None,
) -> DivideAndConquer:
    """The same for all joints by the divide-and-conquer method, with its steps.

    model: to assess; solver: a Solver of it, at whose position; by default at the start, assembled.
    tool: "rank", "qr", "svd" or "nullspace", used on the multijoint connection with the ground. order: names of the
    joints between bodies in the order of assembly. own_inertias: use the inertias and weights of the bodies, instead of
    well-conditioned ones. Raises ModelError if bodies form a loop that does not contain the ground.
    """
    solver = _started(model) if solver is None else solver
    return divide(place(model, solver), tool, order, _checks.flag(own_inertias, "own_inertias"), model.gravity)


def place(model: Model, solver: Solver) -> Placed:
    """Positions of the bodies and joints of a model, in the model's order, with the wrenches each joint can carry.

    solver: of the same model with all its variables.
    """
    if not isinstance(solver, Solver):
        raise ModelError(f"solver is {_checks.shown(solver)}. Give a Solver of the model, or leave it out.")
    arrays = solver.image.arrays
    named = {joint.name: joint for joint in model.joints}
    joints = [named[name] for name in solver.joint_names]
    there = placed(Names(arrays).elements(BODY), joints, model.couplings, arrays, solver.instance, holding(model))
    return there.ordered([body.name for body in model.bodies], [joint.name for joint in model.joints])


def _started(model: Model) -> Solver:
    """A Solver at the initial position; a singular position, where assembly fails, is accepted."""
    solver = Solver(model)
    try:
        solver.assemble()
    except AssemblyError:
        if not _closes(solver):
            raise
    return solver


def _nearby(model: Model, solver: Solver) -> list[tuple[int, float]]:
    """Rank and smallest counted singular value at positions near the present one where the loops close."""
    kept, at = solver.state_save(), solver.positions
    variables = solver.image.variables
    shown = [variables[int(i)] for i in variables.positions()]
    length = float(solver.image.arrays["length"][0])
    far = np.array([0.0 if v.kind == "eta" else length if v.unit == "m" else 1.0 for v in shown])
    random = np.random.default_rng(1)
    found: list[tuple[int, float]] = []
    for seed in range(NEIGHBOURS):
        anywhere = at + NEARBY * far * random.uniform(-1.0, 1.0, len(at))
        there = _along_motion(solver, far, seed)
        if there is None:
            try:
                solver.set_state(anywhere, np.zeros(solver.image.sizes["speeds"]))
            except FmumbsError:
                continue
        reached = verdict(place(model, there or solver))
        found.append((reached.rank, reached.gap.kept))
        solver.state_load(kept)
    return found


def _along_motion(solver: Solver, far: Array, seed: int) -> Solver | None:
    """A Solver NEARBY along some motion of the loops from a Solver's positions; far: units of positions.

    There few corrections close the loops, while from positions that fit no motion the nearest configuration is sought.
    None: nothing moves, or corrections do not close the loops, as at singular positions.
    """
    try:
        hosted = Hosted(solver)
        at, unit = hosted.state()[: hosted.np], hosted.speeds_of(hosted.nominal())
        hosted.go(at, unit * np.random.default_rng([1, seed]).uniform(-1.0, 1.0, hosted.nu))
        hosted.correct()
        rates = np.where(far > 0.0, hosted.rates()[: hosted.np], 0.0)
        speed = float(np.abs(rates[far > 0.0] / far[far > 0.0]).max(initial=0.0))
        if not speed > IMMOBILE:
            return None
        hosted.go(at + NEARBY / speed * rates, np.zeros(hosted.nu))
        hosted.correct()
    except FmumbsError:
        return None
    return hosted.solver if _closes(hosted.solver) else None


def _closes(solver: Solver) -> bool:
    """Whether the loops are closed at the present positions."""
    return bool(solver.get("solver.position_violation") < CLOSED * float(solver.image.arrays["length"][0]))
