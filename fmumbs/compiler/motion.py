"""Which velocities of a mechanism can change, and which reactions can, found at a few random positions of it.

A velocity that is the same for all motions that the constraints allow belongs to a part that loops lock, to one that
excitations move, or to a direction in which nothing moves. Then the acceleration there follows no applied force, and a
force there does no work and accelerates nothing. Only positions and velocities are looked at, where a zero is exact up
to round-off. Whether an acceleration follows a force far away is left to the structure: its size may fall
exponentially with the distance.

Positions are drawn both near the assembled start and far from it, so that neither a coincidence of one position nor one
branch of a mechanism decides. Where none can be assembled, or where it would take long, everything can change.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.blocks import bodies_of_links
from fmumbs.compiler.kinds import (
    JOINT,
    LOAD,
    Kind,
    all_variables,
    kind_columns,
    kinds,
    ordinary_kinds,
    variable_table,
)
from fmumbs.compiler.layout import Arrays, ffi, lib, open_where_given, values_of
from fmumbs.compiler.links import JOINT_NONHOLONOMIC, JOINT_SCALAR
from fmumbs.spatial import Rotation

Flags = NDArray[np.bool_]
Array = NDArray[np.float64]

STILL = 1e-11  # of the largest velocity: what moves less does not move
NEAR, FAR = (0.03, 0.1), (1.0, 1.5, 2.0)  # [rad], or of the model's length
_MOST_NEAR, _MOST_FAR = (
    400,
    60,
)  # links, couplings and cut joints of models with loops that are assembled again and again

Kinds = tuple[int, ...]


@cache
def _stored(*places: int) -> Kinds:
    """The kinds whose values are stored there, those of excited modes apart."""
    return tuple(kind.index for kind in ordinary_kinds() if kind.place in places and not kind.excited)


_POSITIONS = _stored(lib.FM_AT_POSITION, lib.FM_AT_QUATERNION, lib.FM_AT_MODAL_POSITION)
_SPEEDS = _stored(lib.FM_AT_SPEED, lib.FM_AT_MODAL_SPEED)
_MOVING: Kinds = (*_SPEEDS, lib.FM_J_KAPPA, lib.FM_B_V, lib.FM_B_W)
_TURNING: Kinds = (lib.FM_L_TORQUE, lib.FM_L_TORQUE_ON_POINT)
_EXCITING: Kinds = (lib.FM_J_KAPPA_DOT_IN, lib.FM_J_ETA_IN)
_LENGTHS: Kinds = (lib.FM_J_R, lib.FM_J_V, lib.FM_B_V, lib.FM_P_V)


@cache
def balancing() -> tuple[Kind, ...]:
    """Forces and torques in joints: inputs act on them by what they balance."""
    of_joints = [kind for kind in kinds() if kind.owner == JOINT and kind.follows == lib.FM_FOLLOWS_BALANCE]
    return tuple(kind for kind in of_joints if kind.unit in ("N", "N.m"))


class Motion:
    """What can change of a mechanism's velocities and reactions, by kind, element and component."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = _with_everything(arrays)
        table = (self._arrays[f"variable_{column}"] for column in ("kind", "object", "component"))
        self._kind, self._object, self._component = table
        keys = _keys(self._kind, self._object, self._component)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        self._length = float(arrays["length"].flat[0])
        self._instance = open_where_given(self._arrays)
        self._positions, self._speeds = (self._in_trees(chosen) for chosen in (_POSITIONS, _SPEEDS))
        self._moving = np.flatnonzero(self._is((*_MOVING, lib.FM_P_V)))
        self._unit = np.where(self._slides(), self._length, 1.0)  # what counts as one radian
        self.free = np.zeros(len(self._kind), bool)  # changes among motions with the same excitations
        self.driven = np.zeros(len(self._kind), bool)  # changes with them
        self._followers = np.flatnonzero(self._arrays["load_axes"] == lib.FM_POINT_AXES)
        self._pushed = np.zeros((len(self._followers), 2, 3), bool)  # force, torque: along which axes motions do work
        self._states: list[Array] = []
        self._look()
        self.inputs = np.flatnonzero(kind_columns().input[self._kind])
        self.works = np.zeros(len(self._kind), bool)  # of inputs: which do work on some motion, excited modes' all
        self.works[self.inputs] = self.free[self._moved_by(self.inputs)] | self._is(_EXCITING)[self.inputs]
        for i, kind in enumerate((lib.FM_L_FORCE_ON_POINT, lib.FM_L_TORQUE_ON_POINT)):
            self.works[self._vectors(kind, self._followers)] = self._pushed[:, i]
        self._add_torques_that_bend()

    def joints_that_work(self) -> Flags:
        """(joints,) whether the force of some free mode of each does work on some motion."""
        found = np.zeros(len(self._arrays["joint_name"]), bool)
        mine = self.inputs[self._is((lib.FM_J_TAU, lib.FM_J_F))[self.inputs]]
        np.logical_or.at(found, self._object[mine], self.works[mine])
        return found

    def rows(self, kind: Any, element: Any, component: Any) -> NDArray[np.int64]:
        """Where these are in `free` and `driven`."""
        keys = _keys(np.asarray(kind), np.asarray(element), np.asarray(component))
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        if not (self._keys[at] == keys).all():
            raise AssertionError("a variable that was not looked at")
        rows: NDArray[np.int64] = self._order[at]
        return rows

    def elements(self, kind: int, flags: Flags) -> tuple[NDArray[np.int64], Flags]:
        """The elements of all rows of a kind, and their flags."""
        mine = np.flatnonzero(self._kind == kind)
        return self._object[mine], flags[mine]

    def joints(self, flags: Flags) -> tuple[NDArray[np.int64], Flags]:
        """The joints of all rows that are their velocities, and their flags."""
        mine = np.flatnonzero(self._is(tuple(kind for kind in _MOVING if kinds()[kind].owner == JOINT)))
        return self._object[mine], flags[mine]

    def _moved_by(self, inputs: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) rows of the velocities that (n,) inputs do work on, by their rows."""
        kind, element = self._kind[inputs], self._object[inputs].copy()
        velocity = np.empty(len(kind), np.int64)
        for number in sorted(set(kind.tolist())):
            one, mine = kinds()[number], kind == number
            if one.owner == JOINT:
                of = self._arrays["joint_kind"][element[mine]].tolist()
                velocity[mine] = [_velocity(number, joint) for joint in of]
                continue
            turns = number in _TURNING
            velocity[mine] = lib.FM_B_W if turns else lib.FM_P_V
            element[mine] = self._arrays["load_P"][element[mine]]
            if turns:
                element[mine] = bodies_of_links(self._arrays)[self._arrays["point_link"][element[mine]]]
        return self.rows(velocity, element, self._component[inputs])

    def _add_torques_that_bend(self) -> None:
        """A torque on a flexible body does work on its modes too, by the slopes where it acts."""
        bent, moving = self.elements(lib.FM_B_QD, self.free)
        torques = self.inputs[np.isin(self._kind[self.inputs], _TURNING)]
        links = self._arrays["point_link"][self._arrays["load_P"][self._object[torques]]]
        self.works[torques] |= np.isin(bodies_of_links(self._arrays)[links], bent[moving])

    def coordinates(self, flags: Flags) -> Flags:
        """(terms,) the flags of the coordinates that couplings tie."""
        arrays = self._arrays
        links = arrays["term_link"]
        joints = arrays["link_joint"][links]
        part = arrays["link_u"][links] - arrays["joint_u"][joints]
        free = arrays["joint_nu"][joints] - arrays["joint_excited"][joints]
        excited = part >= free
        kind = np.where(excited, lib.FM_J_KAPPA, lib.FM_J_QD)
        width = np.where(excited, arrays["joint_excited"][joints], free)
        component = np.where(width == 1, -1, np.where(excited, part - free, part))
        found: Flags = flags[self.rows(kind, joints, component)] if len(links) else np.zeros(0, bool)
        return found

    # Velocities ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        if lib.fm_assemble(self._instance, 0.0) == lib.FM_OK:
            start, excited = self._get(self._positions), self._excited
            small = self._deforming()
            for seed, scale in enumerate(self._scales()):
                noise = small * self._noise(self._positions, 10 * seed)
                position = self._assembled(start + scale * noise, excited, 10 * seed)
                if position is not None:
                    self._states.append(position)
        if len(self._states) < 2:
            self.free[:] = self.driven[:] = self._pushed[:] = True
        self.driven |= self.free

    def _deforming(self) -> Array:
        """(positions,) 1, and of modal coordinates the part of the model's length that deforms a body by 1 at most."""
        arrays, rows = self._arrays, self._positions
        modal = np.flatnonzero(self._kind[rows] == lib.FM_B_Q)
        part = np.maximum(self._component[rows[modal]], 0)
        strains = arrays["mode_strain"][arrays["link_u"][arrays["body_link"][self._object[rows[modal]]]] + part]
        found = np.ones(len(rows))
        found[modal] = 1.0 / np.maximum(1.0, strains * self._length)
        return found

    def _scales(self) -> tuple[float, ...]:
        """How far from the start positions are drawn [rad]."""
        closed = len(self._arrays["row_kind"])
        if not closed:
            return NEAR[-1], FAR[0]
        size = len(self._arrays["link_joint"]) + closed
        return (*(NEAR if size <= _MOST_NEAR else ()), *(FAR if size <= _MOST_FAR else ()))

    def _assembled(self, position: Array, excited: NDArray[np.int64], seed: int) -> Array | None:
        """Looks at motions from where a position is assembled, which is returned; None if it cannot be."""
        seen = []
        for turn in range(3 if len(excited) else 2):
            self._set(self._positions, position)
            self._set(self._speeds, self._noise(self._speeds, seed + turn + 1))
            if turn == 2:
                self._set(excited, self._noise(excited, seed + 5))
            if lib.fm_assemble(self._instance, 0.0) != lib.FM_OK:
                return None
            position = self._get(self._positions)
            seen.append(self._get(self._moving))
            if not np.isfinite(seen[-1]).all():
                return None
        self._note(self.free, seen[1] - seen[0])
        self._note_pushed(seen[1] - seen[0])
        self._note(self.driven, seen[-1] - seen[0])
        return position

    def _note(self, found: Flags, change: Array) -> None:
        size = np.abs(change) / self._unit[self._moving]
        found[self._moving] |= size > STILL * size.max(initial=1.0)  # [rad/s]: what was asked for

    def _note_pushed(self, change: Array) -> None:
        """The same along the axes in which loads turn with their points; on bent bodies in any of the three."""
        arrays, loads = self._arrays, self._followers
        if not len(loads):
            return
        points = arrays["load_P"][loads]
        links = arrays["point_link"][points]
        bodies = bodies_of_links(arrays)[links]
        quaternions = self._get(self._vectors(lib.FM_B_QUAT, bodies, 4).ravel()).reshape(-1, 4)
        turned = np.array([Rotation.quaternion(*one).matrix for one in quaternions])
        of_body = turned @ arrays["body_R"][bodies].reshape(-1, 3, 3).swapaxes(1, 2)
        axes = of_body @ arrays["point_R"][points].reshape(-1, 3, 3)
        largest = (np.abs(change) / self._unit[self._moving]).max(initial=1.0)
        bent = links != arrays["body_link"][bodies]
        for i, (kind, of, unit) in enumerate(((lib.FM_P_V, points, self._length), (lib.FM_B_W, bodies, 1.0))):
            moves = change[np.searchsorted(self._moving, self._vectors(kind, of))] / unit
            along = np.abs(np.einsum("lij,li->lj", axes, moves)) > STILL * largest
            self._pushed[:, i] |= along | (bent & along.any(axis=1))[:, None]

    def _vectors(self, kind: int, elements: NDArray[np.int64], size: int = 3) -> NDArray[np.int64]:
        """(n, size) rows of the components of a kind of these elements."""
        n = len(elements)
        found = self.rows(np.full(n * size, kind), np.repeat(elements, size), np.tile(np.arange(size), n))
        return found.reshape(n, size)

    @property
    def _excited(self) -> NDArray[np.int64]:
        """Velocities of excited modes that inputs drive."""
        if not len(self._arrays["excitation_kind"]):
            return np.zeros(0, np.int64)
        rows = np.flatnonzero(self._is((lib.FM_J_KAPPA,)))
        given = self._is(_EXCITING)
        driven = set(zip(self._object[given].tolist(), self._component[given].tolist(), strict=True))
        places = zip(self._object[rows].tolist(), self._component[rows].tolist(), strict=True)
        chosen: NDArray[np.int64] = rows[[place in driven for place in places]]
        return chosen

    # Reactions ----------------------------------------------------------------------------------------------

    def silent(self, inputs: NDArray[np.int64]) -> Flags:
        """Which reactions, wrenches and drives, by row, no combination of these inputs (rows) changes.

        Each is compared with the others of its joint.
        """
        rows = np.flatnonzero(self._is(tuple(kind.index for kind in balancing())))
        found = np.zeros(len(self._kind), bool)
        if not len(inputs) or len(self._states) < 2:
            return found
        silent = np.ones(len(rows), bool)
        torques = self._is((lib.FM_J_REACTION_T, lib.FM_J_WRENCH_T))[rows]
        scale = np.where(torques, 1.0 / self._length, 1.0)
        judged = np.zeros(len(rows), bool)
        for seed, position in enumerate(self._states[:2] + self._states[-2:], 100):
            self._set(self._positions, position)
            if lib.fm_assemble(self._instance, 0.0) != lib.FM_OK:
                continue
            size = np.abs(self._response(rows, inputs, seed)) * scale
            if not np.isfinite(size).all():
                return found
            largest = np.zeros(len(self._arrays["joint_name"]))
            np.maximum.at(largest, self._object[rows], size)
            own = largest[self._object[rows]]
            judged |= own > 1e-8 * largest.max()
            silent &= size <= STILL * own
        found[rows[silent & judged]] = True
        return found

    def wrenches_along(self, silent: Flags) -> Flags:
        """Which wrenches, by row, have a reaction that is silent."""
        found = np.zeros(len(self._kind), bool)
        for wrench, of in ((lib.FM_J_WRENCH_F, lib.FM_J_REACTION_F), (lib.FM_J_WRENCH_T, lib.FM_J_REACTION_T)):
            wrenches = np.flatnonzero(self._kind == wrench)
            reactions = self.rows(np.full(len(wrenches), of), self._object[wrenches], self._component[wrenches])
            found[wrenches] = silent[reactions]
        return found

    @property
    def joint_of_rows(self) -> NDArray[np.int64]:
        """(rows,) the joint that each belongs to, 0 for those of other elements."""
        found: NDArray[np.int64] = np.where(kind_columns().owner[self._kind] == JOINT, self._object, 0)
        return found

    def _response(self, rows: NDArray[np.int64], inputs: NDArray[np.int64], seed: int) -> Array:
        result = np.empty(len(rows))
        status = lib.fm_directional_derivative(
            self._instance,
            *_borrowed(rows), *_borrowed(inputs),
            ffi.from_buffer("double[]", 1.5 + self._noise(inputs, seed)),
            ffi.from_buffer("double[]", result),
        )  # fmt: skip
        return result if status == lib.FM_OK else np.full(len(rows), np.inf)

    # The instance -------------------------------------------------------------------------------------------

    def _is(self, which: Kinds) -> Flags:
        """(rows,) whether each is of one of these kinds."""
        chosen = np.zeros(len(kinds()), bool)
        chosen[list(which)] = True
        found: Flags = chosen[self._kind]
        return found

    def _in_trees(self, which: Kinds) -> NDArray[np.int64]:
        """Rows of the states of these kinds: those of joints in trees, and of bodies."""
        chosen = np.flatnonzero(self._is(which))
        cut = kind_columns().owner[self._kind[chosen]] == JOINT
        cut[cut] = self._arrays["joint_first"][self._object[chosen[cut]]] < 0
        found: NDArray[np.int64] = chosen[~cut]
        return found

    def _noise(self, rows: NDArray[np.int64], seed: int) -> Array:
        """(rows,) numbers from -1 to 1, of lengths from minus to plus the model's."""
        mixed = np.sin(12.9898 * (np.arange(len(rows)) + 1) + 78.233 * (seed + 1)) * 43758.5453
        noise: Array = self._unit[rows] * (2.0 * (mixed - np.floor(mixed)) - 1.0)
        return noise

    def _slides(self) -> Flags:
        """(rows,) which are lengths, or their rates; of a joint's coordinates those that are alone."""
        arrays = self._arrays
        found = self._is(_LENGTHS)
        mine = np.flatnonzero(self._is((lib.FM_J_Q, lib.FM_J_QD)))
        joints = self._object[mine]
        one = arrays["joint_nu"][joints] == 1
        found[mine[one]] = arrays["mode_linear"][arrays["joint_u"][joints[one]]] == 1
        return found

    def _get(self, rows: NDArray[np.int64]) -> Array:
        return values_of(self._instance, rows)

    def _set(self, rows: NDArray[np.int64], values: Array) -> None:
        if len(rows):
            lib.fm_set(self._instance, *_borrowed(rows), ffi.from_buffer("double[]", values))


