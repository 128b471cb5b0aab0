"""Derivatives of runs beside closed forms and beside differences of runs by the Solver; adjoint beside forward."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.run.extrapolation import extrapolated
from support.drawing.mechanism import Refused, draw
from support.impacts import GRAVITY, four_bar
from support.sweeps import first, seeds

TOLERANCE = 1e-10
CLOSE = 1e-8
"""Of the largest derivative: a hundred steps of the tolerance."""
TRANSPOSED = 1e-12
"""Of the largest derivative: adjoint and forward add the same numbers in another order."""
ADDED = 1e-10
"""The same of random mechanisms, whose numbers differ by decades: what is added is up to a hundred times the sum."""
BY_DIFFERENCES = 1e-6
"""The same where there is no adjoint: a direction and its components are differenced apart, from steps of 1e-5."""
RANDOM, DIGITS = 1e-6, 10.0
"""Of the largest derivative: runs at tolerances of 1e-10 and 1e-12 of mechanisms that amplify; and of the error that
extrapolation estimates of the differences."""
ROUND_OFF = 1e-14
"""Of outputs of the order of 1: what a mechanism that is locked has."""
NO_KNOWNS = ("solver.", "unique", "inertia", "kinetic", "damping")
"""Parts of names of parameters that are no knowns, or that differences of runs cannot move alone."""
TIMES = np.linspace(0.0, 1.0, 6)


def agree(found: np.ndarray, expected: np.ndarray, within: float = CLOSE, least: float = 1e-3) -> None:
    """least: a size of the expected below which it is zero but for round-off."""
    assert_allclose(found, expected, rtol=0, atol=within * max(least, float(np.abs(expected).max(initial=0.0))))


def adjoint_is_forward(found: Any, within: float = TRANSPOSED, least: float = 1e-3) -> None:
    weights = np.random.default_rng(5).normal(size=found.values.shape)
    agree(found.adjoint(weights), np.einsum("to,tok->k", weights, found.forward), within, least)


def differences(
    model: Any, outputs: list[str], known: str, times: np.ndarray, step: float, **inputs: Any
) -> np.ndarray:
    """(times, outputs) of runs by the Solver at a fine tolerance."""
    return table_of_differences(model, outputs, known, times, step, **inputs)[0]


def table_of_differences(
    model: Any, outputs: list[str], known: str, times: np.ndarray, step: float, **inputs: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same and the errors of its entries."""
    image = fm.compile(model, tolerance=1e-12, scheme="dop853")
    value = fm.Solver(image).get(known)

    def run(change: float) -> np.ndarray:
        result = fm.simulate(image, times=times, inputs=inputs | {known: value + change}, outputs=outputs)
        return np.array([result[name] for name in outputs]).T

    return extrapolated(lambda h: (run(h) - run(-h)) / (2.0 * h), step)


def best_differences(
    model: Any, outputs: list[str], known: str, times: np.ndarray, by: float
) -> tuple[np.ndarray, float]:
    """The same from steps of several sizes, and their error relative to the largest: where that is least. Steps that
    leave a parameter's bounds, or that end a run, are too long."""
    found, problem = [], None
    for scale in (1e-2, 1e-4, 1e-6):
        try:
            table, errors = table_of_differences(model, outputs, known, times, scale * by)
        except fm.FmumbsError as error:
            problem = error
            continue
        size = max(1e-3, float(np.abs(table).max(initial=0.0)))
        found.append((float(errors.max(initial=0.0)) / size, table))
        if found[-1][0] < 0.01 * RANDOM:
            break
    if problem is not None and not found:
        raise problem
    least, table = min(found, key=lambda one: one[0])
    return table, least


def has_adjoint(image: fm.ModelImage, outputs: list[str], knowns: list[str]) -> bool:
    """Of the outputs and all accelerations."""
    solver = fm.Solver(image, derivatives=True)
    solver.assemble()
    seen = [*outputs, *(name for name in image.variables.names() if re.search(r"\.(qdd|alpha|udot)(\[\d+\])?$", name))]
    try:
        solver.adjoint(seen, knowns, np.ones(len(seen)))
    except fm.SolverError:
        return False
    return True


