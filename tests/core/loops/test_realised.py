"""Programs that drives realise: beside equations with the columns of drives, in both formulations and all schemes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from fmumbs.compiler.dependencies import Dependencies
from fmumbs.play import Options, run_fmu
from fmumbs.verify.verifying import verify_fmu
from oracle import Oracle
from oracle.joints import matrix_of_quaternion
from oracle.programs import Realised
from support.closed import state_of
from support.programs import TRANSITION, Driven, realised
from support.sweeps import each_value, first

AGREEMENT = 1e-9  # relative to the largest acceleration or force
MOTION = 1e-8  # [rad] or [m]: between formulations and schemes, at a tolerance of 1e-10
LINE = fm.Path.line([0.9, 0.25, -0.4], [0.75, 0.4, -0.3], 1.0)
G = 9.81


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**options))
    solver.assemble()
    return solver


def arm(**options: Any) -> fm.Model:
    """A turret with two hinges, and a program of the point at its tip; drives: names of joints."""
    model = fm.Model("arm")
    sizes = (("a", 0.5, 1.0), ("b", 0.4, 0.7), ("c", 0.3, 0.4))
    a, b, c = (fm.Body.rod(name, length=length, mass=mass, radius=0.02) for name, length, mass in sizes)
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="z", q0=0.3, u0=0.2))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.5), fm.Revolute("C", b.tip, c.base, axis="y", q0=0.6))
    if options:
        drives = tuple(model[name] for name in options.pop("drives", ""))
        model.add(fm.ProgrammedPoint("P", c.tip, drives=drives, **({"path": LINE} | options)))
    return model


def cart(of: str = "X", to: float = 0.3, *, q0: float = 0.0, damping: float = 0.0, **options: Any) -> fm.Model:
    """A pendulum on a cart that a drive moves, as the program of one of the two asks."""
    model = fm.Model("cart")
    body = fm.Body("body", mass=2.0, inertia=(0.1,) * 3)
    bob = fm.Body("bob", mass=0.5, com=(0, 0, -0.4), inertia=(0.01,) * 3)
    X = fm.Prismatic("X", model.ground.at(), body.at(), axis="x")
    T = fm.Revolute("T", body.at(), bob.at(), axis="y", q0=q0, damping=damping)
    begin = q0 if of == "T" else 0.0
    model.add(body, bob, X, T)
    path = fm.Path.quintic([0, 1], [begin, begin + to])
    model.add(fm.ProgrammedJoint("P", model[of], path=path, **({"drives": (X,)} | options)))
    return model


def assert_equations(solver: fm.Solver, case: Driven, oracle: Oracle, t: float) -> None:
    """Accelerations, drives, reactions."""
    plain = case.case.plain
    answer = oracle.solve(replace(state_of(solver, plain), time=t))
    unique = ("reaction.f", "reaction.t", "wrench.f", "wrench.t") if all(j.name[0] == "j" for j in plain.joints) else ()
    for kinds in (("qdd", "alpha"), unique):
        names = [f"{joint.name}.{what}" for joint in plain.joints for what in kinds]
        names = [name for name in names if name in answer.names() and solver.image.variables.references(name)]
        scale = max(1.0, *(np.abs(answer[name]).max() for name in names)) if names else 1.0
        for name in names:
            assert_allclose(solver.get(name), answer[name], rtol=0, atol=AGREEMENT * scale, err_msg=name)
    drive = np.atleast_1d(solver.get("P.drive"))
    assert_allclose(drive, answer["P.drive"], rtol=0, atol=AGREEMENT * max(1.0, np.abs(drive).max()))


# Equations -------------------------------------------------------------------------------------------------------


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize(("kind", "seed", "loops"), [
    ("point", 0, 0), ("point", 1, 0), ("point", 5, 0), ("point", 0, 1), ("point", 3, 1), ("joint", 1, 0),
    ("joint", 5, 0), ("joint", 0, 1), ("joint", 3, 1), ("orientation", 0, 0), ("orientation", 3, 0),
])  # fmt: skip
def test_random_programs_by_random_drives(kind: str, seed: int, loops: int, dynamics: str) -> None:
    """At the start, within the transition and after it; mobility is left, so that the motion is not the ideal one."""
    case = realised(seed, kind, loops=loops, transition=TRANSITION)
    solver = started(case.model, dynamics=dynamics, tolerance=1e-9)
    state = state_of(solver, case.case.plain)
    position, rate = case.oracle().programmed(state, "P")
    target = np.array(case.case.program.path(0.0))
    oracle = case.oracle(position - target[0], rate - target[1])
    for t in (0.0, 0.02, 0.05):
        solver.step(t) if t else None
        assert_equations(solver, case, oracle, t)
        assert solver.get("solver.position_violation") <= 1e-11


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("kind", "seed", "loops"), [
    ("speed", 1, 0), ("speed_M", 3, 1), ("spin", 4, 0), ("spin_M", 5, 0),
])  # fmt: skip
def test_velocities_and_accelerations_by_drives(kind: str, seed: int, loops: int, order: int) -> None:
    case = realised(seed, kind, loops=loops, order=order)
    solver = started(case.model, tolerance=1e-9)
    oracle = case.oracle()
    oracle.accelerations |= {"P"} if order == 2 else set()
    for t in (0.0, 0.05):
        solver.step(t) if t else None
        assert_equations(solver, case, oracle, t)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("axis", ["x", "z"])
def test_drives_in_joints_of_several_modes(axis: str, turned: bool) -> None:
    """A cylindrical joint, traversed either way, and a universal one."""
    plain = fm.Model("several", gravity=(1.0, -2.0, -9.0))
    a, b = (fm.Body(n, mass=1.3, com=(0.1, 0.2, -0.3), inertia=(0.2, 0.3, 0.25)) for n in "ab")
    ends = (plain.ground.at(0.1, 0, 0), a.at(0, 0.2, 0))
    one = fm.Cylindrical("one", *(ends[::-1] if turned else ends), axis=axis, q0=(0.3, 0.2), u0=(0.4, -0.3))
    two = fm.Universal("two", a.at(0.4, 0, 0), b.at(0, 0, 0.2), q0=(0.5, -0.4), u0=(0.2, 0.7))
    plain.add(a, b, one, two)
    start, tip = fm.Solver(plain), b.at(0.2, 0.1, -0.3)
    start.assemble()
    now = np.asarray(start.get("b.r")) + matrix_of_quaternion(np.asarray(start.get("b.quat"))) @ (0.2, 0.1, -0.3)
    path, drives = fm.Path.line(now, now + 0.1, 1.0), ((one, 2), (two, 1), (one, 1))
    model = fm.Model("driven", gravity=plain.gravity)
    model.add(*plain.elements, fm.ProgrammedPoint("P", tip, path=path, drives=drives, insist=True))
    oracle = Realised(plain, {"P": ("point", (model.ground.at(), tip, "xyz"), path)}, {"P": drives})
    for dynamics in ("riccati", "copcod"):
        solver = started(model, dynamics=dynamics)
        answer = oracle.solve(state_of(solver, plain))
        for name in ("one.qdd", "two.qdd", "P.drive"):
            assert_allclose(solver.get(name), answer[name], rtol=0, atol=1e-9 * max(1, np.abs(answer[name]).max()))
    assert solver.image.variables.units(solver.image.variables.references("P.drive")) == ["N", "N.m", "N.m"]


# Motion ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "seed", "loops"), [
    ("point", 3, 0), ("point", 5, 1), ("joint", 6, 0), ("joint", 7, 1), ("spin_M", 3, 0), ("speed_M", 5, 1),
])  # fmt: skip
def test_formulations_and_schemes_agree(kind: str, seed: int, loops: int) -> None:
    case = realised(seed, kind, loops=loops, transition=0.2)
    names = [f"{joint.name}.q" for joint in case.case.plain.joints if joint.name[0] == "j"]
    found = []
    for dynamics, scheme in (("riccati", "dopri5"), ("copcod", "dopri5"), ("riccati", "radau"), ("copcod", "radau")):
        solver = started(case.model, dynamics=dynamics, scheme=scheme, tolerance=1e-10)
        solver.step(0.15)
        found.append(np.concatenate([np.atleast_1d(solver.get(name)) for name in names]))
    for other in found[1:]:
        assert_allclose(other, found[0], rtol=0, atol=MOTION)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_with_as_many_drives_as_mobility_the_motion_is_the_ideal_one(dynamics: str) -> None:
    """Only the forces differ: they are those of inverse dynamics, whatever an input adds."""
    solver, ideal = started(arm(drives="CAB", transition=0.3), dynamics=dynamics), started(arm(transition=0.3))
    solver.set("B.tau", 2.0)
    for t in (0.1, 0.4, 1.1):
        solver.step(t), ideal.step(t)
        for name in ("A.q", "B.q", "C.q", "A.qdd", "B.qdd"):
            assert_allclose(solver.get(name), ideal.get(name), rtol=0, atol=1e-7)
    plain = arm()
    state = state_of(solver, plain)
    C, A, B = solver.get("P.drive")
    answer = Oracle(plain).solve(state, {"A.tau": A, "B.tau": B + 2.0, "C.tau": C})
    for name in ("A.qdd", "B.qdd", "C.qdd"):
        assert_allclose(solver.get(name), answer[name], rtol=0, atol=1e-9)
    assert_allclose(solver.get("B.wrench.t")[1], B + 2.0, rtol=0, atol=1e-9)
    assert_allclose(solver.get("B.reaction.t")[1], 0.0, rtol=0, atol=1e-9)


def test_a_drive_in_the_programmed_joint_is_the_ideal_one() -> None:
    solver, ideal = started(cart(q0=0.4)), started(cart(q0=0.4, drives=()))
    for t in (0.0, 0.3, 0.8, 2.0):
        solver.step(t) if t else None
        ideal.step(t) if t else None
        assert_allclose(solver.get("T.q"), ideal.get("T.q"), rtol=0, atol=1e-8)
        assert_allclose(solver.get("P.drive"), ideal.get("P.drive"), rtol=0, atol=1e-6)


def test_the_internal_dynamics_is_that_of_the_drives() -> None:
    """The cart moves so that its pendulum turns by the program, with no torque on the pendulum's pin."""
    solver, ideal = started(cart("T", 0.2)), started(cart("T", 0.2, drives=()))
    for t in (0.25, 0.6, 1.0):
        solver.step(t), ideal.step(t)
        assert_allclose(solver.get("T.q"), ideal.get("T.q"), rtol=0, atol=1e-11)
        q, qd, qdd = (solver.get(f"T.{what}") for what in ("q", "qd", "qdd"))
        # the pendulum about its pin: (0.01 + m l^2) q'' = m l (x'' cos q - g sin q), and the momentum along x
        xdd = (0.09 * qdd / 0.2 + G * np.sin(q)) / np.cos(q)
        assert_allclose(abs(solver.get("X.qdd")), abs(xdd), rtol=1e-9)
        force = 2.5 * xdd - 0.2 * (qdd * np.cos(q) - qd**2 * np.sin(q))
        assert_allclose(abs(solver.get("P.drive")), abs(force), rtol=1e-8)
    assert abs(solver.get("X.q") - ideal.get("X.q")) > 0.1


