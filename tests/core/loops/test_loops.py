"""Closed mechanisms: the core against the oracle, their motion and their redundant rows."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.closed import DOF, DRAWN, ONLY_CLOSING, Closed, coupled, plane, space
from support.closed_agreement import assert_closed, check, started
from support.sweeps import each_value, first, seeds

# The core and the oracle ------------------------------------------------------------------------------------


KINDS = [*DOF, *ONLY_CLOSING]
FIRST = [*((0, kind) for kind in KINDS), (1, "screw"), (1, "behind")]  # here these turn on their way


@pytest.mark.parametrize(("seed", "kind"), first(len(FIRST), dict.fromkeys([*FIRST, *product(range(24), KINDS)])))
def test_a_loop_in_space_by_each_kind_of_cut_joint(kind: str, seed: int) -> None:
    check(lambda seed: space(seed, kind), seed)


@pytest.mark.parametrize("kind", first(2, sorted(DRAWN, key=lambda kind: kind[-1] not in "04")))
def test_a_loop_in_space_by_any_product_of_turns_and_slides(kind: str) -> None:
    check(lambda seed: space(seed, kind, driven=seed % 2 == 0), 400 + list(DRAWN).index(kind))


@pytest.mark.parametrize("kind", first(9, sorted(DOF, key="weld".__eq__)))
@pytest.mark.parametrize("seed", seeds(1, 12))
def test_forces_along_the_free_modes_of_cut_joints(kind: str, seed: int) -> None:
    """Springs, dampers and inputs act there as in a tree."""
    check(lambda seed: space(seed, kind, driven=True), 150 + seed)


@each_value
@pytest.mark.parametrize("loops", [2, 3])
@pytest.mark.parametrize("seed", seeds(4, 60))
def test_loops_in_space_that_share_bodies(seed: int, loops: int) -> None:
    check(lambda seed: space(seed, loops=loops), 100 + seed)


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_chains_with_both_ends_fixed(seed: int) -> None:
    check(lambda seed: space(seed, both_ends=True), 200 + seed)


@each_value
@pytest.mark.parametrize("loops", [1, 2, 3])
@pytest.mark.parametrize("seed", seeds(4, 60))
def test_loops_in_the_plane_have_redundant_rows(seed: int, loops: int) -> None:
    check(lambda seed: plane(seed, loops), 300 + seed)


MULTI_MODE = ("cylindrical", "screw", "product", "product", "revolute", "spherical")


@pytest.mark.parametrize(
    ("loops", "seed"), first(3, [(1, 506), (1, 507), (2, 502), (1, 508), (1, 509), (2, 503), (2, 504)])
)
def test_loops_through_joints_of_several_modes(loops: int, seed: int) -> None:
    """Some modes are moved by a given acceleration; seeds are those of loops that do not lock such a mode."""
    check(lambda seed: space(seed, loops=loops, spare=1 + loops, sorts=MULTI_MODE), seed)


@pytest.mark.parametrize(("loops", "seed"), first(4, [(1, 600), (1, 602), (2, 602), (2, 604), (1, 603), (1, 605)]))
def test_loops_through_skates(loops: int, seed: int) -> None:
    sorts = ("skate", "spherical", "cylindrical", "revolute")
    check(lambda seed: space(seed, loops=loops, spare=1 + loops, sorts=sorts), seed)


@each_value
@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_loops_in_layers_with_forces_on_their_cut_joints(seed: int, loops: int) -> None:
    check(lambda seed: plane(seed, loops, driven=True), 500 + seed)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_four_revolutes_in_a_plane_leave_one_degree_of_freedom(turned: float) -> None:
    """Mobility 3 - rank: two of the five rows of the cut joint are independent, wherever the plane lies."""
    model, R = fm.Model("four"), fm.Rotation.rpy(turned, 0.3 * turned, 1.0)
    ground = model.ground
    lengths = {"a": 1.0, "b": 2.6, "c": 2.2}
    a, b, c = (fm.Body.rod(name, length=length, mass=1.0, radius=0.01) for name, length in lengths.items())
    start = ground.at(*(R @ (0, 0, 0)), rotation=R), ground.at(*(R @ (2.5, 0, 0)), rotation=R)
    model.add(a, b, c, fm.Revolute("A", start[0], a.base, axis="y", q0=-1.2, u0=2.0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.7))
    model.add(fm.Revolute("D", start[1], c.base, axis="y", q0=-1.4), fm.Revolute("C", b.tip, c.tip, axis="y"))
    solver = started(model)
    assert np.count_nonzero(solver.active_rows) == 2
    assert (solver.mobility, solver.redundant_rows) == (1, 3)
    assert_closed(solver, model)


# Motion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_energy_is_kept(seed: int) -> None:
    case = plane(500 + seed, 2)
    solver = fm.Solver(compile(case.model, everything=True).with_options(tolerance=1e-10))
    solver.assemble()
    energy = solver.get("solver.energy")
    solver.step(1.0)
    kinetic = max(1.0, abs(energy))
    assert abs(solver.get("solver.energy") - energy) < 1e-6 * kinetic
    assert_closed(solver, case.model)


def test_the_ladder_moves_as_one_pendulum() -> None:
    """Away from its folded position all cranks stay parallel, and the rungs level."""
    windows = 4
    solver = started(read_model("ladder", {"windows": windows}))
    for time in np.arange(0.05, 0.5, 0.05):
        solver.step(time)
        angles = [solver.get(f"A{i}.q") for i in range(windows + 1)]
        assert_allclose(angles, angles[0], rtol=0, atol=1e-11)
        assert_allclose([solver.get(f"B{i}.q") + angles[0] for i in range(1, windows + 1)], 0.0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
@pytest.mark.parametrize("case", [space(600, "revolute"), space(601, loops=2), plane(602, 2), coupled(603)])
def test_a_saved_state_goes_on_bit_for_bit(case: Closed, scheme: str) -> None:
    image = compile(case.model, everything=True).with_options(scheme=scheme, step=0.004)
    every = np.arange(len(image.variables), dtype=np.uint32)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble()
    for i in range(1, 5):
        first.step(0.013 * i)
    second.state_load(first.state_save())
    assert second.read(every).tobytes() == first.read(every).tobytes()
    for i in range(5, 9):
        for solver in (first, second):
            solver.step(0.013 * i)
    assert second.read(every).tobytes() == first.read(every).tobytes()
    assert second.state_save() == first.state_save()


@pytest.mark.parametrize("case", [space(700, "cylindrical"), space(701, loops=2), plane(702, 2), coupled(703)])
def test_directional_derivatives_are_differences(case: Closed) -> None:
    """Accelerations and reactions are linear in the forces: the difference quotient is exact."""
    solver = started(case.model, case.inputs)
    outputs = [v for v in solver.image.variables if v.name.split("[")[0].split(".", 1)[-1] in (
        "qdd", "alpha", "a", "reaction.f", "reaction.t", "wrench.f", "wrench.t",
    ) or v.name.startswith(("g0.", "g1."))]  # fmt: skip
    names = [v.name for v in outputs]
    for variable in solver.image.variables:
        if variable.causality != "input":
            continue
        found = solver.directional_derivative(names, [variable.name], [1.0])
        value = solver.get(variable.name)
        sides = []
        for change in (-1.0, 1.0):
            solver.set(variable.name, value + change)
            sides.append(np.array([solver.get(name) for name in names]))
        solver.set(variable.name, value)
        scale = max(1.0, np.abs(sides).max())
        assert_allclose(found, (sides[1] - sides[0]) / 2, rtol=0, atol=1e-10 * scale)
        followed = {v.name for v in outputs if v.dependencies is None or variable.index in v.dependencies}
        moved = {name for name, d in zip(names, found, strict=True) if abs(d) > 1e-9 * scale}
        assert moved <= followed


def test_rows_of_many_windows_are_chosen_block_by_block() -> None:
    """Long ladders: two rows a window are independent, and one degree of freedom is left."""
    for windows in (3, 40, 120):
        solver = started(read_model("ladder", {"windows": windows}))
        assert solver.mobility == 1
        assert solver.redundant_rows == 3 * windows
