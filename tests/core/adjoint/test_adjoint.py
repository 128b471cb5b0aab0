"""Exact derivatives: the adjoint is the transpose of the directional derivatives, and these are those of differences
in more digits.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.independent import with_independent_states
from fmumbs.compiler.layout import ffi, lib
from fmumbs.readers import read_model
from fmumbs.run.coordinates import pointer
from oracle.extended import accelerations
from support.braked import stack
from support.closed import CLOSING, ONLY_CLOSING, closed_by, coupled, plane, space, two_pendulums
from support.drawing.mechanism import Refused, draw
from support.flexible_models import bent_in_space
from support.host import by_reference
from support.programs import realised
from support.rubbing import rubbed
from support.strategies import BOTH_WAYS, Case, roped, trees
from support.sweeps import each_value, examples, first, seeds

Array = NDArray[np.float64]

TRANSPOSED = 1e-12
"""Of the sum of the sizes of all products in v' A s: the round-off of both sweeps."""
DIFFERENCES = 1e-6
"""Of a row's largest derivative, or a hundredth of the largest of all: what differences in doubles keep."""
ROUND_OFF_SLIP = 1e-12
"""[m/s]"""
LEAST = 1e-6
"""Steps of differences follow the size of a parameter: of one that is round-off they move nothing."""
EXACT = 1e-9
"""Of the accelerations' sizes: differences in forty digits by steps of 1e-6 leave 1e-11 of the third derivatives."""
STEP = 2.0**-20
MOVES = 1e-3
"""[s]"""
OUTPUTS = ("position_violation", "velocity_violation")  # round-off, whose derivatives nobody asks for


class Pair:
    """A Solver with exact derivatives, one without, and the names that have an adjoint."""

    def __init__(
        self, model: fm.Model, inputs: dict[str, Any] | None = None, until: float = 0.0, **options: Any
    ) -> None:
        self.exact, self.plain = fm.Solver(model, derivatives=True, **options), fm.Solver(model, **options)
        for solver in (self.exact, self.plain):
            solver.set_all(inputs or {})
            solver.assemble()
            if until > 0.0:
                solver.step(until)
        self.why = ""
        try:
            self.exact.adjoint([], [], [])
        except fm.SolverError as error:
            self.why = str(error)
            return
        table = self.exact.image.variables
        outputs = [v.name for v in table if v.causality == "output" and v.variability == "continuous"]
        self.unknowns = self._those(
            [name for name in outputs if not self._is_at_kink(name)],
            lambda name: self.exact.adjoint([name], [], [1.0]),
        )
        self.inputs = [v.name for v in table if v.causality == "input"]
        self.knowns = self._those(  # of outputs only states are accepted
            [v.name for v in table if v.causality in ("input", "output") or v.variability == "tunable"],
            lambda name: self.exact.adjoint([], [name], []),
        )

    def _is_at_kink(self, name: str) -> bool:
        """The slip of a contact is a size, whose derivatives jump at zero."""
        return name.endswith(".slip") and abs(self.plain.get(name)) < ROUND_OFF_SLIP

    @staticmethod
    def _those(names: list[str], ask: Callable[[str], object]) -> list[str]:
        found = []
        for name in names:
            try:
                ask(name)
            except fm.SolverError:
                continue
            found.append(name)
        return found

    def check(self, few: int = 12) -> None:
        """Directions of single knowns, and one of all."""
        rng = np.random.default_rng(3)
        assert not {"q", "qd", "qdd", "w", "alpha"} & {
            self._suffix(name) for name in self.left_out() if self._is_tree(name)
        }
        values = np.array([self.plain.get(k) for k in self.knowns])
        thin = np.array([".inertia[" in k for k in self.knowns]) & (values == 0.0)  # a step of 1 is none of theirs
        fit = np.array(self.knowns)[((values == 0.0) & ~thin) | (np.abs(values) > LEAST)]
        chosen = list(rng.choice(fit, min(few, len(fit)), replace=False))
        A = np.array([self.exact.directional_derivative(self.unknowns, [k], [1.0]) for k in chosen]).T
        B = np.array([self.plain.directional_derivative(self.unknowns, [k], [1.0]) for k in chosen]).T
        size = np.maximum(np.abs(A).max(axis=1, keepdims=True), 1e-2 * np.abs(A).max()) + 1e-12
        np.testing.assert_array_less(np.abs(A - B), DIFFERENCES * size + np.zeros_like(A))
        self.check_transposed(rng)
        self.check_alone(rng)

    def check_alone(self, rng: np.random.Generator) -> None:
        """By inputs and parameters alone, which for rates takes fewer nodes: the bits that they have beside a state.
        What gravity does to accelerations drops out of differences in loops, of which all nodes leave round-off.
        """
        core, table = self.exact.instance, self.exact.image.variables
        states = lib.fm_continuous_count(core)
        given = [v for v in table if v.name in self.knowns and (v.causality == "input" or v.variability == "tunable")]
        first = lib.fm_variable_count(core) + 1
        rates = list(range(first + states, first + 2 * states))
        outputs = [v.index for v in table if v.name in self.unknowns]
        few = min(3, len(given))
        some = [([int(one)], len(given)) for one in rng.choice(outputs, min(6, len(outputs)), replace=False)]
        for unknowns, count in ((rates, len(given)), *some, (rates, few)) if states > 0 else ():
            seed = rng.uniform(-1, 1, len(unknowns))
            chosen = [given[i] for i in sorted(rng.choice(len(given), count, replace=False))]
            references = [v.index for v in chosen]
            self.exact.step(self.exact.time + MOVES)  # all values that there are belong to another state
            self._adjoint(unknowns, references[:1], seed)
            alone = self._adjoint(unknowns, references, seed)
            beside = self._adjoint(unknowns, [*references, first], seed)[:-1]
            assert_array_equal(self._adjoint(unknowns, references, seed), alone)
            self.forget()
            assert_array_equal(self._adjoint(unknowns, [*references, first], seed)[:-1], beside)
            heavy = np.array([v.name.startswith("gravity[") for v in chosen], bool)
            assert_array_equal(alone[~heavy], beside[~heavy])
            off = TRANSPOSED * np.abs(beside).max(initial=1.0)  # masses and lengths are about 1
            assert_allclose(alone[heavy], beside[heavy], rtol=DIFFERENCES, atol=off)

    def forget(self) -> None:
        """All values are made from the present state again, as a parameter was another one."""
        gravity = self.exact.get("gravity[1]")
        for value in (gravity + 1.0, gravity):
            self.exact.set("gravity[1]", value)

    def _adjoint(self, unknowns: Any, knowns: Any, seed: Array) -> Array:
        return by_reference(self.exact, lib.fm_adjoint_derivative, unknowns, knowns, seed, len(knowns))

    def check_transposed(self, rng: np.random.Generator) -> None:
        s, v = rng.uniform(-1, 1, len(self.knowns)), rng.uniform(-1, 1, len(self.unknowns))
        forward = self.exact.directional_derivative(self.unknowns, self.knowns, s)
        back = self.exact.adjoint(self.unknowns, self.knowns, v)
        size = np.abs(v) @ np.abs(forward) + np.abs(back) @ np.abs(s)
        assert abs(v @ forward - back @ s) <= TRANSPOSED * size

    def left_out(self) -> list[str]:
        table = self.exact.image.variables
        outputs = [v.name for v in table if v.causality == "output" and v.variability == "continuous"]
        return [name for name in outputs if name not in self.unknowns and self._suffix(name) not in OUTPUTS]

    @staticmethod
    def _suffix(name: str) -> str:
        return name.split(".", 1)[1].split("[")[0]

    def _is_tree(self, name: str) -> bool:
        cuts = {
            joint
            for joint, first_link in zip(self._joints(), self.exact.image.arrays["joint_first"].ravel(), strict=True)
            if first_link < 0
        }
        return name.split(".")[0] not in cuts

    def _joints(self) -> list[str]:
        text = bytes(self.exact.image.arrays["text"].ravel())
        return [text[i : text.index(b"\0", i)].decode() for i in self.exact.image.arrays["joint_name"].ravel()]