def test_drive_torques_fed_into_the_arm_without_the_program_reproduce_the_path() -> None:
    """The mean of each communication step's ends is held: an error of second order."""
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        source, sink = started(arm(drives="ABC", transition=0.3), tolerance=1e-9), started(arm(), tolerance=1e-9)
        for t in np.arange(step, 0.4 + step / 2, step):
            before = source.get("P.drive")
            source.step(t)
            for name, value in zip("ABC", (before + source.get("P.drive")) / 2, strict=True):
                sink.set(f"{name}.tau", value)
            sink.step(t)
        errors.append(max(abs(source.get(f"{name}.q") - sink.get(f"{name}.q")) for name in "ABC"))
    assert errors[2] < 1e-4
    assert errors[0] / errors[1] > 3 and errors[1] / errors[2] > 3


def test_friction_of_a_joint_and_a_drive_in_it() -> None:
    """The drive overcomes what friction takes; the motion stays."""
    rough = fm.LuGre(static=0.5, kinetic=0.3, stribeck=0.1, stiffness=1e3, damping=1.0, preload=2.0)
    free, driven = cart(), cart()
    made = fm.Model("cart", gravity=free.gravity)
    X = replace(free["X"], friction=rough)
    made.add(free["body"], free["bob"], X, free["T"], replace(driven["P"], joint=X, drives=(X,)))
    for dynamics in ("riccati", "copcod"):
        one, other = started(made, dynamics=dynamics, tolerance=1e-9), started(cart(), tolerance=1e-9)
        one.step(0.5), other.step(0.5)
        assert_allclose(one.get("T.q"), other.get("T.q"), rtol=0, atol=1e-8)
        assert_allclose(one.get("P.drive") + one.get("X.friction.force"), other.get("P.drive"), rtol=0, atol=1e-5)


