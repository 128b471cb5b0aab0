"""Positions, velocities and accelerations of a mechanism at many instants, as arrays or by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs._checks import nearest
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.kinds import kind_columns
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.names import split_component
from fmumbs.errors import FmumbsError, ModelError
from fmumbs.mechanism import Model
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]
Given = ArrayLike | Mapping[str, ArrayLike]
"""(n,) or (instants, n) numbers, or by name a number or (instants,) of a scalar, (k,) or (instants, k) of a vector."""


def solver_of(model: Model | ModelImage | Solver) -> Solver:
    """A Solver that shows all variables. Raises ModelError where it does not."""
    solver = model if isinstance(model, Solver) else Solver(image_of(model, everything=True))
    if len(solver.image.variables.speeds()) != solver.image.sizes["speeds"]:
        raise ModelError(
            f"Model '{solver.image.name}' declares variables, and its image does not show all coordinates. Give the "
            "Model, or compile(model, everything=True)."
        )
    return solver


class Coordinates:
    """The coordinates of the spanning tree in the image's order, as in Solver.set_state()."""

    def __init__(self, image: ModelImage) -> None:
        self.image = image
        self.name = image.name

    @cached_property
    def positions(self) -> list[str]:
        """(positions,) names: "A.q", "S.q[1]" to "S.q[4]" of a quaternion, ..."""
        return self.image.variables.names(self._places)

    @cached_property
    def speeds(self) -> list[str]:
        """(speeds,) names of the velocities: "A.qd", "S.w[1]", ..."""
        return self.image.variables.names(self.image.variables.speeds())

    @cached_property
    def accelerations(self) -> list[str]:
        """(speeds,) names of their rates; of excited modes "J.kappa_dot" whether or not that is a variable."""
        rates = {int(u): None for u in self.image.arrays["excitation_u"]}
        names = iter(self.image.variables.names(self.image.variables.accelerations()))
        shown = len(self.image.variables.accelerations()) == len(self.speeds)
        return [
            speed.replace(".kappa", ".kappa_dot") if u in rates and not shown else next(names)
            for u, speed in enumerate(self.speeds)
        ]

    @cached_property
    def _places(self) -> NDArray[np.uint32]:
        return self.image.variables.positions()

    @cached_property
    def _quaternions(self) -> list[int]:
        """Where each quaternion begins."""
        place = kind_columns().place[self.image.arrays["variable_kind"][self._places.astype(np.int64)]]
        four = np.flatnonzero(place == lib.FM_AT_QUATERNION)
        return [int(at) for at in four[::4]]

    def read_motion(
        self, q: Given | Result, u: Given | None, a: Given | None
    ) -> tuple[tuple[Array, Array, Array], bool]:
        """Positions, velocities and accelerations, as read_positions() and read_rates(); whether it was one instant
        alone. A Result as q has all of them.
        """
        if u is None and a is None and isinstance(q, Result):
            u, a = q, q
        positions, single = self.read_positions(q)
        speeds = self.read_rates(u, "velocities", len(positions))
        return (positions, speeds, self.read_rates(a, "accelerations", len(positions))), single

    def read_positions(self, given: Given) -> tuple[Array, bool]:
        """(instants, positions), quaternions as they are given; whether it was one instant alone."""
        names = self.positions
        values, single = self._read(given, names, "positions")
        for at in self._quaternions:
            if not np.linalg.norm(values[:, at : at + 4], axis=1).all():
                raise ModelError(
                    f"Model '{self.name}': the quaternion '{split_component(names[at])[0]}' is zero and gives no "
                    "orientation. Give w, x, y, z, such as 1, 0, 0, 0."
                )
        return values, single

    def with_unit_quaternions(self, positions: Array) -> Array:
        """(instants, positions) as the core makes them of what read_positions() returns."""
        values = positions.copy()
        for at in self._quaternions:
            values[:, at : at + 4] /= np.linalg.norm(values[:, at : at + 4], axis=1)[:, None]
        return values

    def read_rates(self, given: Given | None, what: str, count: int) -> Array:
        """(count, speeds) velocities or accelerations, `what`; None: zeros. One instant serves all of them."""
        names = self.speeds if what == "velocities" else self.accelerations
        if given is None:
            return np.zeros((count, len(names)))
        values, _ = self._read(given, names, what)
        if len(values) == 1:
            return np.ascontiguousarray(np.broadcast_to(values, (count, len(names))))
        if len(values) != count:
            raise ModelError(
                f"Model '{self.name}': there are {count} instants of positions and {len(values)} of {what}. Give as "
                "many of either."
            )
        return values

    def _read(self, given: Given, names: list[str], what: str) -> tuple[Array, bool]:
        """(instants, names) of an array or a mapping, and whether it was one instant alone."""
        array = self._by_name(given, names, what) if isinstance(given, Mapping) else self._numbers(given, what)
        single = array.ndim <= 1
        rows = array.reshape(1, -1) if single else array
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ModelError(
                f"Model '{self.name}' has {len(names)} {what}, {_listed(names)}, not "
                f"{' by '.join(map(str, array.shape))}. Give one number for each, or a row of them for each instant."
            )
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ModelError(
                f"Model '{self.name}': '{names[column]}' is {rows[row, column]} in instant {row}. Give finite numbers."
            )
        return np.ascontiguousarray(rows), single

    def _numbers(self, given: Any, what: str) -> Array:
        try:
            return np.asarray(given, float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"Model '{self.name}': {what} are given as {given!r:.60}, which are not numbers. Give an array, or "
                "numbers by name."
            ) from None

    def _by_name(self, given: Mapping[str, ArrayLike], names: list[str], what: str) -> Array:
        """(names,) or (instants, names); values of other variables are left alone."""
        columns: list[Array] = []
        for name in names:
            stem, component = split_component(name)
            if name in given:
                columns.append(self._numbers(given[name], what))
            elif component is not None and stem in given:
                whole = np.atleast_1d(self._numbers(given[stem], what))
                if component >= whole.shape[-1]:
                    raise ModelError(f"Model '{self.name}': '{stem}' has {whole.shape[-1]} numbers. Give '{name}' too.")
                columns.append(whole[..., component])
            else:
                raise ModelError(
                    f"Model '{self.name}': '{name}' is missing among the {what}. {nearest(name, map(str, given))} Give "
                    f"all of them: {_listed(names)}."
                )
        lengths = sorted({column.shape for column in columns if column.ndim})
        if len(lengths) > 1 or any(column.ndim > 1 for column in columns):
            raise ModelError(
                f"Model '{self.name}': the {what} have different numbers of instants: "
                f"{', '.join(' by '.join(map(str, shape)) for shape in lengths)}. Give as many of each."
            )
        return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)


