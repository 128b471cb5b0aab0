"""A copy of a Solver that this package drives as a host that integrates by itself."""

from __future__ import annotations

import numpy as np

from fmumbs.compiler.layout import ffi, lib
from fmumbs.run.coordinates import Array, pointer
from fmumbs.run.solver import Solver


class Hosted:
    """Goes to states y at one time: positions and velocities of the spanning tree, then deflections of bristles.

    What follows a path is part of y, and goes where y says too.
    """

    def __init__(self, solver: Solver, *, assemble: bool = False) -> None:
        """solver: one with a state, which is left alone; assemble: closes the copy's loops at its time first."""
        self.image = solver.image
        self.solver = Solver(self.image)
        self.solver.state_load(solver.state_save())
        if assemble:
            self.solver.assemble(solver.time)
        self.correct()
        self.np, self.nu, self.nb = (self.image.sizes[name] for name in ("positions", "speeds", "bristles"))

    def state(self) -> Array:
        """The present y."""
        return self.solver.filled(lib.fm_tree_state, self._none())

    def nominal(self) -> Array:
        """Magnitudes of y: 1 rad and rad/s, or the model's length [m] and [m/s]."""
        return self.solver.filled(lib.fm_tree_nominals, self._none())

    def go(self, positions: Array, speeds: Array, deflections: Array | None = None) -> None:
        """Goes to a state, by default with bristles at rest."""
        y = np.concatenate([positions, speeds, np.zeros(self.nb) if deflections is None else deflections])
        self.solver.call(lib.fm_set_tree_state, pointer(y))

    def correct(self) -> None:
        """Moves the present state onto the constraints by the smallest change in the mass norm."""
        self.solver.call(lib.fm_update_events, ffi.new("fm_events *"))

    def rates(self) -> Array:
        """The rates of y at the present state, with the pull to the constraints; of what follows a path, its own."""
        rates = self._none()
        self.solver.call(lib.fm_tree_rates, pointer(rates), len(rates))
        return rates

    def speeds_of(self, y: Array) -> Array:
        """(speeds,) velocities of y, or accelerations of its rates."""
        return y[self.np : self.np + self.nu]

    def deflections_of(self, y: Array) -> Array:
        """(bristles,) of y, or their rates."""
        return y[self.np + self.nu :]

    def _none(self) -> Array:
        return np.zeros(self.np + self.nu + self.nb)