@examples(8, 100, trees(kinds=BOTH_WAYS, turned_round=True))
def test_trees(case: Case) -> None:
    """Every joint of a tree either way round, springs, dampers, drives, rotors and loads."""
    pair = Pair(case.model, case.inputs)
    assume(not pair.why)
    pair.check()


@examples(8, 100, roped())
def test_ropes(case: Case) -> None:
    """Through points, over pulleys, taut and slack."""
    pair = Pair(case.model, case.inputs)
    assume(not pair.why)
    pair.check()


@pytest.mark.parametrize("winch", [False, True])
def test_a_rope_that_is_taut_over_pulleys(winch: bool) -> None:
    """From a drum on the ground, by a point of a swinging arm and a pulley on that, to a body that moves freely."""
    model = fm.Model("hoist", gravity=(1.0, 0.5, -9.81))
    own: dict[str, Any] = {"mass": 2.0, "com": (0.1, 0.0, 0.05), "inertia": (0.2, 0.25, 0.3)}
    drum, arm, disc, load = (fm.Body(name, **own) for name in ("drum", "arm", "disc", "load"))
    A = fm.Revolute("A", model.ground.at(), drum.at(), axis="y", q0=0.2, u0=0.5)
    B = fm.Revolute("B", model.ground.at(0.0, 0.0, 2.0), arm.at(), axis="x", q0=0.3, u0=-0.4)
    C = fm.Revolute("C", arm.at(1.5, 0.0, 0.5), disc.at(), axis="y", u0=0.3)
    F = fm.Free("F", model.ground.at(), load.at(), q0=(1.9, 0.1, -1.0, 1.0, 0.1, 0.2, 0.0), u0=(0.3,) * 6)
    over = fm.Pulley(C, 0.15, side="negative")
    way = [fm.Pulley(A, 0.1, side="positive"), arm.at(0.6, 0.1, 0.3), over, load.at(0.0, 0.0, 0.2)]
    given: dict[str, Any] = {"stiffness": 40.0, "damping": 3.0, "length": 4.5, "winch": winch}
    rope = fm.Rope("rope", way[::-1] if winch else way, **given)
    model.add(drum, arm, disc, load, A, B, C, F, rope)
    pair = Pair(model)
    assert not pair.why and {"rope.radius[1]", "rope.stiffness"} <= set(pair.knowns)
    assert np.all(pair.exact.get("rope.tension") > 0.0)
    pair.check(few=len(pair.knowns))


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_motors_and_gears(seed: int) -> None:
    """With and without inductance, voltages that are cut or not, teeth within their play and pressed on either flank,
    in a mechanism with a loop, some links of a tree, and the implicit scheme's own states.
    """
    rng = np.random.default_rng(seed)
    model = driven(rng, chain(seed) if seed % 2 == 0 else space(seed, "spherical").model)
    pair = Pair(model, until=0.02)
    assert not pair.why
    assert not {"motor", "gear"} & {name.split(".")[0][:-1] for name in pair.left_out()}
    pair.check(few=len(pair.knowns))


