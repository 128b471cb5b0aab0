"""What a variable follows: the inputs that act on it at once, the variable whose rate it is, a loop that it is in.

Positions and velocities are states, and follow no input at once. What accelerations and forces follow is found in two
steps. Which velocities can change at all decides what an input accelerates (compiler/motion.py): one that does work on
a motion is felt by all that moves with it, which ends at bodies that nothing moves, and at springs without a force law;
a law may hold a spring's length. A force without work accelerates nothing. Then the paths of forces decide which
reactions follow (compiler/blocks.py): those between the ground and the bodies that an input accelerates or loads, and,
where a joint's own force does no work, those of the block that the joint is in. An excited mode moves what it carries
whatever the forces: its acceleration follows its own input at most, and what it moves may follow it.

What is declared and yet has no derivative is of few kinds: motions along and about one axis, and parts that only a free
joint connects, which do not accelerate one another; torques across a flexible body's turn; reactions in a block, of
which one rigid part carries another; a wrench along a joint's mode and the inputs of the joint's other modes; forces of
springs whose law holds now and then; models of loops with so many links that no positions are drawn.
"""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.blocks import Blocks, Graph
from fmumbs.compiler.kinds import (
    ACTUATOR,
    BODY,
    CYLINDER,
    FRICTION,
    JOINT,
    LAW,
    LOAD,
    MOTOR,
    ROPE,
    Listing,
    kind_columns,
    kinds,
)
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.compiler.motion import Motion, balancing

References = NDArray[np.int64]

_LONG = 50_000  # inputs in lists by block, altogether
_THROUGHOUT = (  # what all inputs act on where reactions act on motions
    lib.FM_FOLLOWS_ACCELERATIONS, lib.FM_FOLLOWS_BALANCE, lib.FM_FOLLOWS_SPRING, lib.FM_FOLLOWS_LAW,
)  # fmt: skip


_POSITIONS = (
    lib.FM_AT_POSITION, lib.FM_AT_QUATERNION, lib.FM_AT_EXCITED, lib.FM_AT_MODAL_POSITION,
)  # fmt: skip
_VELOCITIES = (lib.FM_AT_SPEED, lib.FM_AT_MODAL_SPEED)


@cache
def antiderivatives() -> NDArray[np.int64]:
    """(kinds,) the kind whose time derivative each is, -1 for none."""
    found = np.full(len(kinds()), -1)
    for kind in kinds():
        if kind.rate >= 0:
            found[kind.rate] = kind.index
    return found


def joints_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether a loop decides where a joint starts: those between its ends, and coupled ones.

    What is held stays. The target of a program starts where its transition begins.
    """
    found = np.zeros(len(arrays["joint_name"]), bool)
    found[arrays["link_joint"][_links_in_loops(arrays)]] = True
    found[arrays["link_joint"][arrays["term_link"]]] = True
    found[arrays["joint_held"] != 0] = False
    found[arrays["excitation_joint"][arrays["excitation_transition"] > 0]] = True
    return found


def bodies_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(bodies,) whether a loop decides how a flexible body is bent at the start: those between the loop's ends."""
    found = np.zeros(len(arrays["body_link"]), bool)
    modal = arrays["link_modal"][_links_in_loops(arrays)]
    found[np.isin(arrays["body_link"], arrays["modal_link"][modal[modal >= 0]])] = True
    return found