# Refusals --------------------------------------------------------------------------------------------------------


def test_unstable_internal_dynamics_is_refused_with_its_growth() -> None:
    rate = np.sqrt(0.5 * 0.4 * G / (0.01 + 0.5 * 0.16))
    with pytest.raises(fm.AssemblyError, match=rf"unstable at the start: a deviation grows as exp\({rate:.3g} t\)"):
        started(cart(q0=np.pi))
    assert started(cart(q0=np.pi, insist=True)).get("P.drive") is not None
    for damping in (0.0, 0.2):  # hanging; its frequencies are on the imaginary axis, or left of it
        started(cart(damping=damping))


def test_dampers_and_springs_count_for_the_internal_dynamics() -> None:
    """A law f = 0.1 v on the pendulum, whose inertia about its pin is 0.09."""
    pushed = cart()
    pushed.add(fm.Law("pushed", pushed["T"], pieces=[fm.Piece([[0.0, 0.1]])]))
    with pytest.raises(fm.AssemblyError, match=rf"grows as exp\({0.1 / 0.18:.3g} t\)"):
        started(pushed)
    held = cart(q0=np.pi)
    held.add(fm.Law("held", held["T"], pieces=[fm.Piece([[0.0], [-5.0]], origin=np.pi)]))
    started(held)