def driven(rng: np.random.Generator, plain: fm.Model) -> fm.Model:
    """With motors on its hinges and slides, and gears between two of them."""
    model = fm.Model("driven", gravity=plain.gravity)
    model.add(*plain.elements)
    joints = [j for j in plain.joints if isinstance(j, fm.Revolute | fm.Prismatic) and not j.cut]
    joints = [joints[i] for i in rng.permutation(len(joints))]
    for k, joint in enumerate(joints[:2]):
        given = dict(zip(("resistance", "constant", "gear", "rotor_inertia"), rng.uniform(0.5, 2, 4), strict=True))
        limit = {"voltage_limit": float(rng.uniform(1, 6))} if rng.random() < 0.7 else {}
        inductance = float(rng.choice((0.0, 0.3)))
        given |= {"inductance": inductance, "voltage": float(rng.uniform(-6, 6))}
        model.add(fm.Motor(f"motor{k}", joint, **given, **limit))
    turning = [j for j in joints if isinstance(j, fm.Revolute)]
    for k, (A, B) in enumerate(itertools.pairwise(turning)):
        ratio, play = float(rng.uniform(-2, 2)), float(rng.uniform(0.05, 0.3))
        offset = A.q0 - ratio * B.q0 + float(rng.uniform(-0.3, 0.3))
        law = {"stiffness": float(rng.uniform(5, 50)), "damping": float(rng.uniform(0, 2))}
        model.add(fm.Gear(f"gear{k}", A, B, ratio=ratio, backlash=play, offset=offset, **law))
    return model


@pytest.mark.parametrize("height", [0.0, 0.3])
def test_stops_with_a_restitution(height: float) -> None:
    """Closed and pressed, and open: then they only enter through their impacts, between which there are derivatives."""
    model = fm.Model("stop")
    carrier, body = (fm.Body(name, mass=2.0, inertia=(0.1, 0.1, 0.1)) for name in ("carrier", "body"))
    S = fm.Prismatic("S", model.ground.at(), carrier.at(), axis="z", q0=height)
    A = fm.Revolute("A", carrier.at(), body.at(-0.3, 0.0, 0.0), axis="y", u0=1.0)
    model.add(carrier, body, S, A, fm.Stop("floor", S, lower=0.0, restitution=0.4))
    pair = Pair(model, {"S.f": -3.0})
    assert pair.exact.get("floor.closed") == (-1.0 if height == 0.0 else 0.0)
    assert not pair.why and "floor.restitution" in pair.knowns
    pair.check(few=len(pair.knowns))


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_loops(seed: int) -> None:
    """Loops in space, with whatever joint closes them, some with redundant rows."""
    case = space(seed, ("spherical", "revolute", None)[seed % 3], driven=seed % 2 == 1)
    pair = Pair(case.model, case.inputs)
    if pair.why:
        pytest.skip(pair.why)
    pair.check()


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_loops_in_a_plane(seed: int) -> None:
    """Pins that close loops, with inputs, springs and dampers on them; the planar kernels leave the multipliers."""
    case = plane(seed, 1 + seed % 2, driven=seed % 3 > 0)
    pair = Pair(case.model, case.inputs)
    assert not pair.why
    pair.check()


@pytest.mark.parametrize("kind", ONLY_CLOSING)
def test_rods_points_and_planes(kind: str) -> None:
    pair = Pair(two_pendulums(kind))
    assert not pair.why
    pair.check()


def test_a_pin_in_a_slot() -> None:
    """What closes the loop turns first, then slides: the row's axis is fixed in M."""
    model = fm.Model("slot")
    crank, rocker = (fm.Body(name, mass=1.0, com=(0.2, 0, 0.1), inertia=(0.1,) * 3) for name in ("crank", "rocker"))
    A = fm.Revolute("A", model.ground.at(), crank.at(), axis="y", q0=0.4, u0=1.0)
    B = fm.Revolute("B", model.ground.at(-1.0, 0.0, 0.0), rocker.at(), axis="y")
    model.add(crank, rocker, A, B)
    model.add(fm.Joint("pin", crank.at(0.3, 0, 0), rocker.at(), modes=[fm.Turn("y"), fm.Slide("x")], cut=True))
    pair = Pair(model)
    assert not pair.why
    assert lib.FM_ROW_ALONG_M in pair.exact.image.arrays["row_kind"]
    pair.check(few=len(pair.knowns))


