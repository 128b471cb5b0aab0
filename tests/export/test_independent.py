"""An FMU for Model Exchange whose states are independent moves as the Solver does, with loops exactly closed."""

import warnings
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from click.testing import CliRunner
from fmpy.fmi1 import FMICallException
from fmpy.model_description import read_model_description
from fmpy.validation import validate_fmu
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler import compile
from fmumbs.compiler.independent import with_independent_states
from fmumbs.compiler.layout import ffi, lib
from fmumbs.readers import read_model
from fmumbs.run.coordinates import pointer
from support.closed import space
from support.exchange import Exchange, exchange
from support.sweeps import seeds

Array = NDArray[np.float64]

NEAR = 1e-8  # of 1 and the state: SciPy's DOP853 at 1e-11
BY_CVODE = 1e-6  # over five seconds
CLOSED = 1e-13  # [rad] or of the length: round-off of Newton's method
SAME = 1e-9  # a Jacobian by differences of eighth order
STEPS = (1e-2, 3e-3, 1e-3)  # of these differences: of fast mechanisms the shortest

LOOPS = ("four_bar", "slider_crank", "bricard", "ladder", "flexible_four_bar", "engine", "rolling_disk", "governor")


def exported(model: Any, folder: Path, **options: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fm.export_fmu(
            model, folder / "model.fmu", platforms=["linux64"], all_variables=True, states="independent", **options
        )


def solver_at(model: Any, stop: float) -> fm.Solver:
    solver = fm.Solver(model, scheme="dop853", tolerance=1e-13)
    solver.assemble(0.0)
    solver.step(stop)
    return solver


def plus(x: Array, *by: float) -> Array:
    return x + np.array(by)


def state_names(one: Exchange) -> list[str]:
    return [u.variable.derivative.name for u in one.description.derivatives]


def compare(one: Exchange, solver: fm.Solver, within: float) -> None:
    """All positions and velocities of the tree, and the constraints."""
    variables = solver.image.variables
    names = variables.names([*variables.positions(), *variables.speeds()])
    assert one.get(*names) == pytest.approx([solver.get(n) for n in names], rel=within, abs=within)
    assert one.get("solver.position_violation", "solver.velocity_violation").max() < CLOSED


# Motion ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_by_an_integrator_of_scipy_it_moves_as_by_the_solver(name: str, tmp_path: Path) -> None:
    model = read_model(name)
    solver = solver_at(model, 0.5)
    with exchange(exported(model, tmp_path)) as one:
        assert one.states == 2 * solver.mobility or name in ("rolling_disk", "governor", "flexible_four_bar")
        one.run(0.5)
        compare(one, solver, NEAR)


@pytest.mark.parametrize("seed", seeds(8, 80, 400))
def test_random_loops_move_as_by_the_solver(seed: int, tmp_path: Path) -> None:
    """With balls whose orientation follows wholly, in part, or not at all."""
    model = space(seed, loops=1 + seed % 2).model
    solver = solver_at(model, 0.0)
    with exchange(exported(model, tmp_path)) as one:
        try:
            one.run(0.2)
        except FMICallException:
            pytest.skip("its independent states become singular on the way")
        solver.step(0.2)
        compare(one, solver, NEAR)


@pytest.mark.parametrize(("name", "tolerance"), [("slider_crank", 1e-10), ("governor", 1e-10), ("four_bar", 1e-12)])
def test_by_cvode_it_moves_as_by_the_solver(name: str, tolerance: float, tmp_path: Path) -> None:
    """In nine turns of the four-bar's crank errors of CVODE itself grow, with either states."""
    model = read_model(name)
    solver = solver_at(model, 5.0)
    path = exported(model, tmp_path)
    names = [u.variable.derivative.name for u in read_model_description(str(path)).derivatives]
    result = fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=5.0,
        output_interval=0.01,
        relative_tolerance=tolerance,
        output=names,
    )
    for variable in names:
        assert result[variable][-1] == pytest.approx(solver.get(variable), rel=BY_CVODE, abs=BY_CVODE)