def test_drives_that_determine_too_little_are_refused() -> None:
    with pytest.raises(fm.AssemblyError, match=r"'P' by 'X'.*0 of 1 programmed accelerations .* drive 'X' adds none"):
        started(cart("T", 0.1, q0=np.pi / 2))


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853", "radau", "auto"])
def test_a_step_fails_where_the_drives_lose_their_effect(scheme: str, dynamics: str) -> None:
    """A pendulum that is to pass the horizontal, where the cart cannot turn it."""
    solver = started(cart("T", 2.2, q0=0.3), scheme=scheme, dynamics=dynamics, step=1e-3)
    with pytest.raises(fm.SolverError, match=r"at t = 0.54.* s the drives lose their effect .*'P' by 'X'"):
        solver.step(0.8)
    assert_allclose(solver.get("T.q"), np.pi / 2, rtol=0, atol=5e-3)


def test_drives_that_do_not_fit_are_refused() -> None:
    model = arm()
    A, B, C, tip = model["A"], model["B"], model["C"], model["c"].tip
    make = fm.ProgrammedPoint
    for drives, message in (
        ((A, B), "drives are 2, but 3 coordinates are programmed"),
        (A, "Give joints in a tuple"),
        ((A, B, "C"), r"drives\[3\] is 'C'. Give a joint"),
        ((A, B, (C, 2)), r"drives\[3\] is mode 2 of joint 'C', which has 1 free modes"),
        ((A, B, fm.Spherical("S", A.F, C.M)), "no modes with scalar positions"),
    ):
        with pytest.raises(fm.ModelError, match=message):
            make("P", tip, path=LINE, drives=drives)
    with pytest.raises(fm.ModelError, match="insist is given, but there are no drives"):
        make("P", tip, path=LINE, insist=True)
    model.add(make("P", tip, path=LINE, drives=(A, B, B)))
    with pytest.raises(fm.ModelError, match="drive 'B' realises a coordinate of program 'P' already"):
        fm.compile(model)
    other = arm()
    other.add(fm.ProgrammedJoint("P", other["A"], path=fm.Path.polynomial(0.0), drives=(fm.Revolute("Z", A.F, C.M),)))
    with pytest.raises(fm.ModelError, match="is realised by 'Z', which is not in the model"):
        fm.compile(other)