def test_a_loop_with_a_driven_crank() -> None:
    """By its drive one end of what closes the loop accelerates, both by gravity, which drops out."""
    model = fm.Model("driven", gravity=(1.0, 0.0, -9.81))
    crank, rod, rocker = (
        fm.Body(name, mass=1.0, com=(0.2, 0, 0.1), inertia=(0.1,) * 3) for name in ("crank", "rod", "rocker")
    )
    turn = fm.Turn("y", role="excited", input="kappa_dot")
    A = fm.Joint("A", model.ground.at(), crank.at(), modes=[turn])
    B = fm.Revolute("B", model.ground.at(1.0, 0.0, 0.0), rocker.at(), axis="y", q0=-1.4)
    R = fm.Revolute("R", rocker.at(0.8, 0.0, 0.0), rod.at(), axis="y")
    model.add(crank, rod, rocker, A, B, R)
    model.add(fm.Joint("pin", crank.at(0.3, 0, 0), rod.at(1.0, 0, 0), modes=[fm.Turn("y")], cut=True))
    pair = Pair(model, {"A.kappa_dot": 0.7})
    assert not pair.why and "A.kappa_dot" in pair.knowns
    pair.check(few=len(pair.knowns))


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_coupled_coordinates(seed: int) -> None:
    pair = Pair(coupled(seed, closed=seed % 2 == 1).model)
    if pair.why:
        pytest.skip(pair.why)
    pair.check()


COVERED = (
    "pendulum", "arm6", "heavy_top", "four_bar", "bennett", "governor", "gantry", "slider_crank", "engine",
    "double_pendulum", "bricard", "parallel_cranks", "parallelogram_pendulum", "cardan_shaft", "trough",
    "manipulator5", "crane", "braked_rotor", "sliders", "cantilever", "four_link_flexible", "multi_loop_flexible",
    "flexible_four_bar",
)  # fmt: skip


@pytest.mark.parametrize("name", first(8, COVERED))
def test_mechanisms_of_the_package(name: str) -> None:
    pair = Pair(read_model(name), until=0.3)
    assert not pair.why
    pair.check(few=6)


@pytest.mark.parametrize("name", first(4, ("pendulum", "arm6", "heavy_top", "governor", "double_pendulum", "trough")))
def test_trees_have_all_outputs(name: str) -> None:
    """Reactions, energy and quaternions of the joints that most trees are made of; no output is left to differences,
    but the drive and the reaction of a joint of several screws."""
    pair = Pair(read_model(name))
    assert {one.rsplit("[", 1)[0] for one in pair.left_out()} == (
        {"J.drive", "J.reaction.f", "J.reaction.t"} if name == "trough" else set()
    )


@pytest.mark.parametrize("arms", [{"rolling_arm": 1e-3}, {"drilling_arm": 1e-3}])
def test_a_ball_resists_rolling_alone_or_drilling_alone(arms: dict[str, float]) -> None:
    """What has no arm has no moment, and no direction of one where nothing turns that way."""
    model = fm.Model("ball")
    body = fm.Body("b", mass=2.0, inertia=(8e-3,) * 3)
    start: dict[str, Any] = {"q0": (0, 0, 0.0999, 1, 0, 0, 0), "u0": (0.2, 0, 0, 0, 2.0, 0)}
    model.add(body, fm.Free("f", model.ground.at(), body.at(), **start))
    rub = fm.Coulomb(0.5, stiffness=1e5, turning_stiffness=50.0, **arms)
    model.add(fm.Contact("touch", fm.Sphere(body.at(), 0.1), fm.Plane(model.ground.at()), fm.Press(2e5), rub))
    pair = Pair(model)
    assert not pair.why
    pair.check(few=20)


@pytest.mark.parametrize("seed", seeds(6, 40))
def test_drives_of_joints_with_locked_modes(seed: int) -> None:
    """An excited mode anywhere among locked ones, on what moves, with a body behind that moves as well."""
    rng = np.random.default_rng(seed)
    model, on = fm.Model("locked"), None
    roles: list[dict[str, Any]] = [{"role": "locked", "value": float(rng.normal())} for _ in range(3)]
    roles[seed % 3] = {"role": "excited", "input": "kappa_dot"}
    modes = [(fm.Turn, fm.Slide)[rng.integers(2)](tuple(rng.normal(size=3)), **role) for role in roles]
    for name in ("a", "b", "c"):
        body = fm.Body(name, mass=1.0, com=tuple(rng.normal(size=3)), inertia=(1.0, 1.2, 1.1))
        F, M = (on or model.ground).at(*rng.normal(size=3)), body.at()
        model.add(body, fm.Joint("B", F, M, modes=modes) if name == "b" else fm.Revolute(name.upper(), F, M))
        on = body
    pair = Pair(model, {"A.tau": 1.0, "C.tau": -2.0, "B.kappa_dot": 0.7}, until=0.1)
    assert not pair.why and "B.drive" in pair.unknowns
    pair.check(few=20)


