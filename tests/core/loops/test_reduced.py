"""The reduced formulation (copcod): beside the oracle and the Riccati sweeps, under every scheme, saved, in FMUs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler import compile
from fmumbs.export import export_fmu
from fmumbs.play import Options, run_fmu
from fmumbs.readers import read_model
from oracle import Oracle
from support import tree_agreement
from support.closed import coupled, plane, space, state_of
from support.closed_agreement import assert_agrees, is_well
from support.flexible_models import plane_loops, space_loop, space_tree
from support.joint_models import three_cranks
from support.long_trees import KINDS, long_tree
from support.strategies import BOTH_WAYS, EVERY, Case, trees
from support.sweeps import each_value, examples, seeds

MOTION = 1e-8
"""[rad], or of the length: the agreement in motion that is asked for; with the tolerance of the integration at 1e-10
the random mechanisms here reach 1e-11."""
CASES: dict[str, Any] = {
    "space": lambda: space(3), "two loops": lambda: space(101, loops=2), "balls": lambda: space(4, "spherical"),
    "both ends": lambda: space(200, both_ends=True), "redundant": lambda: plane(300, 2), "geared": lambda: coupled(904),
    "geared loop": lambda: coupled(1100, closed=True), "driven": lambda: plane(501, driven=True),
    "several modes": lambda: space(506, spare=2, sorts=("cylindrical", "screw", "product", "product")),
    "skates": lambda: space(600, spare=2, sorts=("skate", "spherical", "cylindrical", "revolute")),
    "flexible loop": lambda: plane_loops(1), "flexible in space": lambda: space_loop(3, in_space=True),
    "flexible tree": lambda: space_tree(2, in_space=True),
}  # fmt: skip


def solver_of(model: fm.Model, inputs: dict[str, Any] | None = None, **options: Any) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True).with_options(**{"dynamics": "copcod"} | options))
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


def values(solver: fm.Solver, *last: str) -> np.ndarray:
    names = [name for name in solver.image.variables.names() if name.split("[")[0].split(".")[-1] in last]
    return np.array([float(solver.get(name)) for name in names])


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


# Accelerations and reactions --------------------------------------------------------------------------------------


@examples(10, 25, trees(max_bodies=5, kinds=EVERY) | trees(max_bodies=5, kinds=BOTH_WAYS, turned_round=True))
def test_trees_beside_the_oracle(case: Case) -> None:
    """M from composite bodies, factored: no sweep eliminates anything."""
    tree_agreement.assert_agrees(solver_of(case.model, case.inputs), case)


@pytest.mark.parametrize("make", [
    *(lambda k=k: space(k) for k in range(4)), *(lambda k=k: space(100 + k, loops=2) for k in range(3)),
    *(lambda k=k: plane(300 + k, 2) for k in range(3)), *(lambda k=k: coupled(1100 + k, closed=True) for k in range(2)),
])  # fmt: skip
def test_loops_beside_the_oracle(make: Any) -> None:
    """Accelerations, and reactions where they are unique."""
    case = make()
    solver = solver_of(case.model, case.inputs)
    oracle, state = Oracle(case.model), state_of(solver, case.model)
    if not is_well(oracle, state):
        pytest.skip("all but singular")
    assert_agrees(solver, case, state, oracle)


@pytest.mark.parametrize("name", CASES)
def test_another_way_to_the_same_accelerations(name: str) -> None:
    """They agree, but for their last bits: it is not the sweeps that answer."""
    case = CASES[name]()
    inputs = getattr(case, "inputs", {})
    found, swept = (solver_of(case.model, inputs, dynamics=dynamics) for dynamics in ("copcod", "riccati"))
    swept.use_planar(False)
    for what in (("qdd", "udot", "alpha", "a"), ("f", "t", "tau")):
        a, b = values(found, *what), values(swept, *what)
        assert relative(a, b) <= 1e-10
        assert a.tobytes() != b.tobytes()


@pytest.mark.parametrize(("back", "kinds"), [(1, ("revolute",)), (9, KINDS), (40, KINDS)])
def test_large_trees(back: int, kinds: tuple[str, ...]) -> None:
    """Chains and trees with branches of 80 bodies."""
    model = long_tree(back, 80, kinds, back=back)
    found, swept = (solver_of(model, dynamics=dynamics) for dynamics in ("copcod", "riccati"))
    swept.use_planar(False)
    assert relative(values(found, "qdd", "udot"), values(swept, "qdd", "udot")) <= 1e-9


# Motion -------------------------------------------------------------------------------------------------------------


@each_value
@pytest.mark.parametrize("scheme", ["dopri5", "radau", "dop853", "rk4", "auto"])
@pytest.mark.parametrize("name", ["two loops", "redundant", "geared loop", "flexible tree"])
def test_the_same_motion_under_every_scheme(name: str, scheme: str) -> None:
    case = CASES[name]()
    options = {"scheme": scheme, "tolerance": 1e-9 if scheme in ("radau", "auto") else 1e-10, "step": 1e-3}
    found, swept = (
        solver_of(case.model, getattr(case, "inputs", {}), dynamics=d, **options) for d in ("copcod", "riccati")
    )
    for k in range(1, 5):
        found.step(0.03 * k), swept.step(0.03 * k)
        assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION


SHIPPED = ("four_bar", "engine", "parallelogram_pendulum", "skate", "trough", "flexible_four_bar")


@pytest.mark.parametrize("name", SHIPPED)
def test_mechanisms_that_ship(name: str) -> None:
    model = read_model(name)
    found, swept = (solver_of(model, tolerance=1e-10, dynamics=d) for d in ("copcod", "riccati"))
    found.step(0.3), swept.step(0.3)
    assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION
    assert relative(values(found, "f", "t"), values(swept, "f", "t")) <= 1e-6


def cranks(**options: Any) -> fm.Solver:
    return solver_of(read_model("parallel_cranks"), **options)


def test_coordinates_are_exchanged_without_a_trace() -> None:
    """A crank-rocker turns over and over: no coordinate but the crank's is independent all the time."""
    model = read_model("four_bar")
    found, swept = (solver_of(model, {"A.qd": 9.0}, tolerance=1e-10, dynamics=d) for d in ("copcod", "riccati"))
    for k in range(1, 41):
        found.step(0.05 * k), swept.step(0.05 * k)
        assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION
        assert found.get("solver.position_violation") <= 1e-11