def test_flexible_links_between_are_refused_and_those_beside_are_not() -> None:
    steel = fm.Material.steel()
    between = fm.make_flexible(arm(drives="ABC", transition=0.1), ["b"], material=steel, elements=2)
    with pytest.raises(fm.ModelError, match=r"'b' is flexible and lies between the programmed motion and drive 'A'"):
        fm.compile(between)
    model = arm()  # the drive is behind the link that bends, what it shall move before it
    A, C = model["A"], model["C"]
    model.add(fm.ProgrammedJoint("P", A, path=fm.Path.polynomial(0.3), drives=(C,), insist=True))
    with pytest.raises(fm.ModelError, match=r"'b' is flexible and lies between .* drive 'C'"):
        fm.compile(fm.make_flexible(model, ["b"], material=steel, elements=2))
    model = arm()
    path, A = fm.Path.quintic([0, 1], [0.3, 0.4]), model["A"]
    model.add(fm.ProgrammedJoint("P", A, path=path, transition=0.1, drives=(A,)))
    solver = started(fm.make_flexible(model, ["c"], material=steel, elements=2), scheme="radau")
    solver.step(0.05)
    assert solver.get("solver.position_violation") < 1e-11


def test_a_modal_body_between_is_refused() -> None:
    model = fm.Model("modal")
    b, c = fm.ModalBody.beam("b", length=1.0, mass=1.0, EI=20.0), fm.Body.rod("c", length=0.5, mass=1.0)
    A = fm.Revolute("A", model.ground.at(), b.base, axis="y", q0=0.3)
    C = fm.Revolute("C", b.tip, c.base, axis="y", q0=0.4)
    model.add(b, c, A, C, fm.ProgrammedJoint("P", A, path=fm.Path.polynomial(0.3), drives=(C,), insist=True))
    with pytest.raises(fm.ModelError, match=r"'b' is flexible and lies between .* drive 'C'"):
        fm.compile(model)


def test_laws_that_may_stick_are_refused() -> None:
    model = cart()
    model.add(fm.Law.brake("brake", model["T"], 0.5))
    with pytest.raises(fm.ModelError, match="Law 'brake' jumps and may stick"):
        fm.compile(model)
    model = cart()
    model.add(fm.Law.polynomial("cubic", model["T"], [0.0, -1.0, 0.0, -2.0]))
    started(model).step(0.1)