@pytest.mark.parametrize("name", first(3, ("four_bar", "arm6", "governor", "crane", "bennett", "sliders")))
def test_derivatives_follow_what_is_set(name: str) -> None:
    """Those of a Solver that was asked before each change are those of one that never was: values that the graph keeps
    are those of the present parameters, inputs and states."""
    asked = Pair(read_model(name))
    changes = [
        lambda solver, k=k: solver.set(k, 1.3 * solver.get(k) + 0.1) for k in (asked.knowns[-1], asked.inputs[0])
    ]
    changes += [lambda solver: solver.step(0.05), lambda solver: solver.set(asked.inputs[0], -0.2)]
    changes += [lambda solver: solver.state_load(solver.state_save()), lambda solver: solver.step(0.05)]
    weight = np.random.default_rng(7).uniform(-1, 1, len(asked.unknowns))
    for count in range(len(changes)):
        fresh = fm.Solver(read_model(name), derivatives=True)
        fresh.assemble()
        before = asked.exact.adjoint(asked.unknowns, asked.knowns, weight)
        assert_array_equal(asked.exact.adjoint(asked.unknowns, asked.knowns, weight), before)
        changes[count](asked.exact)
        for change in changes[: count + 1]:
            change(fresh)
        back = asked.exact.adjoint(asked.unknowns, asked.knowns, weight)
        assert_array_equal(back, fresh.adjoint(asked.unknowns, asked.knowns, weight))
        along = [solver.directional_derivative(asked.unknowns, asked.knowns, back) for solver in (asked.exact, fresh)]
        assert_array_equal(*along)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_bodies_that_bend_in_space(seed: int) -> None:
    """Carried at a frame that moves with their modes or not, in trees and loops."""
    case = bent_in_space(seed, closed=seed % 2 == 1)
    pair = Pair(case.model, case.inputs)
    assert not pair.why
    pair.check(few=20)


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_friction_on_own_reactions(seed: int) -> None:
    """In trees: joints that slide, turn, or do both."""
    rng = np.random.default_rng(seed)
    model = chain(seed)
    other = fm.Model("rubbing", gravity=model.gravity)
    other.add(*model.bodies, *(rubbed(rng, joint) for joint in model.joints))
    pair = Pair(other, until=0.05)
    assert not pair.why
    pair.check(few=20)


@pytest.mark.parametrize("name", first(3, ("bennett", "manipulator5", "four_bar", "sliders", "governor", "arm6")))
def test_reduced_form(name: str) -> None:
    """Its multipliers follow from the forces that accelerations take."""
    pair = Pair(read_model(name), until=0.2, dynamics="copcod")
    assert not pair.why
    pair.check(few=6)


def test_reactions_in_the_reduced_form() -> None:
    pair = Pair(two_pendulums(next(iter(ONLY_CLOSING))), dynamics="copcod")
    assert any("reaction" in name for name in pair.unknowns)
    pair.check()