def test_in_fmi_3_it_is_the_same(tmp_path: Path) -> None:
    path = exported(read_model("four_bar"), tmp_path, fmi=3)
    assert [problem for problem in validate_fmu(str(path)) if problem] == []
    result = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=1.0, output_interval=0.01, relative_tolerance=1e-10,
        output=["A.q", "D.q"],
    )  # fmt: skip
    solver = solver_at(read_model("four_bar"), 1.0)
    for name in ("A.q", "D.q"):
        assert result[name][-1] == pytest.approx(solver.get(name), rel=BY_CVODE, abs=BY_CVODE)


# States ----------------------------------------------------------------------------------------------------------


def test_as_many_states_as_the_mobility_are_named(tmp_path: Path) -> None:
    path = exported(read_model("four_bar"), tmp_path)
    assert validate_fmu(str(path)) == []
    description = read_model_description(str(path))
    assert [u.variable.derivative.name for u in description.derivatives] == ["A.q", "A.qd"]
    assert [u.variable.name for u in description.derivatives] == ["A.qd", "A.qdd"]  # no pull is in them
    by_name = {v.name: v for v in description.modelVariables}
    assert by_name["D.qd"].derivative is None


@pytest.mark.parametrize("seed", [43, 70, 127, 161])
def test_a_ball_follows_wholly_or_not_at_all_where_other_joints_suffice(seed: int) -> None:
    """The largest pivots alone choose some components of a quaternion in each of these."""
    image = with_independent_states(compile(space(seed, loops=1 + seed % 2).model))
    kind, first = image.arrays["link_kind"].ravel(), image.arrays["link_p"].ravel()
    balls = first[kind == lib.FM_LINK_SPHERICAL]
    assert len(balls)
    following = image.arrays["dependent_p"].ravel()
    assert {int(np.isin(range(p, p + 4), following).sum()) for p in balls.tolist()} <= {0, 4}


def test_declared_coordinates_are_states_if_they_can_be(tmp_path: Path) -> None:
    for name in "ABD":
        model = read_model("four_bar")
        model.input("torque", to=f"{name}.tau")
        model.output("energy", of="solver.energy")
        path = exported(model, tmp_path)
        names = [u.variable.derivative.name for u in read_model_description(str(path)).derivatives]
        assert names == [f"{name}.q", f"{name}.qd"]


def test_a_tree_has_the_same_states(tmp_path: Path) -> None:
    image = compile(read_model("arm6"))
    assert with_independent_states(image) is image


def test_what_follows_cannot_be_set_in_continuous_time(tmp_path: Path) -> None:
    with exchange(exported(read_model("four_bar"), tmp_path)) as one:
        with pytest.raises(FMICallException):
            one.set({"D.q": 0.3})
        with pytest.raises(FMICallException):
            one.fmu.getDirectionalDerivative([one.reference["A.qdd"]], [one.reference["D.q"]], [1.0])
        one.set({"A.q": 0.5, "A.qd": 2.0})
        assert one.x == pytest.approx([0.5, 2.0], abs=0)


def test_a_guess_of_what_follows_chooses_the_branch(tmp_path: Path) -> None:
    path = exported(read_model("four_bar"), tmp_path)
    with exchange(path) as one:
        first = one.get("B.q", "D.q")
    with exchange(path, {"B.q": -float(first[0]), "D.q": -float(first[1])}) as other:
        assert abs(other.get("D.q")[0] - first[1]) > 0.1
        other.run(0.2)
        assert other.get("solver.position_violation")[0] < CLOSED


