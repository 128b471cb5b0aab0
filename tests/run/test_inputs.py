"""Inputs over time: random tables against an integration by SciPy, from knot to knot.

The mechanism is a cart on a rail and a damped pendulum, whose equations are written here once more:

    2 x'' = f + F_x,      (1/3) m l^2 q'' = tau + T_y - d q' - m g (l/2) sin q
"""

import itertools
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import fmumbs as fm
from fmumbs.compiler import ModelImage
from fmumbs.play import Options, run_fmu, run_model
from fmumbs.readers import read_model
from fmumbs.run.feed import Feed, duration
from support.sweeps import each_value, seeds

Array = np.ndarray
MASS, LENGTH, DAMPING, GRAVITY = 1.5, 0.8, 0.3, 9.81
OUTPUTS = ["J.q", "J.qd", "R.q", "R.qd", "J.qdd", "R.qdd"]
STOP = 1.2


def build() -> fm.Model:
    model = fm.Model("driven", gravity=(0.0, 0.0, -GRAVITY))
    cart, rod = fm.Body("cart", mass=2.0, inertia=(1, 1, 1)), fm.Body.rod("rod", length=LENGTH, mass=MASS, along="-z")
    model.add(cart, rod)
    model.add(fm.Prismatic("J", model.ground.at(), cart.at(), axis="x"))
    model.add(fm.Revolute("R", model.ground.at(0, 3), rod.base, axis="y", damping=DAMPING))
    model.add(fm.Load("L", cart.at()), fm.Load("M", rod.tip))
    return model


@pytest.fixture(scope="module")
def driven() -> ModelImage:
    return fm.compile(build())


def interpolate(times: Array, values: Array, kind: str, t: float, late: bool) -> Array:
    """The value of a table at t; at a jump that before it, or after it (late)."""
    jumps = np.flatnonzero(np.diff(times) == 0.0) + 1
    for begin, end in itertools.pairwise([0, *jumps.tolist(), len(times)]):
        x, y = times[begin:end], values[begin:end]
        if end < len(times) and (t > x[-1] or (late and t == x[-1])):
            continue
        if t <= x[0] or len(x) == 1:
            return y[0]
        if t >= x[-1] and kind != "hold":
            return y[-1]
        if kind == "hold":
            return y[max(np.searchsorted(x, t, "right" if late else "left") - 1, 0)]
        if kind == "cubic":
            return CubicSpline(x, y)(t)
        return np.stack([np.interp(t, x, column) for column in y.reshape(len(x), -1).T]).reshape(y.shape[1:])
    raise AssertionError