def test_a_cut_joint_is_no_drive() -> None:
    case = realised(0, "point", loops=1)
    cut = next(joint for joint in case.case.plain.joints if joint.name == "c0")
    scalar = fm.Revolute("c1", cut.F, cut.M, axis="z", cut=True)
    model = fm.Model("cut", gravity=case.model.gravity)
    model.add(*case.case.plain.elements, scalar)
    model.add(replace(case.case.program, drives=(scalar,)))
    with pytest.raises(fm.ModelError, match="'P' has a drive on joint 'c1', which closes a loop"):
        fm.compile(model)


# Saved, exported -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_saved_state_continues_bit_for_bit(dynamics: str) -> None:
    image = fm.compile(cart("T", 0.2)).with_options(dynamics=dynamics)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble(), second.assemble()
    first.step(0.21)
    second.state_load(first.state_save())
    names = image.variables.names()
    for t in (0.3, 0.7):
        first.step(t), second.step(t)
        assert_array_equal([first.get(n) for n in names], [second.get(n) for n in names])


@pytest.mark.parametrize("dynamics", first(1, ["riccati", "copcod"]))
def test_an_fmu_has_the_bits_of_the_solver_and_verifies(dynamics: str, tmp_path: Path) -> None:
    model = cart("T", 0.2)
    path = fm.export_fmu(model, tmp_path / "cart.fmu", dynamics=dynamics)
    there = run_fmu(path, Options(stop=0.5, interval=0.05))
    here = fm.simulate(model, stop=0.5, interval=0.05, dynamics=dynamics)
    for name in here.names:
        assert np.array_equal(there[name], here[name]), name
    assert verify_fmu(path) == []


def test_derivatives_by_inputs_are_those_of_the_driven_mechanism() -> None:
    """A force on the cart changes nothing but the drive; a torque on the pendulum, the cart as well."""
    for dynamics in ("riccati", "copcod"):
        solver = started(cart("T", 0.2, q0=0.1), dynamics=dynamics)
        found = {}
        for force in ("X.f", "T.tau"):
            values = []
            for value in (0.0, 1.0):
                solver.set(force, value)
                values.append(np.array([solver.get("X.qdd"), solver.get("T.qdd"), solver.get("P.drive")]))
            found[force] = values[1] - values[0]
            derivative = solver.directional_derivative(["X.qdd", "T.qdd", "P.drive"], [force], [1.0])
            assert_allclose(derivative, found[force], rtol=0, atol=1e-10)
        assert_allclose(found["X.f"], [0, 0, -1], rtol=0, atol=1e-10)
        assert_allclose(abs(found["T.tau"][0]), 1 / (0.2 * np.cos(0.1)), rtol=1e-9)
        assert_allclose(found["T.tau"][1], 0.0, rtol=0, atol=1e-9)


def test_what_drives_move_follows_all_inputs() -> None:
    """A torque on a pendulum that an ideal program holds accelerates nothing; the cart that holds it moves."""
    for drives in (True, False):
        image = fm.compile(cart("T", 0.2, **({} if drives else {"drives": ()})))
        (index,), (input_,) = (image.variables.references(name) for name in ("X.qdd", "T.tau"))
        (found,) = Dependencies(image.arrays).of(np.array([index]))
        assert (found is None or input_ in found) == drives


def test_the_equilibrium_is_that_of_the_driven_mechanism() -> None:
    """Two rods of which the lower stands at an angle by a motor in the upper hinge: it bears no torque, so it hangs."""
    model = fm.Model("double")
    a, b = (fm.Body.rod(name, length=0.5, mass=1.0, radius=0.02) for name in "ab")
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=1.7)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=0.2)
    model.add(a, b, A, B, fm.ProgrammedJoint("P", B, path=fm.Path.polynomial(0.2), drives=(A,)))
    found = fm.equilibrium(model)
    assert_allclose(found.starts["A.q"] + 0.2, np.pi / 2, rtol=0, atol=1e-9)
    assert_allclose(abs(found.solver.get("P.drive")), 1.5 * G * 0.5 * np.sin(0.2), rtol=1e-8)