def test_torques_of_balls_in_a_long_chain() -> None:
    """They are their own: differences of the torques of all that they carry leave 1e-10 of 40 balls' and more."""
    model = fm.Model("balls")
    carrier: Any = model.ground
    for i in range(60):
        body = fm.Body(f"b{i}", mass=1.0, com=(0.5, 0.1 * (i % 3), 0.0), inertia=(0.1, 0.2, 0.2))
        model.add(body, fm.Spherical(f"J{i}", carrier.at(1.0, 0, 0) if i else model.ground.at(), body.at()))
        carrier = body
    solver = fm.Solver(model, derivatives=True)
    solver.assemble()
    joints = [joint.name for joint in model.joints]
    torques = [f"{name}.wrench.t[{i}]" for name in joints for i in (1, 2, 3)]
    inputs = [f"{name}.tau[{i}]" for name in joints for i in (1, 2, 3)]
    rng = np.random.default_rng(1)
    s, v = rng.uniform(-1, 1, (2, len(inputs)))
    forward = solver.directional_derivative(torques, inputs, s)
    back = solver.adjoint(torques, inputs, v)
    assert abs(v @ forward - back @ s) <= TRANSPOSED * (np.abs(v) @ np.abs(forward) + np.abs(back) @ np.abs(s))
    assert_allclose([np.linalg.norm(one) for one in forward.reshape(-1, 3)],
                    [np.linalg.norm(one) for one in s.reshape(-1, 3)], rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("kind", CLOSING)
def test_forces_along_joints_that_close_loops(kind: str) -> None:
    """Positions, velocities and accelerations of the joint, and its forces."""
    pair = Pair(closed_by(kind))
    assert not pair.why and "c" in {name.split(".")[0] for name in pair.unknowns}
    pair.check(few=len(pair.knowns))


@each_value
@pytest.mark.parametrize("name", ["four_bar", "gantry", "governor"])
def test_independent_states(name: str) -> None:
    """Those that follow move with them, and so do all outputs."""
    image = with_independent_states(fm.compile(read_model(name)))
    exact, plain = (hosted(image, derivatives) for derivatives in (True, False))
    table, states = len(image.variables), lib.fm_continuous_count(exact.instance)
    x = table + 1 + np.arange(states)
    rows = [v.index for v in image.variables if v.kind in ("q", "qd", "qdd", "r", "a") and v.causality == "output"]
    rows = np.concatenate([x + states, rows])
    knowns = np.concatenate([x, [v.index for v in image.variables if v.kind == "mass"]])
    for known in knowns:
        A, B = (
            by_reference(one, lib.fm_directional_derivative, rows, known[None], np.ones(1), len(rows))
            for one in (exact, plain)
        )
        assert_allclose(A, B, rtol=0, atol=DIFFERENCES * max(1.0, np.abs(B).max()))
    rng = np.random.default_rng(1)
    s, v = rng.uniform(-1, 1, len(knowns)), rng.uniform(-1, 1, len(rows))
    placed = np.empty(states)
    lib.fm_get_continuous(exact.instance, pointer(placed))
    exact.call(lib.fm_set_continuous, 0.1, pointer(placed + 0.01 * rng.uniform(-1, 1, states)))
    back = by_reference(exact, lib.fm_adjoint_derivative, rows, knowns, v, len(knowns))  # reads what follows first
    forward = by_reference(exact, lib.fm_directional_derivative, rows, knowns, s, len(rows))
    size = np.abs(v) @ np.abs(forward) + np.abs(back) @ np.abs(s)
    assert abs(v @ forward - back @ s) <= TRANSPOSED * size


PROGRAMS = [("point", 0), ("joint", 1), ("orientation", 0), ("length", 0), ("length", 1)]


@each_value
@pytest.mark.parametrize(("kind", "seed"), PROGRAMS)
def test_programs(kind: str, seed: int) -> None:
    """In trees and loops, by ideal forces."""
    pair = Pair(realised(seed, kind, loops=seed).case.model)
    assert not pair.why
    pair.check()


def test_blocks_that_stick_and_slide() -> None:
    """One brake holds, one slides, one holds what it carries."""
    pair = Pair(stack([1.0, 2.0, 3.0], [20.0, 0.1, 4.0]), {"L2.force": (1.0, 0.0, 0.0), "J1.f": 3.0})
    assert [pair.exact.get(f"brake{i}.slip") for i in range(3)] == [0.0, 1.0, 0.0]
    pair.check(few=len(pair.knowns))
    assert pair.exact.adjoint(["brake0.force"], ["J1.f"], [1.0])[0] == pytest.approx(1.0)
    assert pair.exact.adjoint(["brake2.force"], ["L2.force"], [1.0])[0] == pytest.approx(-1.0 + 3.0 / 5.0)


def test_a_line_whose_law_sticks_is_a_rod() -> None:
    model = fm.Model("rod")
    body = fm.Body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Joint("J", model.ground.at(), body.at(), modes=[fm.Slide(e) for e in "xyz"], q0=(0, 0.3, -1), u0=(1, 0, 0))
    line = fm.Spring("line", model.ground.at(), body.at())
    model.add(body, J, line, fm.Law.brake("grip", line, 100.0))
    pair = Pair(model)
    assert pair.exact.get("grip.slip") == 0.0
    pair.check(few=len(pair.knowns))


def test_a_bent_link_in_space() -> None:
    """Its springs are those of a rotation vector."""
    model = fm.Model("link", gravity=(1.0, 2.0, -9.81))
    bar = fm.FlexibleLink(
        "bar", length=1.0, EIy=2.0, EIz=3.0, GJ=1.0, EA=1e3, mass=1.0, axial_inertia=0.01, damping=0.01, elements=2
    )
    model.add(bar, fm.Weld("J", model.ground.at(), bar.at(0.0)))
    pair = Pair(model, until=0.4)
    assert not pair.why
    pair.check(few=len(pair.knowns))


@pytest.mark.parametrize("seed", seeds(16, 400))
def test_any_mechanism(seed: int) -> None:
    """Drawn from the whole API: laws that slide and stick, friction on own reactions, flexible bodies."""
    try:
        model = draw(seed).model
        pair = Pair(model)
    except (Refused, fm.SolverError, fm.AssemblyError) as error:
        pytest.skip(str(error))
    if pair.exact.mobility == 0 or pair.why:
        pytest.skip(pair.why or "nothing moves")
    pair.check()


# Forty digits --------------------------------------------------------------------------------------------------------


def moved(model: fm.Model, joint: str, start: str, by: float) -> fm.Model:
    """The model with another start value of a joint."""
    other = fm.Model(model.name, gravity=model.gravity)
    joints = [replace(j, **{start: getattr(j, start) + by}) if j.name == joint else j for j in model.joints]
    other.add(*model.bodies, *joints)
    return other


def heavier(model: fm.Model, body: str, by: float) -> fm.Model:
    other = fm.Model(model.name, gravity=model.gravity)
    others = {b.name: replace(b, mass=b.mass + by) if b.name == body else b for b in model.bodies}
    ends = {b.name: b for b in others.values()}

    def on(point: fm.Point) -> fm.Point:
        return replace(point, body=ends.get(point.body.name, point.body))

    other.add(*others.values(), *(replace(j, F=on(j.F), M=on(j.M)) for j in model.joints))
    return other


def chain(seed: int) -> fm.Model:
    """Bodies on turns and slides about and along any axes, in motion."""
    rng = np.random.default_rng(seed)
    model = fm.Model("chain", gravity=rng.uniform(-10, 10, 3))
    carrier: Any = model.ground
    for i in range(4):
        body = fm.Body(
            f"b{i}", mass=rng.uniform(0.5, 2), com=rng.uniform(-0.3, 0.3, 3), inertia=rng.uniform(1.0, 1.4, 3)
        )
        kind = fm.Prismatic if rng.random() < 0.3 else fm.Revolute
        ends = carrier.at(*rng.uniform(-0.5, 0.5, 3)), body.at(*rng.uniform(-0.5, 0.5, 3))
        q0, u0 = rng.uniform(-1, 1, 2)
        model.add(body, kind(f"j{i}", *ends, axis=rng.uniform(-1, 1, 3), q0=float(q0), u0=float(2 * u0)))
        carrier = body
    return model


def in_forty_digits(other: Callable[[float], fm.Model], body: str) -> Array:
    """The derivative of (6,) accelerations of a body by central differences."""
    ahead, behind = accelerations(other(STEP)), accelerations(other(-STEP))
    change = [getattr(ahead, name)[body] - getattr(behind, name)[body] for name in ("a", "alpha")]
    return np.concatenate(change) / (2 * STEP)


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_differences_in_forty_digits(seed: int) -> None:
    """By positions, velocities and masses; what comes back from the oracle is rounded to doubles, 1e-16 over 1e-6."""
    model = chain(seed)
    solver = fm.Solver(model, derivatives=True)
    solver.assemble()
    unknowns = [f"b3.{name}[{i}]" for name in ("a", "alpha") for i in (1, 2, 3)]
    asked = [
        (f"j{i}.{v}", lambda h, i=i, s=s: moved(model, f"j{i}", s, h))
        for i in range(4)
        for v, s in (("q", "q0"), ("qd", "u0"))
    ]
    asked += [("b2.mass", lambda h: heavier(model, "b2", h))]
    for known, other in asked:
        expected = in_forty_digits(other, "b3")
        found = solver.directional_derivative(unknowns, [known], [1.0])
        assert_allclose(found, expected, rtol=0, atol=EXACT * max(1.0, np.abs(expected).max()))


# Integration by the host ---------------------------------------------------------------------------------------------


def hosted(model: Any, derivatives: bool) -> fm.Solver:
    solver = fm.Solver(model, derivatives=derivatives)
    solver.assemble()
    solver.step(0.1)
    solver.call(lib.fm_update_events, ffi.new("fm_events *"))
    return solver


@each_value
@pytest.mark.parametrize("name", ["four_bar", "heavy_top", "bennett", "parallelogram_pendulum", "gantry"])
def test_rates_with_their_pull(name: str) -> None:
    """Rates of all states by all states, which a host that integrates itself asks for: on the constraints the pull
    alone makes what leads off them decay.
    """
    exact, plain = (hosted(read_model(name), derivatives) for derivatives in (True, False))
    table, states = len(exact.image.variables), lib.fm_continuous_count(exact.instance)
    x = table + 1 + np.arange(states)
    rates = x + states
    rng = np.random.default_rng(1)
    for column in rng.choice(states, min(states, 6), replace=False):
        A, B = (
            by_reference(one, lib.fm_directional_derivative, rates, x[[column]], np.ones(1), states)
            for one in (exact, plain)
        )
        assert_allclose(A, B, rtol=0, atol=DIFFERENCES * max(1.0, np.abs(B).max()))
    s, v = rng.uniform(-1, 1, (2, states))
    forward = by_reference(exact, lib.fm_directional_derivative, rates, x, s, states)
    back = by_reference(exact, lib.fm_adjoint_derivative, rates, x, v, states)
    size = np.abs(v) @ np.abs(forward) + np.abs(back) @ np.abs(s)
    assert abs(v @ forward - back @ s) <= TRANSPOSED * size


@each_value
@pytest.mark.parametrize("name", ["four_bar", "bennett"])
def test_rates_with_their_pull_by_parameters_alone(name: str) -> None:
    """Off the constraints, where the pull changes with all that rows and masses are made of; first by other knowns and
    of other rates, as many.
    """
    fresh, asked = (hosted(read_model(name), derivatives=True) for _ in range(2))
    table, states = fresh.image.variables, lib.fm_continuous_count(fresh.instance)
    x = len(table) + 1 + np.arange(states)
    knowns = [v.index for v in table if v.variability == "tunable" and v.kind in ("mass", "length", "gravity")]
    now = np.empty(states)
    lib.fm_get_continuous(fresh.instance, pointer(now))
    rng = np.random.default_rng(4)
    now += 1e-3 * rng.uniform(-1, 1, states)
    for solver in (fresh, asked):
        solver.call(lib.fm_set_continuous, 0.1, pointer(now))
    v = rng.uniform(-1, 1, states)
    by_reference(asked, lib.fm_adjoint_derivative, x, knowns, v, len(knowns))
    alone = by_reference(asked, lib.fm_adjoint_derivative, x + states, knowns, v, len(knowns))
    beside = by_reference(fresh, lib.fm_adjoint_derivative, x + states, [*knowns, x[0]], v, len(knowns) + 1)[:-1]
    assert np.abs(beside).max() > 0.0
    assert_array_equal(alone, beside)


def test_baumgarte_is_part_of_the_rates() -> None:
    model = read_model("four_bar")
    exact, plain = (fm.Solver(model, derivatives=d, correction="baumgarte") for d in (True, False))
    for solver in (exact, plain):
        solver.assemble()
        solver.step(0.05)
    A, B = (one.directional_derivative(["A.qdd"], ["B.q"], [1.0]) for one in (exact, plain))
    assert_allclose(A, B, rtol=DIFFERENCES)
    assert_allclose(exact.adjoint(["A.qdd"], ["B.q"], [1.0]), A, rtol=1e-10)


ALONE = 1e-12
"""Of a row's size: exact derivatives have the same bits in any company, differences seek normal forces again."""


@each_value
@pytest.mark.parametrize("name", ["four_bar", "engine", "bennett", "cardan_shaft", "sliders"])
def test_company_changes_no_derivative(name: str) -> None:
    """Some reactions are differences, as they are not unique: each unknown alone, all together, on the constraints
    and off them.
    """
    solver = hosted(read_model(name), derivatives=True)
    table, states = solver.image.variables, lib.fm_continuous_count(solver.instance)
    x = len(table) + 1 + np.arange(states)
    now = np.empty(states)
    lib.fm_get_continuous(solver.instance, pointer(now))
    rng = np.random.default_rng(2)
    outputs = [v.index for v in table if v.causality == "output" and v.variability == "continuous"]
    rows = np.concatenate([x + states, rng.choice(outputs, min(40, len(outputs)), replace=False)])
    masses = [v.index for v in table if v.kind == "mass"]
    for off in (0.0, 1e-3):
        solver.call(lib.fm_set_continuous, 0.1, pointer(now + off * rng.uniform(-1, 1, states)))
        for known in (rng.choice(x), rng.choice(masses)):
            together = by_reference(solver, lib.fm_directional_derivative, rows, [known], np.ones(1), len(rows))
            alone = [by_reference(solver, lib.fm_directional_derivative, [r], [known], np.ones(1), 1)[0] for r in rows]
            assert_allclose(alone, together, rtol=ALONE, atol=ALONE * np.abs(together).max())


# What there is not ---------------------------------------------------------------------------------------------------


def test_what_has_no_adjoint_leaves_the_others_exact() -> None:
    """Reactions of a plane four-bar are differences, not all are unique; the others have the same bits without them."""
    pair = Pair(read_model("four_bar"), until=0.1)
    left = pair.left_out()
    assert left
    mixed = pair.exact.directional_derivative([*left, *pair.unknowns], ["crank.mass"], [1.0])
    alone = pair.exact.directional_derivative(pair.unknowns, ["crank.mass"], [1.0])
    assert mixed[len(left) :].tobytes() == alone.tobytes()
    by_differences = pair.plain.directional_derivative(left, ["crank.mass"], [1.0])
    assert_allclose(mixed[: len(left)], by_differences, rtol=0, atol=DIFFERENCES * np.abs(by_differences).max())


def test_without_derivatives_there_is_no_adjoint() -> None:
    solver = fm.Solver(read_model("pendulum"))
    solver.assemble()
    with pytest.raises(fm.SolverError, match="opened without derivatives"):
        solver.adjoint(["A.qdd"], ["A.q"], [1.0])


def beside_a_loop() -> fm.Model:
    model = two_pendulums(next(iter(ONLY_CLOSING)))
    runner = fm.Body("runner", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(runner, fm.Skate("K", model.ground.at(), runner.at(), u0=(1.0, 0.5)))
    return model


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (read_model("rolling_disk"), "kind of constraint"), (beside_a_loop(), "with loops the nonholonomic joint K"),
    ],
)  # fmt: skip
def test_what_is_not_covered_is_named(model: fm.Model, says: str) -> None:
    """Directional derivatives are then those of a Solver without, bit for bit."""
    exact, plain = fm.Solver(model, derivatives=True), fm.Solver(model)
    for solver in (exact, plain):
        solver.assemble()
    with pytest.raises(fm.SolverError, match=says):
        exact.adjoint([], [], [])
    output = next(v.name for v in plain.image.variables if v.causality == "output" and v.variability == "continuous")
    known = next(v.name for v in plain.image.variables if v.variability == "tunable")
    A, B = (one.directional_derivative([output], [known], [1.0]) for one in (exact, plain))
    assert A.tobytes() == B.tobytes()