def _velocity(kind: int, joint_kind: int) -> int:
    """The kind of the velocity that an input of a joint does work on."""
    if kind in _EXCITING:
        return int(lib.FM_J_KAPPA)
    if joint_kind == JOINT_NONHOLONOMIC:
        return int(lib.FM_J_U)
    if joint_kind == JOINT_SCALAR:
        return int(lib.FM_J_QD)
    return int(lib.FM_J_V if kind == lib.FM_J_F else lib.FM_J_W)


def _borrowed(rows: NDArray[np.int64]) -> tuple[Any, int]:
    references = rows.astype(np.uint32)
    return ffi.from_buffer("uint32_t[]", references), len(references)


def _with_everything(arrays: Arrays) -> Arrays:
    """The image's arrays with a table of all that is looked at, the velocities of loads' points among them."""
    wanted = [kinds()[kind] for kind in (*_POSITIONS, *_MOVING, lib.FM_P_V, lib.FM_B_QUAT, lib.FM_C_TAU)] + list(
        balancing()
    )
    wanted += [kind for kind in ordinary_kinds() if kind.causality == "input" and kind.owner in (JOINT, LOAD)]
    table = all_variables(arrays, wanted)
    velocity = kinds()[lib.FM_P_V]
    named = table["variable_object"][table["variable_kind"] == velocity.index]
    nameless = np.array(sorted(set(arrays["load_P"].tolist()).difference(named.tolist())), np.int32)
    more = variable_table(
        np.full(3 * len(nameless), velocity.index, np.int32),
        np.repeat(nameless, 3),
        np.tile(np.arange(3, dtype=np.int32), len(nameless)),
        np.full(3 * len(nameless), -1, np.int32),
    )
    return arrays | {name: np.concatenate([table[name], more[name]]) for name in table} | _heavy(arrays)


def _heavy(arrays: Arrays) -> Arrays:
    """Masses and inertias without symmetries: they are parameters of rigid bodies, and may be set to any."""
    count, mass, length = len(arrays["mass"]), arrays["mass"], float(arrays["length"].flat[0])
    rigid = arrays["link_modal"][arrays["body_link"]] < 0
    least = 1e-3 * mass.max(initial=0.0) or 1.0
    heavy = np.where(rigid, np.maximum(mass, least) * (1.0 + 0.3 * np.sin(np.arange(count))), mass)
    largest = np.maximum(arrays["inertia"].max(axis=1, initial=0.0), 1e-3 * heavy * length**2)
    parts = 1.0 + 0.1 * np.sin(np.arange(6 * count) + 0.5).reshape(-1, 6)
    inertia = largest[:, None] * parts * (1.0, 1.0, 1.0, 0.05, 0.06, 0.07)
    return {"mass": heavy, "inertia": np.where(rigid[:, None], inertia, arrays["inertia"])}


def _keys(kind: Any, element: Any, component: Any) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = ((np.asarray(kind, np.int64) << 32 | element) << 8) + (np.asarray(component) + 1)
    return keys
