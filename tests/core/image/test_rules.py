"""Rules on several parameters: an inertia, a joint's matrices, coefficients of friction.

They hold when initialisation ends and when a step begins, in Python, the Solver and the FMU; never between two calls.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.play.fmu import Fmu, Instance
from support.sweeps import seeds

DYNAMICS = ("riccati", "copcod")
STIFFNESS = np.diag([1e3] * 3 + [1e2] * 3)


def mechanism(dynamics: str = "riccati", measured: bool = False) -> fm.ModelImage:
    """A loop in a plane with friction, and a body of any inertia on a mount with matrices."""
    model = fm.Model("m")
    pads = fm.LuGre(0.5, 0.3, stribeck=0.1, stiffness=1e3, preload=1.0)
    a, b, d = (fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.2)) for name in "abd")
    c, g = fm.Body("c", mass=1.0, inertia=(1.0, 1.0, 1.0), measured=measured), model.ground
    model.add(a, b, c, d, fm.Revolute("A", g.at(), a.at(), axis="y", friction=pads, q0=-1.0, u0=1.0))
    model.add(fm.Revolute("B", a.at(1, 0, 0), b.at(), axis="y", q0=1.0))
    model.add(fm.Revolute("C", b.at(1, 0, 0), d.at(1, 0, 0), axis="y", q0=-1.0))
    model.add(fm.Revolute("D", g.at(1, 0, 0), d.at(), axis="y", q0=-1.0))
    model.add(fm.Bushing("mount", b.at(0.5), c.at(), stiffness_matrix=STIFFNESS, damping_matrix=0.01 * STIFFNESS))
    return compile(model, everything=True).with_options(dynamics=dynamics)


@contextmanager
def instances(image: fm.ModelImage, folder: Path) -> Iterator[tuple[fm.Solver, Fmu, Instance]]:
    """A Solver, and an instance of the FMU in initialisation mode."""
    with Fmu(fm.export_fmu(image, folder / "m.fmu", all_variables=True)) as fmu, fmu.instance() as one:
        one.begin()
        yield fm.Solver(image), fmu, one


def moments(rng: np.random.Generator, fits: bool, measured: bool) -> np.ndarray:
    """The inertia of a random solid, or measured body, or one that just is none."""
    x, y = rng.uniform(0.1, 1.0, 2)
    close = 10.0 ** rng.uniform(-6, -1) * (1 if fits else -1)  # beside a bound, beyond the slack of 1e-9
    principal = np.array([close if measured else x, y, x + y]) - (0.0 if measured else np.array([0, 0, close]))
    if measured:
        principal[2] += 5.0
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0] if rng.random() < 0.7 else np.eye(3)[rng.permutation(3)]
    J = 10.0 ** rng.uniform(-9, 9) * (Q @ np.diag(principal) @ Q.T)
    return np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


@pytest.mark.parametrize("seed", seeds(60, 3000))
def test_an_inertia_is_one_of_a_solid_in_python_as_in_the_core(seed: int) -> None:
    """By numpy's eigenvalues; beside the bounds, at any scale; also as a start value."""
    rng = np.random.default_rng([seed, 3])
    fits, measured = bool(seed & 1), bool(seed & 2)
    J = moments(rng, fits, measured)
    low, middle, high = np.linalg.eigvalsh([[J[0], J[3], J[4]], [J[3], J[1], J[5]], [J[4], J[5], J[2]]])
    slack = 1e-9 * max(abs(low), abs(high))
    expected = bool(low >= -slack and (measured or low + middle >= high - slack))
    solver = fm.Solver(_ONE[measured])
    try:
        fm.Body("b", mass=1.0, inertia=J, measured=measured)
        accepted = True
    except fm.ModelError:
        accepted = False
    assert accepted == expected == fits
    try:
        solver.set("b.inertia", J)
        solver.assemble()
        accepted = True
    except fm.FmumbsError:
        accepted = False
    assert accepted == expected


def _one(measured: bool) -> fm.ModelImage:
    model = fm.Model("one")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1), measured=measured)
    model.add(body, fm.Free("F", model.ground.at(), body.at()))
    return compile(model)