def reference(tables: dict[str, tuple[Array, Array, str]], times: Array) -> Array:
    """(times, 6) of OUTPUTS, from knot to knot with DOP853 at 1e-12."""

    def forces(t: float, late: bool) -> tuple[float, float]:
        at = {name: interpolate(*table, t, late) for name, table in tables.items()}
        return (
            float(at.get("J.f", 0.0) + at.get("L.force", np.zeros(3))[0]),
            float(at.get("R.tau", 0.0) + at.get("M.torque[2]", 0.0)),
        )

    def slope(y: Array, f: float, tau: float) -> list[float]:
        weight = MASS * GRAVITY * LENGTH / 2.0 * math.sin(y[2])
        return [y[1], f / 2.0, y[3], (tau - DAMPING * y[3] - weight) / (MASS * LENGTH**2 / 3.0)]

    knots = np.concatenate([times, *(table[0] for table in tables.values())])
    knots = np.unique(knots[(knots >= 0.0) & (knots <= times[-1])])
    y, found = np.zeros(4), {0.0: np.zeros(4)}
    for a, b in itertools.pairwise([0.0, *knots[knots > 0.0]]):
        # values at the ends of a piece are those within it
        piece = lambda t, y, a=a, b=b: slope(y, *forces(min(max(t, a), b), late=t <= a))  # noqa: E731
        y = solve_ivp(piece, (a, b), y, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        found[b] = y
    rows = []
    for t in times.tolist():
        y = found[t]
        rates = slope(y, *forces(t, late=True))
        rows.append([*y, rates[1], rates[3]])
    return np.array(rows)


def table(rng: np.random.Generator, rows: int, width: int, kind: str, jumps: int) -> tuple[Array, Array, str]:
    """A random table over a part of the run, or more than it."""
    times = np.sort(rng.uniform(*sorted(rng.uniform(-0.3, STOP + 0.3, size=2)), size=rows))
    for place in rng.choice(rows - 1, size=min(jumps, (rows - 1) // 3), replace=False).tolist():
        if len(np.unique(times[max(place - 1, 0) : place + 3])) == len(times[max(place - 1, 0) : place + 3]):
            times[place + 1] = times[place]
    values = rng.normal(size=(rows, width)) * 3.0
    return times, values[:, 0] if width == 1 else values, kind


def draw(seed: int) -> tuple[dict[str, tuple[Array, Array, str]], Array, dict[str, Any]]:
    """Tables of inputs, times of results, and options, at random."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["linear", "linear", "cubic", "hold"], size=4).tolist()
    rows = rng.choice([1, 2, 3, 5, 20], size=4).tolist()
    widths = {"J.f": 1, "L.force": 3, "R.tau": 1, "M.torque[2]": 1}
    chosen = [name for name in widths if rng.random() < 0.7] or ["R.tau"]
    tables = {
        name: table(rng, rows[k], widths[name], kinds[k], int(rng.integers(0, 4))) for k, name in enumerate(chosen)
    }
    for name in chosen[1:]:  # channels of one table
        if rng.random() < 0.3:
            tables[name] = (tables[chosen[0]][0], rng.normal(size=(len(tables[chosen[0]][0]), widths[name])), "linear")
            tables[name] = (tables[name][0], tables[name][1][:, 0] if widths[name] == 1 else tables[name][1], "linear")
    times = np.unique(np.concatenate([[0.0], rng.uniform(0.0, STOP, size=int(rng.integers(0, 12))), [STOP]]))
    knots = np.concatenate([one[0] for one in tables.values()])
    knots = knots[(knots > 0.0) & (knots < STOP)]
    if len(knots) and rng.random() < 0.5:  # results at knots and jumps too
        times = np.unique(np.concatenate([times, rng.choice(knots, size=2)]))
    scheme = ["dopri5", "dop853", "radau", "auto", "rk4"][seed % 5]
    return tables, times, {"scheme": scheme, "step": 1e-3, "tolerance": float(10.0 ** rng.uniform(-12, -3))}


@pytest.mark.parametrize("seed", seeds(12, 25))
def test_random_tables_are_followed_within_the_tolerance(driven: ModelImage, seed: int) -> None:
    tables, times, options = draw(seed)
    inputs = {name: fm.Signal(*one) for name, one in tables.items()}
    found = fm.simulate(driven, times=times, inputs=inputs, outputs=OUTPUTS, **options)
    assert np.array_equal(found.time, times)
    exact = reference(tables, times)
    tolerance = 1e-9 if options["scheme"] == "rk4" else max(30.0 * options["tolerance"], 2e-11)
    for k, name in enumerate(OUTPUTS):
        scale = max(1.0, np.abs(exact[:, k]).max())
        assert_allclose(found[name], exact[:, k], rtol=0, atol=tolerance * scale, err_msg=f"{name}, {options}")


@pytest.mark.parametrize(("kind", "order"), [("hold", 1), ("linear", 2), ("cubic", 4)])
def test_the_error_falls_with_the_order_of_the_interpolation(driven: ModelImage, kind: str, order: int) -> None:
    """Of a smooth torque, down to the tolerance, whatever the interval of the results."""
    torque = lambda t: 2.0 * np.sin(9.0 * t + 0.3)  # noqa: E731
    fine, results = np.linspace(0.0, STOP, 2001), np.linspace(0.3, STOP, 19)
    smooth = fm.Signal(fine, torque(fine), "cubic")
    exact = fm.simulate(driven, times=results, inputs={"R.tau": smooth}, tolerance=1e-12)
    errors = []
    for rows in (10, 20, 40, 80):
        times = np.linspace(0.0, STOP, rows + 1)
        signal = fm.Signal(times, torque(times), kind)
        run = fm.simulate(driven, times=results, inputs={"R.tau": signal}, tolerance=1e-12)
        errors.append(np.abs(run["R.q"] - exact["R.q"]).max())
    rates = -np.diff(np.log2(errors))
    assert rates.min() > order - 0.2, rates


def test_a_function_stays_a_staircase_and_a_table_of_it_is_followed(driven: ModelImage) -> None:
    times = np.linspace(0.0, STOP, 25)
    held = fm.simulate(driven, times=times, inputs={"R.tau": math.sin, "J.f": math.cos})
    stairs = {"R.tau": fm.Signal(times, np.sin(times), "hold"), "J.f": fm.Signal(times, np.cos(times), "hold")}
    same = fm.simulate(driven, times=times, inputs=stairs)
    for name in ("J.q", "J.qd", "R.q", "R.qd"):
        assert np.array_equal(held[name], same[name]), name
    solver, angles = fm.Solver(driven), [0.0]
    solver.assemble()
    for begin, end in itertools.pairwise(times.tolist()):
        solver.set("R.tau", math.sin(begin))
        solver.set("J.f", math.cos(begin))
        solver.step(end)
        angles.append(solver.get("R.q"))
    assert np.array_equal(held["R.q"], angles)
    assert_allclose(held["J.qdd"][1:], np.cos(times[:-1]) / 2.0)  # before the function is called again
    assert_allclose(same["J.qdd"], np.cos(times) / 2.0)


def test_a_tuple_is_a_linear_table(driven: ModelImage) -> None:
    times, values = [0.0, 0.5, 0.7], [[0, 0, 0], [4.0, 1, 2], [0, 0, 0]]
    pair = fm.simulate(driven, stop=STOP, inputs={"L.force": (times, values)})
    whole = fm.simulate(driven, stop=STOP, inputs={"L.force": fm.Signal(times, values)})
    assert np.array_equal(pair["J.q"], whole["J.q"])
    assert pair["J.qd"][-1] == pytest.approx(0.5 * 4.0 * 0.7 / 2.0, rel=1e-12)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto", "rk4"])
def test_late_and_narrow_pieces_are_followed(driven: ModelImage, scheme: str) -> None:
    """At 1e4 s, and a pulse of 2 N.s within 1e-9 s, between results 0.1 s apart."""
    late = 1e4
    times = [late, late + 1.0, late + 2.0, late + 3.0, late + 3.0 + 1e-9, late + 3.0 + 1e-9]
    force = fm.Signal(times, [0.0, 6.0, 0.0, 0.0, 0.0, 0.0])
    pulse = fm.Signal([0.5, 0.5, 0.5 + 1e-9, 0.5 + 1e-9], [0.0, 2e9, 2e9, 0.0])
    run = fm.simulate(
        driven, times=[0.4, 0.6, late, late + 4.0], scheme=scheme, step=0.1, inputs={"J.f": force, "L.force[1]": pulse}
    )
    assert_allclose(run["J.qd"], [0.0, 1.0, 1.0, 1.0 + 3.0], rtol=1e-6)


def test_results_may_be_as_close_as_numbers_are(driven: ModelImage) -> None:
    times = [0.25]
    for _ in range(5):
        times.append(math.nextafter(times[-1], 1.0))
    run = fm.simulate(driven, times=[*times, 0.3], inputs={"J.f": ([0.0, times[2], 0.3], [2.0, 4.0, 8.0])})
    assert np.array_equal(run.time, [*times, 0.3])
    assert_allclose(run["J.qdd"][:6], 2.0, rtol=1e-14)


def test_tables_as_fine_as_rounding_are_one_time(driven: ModelImage) -> None:
    """0.1 + 0.2 is later than 0.3 by rounding: a jump there is one of the result at 0.3."""
    late = 0.1 + 0.2
    run = fm.simulate(driven, times=[0.3, 0.6], inputs={"J.f": fm.Signal([0.0, late, late], [0, 0, 2.0])})
    assert_allclose(run["J.qdd"], [1.0, 1.0])
    assert_allclose(run["J.q"], [0.0, 0.045], atol=1e-12)


def test_a_tunable_parameter_takes_a_table_that_holds(driven: ModelImage) -> None:
    mass = fm.Signal([0.0, 0.35], [2.0, 4.0], "hold")
    run = fm.simulate(driven, times=[0.0, 0.3, 0.4, 0.7], inputs={"cart.mass": mass, "J.f": 4.0})
    assert_allclose(run["J.qdd"], [2.0, 2.0, 1.0, 1.0])
    assert run["J.qd"][-1] == pytest.approx(0.7 + 0.35, rel=1e-12)


def test_a_run_that_fails_ends_with_the_inputs_of_that_time() -> None:
    """A torque that grows until the fixed step is too long, between two results."""
    table = [0.0, 0.3, 1.0], [0.0, 1.0, 3000.0]
    with pytest.raises(fm.SolverError, match="becomes unstable") as caught:
        fm.simulate(
            read_model("double_pendulum"), stop=1.0, interval=0.2, scheme="rk4", step=0.01, inputs={"A.tau": table},
            outputs=["A.tau"],
        )  # fmt: skip
    result = caught.value.result
    assert 0.6 < result.time[-1] < 0.8
    assert_allclose(result["A.tau"], np.interp(result.time, *table), rtol=1e-12)


# A model and its FMU -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driven_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fm.export_fmu(build(), tmp_path_factory.mktemp("fmu") / "driven.fmu")


@each_value
@pytest.mark.parametrize("kind", ["linear", "cubic", "hold"])
@pytest.mark.parametrize("scheme", ["dopri5", "radau", "rk4"])
def test_a_model_and_its_fmu_follow_a_file_with_the_same_bits(
    driven_fmu: Path, tmp_path: Path, kind: str, scheme: str
) -> None:
    rng = np.random.default_rng(5)
    times = np.sort(rng.uniform(-0.1, STOP, size=30))
    times[[8, 20]] = times[[7, 19]]
    names = ["J.f", "L.force[1]", "R.tau", "M.torque[2]"]
    lines = [",".join(map(repr, [float(t), *rng.normal(size=4).tolist()])) for t in times]
    (tmp_path / "inputs.csv").write_text("\n".join([",".join(["time", *names]), *lines]))
    options = Options(
        stop=STOP, interval=0.07, inputs=tmp_path / "inputs.csv", interpolation=kind,
        run={"scheme": scheme, "step": 1e-2},
    )
    here, there = run_model(build(), options), run_fmu(driven_fmu, options)
    for name in here.names:
        assert np.array_equal(here[name], there[name]), name


class Deaf:
    """Takes inputs, and does nothing."""

    def write(self, *_: Any) -> None: ...

    def write_input_derivatives(self, *_: Any) -> None: ...


def test_each_time_is_reached_by_the_sum_of_the_one_before_and_a_step() -> None:
    """As FMI adds them; an FMU would else be at another last digit than the model."""
    rng, hops = np.random.default_rng(11), 0
    for _ in range(400):
        end = float(rng.uniform(0.1, 3.0))
        knots = np.sort(10.0 ** rng.uniform(-9, 0, size=4)) * end
        feed = Feed(Deaf(), {"a": fm.Signal(knots, np.zeros(4))}, {"a": np.zeros(1, np.uint32)})
        points = np.array([0.0, *feed.stops(0.0, end), end])
        hops += len(points) - 6
        assert (np.diff(points) > 0.0).all()
        assert set(knots) <= set(points)
        assert [a + duration(a, b) for a, b in itertools.pairwise(points.tolist())] == points[1:].tolist()
    assert hops > 5


@pytest.mark.parametrize(
    ("ability", "words"),
    [
        ("canInterpolateInputs", "cannot interpolate inputs"),
        ("canHandleVariableCommunicationStepSize", "takes steps of one size only"),
    ],
)
def test_an_fmu_that_cannot_follow_inputs_is_given_what_it_takes_with_a_warning(
    driven_fmu: Path, tmp_path: Path, ability: str, words: str
) -> None:
    """Without derivatives a table holds from step to step; without other steps they end at the results alone."""
    times, values, results = [0.0, 0.25, 1.0], [0.0, 3.0, -1.0], np.linspace(0.0, 1.0, 11)
    (tmp_path / "inputs.csv").write_text(
        "time,J.f\n" + "\n".join(f"{t},{u}" for t, u in zip(times, values, strict=True))
    )
    less = without(driven_fmu, ability, tmp_path / "less.fmu")
    with pytest.warns(fm.InputWarning, match=words):
        found = run_fmu(less, Options(stop=1.0, interval=0.1, inputs=tmp_path / "inputs.csv"))
    points = np.unique([*results, *times]) if ability == "canInterpolateInputs" else results
    start = np.interp(points[:-1], times, values)
    slope = np.diff(np.interp(points, times, values)) / np.diff(points)
    if ability == "canInterpolateInputs":
        slope = np.zeros_like(slope)
    else:
        slope[2] = 12.0  # until 0.3, since the step that begins at 0.2 s does not end at 0.25 s
    speed = np.concatenate([[0.0], np.cumsum(np.diff(points) * (start + slope * np.diff(points) / 2.0)) / 2.0])
    assert_allclose(found["J.qd"], speed[np.isin(points, results)], atol=1e-12)


def without(fmu: Path, ability: str, to: Path) -> Path:
    """A copy of an FMU whose description denies an ability."""
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                assert f'{ability}="true"'.encode() in data
                data = data.replace(f'{ability}="true"'.encode(), f'{ability}="false"'.encode())
            new.writestr(name, data)
    return to


def test_an_equilibrium_is_that_of_the_inputs_at_the_start() -> None:
    model, rod = fm.Model("hanging"), fm.Body.rod("rod", length=LENGTH, mass=MASS, along="-z")
    model.add(rod, fm.Revolute("R", model.ground.at(), rod.base, axis="y"))
    tau = fm.Signal([0.0, 0.5, 1.0], [2.0, 2.0, 0.0])
    run = fm.simulate(model, times=[0.0, 0.5, 1.0], inputs={"R.tau": tau}, equilibrium=True)
    assert math.sin(run["R.q"][0]) == pytest.approx(2.0 / (MASS * GRAVITY * LENGTH / 2.0))
    assert_allclose(run["R.qdd"][:2], 0.0, atol=1e-8)
    assert abs(run["R.qdd"][2]) > 1.0


# Wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": {"L.force": ([0.0, 1.0], [0.0, 1.0])}}, "'L.force' takes 3 numbers, not 1"),
        ({"inputs": {"J.f": ([0.0, 1.0], [[0.0, 1.0]] * 2)}}, "'J.f' takes 1 numbers, not 2"),
        ({"inputs": {"J.f": ([0.0, 1.0], [0.0])}}, "'J.f': Signal: values are 1, but there are 2 times"),
        ({"inputs": {"J.ff": ([0.0, 1.0], [0.0, 1.0])}}, "'driven' has no variable 'J.ff'"),
        ({"inputs": {"J.q": ([0.0, 1.0], [0.0, 1.0])}}, "'J.q' is a start value"),
        ({"inputs": {"cart.mass": ([0.0, 1.0], [1.0, 2.0])}}, "'cart.mass' is a parameter"),
        (
            {"inputs": {"L.force[1]": 2.0, "L.force": ([0.0, 1.0], [[0.0] * 3] * 2)}},
            "'L.force[1]' is also a part of 'L.force', which follows a signal",
        ),
        ({"times": [0.0, 1.0], "stop": 1.0}, "times are given beside stop or interval"),
        ({"times": [0.0, 1.0, 1.0]}, "times do not increase from 1 s to 1 s, at 1 and 2"),
        ({"times": [-1.0, 1.0]}, "times have -1 s, but a run begins at 0"),
        ({"times": [0.0, math.nan]}, "times have nan s"),
        ({"times": []}, "times are 0, but must be a list"),
        ({"times": 3.0}, "times are a single number"),
        ({"times": ["late"]}, "which is not a list of numbers"),
    ],
)
def test_wrong_use_is_reported(arguments: dict[str, Any], message: str, driven: ModelImage) -> None:
    with pytest.raises(fm.SolverError) as caught:
        fm.simulate(driven, **arguments)
    assert message in str(caught.value)