def test_redundant_rows_are_exchanged_as_parallel_cranks_turn() -> None:
    found, swept = cranks(tolerance=1e-10), cranks(tolerance=1e-10, dynamics="riccati")
    before = found.active_rows.sum()
    for k in range(1, 31):
        found.step(0.1 * k), swept.step(0.1 * k)
        assert found.active_rows.sum() == before
        assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION


def test_worn_rows_are_exchanged_as_the_cranks_turn_over() -> None:
    """Pins seen from the platform, whose axes do not turn with the cranks."""
    found, swept = (solver_of(three_cranks(), tolerance=1e-10, dynamics=d) for d in ("copcod", "riccati"))
    used = []
    for k in range(1, 41):
        found.step(0.1 * k), swept.step(0.1 * k)
        used.append(found.active_rows.copy())
        assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION
    assert len({tuple(rows) for rows in used}) > 1 and len({rows.sum() for rows in used}) == 1


def four_bars(count: int) -> fm.Model:
    """Unit rods in a row of squares, which all fold at once."""
    model = fm.Model("four_bars")
    cranks = [fm.Body.rod(f"crank{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(count + 1)]
    rungs = [fm.Body.rod(f"rung{i}", length=1.0, mass=1.0, radius=0.02) for i in range(count)]
    for i, body in enumerate(cranks):
        pivot, start = model.ground.at(i, 0, 0), {} if i > 0 else {"u0": -1.0}
        model.add(body, fm.Revolute(f"A{i}", pivot, body.base, axis="y", **start))
    for i, body in enumerate(rungs):
        model.add(body, fm.Revolute(f"B{i}", cranks[i].tip, body.base, axis="y"))
        model.add(fm.Revolute(f"C{i}", body.tip, cranks[i + 1].tip, axis="y"))
    return model


@pytest.mark.parametrize("count", [1, 3, 12, 30])
def test_a_row_of_four_bars_folds_and_unfolds(count: int) -> None:
    """Rows of loops share coordinates with their neighbours only, and all are singular at once."""
    found, swept = (solver_of(four_bars(count), tolerance=1e-10, dynamics=d) for d in ("copcod", "riccati"))
    for end in (0.4, 1.0, 1.6):
        found.step(end), swept.step(end)
        assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION
        assert relative(values(found, "qdd"), values(swept, "qdd")) <= MOTION


@pytest.mark.parametrize("seed", seeds(2, 6))
def test_networks_of_many_loops(seed: int) -> None:
    """Loops at random places of one tree, so that rows share coordinates with many others, and some with none."""
    case = space(7000 + seed, loops=6, spare=2 * (seed % 3))
    found, swept = (solver_of(case.model, case.inputs, dynamics=d) for d in ("copcod", "riccati"))
    udot = values(swept, "qdd", "udot")
    difference = np.abs(values(found, "qdd", "udot") - udot).max()
    assert difference <= 1e-9 * max(9.81, np.abs(udot).max())  # a structure's own are what is left of gravity's
    assert relative(values(found, "f", "t"), values(swept, "f", "t")) <= 1e-8


@pytest.mark.parametrize("correction", ["baumgarte", "off"])
def test_other_ways_to_keep_loops_closed(correction: str) -> None:
    model = read_model("four_bar")
    found, swept = (solver_of(model, correction=correction, tolerance=1e-10, dynamics=d) for d in ("copcod", "riccati"))
    found.step(0.5), swept.step(0.5)
    assert relative(values(found, "r", "quat"), values(swept, "r", "quat")) <= MOTION


# States, instruction sets, FMUs -------------------------------------------------------------------------------------

ELSEWHERE = """
import sys
import fmumbs as fm
for image, state in zip(sys.argv[1::2], sys.argv[2::2]):
    solver = fm.Solver(fm.ModelImage.load(image))
    solver.assemble()
    solver.state_load(open(state, "rb").read())
    for k in range(3):
        solver.step(0.2 + 0.013 * (k + 1))
    open(state, "wb").write(solver.state_save())
"""


def test_a_saved_state_goes_on_bit_for_bit_in_another_process(tmp_path: Path) -> None:
    solvers, files = {}, []
    for name in ("four_bar", "parallel_cranks", "skate"):
        image = compile(read_model(name), everything=True).with_options(dynamics="copcod")
        solver = solvers[name] = fm.Solver(image)
        solver.assemble()
        solver.step(0.2)
        image.save(tmp_path / f"{name}.image"), (tmp_path / name).write_bytes(solver.state_save())
        files += [tmp_path / f"{name}.image", tmp_path / name]
    subprocess.run([sys.executable, "-c", ELSEWHERE, *files], check=True)
    for name, solver in solvers.items():
        for k in range(3):
            solver.get("solver.energy")
            solver.step(0.2 + 0.013 * (k + 1))
        assert (tmp_path / name).read_bytes() == solver.state_save(), name


def test_what_statics_reads_leaves_the_formulation() -> None:
    one, other = (solver_of(read_model("four_bar")) for _ in range(2))
    rates = one.read(one.image.variables.speeds())
    one.tangent(rates), one.flexibility(rates)
    for solver in (one, other):
        solver.step(0.3)
    assert one.state_save() == other.state_save()


def test_an_assembly_that_fails_leaves_the_formulation() -> None:
    """A point on a path that leaves the reach: the run goes on with the bits of one that was not asked for it."""
    model = fm.Model("far", gravity=(0, 0, 0))
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab")
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0))
    model.add(fm.ProgrammedPoint("P", b.tip, directions="x", path=fm.Path.line([1.4], [2.4], 1.0)))
    one, other = solver_of(model), solver_of(model)
    with pytest.raises(fm.AssemblyError, match="out of reach"):
        one.assemble(1.0)
    one.step(0.1), other.step(0.1)
    assert one.state_save() == other.state_save()