def _listed(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def pointer(values: Array) -> Any:
    """Doubles for the core, which must lie one after the other."""
    return ffi.from_buffer("double[]", values)


def required(solver: Solver, applied: bool, positions: Array, speeds: Array, accelerations: Array) -> Array:
    """(n, speeds) what (n, ...) motions take of the tree; applied: beside what springs, friction and inputs exert."""
    forces = np.zeros(speeds.shape)
    given = (pointer(one) for one in (positions, speeds, accelerations, forces))
    solver.call(lib.fm_required_forces, len(positions), int(applied), *given)
    return forces


def hard_stops(image: ModelImage) -> dict[int, str]:
    """Stops with a restitution: their names by the indices of their laws."""
    arrays, text = image.arrays, image.variables.structured.text
    laws = np.flatnonzero(arrays["law_hard"][: image.sizes["laws"]] == 1).tolist()
    return {law: str(text(int(arrays["law_name"][law]))) for law in laws}


def stopped_speeds(solver: Solver) -> list[int]:
    """Velocities of the joints that closed stops with a restitution hold."""
    on = solver.image.arrays["law_u"]
    stops = hard_stops(solver.image).items()
    return [int(on[law]) for law, name in stops if on[law] >= 0 and solver.get(f"{name}.closed") != 0.0]


def refuse_impacts(image: ModelImage, what: str, error: type[FmumbsError]) -> None:
    """Raises an error of this type if the mechanism has a stop with a restitution, which `what` cannot take."""
    for name in hard_stops(image).values():
        raise error(
            f"{what}: '{name}' of '{image.name}' is a stop with a restitution, at "
            "which velocities jump. Give it a stiffness, or leave it out."
        )