_ONE = {measured: _one(measured) for measured in (False, True)}

BROKEN: tuple[tuple[str, tuple[tuple[str, float], ...], str], ...] = (
    (
        "c.inertia",
        (("c.inertia[3]", 2.5), ("c.inertia[2]", 2.0)),
        r"inertia of body 'c' is refused.*1 \+ 1 is less",
    ),
    ("c.inertia", (("c.inertia[4]", 1.1), ("c.inertia[4]", 0.2)), "principal moments -0.1, .* one of them negative"),
    ("mount", (("mount.stiffness[7]", 1.01e3), ("mount.stiffness[1]", 2e3)), "stiffness matrix of joint 'mount'"),
    ("mount", (("mount.damping[7]", -10.1), ("mount.damping[2]", 20.0)), "damping matrix of joint 'mount'"),
    (
        "A.friction",
        (("A.friction.kinetic", 0.6), ("A.friction.static", 0.6)),
        "A.friction.static = 0.5 is refused",
    ),
)
"""What the rule is about; a value that breaks it, then one that restores it; the message."""


def refused(call: Any, *arguments: Any) -> bool:
    try:
        call(*arguments)
    except Exception:  # of the Solver, or of FMPy
        return True
    return False


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize(("what", "values", "says"), BROKEN)
def test_a_rule_waits_for_the_end_of_initialisation(
    what: str, values: tuple[tuple[str, float], ...], says: str, dynamics: str, tmp_path: Path
) -> None:
    """Values that break it are taken and read back; the end is refused, and works when the rest is set."""
    (first, wrong), (second, right) = values
    with instances(mechanism(dynamics), tmp_path) as (solver, fmu, one):
        solver.set(first, wrong)
        assert solver.get(first) == wrong
        before = solver.state_save()
        with pytest.raises(fm.AssemblyError, match=says):
            solver.assemble()
        assert solver.state_save() == before
        solver.set(second, right)
        solver.assemble()
        solver.step(0.01)
        one.set({fmu.reference(first): wrong})
        assert one.reals([fmu.reference(first)])[0] == wrong
        assert refused(one.slave.exitInitializationMode)
        assert re.search(says, one.last_message)
        one.set({fmu.reference(second): right})
        one.slave.exitInitializationMode()
        one.step(0.01)
        outputs = [v.valueReference for v in fmu.description.modelVariables if v.name in ("A.q", "A.qd", "c.r[3]")]
        assert one.reals(outputs).tolist() == [solver.get(name) for name in ("A.q", "A.qd", "c.r[3]")]


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize(("what", "values", "says"), BROKEN)
def test_a_rule_waits_for_the_next_step(
    what: str, values: tuple[tuple[str, float], ...], says: str, dynamics: str, tmp_path: Path
) -> None:
    """A step that is refused changes nothing; when the rest is set, the motion is that without the refusal."""
    (first, wrong), (second, right) = values
    with instances(mechanism(dynamics), tmp_path) as (solver, fmu, one):
        straight = fm.Solver(solver.image)
        one.slave.exitInitializationMode()
        one.step(0.01)
        for each in (solver, straight):
            each.assemble()
            each.step(0.01)
        solver.set(first, wrong)
        assert solver.get(first) == wrong
        before = solver.state_save()
        with pytest.raises(fm.SolverError, match=says):
            solver.step(0.02)
        assert solver.state_save() == before
        one.set({fmu.reference(first): wrong})
        assert one.reals([fmu.reference(first)])[0] == wrong
        assert refused(one.slave.doStep, 0.01, 0.01)
        assert re.search(says, one.last_message)
        straight.set(first, wrong)
        for each in (solver, straight):
            each.set(second, right)
            each.step(0.02)
        one.set({fmu.reference(second): right})
        one.step(0.01)
        assert solver.state_save() == straight.state_save()
        names = ("A.q", "A.qd", "c.r[3]")
        assert one.reals([fmu.reference(name) for name in names]).tolist() == [solver.get(name) for name in names]