def test_a_state_belongs_to_its_formulation() -> None:
    swept = solver_of(read_model("four_bar"), dynamics="riccati")
    with pytest.raises(fm.SolverError, match="another model"):
        solver_of(read_model("four_bar")).state_load(swept.state_save())


def test_an_fmu_has_the_bits_of_the_solver(tmp_path: Path) -> None:
    path = export_fmu(read_model("four_bar"), tmp_path / "four_bar.fmu", dynamics="copcod")
    there = run_fmu(path, Options(stop=0.5, interval=0.05))
    here = fm.simulate(read_model("four_bar"), stop=0.5, interval=0.05, dynamics="copcod")
    for name in here.names:
        assert np.array_equal(there[name], here[name]), name


def test_an_fmu_keeps_its_formulation(tmp_path: Path) -> None:
    path = export_fmu(read_model("pendulum"), tmp_path / "pendulum.fmu")
    with pytest.raises(fm.SolverError, match=r"exported with\. Export the model with --dynamics copcod"):
        run_fmu(path, Options(run={"dynamics": "copcod"}))


def test_the_option_on_the_command_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["run", "pendulum", "--dynamics", "copcod", "--stop", "0.1"])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(main, ["run", "pendulum", "--dynamics", "lagrange"])
    assert wrong.exit_code == 2
    assert "riccati" in wrong.output


def test_an_unknown_formulation_is_refused() -> None:
    with pytest.raises(fm.ModelError, match=r"dynamics 'kane' is unknown\. Choose one of: riccati, copcod"):
        compile(read_model("pendulum")).with_options(dynamics="kane")
    image = compile(read_model("pendulum"))
    assert image.with_options(dynamics="riccati") == image
