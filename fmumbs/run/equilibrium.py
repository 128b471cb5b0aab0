"""Static equilibrium: positions where a mechanism at rest stays at rest, and whether it is stable there.

The core finds it (fmumbs/core/statics/). Its stability follows from the squares of the angular frequencies of small
undamped vibrations about it (vibrations.py): stable if all are real and positive by more than round-off, unstable if
one is negative or complex by more than that. Of large mechanisms only some are computed, and one of a motion that
departs, which the core seeks as well (statics/stability.c).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs._late import later
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.options import ProgramsAtRest
from fmumbs.errors import AssemblyError, EquilibriumError
from fmumbs.mechanism import Model
from fmumbs.run.solver import Solver
from fmumbs.run.vibrations import LOWEST, freedoms, growths, vibrations

Array = NDArray[np.float64]

_SAME = 1e-2  # relative difference of one squared frequency, found in two ways


@dataclass(frozen=True)
class Equilibrium:
    """What equilibrium() found.

    starts: positions of all states by name, to be given as `starts=` to compile() and export_fmu() or as `inputs=` to
        simulate().
    squares: (freedoms,) squares of the angular frequencies of small undamped vibrations [1/s2] by their real parts;
        a negative one belongs to a motion that departs, a complex pair to flutter. Of a large mechanism only the four
        of least magnitude, or three and that of a motion that departs.
    errors: (freedoms,) how far round-off may move each of them [1/s2].
    softest: the coordinate that moves most in the motion that departs fastest, or in the first.
    flutter_sought: False where forces without a potential may make vibrations grow that were not looked for, in a
        mechanism of more than 400 degrees of freedom; the verdict is then "not decided".
    locks: the generalised force [N.m] or [N] that keeps each locked coordinate at its start value, by name.
    method: "newton", "descent" or "shortened newton". solver: stands in the equilibrium.
    """

    starts: dict[str, float]
    squares: tuple[complex, ...]
    errors: tuple[float, ...]
    softest: str
    method: str
    solver: Solver
    locks: Mapping[str, float] = field(default_factory=dict)
    flutter_sought: bool = True

    @property
    def stable(self) -> bool:
        """Whether all of them are real and positive by more than their errors."""
        return self.verdict == "stable"

    @property
    def verdict(self) -> str:
        """Of "stable", "unstable", and "not decided" where round-off hides a sign, or flutter was not looked for."""
        squares, errors = np.array(self.squares, complex), np.array(self.errors)
        if ((squares.imag != 0.0) | (squares.real < -errors)).any():  # imaginary parts within round-off are zero
            return "unstable"
        return "stable" if (squares.real > errors).all() and self.flutter_sought else "not decided"

    @property
    def growth(self) -> float:
        """Of the motion that departs fastest [1/s]; 0 if none does."""
        return float(growths(np.array(self.squares, complex)).max(initial=0.0)) if self.verdict == "unstable" else 0.0

    @property
    def frequencies(self) -> Array:
        """(freedoms,) angular frequencies [rad/s], in the order of `squares`; 0 for motions that depart without
        vibrating.
        """
        return np.asarray(np.sqrt(np.array(self.squares, complex)).real)

    def view(self) -> Any:
        """A page of its small vibrations, each with its frequency, which a notebook shows; see Model.view().

        Up to twelve, the slowest first; their amplitude is what can be seen. Raises SolverError if the loops cannot be
        closed beside the equilibrium.
        """
        return later("view").view_vibrations(self)

    def __str__(self) -> str:
        if self.verdict == "unstable":
            departing = int(np.argmax(growths(np.array(self.squares, complex))))
            what = "displacement" if complex(self.squares[departing]).imag == 0.0 else "vibration"
            return f"unstable equilibrium: a {what} of {self.softest} grows as exp({self.growth:.6g} t)"
        first = f", lowest frequency {self.frequencies[0]:.6g} rad/s in {self.softest}" if self.squares else ""
        hidden = "whose stability round-off hides" if self.flutter_sought else "in which flutter was not looked for"
        return f"{'stable equilibrium' if self.stable else f'equilibrium {hidden}'}{first}"


def equilibrium(
    model: Model | ModelImage, *, locked: Sequence[str] = (), programs: ProgramsAtRest | None = None
) -> Equilibrium:
    """A static equilibrium near the start of a mechanism, stable or not; works on trees, loops and flexible bodies.

    Excited modes stand where they are at t = 0. Laws act with the mean of their forces at small velocities of either
    sign, so that friction drops out: of the many positions in which it may stick, this is the one that needs none.
    A stop with a restitution holds what rests on it, and small vibrations have that joint locked. Bristles of contacts
    are springs between the points that touch at the start; what can roll or slide aside at its contact is an
    equilibrium whose verdict is "not decided".
    Inputs have their start values. With nonholonomic joints the accelerations along the velocities that they allow
    vanish. Such positions are not isolated: this one is reached from the start along allowed velocities.

    locked: joints by name, such as "hoist", or coordinates, such as "hoist.q[2]", that keep their start values, while
        supports and links sag; only for a Model. `locks` of the result has the forces that this takes. The verdict is
        that of the locked mechanism; when a motion begins, the locks are open.
    programs: "held", as by default: programs hold where they start, and their ideal drives carry the sag; or
        "released": their drives exert nothing. See ModelImage.with_options.

    It is the one in which an FMU starts whose parameter solver.equilibrium is 1, and the Solver of
    image.with_options(equilibrium=True).

    Raises ModelError for a model that cannot be compiled and for locks that do not exist, AssemblyError if the loops
    cannot be closed, EquilibriumError where there is no equilibrium near the start, or an indifferent one without a
    closed contact.
    """
    image = image_of(model, everything=True, equilibrium=True, locked=locked, programs=programs)
    if len(image.variables.speeds()) != image.sizes["speeds"]:
        raise EquilibriumError(
            f"Model '{image.name}' declares variables, and its image does not show all coordinates. Give the Model, or "
            "compile(model, everything=True)."
        )
    solver = resting(image)
    squares, errors, softest = _stability(solver)
    sought = len(squares) == freedoms(solver) or not np.isnan(solver.departure[0])
    places = image.variables.positions()
    places = places[image.variables.states(places)]
    names = image.variables.names(places)
    starts = dict(zip(names, solver.read(places).tolist(), strict=True))
    return Equilibrium(starts, squares, errors, softest, solver.equilibrium_found[0], solver, solver.locks, sought)


def resting(image: ModelImage) -> Solver:
    """A Solver in the equilibrium of a mechanism. Raises AssemblyError, EquilibriumError."""
    Solver(image.with_options(equilibrium=False)).assemble()  # an error of the assembly is no missing equilibrium
    solver = Solver(image.with_options(equilibrium=True))
    try:
        solver.assemble()
    except AssemblyError as error:
        raise EquilibriumError(f"Model '{image.name}': {error}") from None
    return solver


def _stability(solver: Solver) -> tuple[tuple[complex, ...], tuple[float, ...], str]:
    """Squared frequencies at a solver's equilibrium, their errors, and the coordinate of the first to depart."""
    found = vibrations(solver)
    squares, errors = found.squares, found.errors
    values = tuple(complex(one) if one.imag else float(one.real) for one in squares)
    growth, departing = solver.departure
    if len(squares) < freedoms(solver) and growth > 0.0 and squares[0].real > -(growth**2) * (1.0 - _SAME):
        kept = LOWEST - 1  # that motion is not among those of least magnitude
        return (-(growth**2), *values[:kept]), (0.0, *errors[:kept].tolist()), departing
    if not values:
        return (), (), ""
    grown = growths(squares)
    first = int(np.argmax(grown)) if grown.any() else 0
    rates = solver.image.variables.names(solver.image.variables.speeds())
    name = rates[int(np.argmax(np.abs(found.motions[:, first])))]
    return values, tuple(errors.tolist()), name.replace(".qd", ".q").replace(".v", ".r")