def test_a_measured_inertia_may_break_the_triangle_inequality(tmp_path: Path) -> None:
    with instances(mechanism(measured=True), tmp_path) as (solver, fmu, one):
        solver.set("c.inertia[3]", 2.5)
        solver.assemble()
        one.set({fmu.reference("c.inertia[3]"): 2.5})
        one.slave.exitInitializationMode()
    with instances(mechanism(measured=True), tmp_path) as (solver, fmu, one):
        solver.set("c.inertia[4]", 1.1)
        with pytest.raises(fm.AssemblyError, match="one of them negative"):
            solver.assemble()
        one.set({fmu.reference("c.inertia[4]"): 1.1})
        assert refused(one.slave.exitInitializationMode)


@pytest.mark.parametrize(
    ("starts", "says"),
    [
        ({"c.inertia[3]": 2.5}, "no solid has"),
        ({"mount.stiffness[7]": 1.1e3}, "negative eigenvalue"),
        ({"A.friction.kinetic": 0.6}, "static = 0.5 is refused"),
        ({"A.damping": -2.0}, "is -2, but it must be at least 0. Give zero or a positive number"),
        ({"c.inertia[2]": -2.0}, "is -2, but it must be at least 0"),
        ({"solver.tolerance": 0.2}, "must be at most 0.1"),
    ],
)
def test_start_values_of_an_export_obey_the_rules(starts: dict[str, float], says: str) -> None:
    model = fm.Model("m")
    body = fm.Body("c", mass=1.0, inertia=(1, 1, 1))
    arm = fm.Body("a", mass=1.0, inertia=(1, 1, 1))
    pads = fm.LuGre(0.5, 0.3, stribeck=0.1, stiffness=1e3, preload=1.0)
    model.add(body, arm, fm.Revolute("A", model.ground.at(), arm.at(), friction=pads))
    model.add(fm.Bushing("mount", arm.at(1), body.at(), stiffness_matrix=STIFFNESS))
    with pytest.raises(fm.ModelError, match=says):
        compile(model, starts=starts)


# Negative stiffness --------------------------------------------------------------------------------------------


def pushed(seed: int, cut: bool, law: bool) -> fm.Model:
    """A joint and a line spring of negative stiffness, by numbers, or by laws that are their equals."""
    rng = np.random.default_rng([seed, 11])
    model = fm.Model("pushed")
    k, s, length = (float(v) for v in rng.uniform((0.5, 0.5, 0.2), (3.0, 3.0, 0.6)))
    a, b = (fm.Body(n, mass=1.0, com=tuple(rng.uniform(-0.3, 0.3, 3)), inertia=(1, 1, 1)) for n in "ab")
    turn = {} if law else {"stiffness": -k}
    J = fm.Revolute("J", model.ground.at(), a.at(), axis="y", q0=0.3, damping=0.3, cut=cut, **turn)
    pull = fm.Spring(
        "s", a.at(0.2), b.at(0, 0.4), damping=0.1, **({} if law else {"stiffness": -s, "free_length": length})
    )
    if cut:
        model.add(a, b, fm.Revolute("T", model.ground.at(), a.at(), axis="y", q0=0.3), J)
    else:
        model.add(a, b, J)
    model.add(fm.Revolute("B", a.at(0.5), b.at(), axis="x", q0=0.5), pull)
    if law:
        model.add(fm.Law("L", pull, pieces=[fm.Piece([[s * length], [-s]])]))
        model.add(fm.Law("K", model["T" if cut else "J"], pieces=[fm.Piece([[0.0], [k]])]))
    return model


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_a_negative_stiffness_is_a_law_of_that_slope(seed: int, cut: bool, scheme: str, dynamics: str) -> None:
    found = []
    for law in (False, True):
        image = compile(pushed(seed, cut, law), everything=True)
        solver = fm.Solver(image.with_options(scheme=scheme, dynamics=dynamics, tolerance=1e-10))
        solver.assemble()
        solver.step(1.0)
        found.append([solver.get(name) for name in ("B.q", "B.qd", "b.r[1]", "b.v[3]")])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-7)