def slider(**values: Any) -> tuple[fm.Model, fm.Prismatic]:
    model = fm.Model("slider", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    P = fm.Prismatic("P", model.ground.at(), body.at(), axis="x", **values)
    model.add(body, P)
    return model, P


def test_an_oscillator() -> None:
    """By mass, stiffness, damping, a constant force and both start values: derivatives of the matrix exponential."""
    model, _ = slider(q0=0.5, u0=0.3, stiffness=8.0, damping=0.4)
    found = fm.sensitivities(
        model, ["P.q", "P.qd", "P.qdd"], ["body.mass", "P.stiffness", "P.damping", "P.q", "P.qd", "P.f"],
        times=TIMES, inputs={"P.f": 0.7}, tolerance=TOLERANCE,
    )  # fmt: skip
    at = np.array([2.0, 8.0, 0.4, 0.5, 0.3, 0.7])

    def motion(p: np.ndarray) -> np.ndarray:
        m, k, c, q, u, f = p
        A = np.array([[0, 1, 0], [-k / m, -c / m, 1 / m], [0, 0, 0]])
        x = np.array([expm(A * t) @ np.array([q, u, f]) for t in TIMES])
        return np.column_stack([x[:, 0], x[:, 1], (x @ A.T)[:, 1]])

    agree(found.values, motion(at))
    for j, direction in enumerate(np.eye(6)):
        exact = motion(at + 1e-30j * direction).imag / 1e-30
        agree(found.forward[:, :, j], exact)
        assert_allclose(found["P.qd", found.knowns[j]], found.forward[:, 1, j])
    assert found.known_units[:3] == ("kg", "N/m", "N.s/m")
    adjoint_is_forward(found)


def test_a_brake_stops_a_body() -> None:
    """After v m / F it stands, v^2 m / (2 F) on: derivatives of both sides of the instant, which moves."""
    model, P = slider(u0=1.0)
    model.add(fm.Law.brake("brake", P, 4.0))
    knowns = ["body.mass", "P.qd", "brake.scale"]
    found = fm.sensitivities(model, ["P.q", "P.qd"], knowns, times=TIMES, tolerance=TOLERANCE)
    assert_allclose(found.switches, [0.5], rtol=1e-9)
    moving = TIMES < 0.5
    t = TIMES[moving]
    agree(found.forward[moving, 0], np.column_stack([t**2 / 2, t, -(t**2)]))
    agree(found.forward[~moving, 0], np.broadcast_to([0.125, 0.5, -0.25], (3, 3)))
    agree(found.forward[~moving, 1], np.zeros((3, 3)))
    adjoint_is_forward(found)


def test_a_brake_breaks_away() -> None:
    """When 8 t reaches 6 N; then it slides with 4 N. The instant moves with the brake's scale and a further force."""
    model, P = slider()
    model.add(fm.Law.brake("brake", P, 4.0, breakaway=1.5))
    force, t = fm.Signal([0.0, 2.0], [0.0, 16.0]), np.array([0.5, 0.8, 1.0])
    found = fm.sensitivities(
        model, ["P.qd"], ["brake.scale", "P.f"], times=t, inputs={"P.f": force}, tolerance=TOLERANCE
    )
    assert_allclose(found.switches, [0.75], rtol=1e-9)
    after = np.column_stack([-0.75 - 2.0 * (t - 0.75), 0.125 + 0.5 * (t - 0.75)])
    agree(found.forward[:, 0], np.where(t[:, None] < 0.75, 0.0, after))
    adjoint_is_forward(found)


@pytest.mark.parametrize("known", ["body.mass", "stop.scale", "P.q"])
def test_a_stop_throws_back(known: str) -> None:
    """Rates are continuous where it touches, but for the damper."""
    model, P = slider(q0=0.3, tau=-20.0)
    model.add(fm.Stop("stop", P, lower=0.0, stiffness=1e3, damping=20.0))
    found = fm.sensitivities(model, ["P.q", "P.qd"], [known], times=TIMES, tolerance=TOLERANCE)
    assert len(found.switches) >= 4
    agree(found.forward[:, :, 0], differences(model, ["P.q", "P.qd"], known, TIMES, 0.005), 1e-7)
    adjoint_is_forward(found)


def bouncing(height: float, e: float, times: np.ndarray) -> np.ndarray:
    """(times, 2) height and velocity of a ball that falls from rest."""
    fall, rows = np.sqrt(2 * height / GRAVITY), []
    for t in times:
        v, left = 0.0, t
        if t >= fall:
            v, left = e * GRAVITY * fall, t - fall
            while left >= 2 * v / GRAVITY > 0.0:
                v, left = e * v, left - 2 * v / GRAVITY
        rows.append(((height if t < fall else 0.0) + v * left - GRAVITY * left**2 / 2, v - GRAVITY * left))
    return np.array(rows)


def test_a_ball_bounces() -> None:
    """By the height and the restitution, through three impacts; a fourth would be behind the last time."""
    model, times = fm.Model("bouncing", gravity=(0, 0, -GRAVITY)), np.array([0.0, 0.3, 0.7, 1.2, 1.7])
    ball = fm.Body("ball", mass=2.0, inertia=(1, 1, 1))
    P = fm.Prismatic("P", model.ground.at(), ball.at(), axis="z", q0=1.0)
    model.add(ball, P, fm.Stop("floor", P, lower=0.0, restitution=0.7))
    found = fm.sensitivities(model, ["P.q", "P.qd"], ["P.q", "floor.restitution"], times=times, tolerance=TOLERANCE)
    assert len(found.switches) == 3
    for k, way in enumerate(((1.0, 0.0), (0.0, 1.0))):

        def slope(h: float, way: tuple[float, float] = way) -> np.ndarray:
            ends = [bouncing(1.0 + s * h * way[0], 0.7 + s * h * way[1], times) for s in (1.0, -1.0)]
            return (ends[0] - ends[1]) / (2.0 * h)

        agree(found.forward[:, :, k], extrapolated(slope, 1e-3)[0], 1e-7)
    adjoint_is_forward(found)


@pytest.mark.parametrize("known", ["A.qd", "rocker.mass", "stop.restitution"])
def test_a_rocker_hits_a_stop(known: str) -> None:
    """In a loop, whose jump depends on where it is."""
    outputs, times = ["A.q", "D.qd"], np.array([0.1, 0.3, 0.5])
    model = four_bar(0.5)
    found = fm.sensitivities(model, outputs, [known], times=times, tolerance=1e-11)
    assert found.switches
    agree(found.forward[:, :, 0], differences(model, outputs, known, times, 0.01), 1e-6)
    adjoint_is_forward(found, 1e-10)


def test_two_stops_that_are_struck_at_once_have_no_derivative() -> None:
    model = fm.Model("pair", gravity=(0, 0, 0))
    for name in ("a", "b"):
        body = fm.Body(name, mass=2.0, inertia=(1, 1, 1))
        P = fm.Prismatic(f"P{name}", model.ground.at(), body.at(), axis="x", u0=1.0)
        model.add(body, P, fm.Stop(f"stop_{name}", P, upper=0.4, restitution=0.5))
    found = fm.sensitivities(model, ["Pa.q"], ["a.mass"], stop=1.0)
    with pytest.raises(fm.SolverError, match="force laws leave their modes together: stop_a, stop_b"):
        _ = found.forward


@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
@pytest.mark.parametrize("known", ["A.q", "A.qd", "coupler.mass", "A.tau"])
def test_a_loop(known: str) -> None:
    """Start values move those that assembly finds; an input is moved as a whole, along its signal with a jump."""
    model = read_model("four_bar")
    torque = fm.Signal([0.0, 0.2, 0.2, 0.4], [0.0, 1.0, -1.0, 0.5])
    outputs, times = ["A.q", "B.qd", "A.reaction.f[1]"], np.array([0.1, 0.2, 0.4])
    found = fm.sensitivities(model, outputs, [known], times=times, inputs={"A.tau": torque}, tolerance=TOLERANCE)
    if known == "A.tau":
        image = fm.compile(model, tolerance=1e-12, scheme="dop853")

        def run(h: float) -> np.ndarray:
            moved = fm.Signal(torque.times, np.asarray(torque.values) + h)
            result = fm.simulate(image, times=times, inputs={"A.tau": moved}, outputs=outputs)
            return np.array([result[name] for name in outputs]).T

        expected = extrapolated(lambda h: (run(h) - run(-h)) / (2.0 * h), 0.1)[0]
    else:
        expected = differences(model, outputs, known, times, 0.01, **{"A.tau": torque})
    for k in range(len(outputs)):
        agree(found.forward[:, k, 0], expected[:, k], 1e-6)  # of the longest in 0.4 s, which grow by 1e3
    adjoint_is_forward(found, 1e-10)


@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning", "ignore::fmumbs.DeformationWarning")
@pytest.mark.parametrize("part", [0.05, first(0, [0.5])[0]])
@pytest.mark.parametrize("seed", seeds(6, 60, 700))
def test_random_mechanisms(seed: int, part: float) -> None:
    """Of the whole API, by a parameter and an input: beside differences of runs, adjoint beside forward."""
    rng = np.random.default_rng([seed, 77])
    try:
        drawn = draw(seed)
        image = fm.compile(drawn.model, everything=True, tolerance=TOLERANCE)
        fm.Solver(image).assemble()
    except (Refused, fm.FmumbsError):
        pytest.skip("a draw that is no mechanism")
    by: dict[str, list[str]] = {"parameter": [], "input": [], "output": ["solver.energy"]}
    for name, causality in zip(image.variables.names(), image.variables.causalities(), strict=True):
        if name.endswith((".q", ".qd")) if causality == "output" else not any(part in name for part in NO_KNOWNS):
            by[causality].append(name)
    knowns = [str(rng.choice(by[kind])) for kind in ("parameter", "input") if by[kind]]
    is_beside_differences(drawn.model, image, [str(rng.choice(by["output"]))], knowns, part * drawn.stop)


def is_beside_differences(
    model: fm.Model, image: fm.ModelImage, outputs: list[str], knowns: list[str], stop: float
) -> None:
    times = np.array([0.0, 0.5, 1.0]) * stop
    tuned = {one.name: one.causality == "parameter" for one in image.variables}
    found = fm.sensitivities(image, outputs, knowns, times=times)
    if np.abs(found.values).max() < ROUND_OFF:
        pytest.skip("nothing moves: differences of runs are round-off")
    try:
        _ = found.forward
    except fm.SolverError as problem:
        if not re.search("only grazes|leave their modes together", str(problem)):
            raise
        pytest.skip(f"there is no derivative: {problem}")
    adjoint_is_forward(found, ADDED if has_adjoint(image, outputs, knowns) else BY_DIFFERENCES, 0.1)
    for j, known in enumerate(knowns):
        largest = float(np.abs(found.forward[:, :, j]).max())
        value = abs(float(fm.Solver(image).get(known)))
        far = value if value > 0.0 and tuned[known] else 1.0  # a parameter stays on its side of zero
        by = min(float(np.abs(found.values).max()) / largest, far) if largest > 0.0 else far
        try:
            expected, error = best_differences(model, outputs, known, times, by)
        except fm.FmumbsError as problem:
            pytest.skip(f"a run beside it does not reach the end: {problem}")
        agree(found.forward[:, :, j], expected, RANDOM + DIGITS * error)


def test_what_has_no_derivative_is_refused() -> None:
    model, P = slider(u0=1.0)
    model.add(fm.Law.brake("brake", P, 4.0))
    one: dict[str, Any] = {"outputs": ["P.q"], "knowns": ["body.mass"], "stop": 0.1}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"scheme": "rk4"}, "scheme is given"),
        ({"step": 1e-3}, "step is given"),
        ({"outputs": ["P.Q"]}, "no variable 'P.Q'. The nearest name is 'P.q'"),
        ({"outputs": ["body.mass"]}, "is a parameter, not an output"),
        ({"outputs": []}, "there are no outputs"),
        ({"knowns": ["P.qdd"]}, "computed from the states"),
        ({"knowns": ["solver.tolerance"]}, "solver.tolerance"),
        ({"inputs": {"P.f": lambda t: t}}, "fm.Signal.sample"),
    ]
    for change, text in refused:
        with pytest.raises(fm.FmumbsError, match=text):
            fm.sensitivities(model, **one | change)
    found = fm.sensitivities(model, **one)
    with pytest.raises(fm.SolverError, match="times by outputs"):
        found.adjoint([1.0])
    with pytest.raises(fm.SolverError, match=r"nearest name is .body\.mass."):
        found["P.q", "body.mas"]
    with pytest.raises(fm.SolverError, match="Give s"):
        found["P.q"]


