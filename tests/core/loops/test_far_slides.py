"""Cut joints that slide many times the size of their bodies, and the springs in them.

The relation that holds for any size and stroke: a spring in a cut joint moves the mechanism as the same spring in a
joint of the tree does. No tolerance of the coordinates depends on how far the joint slides.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from support.slave import OK, Slave, unpacked_fmu
from support.sweeps import each_pair, seeds

FORMULATIONS = ("riccati", "copcod")


def solver_of(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True).with_options(**options))
    solver.assemble()
    return solver


def shuttle(size: float, stroke: float, cut: str = "slide", mass: float = 1.0, stiffness: float = 1.0) -> fm.Model:
    """A body with its centre of mass `size` from a slide, on which it starts `stroke` away; a spring in a cut joint."""
    model = fm.Model("shuttle", gravity=(0, 0, 0))
    inertia = mass * size**2
    body = fm.Body("body", mass=mass, com=(size, 0, 0), inertia=(inertia, inertia, inertia))
    ends = (model.ground.at(), body.at())
    joint: Any = {
        "slide": lambda: fm.Prismatic("C", *ends, axis="x", cut=True, stiffness=stiffness),
        "sleeve": lambda: fm.Cylindrical("C", *ends, axis="x", cut=True, stiffness=(0, stiffness)),
        "bushing": lambda: fm.Bushing("C", *ends, cut=True, stiffness=[stiffness, 0, 0, 0, 0, 0]),
        "before turns": lambda: fm.Joint(
            "C", *ends, modes=[fm.Slide("x"), fm.Turn("z"), fm.Turn("y")], cut=True, stiffness=(stiffness, 0, 0)
        ),
    }[cut]()
    model.add(body, fm.Prismatic("S", *ends, axis="x", q0=stroke), joint)
    return model


def slid(solver: fm.Solver, cut: str) -> float:
    """The coordinate of the cut joint along its slide."""
    return float(np.atleast_1d(solver.get("C.q"))[int(cut == "sleeve")])


@each_pair
@pytest.mark.parametrize("dynamics", FORMULATIONS)
@pytest.mark.parametrize("size", [0.01, 0.001])
@pytest.mark.parametrize("cut", ["slide", "sleeve", "bushing", "before turns"])
def test_a_slide_a_thousand_times_as_long_as_its_body(cut: str, size: float, dynamics: str) -> None:
    """q = 10 cos t, whatever the size of the body."""
    solver = solver_of(shuttle(size, 10.0, cut), dynamics=dynamics, tolerance=1e-9)
    assert_allclose(slid(solver, cut), 10.0, rtol=1e-12)
    solver.step(10.0)
    assert_allclose(solver.get("S.q"), 10.0 * np.cos(10.0), rtol=0, atol=1e-7)
    assert_allclose(slid(solver, cut), solver.get("S.q"), rtol=1e-12)


def test_a_shuttle_of_two_micrometres_with_a_stroke_of_two_hundred() -> None:
    mass, stiffness, stroke = 1e-9, 1e-3, 2e-4
    solver = solver_of(shuttle(1e-6, stroke, "slide", mass, stiffness), tolerance=1e-9)
    for t in np.linspace(0, 0.05, 20)[1:]:
        solver.step(t)
        energy = 0.5 * stiffness * solver.get("C.q") ** 2 + 0.5 * mass * solver.get("S.qd") ** 2
        assert_allclose(energy, 0.5 * stiffness * stroke**2, rtol=1e-6)
        assert_allclose(energy, solver.get("solver.energy"), rtol=1e-12)


@pytest.mark.parametrize("seed", seeds(12, 400))
def test_a_spring_in_the_cut_joint_and_one_in_the_tree(seed: int) -> None:
    """Accelerations, reaction and energy at a random position, with masses, sizes and strokes over six decades."""
    rng = np.random.default_rng([240, seed])
    mass, size, stroke = 10.0 ** rng.uniform(-3, 3, 3)
    q, u, rest = rng.uniform(-1, 1, (3, 6)) * np.where(np.arange(6) < 3, stroke, 1.0)
    K = rng.uniform(0, 1, 6) * mass * np.where(np.arange(6) < 3, 1.0, size**2)
    D = rng.uniform(0, 1, 6) * mass * np.where(np.arange(6) < 3, 1.0, size**2)
    kind = ("prismatic", "cylindrical", "bushing")[seed % 3]
    gravity = tuple(rng.uniform(-1, 1, 3))
    resolved = 64 * np.finfo(float).eps * (stroke / size) ** 2  # torques of forces far from the origin
    found = []
    for cut in (False, True):
        model = fm.Model("twin", gravity=gravity)
        body = fm.Body("b", mass=mass, com=(size, 0.3 * size, -size), inertia=(mass * size**2,) * 3)
        ends = (model.ground.at(), body.at())
        law = {"stiffness": K, "damping": D, "rest": rest}

        def joint(name: str, start: bool, *ends: Any, **more: Any) -> Any:
            if kind == "bushing":
                return fm.Bushing(
                    name, *ends, **({"q0": q, "u0": u} if start else {}), **(more or {"stiffness": [0] * 6})
                )
            n = [0] if kind == "prismatic" else [3, 0]  # of a cylindrical joint the angle is first
            one = len(n) == 1
            law = {what: values[n] for what, values in more.items() if what != "cut"} | (
                {"q0": q[n], "u0": u[n]} if start else {}
            )
            parts: dict[str, Any] = {what: values[0] if one else tuple(values) for what, values in law.items()}
            cls = fm.Prismatic if one else fm.Cylindrical
            return cls(name, *ends, axis=(1, 2, 0.5), **parts, **({"cut": True} if "cut" in more else {}))

        model.add(body, joint("S", True, *ends, **({} if cut else law)))
        if cut:
            model.add(joint("C", False, *ends, cut=True, **law))
        for dynamics in FORMULATIONS:
            solver = solver_of(model, dynamics=dynamics)
            found.append((np.atleast_1d(solver.get("S.qdd")), solver.get("solver.energy"), solver.get("b.a")))
            if cut:
                assert_allclose(solver.get("C.q"), solver.get("S.q"), rtol=1e-11, atol=1e-13 * stroke)
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert_allclose(one, two, rtol=1e-7 + resolved, atol=(1e-9 + resolved) * np.abs(one).max())


def test_in_the_fmu(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path, shuttle(0.001, 10.0)))
    slave.start(**{"S.q": 10.0, "solver.tolerance": 1e-9})
    assert_allclose(slave.get("C.q"), 10.0, rtol=1e-12)
    assert slave.step(0.0, 10.0) == OK
    assert_allclose(slave.get("S.q"), 10.0 * np.cos(10.0), rtol=0, atol=1e-7)
    slave.free()