def test_drives_that_realise_a_program_are_named() -> None:
    exact = fm.Solver(realised(0, "joint").model, derivatives=True)
    exact.assemble()
    with pytest.raises(fm.SolverError, match="drives that realise the program of joint"):
        exact.adjoint([], [], [])


def test_variables_without_adjoint_are_named() -> None:
    solver = fm.Solver(read_model("four_bar"), derivatives=True)
    solver.assemble()
    with pytest.raises(fm.SolverError, match=r"A\.reaction\.f\[1\]\): it has no adjoint"):
        solver.adjoint(["A.reaction.f"], ["A.q"], [1.0, 0.0, 0.0])
    with pytest.raises(fm.SolverError, match=r"solver\.tolerance\): there is no adjoint with respect to it"):
        solver.adjoint(["A.qdd"], ["solver.tolerance"], [1.0])
    with pytest.raises(fm.SolverError, match="the seed has 2 numbers for 1 unknowns"):
        solver.adjoint(["A.qdd"], ["A.q"], [1.0, 2.0])
    with pytest.raises(fm.SolverError, match="its seed must be a finite number"):
        solver.adjoint(["A.qdd"], ["A.q"], [np.nan])


MATRIX = ((3.0, 0.4, -0.2), (0.4, 5.0, 0.3), (-0.2, 0.3, 2.0))


@pytest.mark.parametrize("stiffness", [4.0, MATRIX])
def test_springs_of_a_ball_that_is_far_from_zero(stiffness: Any) -> None:
    """By all states and by all entries of the stiffness, of which one number is that of all directions."""
    model = fm.Model("ball")
    body = fm.Body("body", mass=2.0, com=(0.1, 0.2, 0.3), inertia=(0.2, 0.3, 0.25))
    start = {"q0": (0.5, 0.5, -0.4, 0.6), "u0": (0.3, -1.0, 0.7)}
    ball = fm.Spherical("S", model.ground.at(), body.at(), stiffness=stiffness, damping=stiffness, **start)
    model.add(body, ball)
    pair = Pair(model)
    assert not pair.why and "S.stiffness" in {name.split("[")[0] for name in pair.knowns}
    pair.check(few=len(pair.knowns))