@pytest.mark.parametrize(
    ("name", "way"), [("four_bar", 8.0), ("bennett", -3.0), ("bennett", 3.0), ("slider_crank", 3.0)]
)
def test_far_states_are_on_the_branch_of_near_ones(name: str, way: float, tmp_path: Path) -> None:
    """A crank that is turned in one call, by more than a turn, ends as one that is turned in small steps."""
    model = read_model(name)
    path, variables = exported(model, tmp_path), compile(model).variables
    names = variables.names([*variables.positions(), *variables.speeds()])
    angles = np.linspace(0.0, way, 400)
    with exchange(path) as one:
        near, x = [], one.x
        for angle in angles:
            one.place(0.0, np.array([x[0] + angle, *x[1:]]))
            near.append(one.get(*names))
    with exchange(path) as one:
        for k in (399, 200, 10, 300, 387, 120):
            one.place(0.0, np.array([x[0] + angles[k], *x[1:]]))
            assert one.get(*names) == pytest.approx(near[k], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_saved_state_has_the_branch(fmi: int, tmp_path: Path) -> None:
    path = exported(read_model("four_bar"), tmp_path, fmi=fmi)
    with exchange(path) as one:
        one.run(0.7)
        expected = one.rates(0.7, one.x), one.get("B.q", "D.q", "C.reaction.f[1]")
        state = one.fmu.getFMUState()
        content = one.fmu.serializeFMUState(state)
        one.place(0.7, plus(one.x, 2.5, 1.0))
        one.fmu.setFMUState(state)
        x = one.x
        assert (one.rates(0.7, x) == expected[0]).all()
        assert (one.get("B.q", "D.q", "C.reaction.f[1]") == expected[1]).all()
        one.fmu.freeFMUState(state)
    with exchange(path) as other:
        other.fmu.setFMUState(other.fmu.deserializeFMUState(content))
        assert (other.rates(0.7, x) == expected[0]).all()
    with exchange(path) as one:  # set, but nothing asked for there yet
        one.place(0.0, plus(one.x, 1.5, 0.0))
        state = one.fmu.getFMUState()
        expected = one.rates(0.0, one.x), one.get("D.q")
        one.place(0.0, plus(one.x, 0.7, 0.0))
        one.get("D.q")
        one.fmu.setFMUState(state)
        assert (one.rates(0.0, one.x) == expected[0]).all()
        assert (one.get("D.q") == expected[1]).all()


@pytest.mark.parametrize("read", ["positions", "tree state"])
def test_what_follows_is_closed_before_the_tree_is_read(read: str) -> None:
    """The bits of what is read after the rates were asked for."""
    found = []
    for first in (False, True):
        solver = fm.Solver(with_independent_states(compile(read_model("four_bar"))))
        solver.assemble()
        solver.call(lib.fm_update_events, ffi.new("fm_events *"))
        x, rates = np.empty(2), np.empty(2)
        lib.fm_get_continuous(solver.instance, pointer(x))
        before = solver.positions
        x[0] += 0.3
        solver.call(lib.fm_set_continuous, 0.0, pointer(x))
        if first:
            solver.call(lib.fm_continuous_rates, pointer(rates))
        y = np.empty(lib.fm_tree_state(solver.instance, ffi.NULL, 0)) if read == "tree state" else solver.positions
        if read == "tree state":
            lib.fm_tree_state(solver.instance, pointer(y), len(y))
        assert (np.abs(y[: len(before)] - before) > 1e-3).all()
        found.append(y)
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("read", ["positions", "tree state", "jacobian", "violations", "poses"])
def test_what_does_not_follow_is_not_read(read: str) -> None:
    """A crank's angle that no rocker reaches."""
    model = read_model("four_bar")
    model.input("torque", to="D.tau")
    solver = fm.Solver(with_independent_states(compile(model)))
    solver.assemble()
    solver.call(lib.fm_update_events, ffi.new("fm_events *"))
    x = np.empty(2)
    lib.fm_get_continuous(solver.instance, pointer(x))
    x[0] += 2.5
    solver.call(lib.fm_set_continuous, 0.0, pointer(x))
    if read in ("positions", "jacobian"):
        with pytest.raises(fm.SolverError, match="the loops cannot be closed at the independent states"):
            getattr(solver, read)
        return
    called = {"tree state": lib.fm_tree_state, "violations": lib.fm_violations, "poses": lib.fm_poses}[read]
    room = np.full(1000, np.nan)
    assert called(solver.instance, pointer(room), len(room)) == 0 and np.isnan(room).all()
    assert "the loops cannot be closed" in ffi.string(lib.fm_message(solver.instance)).decode()


# Singular --------------------------------------------------------------------------------------------------------


def test_where_states_become_singular_a_shorter_step_is_asked_for(tmp_path: Path) -> None:
    model = read_model("four_bar")
    model.input("torque", to="D.tau")
    model.output("violation", of="solver.position_violation")
    with exchange(exported(model, tmp_path)) as one:
        x = one.x
        crank, coupler, rocker, base = 0.10, 0.26, 0.22, 0.25  # where crank and coupler are in line the rocker turns
        limit = np.arccos((base**2 + rocker**2 - (crank + coupler) ** 2) / (2 * base * rocker)) - (np.pi + x[0])
        for far in limit - np.array([0.1, 1e-2, 1e-4, 1e-6]):
            one.rates(0.0, plus(x, far, 0.0))
        for far in (limit + 1e-6, limit + 1.0):
            with pytest.raises(FMICallException):
                one.rates(0.0, plus(x, far, 0.0))
        assert np.isfinite(one.rates(0.0, plus(x, limit - 1e-3, 0.0))).all()  # it goes on from where it was
        assert one.get("violation")[0] < CLOSED
        with pytest.raises(FMICallException):
            one.rates(0.0, plus(x, limit + 1e-3, 0.0))
        with pytest.raises(FMICallException):
            one.fmu.completedIntegratorStep()
        assert one.x == pytest.approx(x, abs=0)  # of the last event


def test_the_message_names_the_joint_and_the_tree_states(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = read_model("four_bar")
    model.input("torque", to="D.tau")
    with exchange(exported(model, tmp_path)) as one, pytest.raises(FMICallException):
        one.rates(0.0, plus(one.x, 2.9, 0.0))
    said = "".join(capfd.readouterr())
    assert "the loops cannot be closed at the independent states, of which that of joint 'D' moved furthest" in said
    assert "--states tree" in said


# Derivatives -----------------------------------------------------------------------------------------------------


def differences(f: Any, h: float) -> Array:
    """Central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return np.asarray(sum(w * (f((k + 1) * h) - f(-(k + 1) * h)) for k, w in enumerate(weights)) / h)


@pytest.mark.parametrize("name", ["four_bar", "rolling_disk", "random"])
def test_derivatives_follow_the_loops(name: str, tmp_path: Path) -> None:
    model = space(5, loops=2).model if name == "random" else read_model(name)
    with exchange(exported(model, tmp_path)) as one:
        x = one.x + 0.01 * np.cos(np.arange(one.states))
        one.place(0.0, x)
        states = [u.variable.derivative.valueReference for u in one.description.derivatives]
        rates = [u.variable.valueReference for u in one.description.derivatives]
        outputs = [
            u.variable.valueReference
            for u in one.description.outputs
            if u.variable.type == "Real" and not u.variable.name.startswith("solver.")
        ]
        unknowns = [*rates, *outputs[::3]]

        for reference, start in zip(states, x, strict=True):

            def by(h: float, reference: int = reference, start: float = start) -> Array:
                one.fmu.setReal([reference], [start + h])
                return np.array(one.fmu.getReal(unknowns))

            expected = np.array([differences(by, h) for h in STEPS])
            by(0.0)
            found = np.array(one.fmu.getDirectionalDerivative(unknowns, [reference], [1.0]))
            off = np.min(np.abs(expected - found), axis=0)
            assert np.max(off) <= SAME * max(1.0, np.max(np.abs(found)))
            own = states.index(reference)
            assert one.fmu.getDirectionalDerivative(states, [reference], [1.0]) == pytest.approx(np.eye(len(x))[own])


# Refusals --------------------------------------------------------------------------------------------------------


def test_other_states_are_refused(tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"states 'few' is unknown\. Choose one of: tree, independent\."):
        fm.export_fmu(read_model("four_bar"), tmp_path / "x.fmu", states="few")
    with pytest.raises(
        fm.ExportError, match=r"states='independent' is for Model Exchange\. Leave it out, or give kind"
    ):
        fm.export_fmu(read_model("four_bar"), tmp_path / "x.fmu", states="independent", kind="cs")
    assert not list(tmp_path.iterdir())


def test_the_command_line_exports_and_verifies_them(tmp_path: Path) -> None:
    path = str(tmp_path / "x.fmu")
    done = CliRunner().invoke(main, ["export", "four_bar", "--states", "independent", "-o", path, "--verify"])
    assert done.exit_code == 0, done.output
    assert len(read_model_description(path).derivatives) == 2