def _links_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(links,) whether each lies between the ends of a loop."""
    cut = arrays["joint_first"] < 0
    parent = arrays["link_parent"].tolist()
    found = np.zeros(len(parent), bool)
    for one, other in zip(arrays["joint_F_link"][cut].tolist(), arrays["joint_M_link"][cut].tolist(), strict=True):
        ends = [one, other]
        while ends[0] != ends[1]:  # a link's parent comes before it
            ends.sort()
            found[ends[1]] = True
            ends[1] = parent[ends[1]]
    return found


class Dependencies:
    """The inputs that each output of an image follows at once."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._kind = arrays["variable_kind"]
        self._object = arrays["variable_object"]
        self._component = arrays["variable_component"]
        self._reached: dict[tuple[frozenset[int], frozenset[int], tuple[int, ...]], tuple[int, ...]] = {}
        self._of_blocks: dict[tuple[int, bool, bool], tuple[int, ...]] = {}

    def of(self, indices: References) -> list[tuple[int, ...] | None]:
        """For each of (n,) outputs its inputs' value references: None for all there are, () for none."""
        if kind_columns().of_inverse[self._kind].any():
            return self._of_given(indices)
        found: list[tuple[int, ...] | None] = [()] * len(indices)
        if not len(self._inputs):
            return found
        which = {follows: self._which(indices, follows) for follows in range(lib.FM_FOLLOWS_COUNT)}
        lists = self._excited_inputs(which[lib.FM_FOLLOWS_EXCITATION], indices)
        lists |= self._of_accelerations(which[lib.FM_FOLLOWS_ACCELERATIONS], indices)
        lists |= self._of_balancing(which[lib.FM_FOLLOWS_BALANCE], indices)
        lists |= self._of_springs(which[lib.FM_FOLLOWS_SPRING], indices)
        lists |= self._of_frictions(which[lib.FM_FOLLOWS_FRICTION], indices)
        lists |= self._of_laws(which[lib.FM_FOLLOWS_LAW], indices)
        lists |= self._of_ropes(which[lib.FM_FOLLOWS_ROPE], indices)
        lists |= self._of_elements(which[lib.FM_FOLLOWS_OWN], indices)
        lists |= self._of_programs_of_rates(indices)
        # where reactions act on motions by friction, or drives realise programs, all may follow all
        driven = (self._arrays["excitation_drive"] >= 0).any()
        if self._arrays["friction_own"].any() or driven:
            for follows in _THROUGHOUT:
                lists |= dict.fromkeys(which[follows].tolist(), tuple(self._inputs.tolist()))
        if winches := tuple(self._inputs[self._pays_out].tolist()):
            energies = np.flatnonzero(self._kind[indices] == lib.FM_ENERGY).tolist()
            for i in (*energies, *(i for follows in _THROUGHOUT for i in which[follows].tolist())):
                lists[i] = tuple(sorted({*lists.get(i, ()), *winches}))
        for i, inputs in lists.items():
            found[i] = None if len(inputs) == len(self._inputs) else inputs
        return found

    def _of_given(self, indices: References) -> list[tuple[int, ...] | None]:
        """The same where the motion is given: the positions, these and the velocities, or all inputs."""
        place = kind_columns().place[self._kind[self._inputs]]
        moved = np.isin(place, _POSITIONS), np.isin(place, (*_POSITIONS, *_VELOCITIES))
        by_positions, by_velocities = (tuple(self._inputs[chosen].tolist()) for chosen in moved)
        lists = {lib.FM_FOLLOWS_POSITIONS: by_positions, lib.FM_FOLLOWS_VELOCITIES: by_velocities}
        return [lists.get(follows) for follows in kind_columns().follows[self._kind[indices]].tolist()]

    def _which(self, indices: References, follows: int) -> References:
        """Places in (n,) `indices` of the outputs that follow the same."""
        return np.flatnonzero(kind_columns().follows[self._kind[indices]] == follows)

    # Inputs -------------------------------------------------------------------------------------------------

    @cached_property
    def _inputs(self) -> References:
        return np.flatnonzero(kind_columns().input[self._kind])

    @cached_property
    def _excites(self) -> NDArray[np.bool_]:
        """(inputs,) which are of excited modes."""
        kinds_of = [kind.index for kind in kinds() if kind.excited and kind.causality == "input"]
        return np.isin(self._kind[self._inputs], kinds_of)

    @cached_property
    def _pays_out(self) -> NDArray[np.bool_]:
        """(inputs,) which are lengths of ropes, whose tension may accelerate all that these touch."""
        pays_out: NDArray[np.bool_] = self._owners == ROPE
        return pays_out

    @cached_property
    def _owners(self) -> NDArray[np.int32]:
        """(inputs,) what each belongs to."""
        found: NDArray[np.int32] = kind_columns().owner[self._kind[self._inputs]]
        return found

    @cached_property
    def _owner_of_inputs(self) -> NDArray[np.int32]:
        """(inputs,) what each acts on: those of friction, and voltages of motors without inductance, on a joint; those
        of motors with one on the motor alone.
        """
        on_joint = np.isin(self._owners, (FRICTION, LAW)) | (self._owners == MOTOR) & ~self._waits
        return np.where(on_joint, JOINT, self._owners)

    @cached_property
    def _waits(self) -> NDArray[np.bool_]:
        """(inputs,) those of cylinders, voltages of motors with an inductance: they change rates of states alone."""
        found: NDArray[np.bool_] = self._owners == MOTOR
        found[found] = self._arrays["motor_state"][self._object[self._inputs[found]]] >= 0
        found |= self._owners == CYLINDER
        return found

    @cached_property
    def _element_of_inputs(self) -> References:
        """(inputs,) the element that each acts on: of friction its joint."""
        elements = self._object[self._inputs].astype(np.int64)
        rubs = self._owners == FRICTION
        elements[rubs] = self._arrays["friction_joint"][elements[rubs]]
        drives = self._owners == MOTOR
        elements[drives] = self._arrays["motor_joint"][elements[drives]]
        elements[self._owners == LAW] = 0  # what they act on is not asked
        return elements

    @cached_property
    def _works(self) -> NDArray[np.bool_]:
        """(inputs,) which do work on some motion, excited modes included."""
        inputs = self._inputs
        works = np.zeros(len(inputs), bool)
        rubs, pushes = np.isin(self._owners, (FRICTION, LAW, MOTOR)), np.isin(self._owners, (ACTUATOR, CYLINDER))
        plain = ~(rubs | pushes | self._pays_out)
        others = inputs[plain]
        rows = self._motion.rows(self._kind[others], self._object[others], self._component[others])
        works[plain] = self._motion.works[rows]
        works[rubs] = self._motion.joints_that_work()[self._element_of_inputs[rubs]]
        works[pushes] = True
        return works & ~self._waits

    @cached_property
    def _bodies_of_inputs(self) -> list[tuple[int, ...]]:
        """By input, the bodies that it acts on, or the ground: of a joint's the one that moves."""
        ends = {LOAD: ("load_P",), ACTUATOR: ("actuator_P", "actuator_Q"), CYLINDER: ("cylinder_P", "cylinder_Q")}
        found = []
        for owner, element in zip(self._owner_of_inputs.tolist(), self._element_of_inputs.tolist(), strict=True):
            if owner in ends:
                links = (self._arrays["point_link"][self._arrays[end][element]] for end in ends[owner])
                found.append(tuple(int(self._graph.body_of[link]) for link in links))
            elif owner == ROPE:
                found.append((self._graph.ground,))
            else:
                found.append((self._of_joint[element],))
        return found

    # The mechanism ------------------------------------------------------------------------------------------

    @cached_property
    def _graph(self) -> Graph:
        return Graph(self._arrays)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._graph)

    @cached_property
    def _motion(self) -> Motion:
        return Motion(self._arrays)

    @cached_property
    def _moving(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(bodies,) whether each body moves while the excited modes stand, and whether it moves at all."""
        motion, ground = self._motion, self._graph.ground
        bodies = np.repeat(np.arange(ground), 3)
        parts = np.tile(np.arange(3), ground)
        found = []
        for flags in (motion.free, motion.driven):
            moving = np.zeros(ground, bool)
            for kind in (lib.FM_B_V, lib.FM_B_W):
                moving |= flags[motion.rows(kind, bodies, parts)].reshape(-1, 3).any(axis=1)
            np.logical_or.at(moving, *motion.elements(lib.FM_B_QD, flags))
            for joint, moves in zip(*(part.tolist() for part in motion.joints(flags)), strict=True):
                ends = [body for body in self._graph.joints[joint] if body < ground]
                if moves and not moving[ends].any():
                    moving[ends] = True
            found.append(moving)
        return found[0], found[1]

    @cached_property
    def _parts(self) -> tuple[References, References]:
        """(bodies + 1,) parts of the mechanism that move together, while the excited modes stand and at all."""
        free, driven = self._moving
        free_terms, driven_terms = (
            self._motion.coordinates(flags) for flags in (self._motion.free, self._motion.driven)
        )
        return self._graph.parts(free, free_terms), self._graph.parts(driven, driven_terms)

    @cached_property
    def _of_joint(self) -> list[int]:
        """By joint, its end that moves: freely if there is one, or by excited modes; the ground if none does."""
        found = []
        for ends in self._graph.joints:
            for moving in self._moving:
                chosen = [body for body in ends if body < self._graph.ground and moving[body]]
                if chosen:
                    break
            found.append(chosen[0] if chosen else self._graph.ground)
        return found

    @cached_property
    def _acting(self) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
        """The inputs that accelerate each part: forces by free parts, inputs of excited modes by driven ones."""
        found: tuple[dict[int, list[int]], dict[int, list[int]]] = {}, {}
        parts = [part.tolist() for part in self._parts]
        rows = zip(
            self._inputs.tolist(), self._excites.tolist(), self._works.tolist(), self._bodies_of_inputs, strict=True
        )
        for index, excites, works, bodies in rows:
            for part in {parts[excites][body] for body in bodies} if works else ():
                found[excites].setdefault(part, []).append(index)
        forces, modes = ({part: tuple(members) for part, members in each.items() if part >= 0} for each in found)
        return forces, modes

    # Outputs ------------------------------------------------------------------------------------------------

    def _of_accelerations(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What accelerations follow, by place in `indices`."""
        if not len(chosen):
            return {}
        kind, element = self._kind[indices[chosen]], self._object[indices[chosen]].astype(np.int64)
        rows = self._motion.rows(antiderivatives()[kind], element, self._component[indices[chosen]])
        bodies = self._bodies_of(kind_columns().owner[kind], element)
        columns = (chosen, bodies, self._motion.free[rows], self._motion.driven[rows])
        rows_of = zip(*(column.tolist() for column in columns), strict=True)
        return {i: self._of_body(body, free, driven) for i, body, free, driven in rows_of}

    def _of_body(self, body: int, free: bool, driven: bool) -> tuple[int, ...]:
        of_free, of_driven = (int(part[body]) for part in self._parts)
        return self._together((of_free,) if free else (), (of_driven,) if driven else ())

    def _together(self, free: Iterable[int], driven: Iterable[int], more: tuple[int, ...] = ()) -> tuple[int, ...]:
        """The inputs that accelerate some free parts and some driven ones, and more, in order; each set once."""
        key = frozenset(free), frozenset(driven), more
        if key not in self._reached:
            found = set(more)
            for parts, acting in zip(key[:2], self._acting, strict=True):
                for part in parts:
                    found.update(acting.get(part, ()))
            self._reached[key] = tuple(sorted(found))
        return self._reached[key]

    def _bodies_of(self, owners: NDArray[np.int32], elements: References) -> References:
        """(n,) the bodies whose motion joints, bodies and points have."""
        found = np.empty(len(owners), np.int64)
        for i, (owner, element) in enumerate(zip(owners.tolist(), elements.tolist(), strict=True)):
            if owner == JOINT:
                found[i] = self._of_joint[element]
            else:
                found[i] = element if owner == BODY else self._graph.body_of[self._arrays["point_link"][element]]
        return found

    def _of_balancing(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What reactions, wrenches, drives and the forces of couplings follow."""
        if not len(chosen):
            return {}
        kind, element = self._kind[indices[chosen]], self._object[indices[chosen]].copy()
        joints = kind_columns().owner[kind] == JOINT
        seen = np.isin(kind, [each.index for each in balancing()])
        rows = self._motion.rows(kind[seen], element[seen], self._component[indices[chosen[seen]]])
        quiet, still, own = np.zeros((3, len(chosen)), bool)
        quiet[seen], still[seen], own[seen] = (flags[rows] for flags in self._silent)
        terms = self._arrays["coupling_first"][element[~joints]]
        element[~joints] = self._arrays["link_joint"][self._arrays["term_link"][terms]]
        found = {}
        for i, joint, *flags in zip(*(x.tolist() for x in (chosen, element, quiet, still, own)), strict=True):
            if flags[2]:
                found[i] = self._of_joints.get(joint, ())
            else:
                found[i] = self._of_block(self._blocks.of_joint[joint], flags[0], flags[1])
        return found

    @cached_property
    def _of_joints(self) -> dict[int, tuple[int, ...]]:
        """By joint, its own inputs."""
        found: dict[int, list[int]] = {}
        mine = self._owner_of_inputs == JOINT
        for index, joint in zip(self._inputs[mine].tolist(), self._element_of_inputs[mine].tolist(), strict=True):
            found.setdefault(joint, []).append(index)
        return {joint: tuple(members) for joint, members in found.items()}

    @cached_property
    def _silent(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which reactions, by row of the motion, inputs that do work do not change, those that do none, and which
        wrenches none but the joint's own, since they are along its free modes.

        A spring that a law may hold, and an actuator, pull in directions of their own; then none is.
        """
        motion, arrays = self._motion, self._arrays
        none = np.zeros(len(motion.free), bool)
        if (arrays["law_spring"] >= 0).any() or (self._owners == ACTUATOR).any():
            return none, none, none
        works = motion.works[motion.inputs]
        quiet, still = motion.silent(motion.inputs[works]), motion.silent(motion.inputs[~works])
        driven = arrays["joint_excited"] > 0
        driven[Listing(arrays).of(kinds()[lib.FM_J_ROTOR])[0]] = True
        driven[arrays["link_joint"][arrays["term_link"]]] = True
        driven[np.isin(np.arange(len(driven)), self._joints_with_laws)] = True
        driven[arrays["motor_joint"]] = True
        return quiet, still, motion.wrenches_along(motion.silent(motion.inputs)) & ~driven[motion.joint_of_rows]

    @property
    def _joints_with_laws(self) -> References:
        """The joints on whose velocities force laws act, which may hold them."""
        arrays = self._arrays
        speeds = arrays["law_u"][arrays["law_spring"] < 0]
        first = arrays["joint_u"]
        order = np.argsort(first, kind="stable")
        found = [order[(first[order] <= u) & (u < (first + arrays["joint_nu"])[order])] for u in speeds.tolist()]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _of_block(self, block: int, quiet: bool, still: bool) -> tuple[int, ...]:
        """The inputs whose forces go through a block; without those that do work, or those that do none."""
        key = block, quiet, still
        if key not in self._of_blocks:
            free, driven = (() if quiet else parts.get(block, ()) for parts in self._through)
            self._of_blocks[key] = self._together(free, driven, () if still else self._resting.get(block, ()))
        return self._of_blocks[key]

    @cached_property
    def _through(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """By block, the parts whose inertia it carries: free ones and driven ones."""
        found: tuple[dict[int, set[int]], dict[int, set[int]]] = {}, {}
        for carried, parts in zip(found, self._parts, strict=True):
            for body, part in enumerate(parts.tolist()):
                for block in self._blocks.way(body) if part >= 0 else ():
                    members = carried.setdefault(block, set())
                    if part in members:
                        break
                    members.add(part)
        return self._blocks.shared(found[0]), self._blocks.shared(found[1])

    @cached_property
    def _resting(self) -> Mapping[int, tuple[int, ...]]:
        """By block, the inputs that do no work and strain it: loads on the way to the ground, joints' forces in it; and
        actuators on their ways to the ground, of whose ends one may be where nothing moves.

        Where these lists would be long, all such inputs.
        """
        found: dict[int, set[int]] = {}
        owners = self._owner_of_inputs
        idle = self._works | self._waits | self._pays_out
        chosen = np.flatnonzero(~idle | (owners == ACTUATOR)).tolist()
        length = 0
        for place in chosen:
            index = int(self._inputs[place])
            if owners[place] in (LOAD, ACTUATOR):
                ways = (self._blocks.way(body) for body in self._bodies_of_inputs[place])
                blocks: Iterable[int] = {block for way in ways for block in way}
            else:
                blocks = (self._blocks.of_joint[int(self._element_of_inputs[place])],)
            for block in blocks:
                found.setdefault(block, set()).add(index)
                length += 1
            if length > _LONG:
                everything = tuple(self._inputs[chosen].tolist())
                return dict.fromkeys(range(len(self._blocks.of_joint)), everything)
        return {block: tuple(sorted(members)) for block, members in self._blocks.shared(found).items()}

    def _of_springs(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What the forces of springs with a force law follow: all that accelerates either end."""
        found = {}
        for i in chosen.tolist():
            spring = int(self._object[indices[i]])
            if spring in self._arrays["law_spring"]:
                points = [int(self._arrays[f"spring_{end}"][spring]) for end in "PQ"]
                bodies = self._graph.body_of[self._arrays["point_link"][points]].tolist()
                found[i] = tuple(sorted({one for body in bodies for one in self._of_body(body, True, True)}))
        return found

    def _of_ropes(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What tensions, slack and powers of ropes follow: the length that a winch pays out."""
        lengths = self._inputs[self._pays_out]
        mine = {rope: (i,) for rope, i in zip(self._object[lengths].tolist(), lengths.tolist(), strict=True)}
        return {i: mine[rope] for i in chosen.tolist() if (rope := int(self._object[indices[i]])) in mine}

    def _of_laws(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What forces of laws follow, which may stick, and whether they do: all that accelerates either end."""
        found = {}
        for i in chosen.tolist():
            law = int(self._object[indices[i]])
            if self._kind[indices[i]] == lib.FM_M_TORQUE_LEFT:
                law = int(self._arrays["motor_loss_law"][law])
            spring, speed = int(self._arrays["law_spring"][law]), int(self._arrays["law_u"][law])
            if spring >= 0:
                points = [int(self._arrays[f"spring_{end}"][spring]) for end in "PQ"]
                bodies = self._graph.body_of[self._arrays["point_link"][points]].tolist()
            else:
                first, count = self._arrays["joint_u"], self._arrays["joint_nu"]
                joint = int(np.flatnonzero((first <= speed) & (speed < first + count))[0])
                bodies = [self._of_joint[joint]]
            found[i] = tuple(sorted({one for body in bodies for one in self._of_body(body, True, True)}))
        return found

    def _of_frictions(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What forces and loads of friction follow: the inputs of the same friction."""
        mine = self._inputs[self._owners == FRICTION]
        found = {}
        for i in chosen.tolist():
            element = self._object[indices[i]]
            if self._arrays["friction_own"][element].any():
                found[i] = tuple(self._inputs.tolist())
                continue
            same = mine[self._object[mine] == element]
            if self._kind[indices[i]] == lib.FM_FR_LOAD:
                same = same[self._kind[same] == lib.FM_FR_NORMAL]
            found[i] = tuple(same.tolist())
        return found

    def _of_elements(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What outputs of force elements follow at once: the element's own inputs, but not the torque of a current."""
        found = {}
        for i in chosen.tolist():
            of = self._object[indices[i]]
            if self._kind[indices[i]] == lib.FM_M_TORQUE and self._arrays["motor_state"][of] >= 0:
                continue
            same = (self._owners == kinds()[self._kind[indices[i]]].owner) & (
                self._object[self._inputs] == of
            )
            found[i] = tuple(self._inputs[same].tolist())
        return found

    def _of_programs_of_rates(self, indices: References) -> dict[int, tuple[int, ...]]:
        """The drives of programs for velocities and accelerations: they may follow all inputs."""
        arrays = self._arrays
        rows = arrays["excitation_row"]
        rates = (rows >= 0) & (arrays["row_part"][rows] != lib.FM_OF_POSITION) if len(arrays["row_part"]) else rows > 0
        joints = arrays["excitation_joint"][rates]
        chosen = np.flatnonzero((self._kind[indices] == lib.FM_J_DRIVE) & np.isin(self._object[indices], joints))
        return {int(i): tuple(self._inputs.tolist()) for i in chosen}

    def _excited_inputs(self, chosen: References, indices: References) -> dict[int, tuple[int, ...]]:
        """What accelerations of excited modes follow: the mode's own input, or none of a path."""
        excitation = self._arrays["joint_excitation"]
        component = np.maximum(self._component, 0)
        own = {int(excitation[self._object[i]] + component[i]): int(i) for i in self._inputs[self._excites].tolist()}
        modes = (excitation[self._object[indices[chosen]]] + component[indices[chosen]]).tolist()
        return {i: (own[mode],) if mode in own else () for i, mode in zip(chosen.tolist(), modes, strict=True)}
