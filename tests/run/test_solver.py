"""The Solver: values by name, the course of a simulation, and what it refuses."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.scripts import load

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def solver(image: ModelImage) -> Solver:
    """Started."""
    started = Solver(image)
    started.assemble()
    return started


# Values --------------------------------------------------------------------------------------------------------


def test_a_scalar_is_a_number_and_a_vector_an_array(solver: Solver) -> None:
    assert isinstance(solver.get("J.q"), float)
    assert solver.get("S.q").shape == (4,)
    assert isinstance(solver.get("S.q[1]"), float)
    assert solver.get("gravity").tolist() == [0.0, 0.0, -9.81]


def test_set_values_are_read_back(solver: Solver) -> None:
    solver.set("L.force", (1.0, 2.0, 3.0))
    solver.set("L.force[2]", 5)
    solver.set("cart.mass", np.float32(4.0))
    assert solver.get("L.force").tolist() == [1.0, 5.0, 3.0]
    assert solver.get("cart.mass") == 4.0


def test_values_are_read_and_written_by_reference(solver: Solver) -> None:
    references = solver.image.variables.references("L.force")
    solver.write(np.array(references), [7.0, 8.0, 9.0])
    assert solver.read(np.array(references, dtype=np.uint32)).tolist() == [7.0, 8.0, 9.0]
    assert solver.read(references[::-1]).tolist() == [9.0, 8.0, 7.0]
    assert solver.read([]).tolist() == []


def test_values_are_set_together_or_not_at_all() -> None:
    alone, together = fm.Solver(read_model("double_pendulum")), fm.Solver(read_model("double_pendulum"))
    values = {"A.q": 0.3, "B.qd": 2.0, "upper.mass": 1.5}
    for name, value in values.items():
        alone.set(name, value)
    together.set_all(values)
    assert together.state_save() == alone.state_save()
    for bad in ({"A.q": 0.4, "upper.mass": -1.0}, {"A.q": 0.4, "B.qd": (1.0, 2.0)}, {"A.q": 0.4, "no": 1.0}):
        with pytest.raises(fm.SolverError):
            together.set_all(bad)
        assert together.state_save() == alone.state_save()
    together.set_all({})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("L.force", (1.0, 2.0), r"'L\.force' takes 3 numbers, not 2\. Give 3\."),
        ("L.force", 1.0, r"'L\.force' takes 3 numbers, not 1"),
        ("L.force", np.eye(3), r"'L\.force' takes 3 numbers, not an array of 3 by 3"),
        ("J.f", (1.0, 2.0), r"'J\.f' takes 1 numbers, not 2"),
        ("J.f", "much", r"'J\.f' is set to 'much', which is not a number"),
        ("J.f", {"a": 1}, r"which is not a number"),
        ("L.force", [[1.0], [2.0, 3.0]], r"which is not a number"),
        ("J.f", math.nan, r"J\.f = nan is refused: it must be a finite number: "),
        ("J.f", None, r"must be a finite number"),
        ("J.qdd", 1.0, r"computed and cannot be set"),
        ("cart.mass", -1.0, r"cart\.mass = -1 is refused: it must be at least 0: give zero"),
    ],
)
def test_values_that_do_not_fit_are_refused(name: str, value: Any, message: str, solver: Solver) -> None:
    with pytest.raises(fm.SolverError, match=message):
        solver.set(name, value)
    assert solver.get("L.force").tolist() == [0.0, 0.0, 0.0]


def test_as_many_values_as_references(solver: Solver) -> None:
    references = np.array(solver.image.variables.references("L.force"), dtype=np.uint32)
    with pytest.raises(fm.SolverError, match="3 variables take as many numbers, not 2"):
        solver.write(references, np.ones(2))
    with pytest.raises(fm.SolverError, match="no variable with reference 9999"):
        solver.read([9999])


@pytest.mark.parametrize(
    "use", [lambda s, n: s.get(n), lambda s, n: s.set(n, 1.0), lambda s, n: s.output_derivative(n)]
)
def test_the_message_about_an_unknown_name_has_the_nearest(use: Any, solver: Solver) -> None:
    with pytest.raises(fm.SolverError, match=r"'cart' has no variable 'J\.qddd'\. The nearest name is 'J\.qdd'\."):
        use(solver, "J.qddd")


# Narrowed models -----------------------------------------------------------------------------------------------


def test_a_solver_of_a_model_has_all_variables_under_both_names(cart: fm.Model) -> None:
    cart.output("place", of="J.q")
    solver = Solver(cart)
    solver.set("place", 0.25)
    assert solver.get("J.q") == solver.get("place") == 0.25
    assert solver.get("S.q").shape == (4,)
    with pytest.raises(fm.SolverError, match=r"'cart' has no variable 'plaec'\. The nearest name is 'place'\."):
        solver.get("plaec")


def test_a_solver_of_an_image_has_its_declared_variables(cart: fm.Model) -> None:
    cart.output("place", of="J.q")
    cart.output("turn", of="S.q")
    cart.output("height", of="rod.tip.r[3]")
    solver = Solver(compile(cart))
    solver.assemble()
    assert solver.get("place") == solver.get("J.q") == 0.0
    assert isinstance(solver.get("J.q"), float)
    assert solver.get("turn").tolist() == solver.get("S.q").tolist() == [1.0, 0.0, 0.0, 0.0]
    assert isinstance(solver.get("height"), float)
    assert isinstance(solver.get("rod.tip.r[3]"), float)
    with pytest.raises(fm.SolverError, match=r"'cart' does not expose 'J\.qd'\. Declare it, or use compile"):
        solver.get("J.qd")
    with pytest.raises(fm.SolverError, match=r"does not show the speeds of all joints.*everything=True"):
        solver.set_state([0.0] * 5, [0.0] * 4)


def test_a_solver_needs_a_model() -> None:
    with pytest.raises(fm.ModelError, match="not a str"):
        Solver("pendulum")  # type: ignore[arg-type]


# The course of a simulation ------------------------------------------------------------------------------------


def test_a_constant_force_gives_a_parabola(solver: Solver) -> None:
    solver.set("J.f", 4.0)
    solver.step(0.5)
    assert solver.time == 0.5
    assert_allclose(solver.get("J.q"), 0.25, rtol=1e-12)  # a parabola is exact to round-off
    solver.set("J.f", 0.0)
    solver.step(1.5)
    assert_allclose(solver.get("J.q"), 1.25, rtol=1e-12)


def test_reset_restores_the_initial_state_of_the_solver_bit_for_bit(solver: Solver, image: ModelImage) -> None:
    new = Solver(image).state_save()
    solver.set("cart.mass", 5.0)
    solver.step(0.3)
    solver.reset()
    assert solver.state_save() == new
    assert (solver.time, solver.get("cart.mass")) == (0.0, 2.0)


def test_a_saved_state_continues_bit_for_bit_in_another_solver(solver: Solver, image: ModelImage) -> None:
    solver.set("J.f", 1.0)
    solver.step(0.37)
    saved = solver.state_save()
    other = Solver(image)
    other.state_load(saved)
    for one in (solver, other):
        one.step(0.9)
    assert other.state_save() == solver.state_save()


def test_start_values_act_from_the_start(image: ModelImage) -> None:
    solver = Solver(image)
    solver.set("J.q", 3.0)
    solver.set("J.qd", -1.0)
    solver.assemble(2.0)
    assert (solver.time, solver.get("cart.r[1]"), solver.get("cart.v[1]")) == (2.0, 3.0, -1.0)


def test_the_whole_state_is_set_joint_by_joint(solver: Solver) -> None:
    assert solver.joint_names == ["J", "S"]
    half = math.sqrt(0.5)
    solver.set_state([0.5, half, half, 0.0, 0.0], (0.1, 0.2, 0.3, 0.4))
    assert (solver.get("J.q"), solver.get("J.qd")) == (0.5, 0.1)
    assert_allclose(solver.get("S.q"), (half, half, 0.0, 0.0), rtol=1e-15)
    assert solver.get("S.w").tolist() == [0.2, 0.3, 0.4]


def test_the_state_of_a_free_body_is_its_position_then_its_orientation() -> None:
    model = fm.Model("sky")
    body = fm.Body.sphere("body", radius=0.1, mass=1.0)
    model.add(body, fm.Free("F", model.ground.at(), body.at()))
    solver = Solver(model)
    solver.set_state([1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    assert solver.get("F.r").tolist() == [1.0, 2.0, 3.0]
    assert solver.get("F.q").tolist() == [0.0, 1.0, 0.0, 0.0]
    assert solver.get("F.v").tolist() == [4.0, 5.0, 6.0]
    assert solver.get("F.w").tolist() == [7.0, 8.0, 9.0]


def test_set_state_in_loops_with_a_path() -> None:
    """All positions and velocities of a closed mechanism, at another time than the start."""
    model = load(MODELS / "four_bar.py").build()
    cart, path = fm.Body.sphere("cart", radius=0.1, mass=1.0), fm.Path.quintic([0, 1], [0, 0.5])
    model.add(cart, fm.Joint("P", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    solver = Solver(model)
    solver.assemble()
    solver.step(0.4)
    moving = [name for name in solver.joint_names if name not in (*solver.image.cut_joints, "P")]
    q, u = ([solver.get(f"{name}.{suffix}") for name in moving] for suffix in ("q", "qd"))
    at = solver.joint_names.index("P")
    other = Solver(model)
    other.set_state([*q[:at], 9.0, *q[at:]], [*u[:at], 9.0, *u[at:]])
    for name in moving:
        assert_allclose(other.get(f"{name}.q"), solver.get(f"{name}.q"), rtol=0, atol=1e-12)
        assert_allclose(other.get(f"{name}.qd"), solver.get(f"{name}.qd"), rtol=0, atol=1e-11)


def test_a_state_is_complete_or_refused(solver: Solver) -> None:
    with pytest.raises(fm.SolverError, match="the joints have 5 positions, not 4"):
        solver.set_state([0.0] * 4, [0.0] * 4)
    with pytest.raises(fm.SolverError, match="the joints have 4 speeds, not 5"):
        solver.set_state([9.0, 1.0, 0.0, 0.0, 0.0], [0.0] * 5)
    assert solver.get("J.q") == 0.0


def test_a_failed_assembly_is_an_assembly_error(image: ModelImage) -> None:
    solver = Solver(image)
    solver.set("S.q", (0.0, 0.0, 0.0, 0.0))
    with pytest.raises(fm.AssemblyError, match=r"joint 'S': its quaternion is zero; give a unit one\."):
        solver.assemble()
    with pytest.raises(fm.AssemblyError, match="start time is not finite"):
        solver.assemble(math.nan)


@pytest.mark.parametrize("t_end", [math.nan, math.inf, 0.1])
def test_an_impossible_step_is_a_solver_error(t_end: float, solver: Solver) -> None:
    solver.step(0.2)
    with pytest.raises(fm.SolverError):
        solver.step(t_end)
    assert solver.time == 0.2
    solver.step(0.3)
    assert solver.time == 0.3


@pytest.mark.parametrize("state", [b"", b"FMUMBS", bytes(100)])
def test_states_of_no_solver_are_refused(state: bytes, solver: Solver) -> None:
    solver.step(0.1)
    with pytest.raises(fm.SolverError):
        solver.state_load(state)
    assert solver.time == 0.1


# Derivatives ---------------------------------------------------------------------------------------------------


def test_an_input_may_be_a_polynomial_for_one_step(solver: Solver) -> None:
    """m x'' = f' t: x = f' t^3 / 6 m."""
    solver.set_input_derivatives("J.f", 1, 6.0)
    solver.step(0.5)
    assert_allclose(solver.get("J.q"), 0.5 * 0.5**3, rtol=1e-12)
    assert_allclose(solver.get("J.qdd"), 0.0, atol=1e-15)


def test_derivatives_of_a_vector_are_one_number_or_as_many(solver: Solver) -> None:
    solver.set_input_derivatives("L.force", 2, (1.0, 2.0, 3.0))
    solver.set_input_derivatives("L.force", 3, 0.0)
    with pytest.raises(fm.SolverError, match=r"'L\.force' takes 3 numbers, not 2"):
        solver.set_input_derivatives("L.force", 1, (1.0, 2.0))
    with pytest.raises(fm.SolverError):
        solver.set_input_derivatives("J.f", 4, 1.0)


def test_outputs_have_derivatives_by_time(solver: Solver) -> None:
    solver.set("J.f", 4.0)
    solver.step(0.5)
    assert_allclose(solver.output_derivative("J.q"), 1.0, rtol=1e-12)
    assert solver.output_derivative("S.w").shape == (3,)


def test_outputs_have_derivatives_by_inputs(solver: Solver) -> None:
    found = solver.directional_derivative(["J.qdd", "S.alpha"], ["J.f", "L.force"], [1.0, 2.0, 3.0, 4.0])
    assert_allclose(found, [1.5, 0.0, 0.0, 0.0], rtol=1e-14)
    assert solver.directional_derivative([], ["J.f"], 1.0).tolist() == []
    assert solver.directional_derivative(["J.qdd"], [], []).tolist() == [0.0]
    with pytest.raises(fm.SolverError, match="the seed has 1 numbers for 3 knowns"):
        solver.directional_derivative(["J.qdd"], ["L.force"], [1.0])


def test_seeds_of_an_input_that_is_named_twice_add() -> None:
    solver = fm.Solver(read_model("pendulum"))
    solver.assemble()
    once, twice = (
        solver.directional_derivative(["A.qdd"], names, seeds)
        for names, seeds in ((["A.tau"], [3.0]), (["A.tau", "A.tau"], [1.0, 2.0]))
    )
    assert once[0] == twice[0] != 0.0