def test_two_brakes_that_stop_at_once_have_no_derivative() -> None:
    model = fm.Model("pair", gravity=(0, 0, 0))
    for name in ("a", "b"):
        body = fm.Body(name, mass=2.0, inertia=(1, 1, 1))
        P = fm.Prismatic(f"P{name}", model.ground.at(), body.at(), axis="x", u0=1.0)
        model.add(body, P, fm.Law.brake(f"brake_{name}", P, 4.0))
    found = fm.sensitivities(model, ["Pa.q"], ["a.mass"], stop=1.0)
    with pytest.raises(fm.SolverError, match="force laws leave their modes together: brake_a, brake_b"):
        _ = found.forward


def test_a_stop_that_is_only_grazed_has_no_derivative() -> None:
    """The force jumps where the body turns back."""
    model, P = slider(q0=1.0, stiffness=1.0)
    step = [fm.Piece([[5.0]], upper=-1.0 + 1e-7), fm.Piece([[0.0]], lower=-1.0 + 1e-7)]
    model.add(fm.Law("edge", P, pieces=step))
    with pytest.raises(fm.SolverError, match="only grazes"):
        _ = fm.sensitivities(model, ["P.q"], ["body.mass"], stop=6.0, tolerance=1e-11).forward


def test_a_law_that_switches_without_end_is_named() -> None:
    """The force always points back to the middle, beside which the body swings in microseconds."""
    model, P = slider(q0=1e-11)
    back = [fm.Piece([[5.0]], upper=0.0), fm.Piece([[-5.0]], lower=0.0)]
    model.add(fm.Law("back", P, pieces=back))
    with pytest.raises(fm.SolverError, match="force law 'back' leaves its modes without end"):
        fm.sensitivities(model, ["P.q"], ["body.mass"], stop=1000.0)


def test_a_recorded_time_beside_a_knot_is_reached() -> None:
    """0.1 + 0.2 and 0.3 are one time."""
    model, _ = slider(u0=1.0)
    force = fm.Signal([0.0, 0.3, 0.3, 1.0], [0.0, 0.0, 1.0, 1.0])
    found = fm.sensitivities(model, ["P.q"], ["P.qd"], times=[0.1 + 0.2, 0.5], inputs={"P.f": force})
    agree(found.forward[:, 0, 0], np.array([0.3, 0.5]))


def test_progress_is_told() -> None:
    seen: list[float] = []
    model, _ = slider(u0=1.0)
    fm.sensitivities(model, ["P.q"], ["P.qd"], stop=1.0, interval=0.25, progress=seen.append)
    assert seen == [0.4, 0.6, 0.8, 1.0]
