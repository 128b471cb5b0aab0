"""Ropes: against the oracle on random trees; closed forms, in Python and in FMUs; where sides become slack or taut."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage
from fmumbs.compiler.layout import pack
from fmumbs.errors import ModelError, SolverError
from support.both_ways import goes_on_alike, runs
from support.strategies import Case, roped
from support.sweeps import each_value, examples
from support.tree_agreement import assert_agrees
from support.tree_agreement import started as started_in_case

FINE = 1e-11
"""Tolerance of runs that are compared with closed forms, whose errors it leaves below EXACT."""
EXACT = 1e-8
"""Of closed forms, relative."""
G = 9.81


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(model, **options)
    solver.assemble()
    return solver


# The oracle ---------------------------------------------------------------------------------------------------


@examples(12, 150, roped())
def test_random_ropes(case: Case) -> None:
    assert_agrees(started_in_case(case.model, case.inputs), case)


@examples(5, 60, roped())
def test_random_ropes_in_motion(case: Case) -> None:
    solver = started_in_case(case.model, case.inputs)
    solver.step(0.02)
    assert_agrees(solver, case)


def test_parameters_are_those_of_the_rope_alone() -> None:
    """The laws that watch its sides have none."""
    image = fm.compile(reeved(), everything=True)
    found = [v.name for v in image.variables if v.name.startswith("rope.") and v.causality == "parameter"]
    assert found == ["rope.stiffness", "rope.damping", "rope.length", "rope.radius[1]", "rope.radius[2]"]


# A weight that falls into its rope -----------------------------------------------------------------------------

MASS, LENGTH, EA, FALL = 2.0, 1.0, 1e4, 0.5


def falling(damping: float = 0.0, eye: bool = False, **options: Any) -> fm.Model:
    """A weight MASS that falls by FALL into its rope, to z = -LENGTH; eye: the rope goes up through a ring and down."""
    model = fm.Model("falling", gravity=(0, 0, -G))
    weight = fm.Body("weight", mass=MASS, inertia=(0.1, 0.1, 0.1))
    model.add(weight, fm.Prismatic("s", model.ground.at(), weight.at(), axis="z", q0=FALL - LENGTH))
    way = [model.ground.at(), weight.at()]
    if eye:
        way = [model.ground.at(0.3, 0.0, -0.4), *way]
    model.add(fm.Rope("rope", way, stiffness=EA, length=LENGTH + 0.5 * eye, damping=damping, **options))
    return model


def deepest(k: float) -> tuple[float, float]:
    """When the weight is deepest, and the tension there, mg + sqrt((mg)^2 + 2 m g k h)."""
    v, omega = math.sqrt(2 * G * FALL), math.sqrt(k / MASS)
    swing = (math.pi - math.atan2(v / omega, G / omega**2)) / omega
    return v / G + swing, MASS * G + math.sqrt((MASS * G) ** 2 + 2 * MASS * G * k * FALL)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
@pytest.mark.parametrize("eye", [False, True])
def test_a_weight_falls_into_its_rope(scheme: Any, dynamics: Any, eye: bool) -> None:
    at, tension = deepest(EA / (LENGTH + 0.5 * eye))
    solver = started(falling(eye=eye), scheme=scheme, dynamics=dynamics, tolerance=FINE)
    before = solver.get("solver.energy")
    solver.step(0.1)
    assert solver.get("rope.tension") == 0.0
    assert_allclose(solver.get("rope.slack"), FALL - 0.5 * G * 0.01, rtol=EXACT)
    solver.step(at)
    assert_allclose(solver.get("rope.tension"), tension, rtol=EXACT)
    assert_allclose(solver.get("solver.energy"), before, atol=EXACT)
    assert solver.get("rope.slack") == 0.0
    assert_allclose(solver.get("s.qdd"), tension / MASS - G, rtol=EXACT)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_a_weight_falls_into_its_rope_in_an_fmu(tmp_path: Path, version: Any, kind: str) -> None:
    at, tension = deepest(EA / LENGTH)
    path = fm.export_fmu(falling(), tmp_path / "falling.fmu", fmi=version, tolerance=1e-10)
    found = simulate_fmu(
        path, stop_time=at, output_interval=at / 8, relative_tolerance=1e-10, fmi_type=kind, output=["rope.tension"],
    )  # fmt: skip
    assert_allclose(found["rope.tension"][-1], tension, rtol=1e-7)  # CVODE's own error


def test_a_damped_rope_pulls_until_its_tension_is_zero_and_never_pushes() -> None:
    solver = started(falling(damping=40.0), tolerance=1e-9)
    energy, tensions, slack = math.inf, [], []
    for k in range(400):
        solver.step(0.005 * (k + 1))
        assert solver.get("solver.energy") < energy + 1e-7
        energy = solver.get("solver.energy")
        assert_allclose(solver.get("rope.tension"), MASS * (solver.get("s.qdd") + G), atol=1e-9 * EA)
        tensions.append(solver.get("rope.tension")), slack.append(solver.get("rope.slack"))
    assert min(tensions) == 0.0 and max(slack) > 0.05  # it bounces
    x, v = solver.get("rope.path_length") - LENGTH, -solver.get("s.qd")
    assert x > 0.0
    assert_allclose(tensions[-1], (EA * x + 40.0 * v) / LENGTH, rtol=1e-9)
    assert_allclose(solver.get("rope.power"), -tensions[-1] * v, rtol=1e-9)


def test_a_rope_at_rest() -> None:
    """Hanging, its stiffness and damping are those of a spring; a slack one is none."""
    solver = fm.equilibrium(falling(damping=40.0)).solver
    assert_allclose(solver.get("rope.tension"), MASS * G, rtol=1e-9)
    values = np.linalg.eigvals(fm.linearize(falling(damping=40.0), at="equilibrium").A)
    k, d = EA / LENGTH, 40.0 / LENGTH
    assert_allclose(np.sort_complex(values), np.sort_complex(np.roots([MASS, d, k])), rtol=1e-6)
    free = fm.linearize(falling())
    assert_allclose(free.A, [[0, 1], [0, 0]], atol=1e-9)


def test_a_saved_state_goes_on_with_the_same_bits() -> None:
    solver = started(falling(damping=3.0), tolerance=1e-8)
    solver.step(0.33)
    goes_on_alike(solver, 1.5, "s.q", "rope.tension")


@each_value
@pytest.mark.parametrize("scheme", ["rk4", "dopri5", "dop853", "radau"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_parameters_are_tunable(scheme: Any, dynamics: Any) -> None:
    one, other = (started(falling(damping=d), scheme=scheme, dynamics=dynamics) for d in (5.0, 1.0))
    for name, value in {"damping": 5.0, "stiffness": 2 * EA, "length": 0.9}.items():
        other.set(f"rope.{name}", value)
        one.set(f"rope.{name}", value)
    one.step(0.6), other.step(0.6)
    assert one.get("s.q") == other.get("s.q")
    for name in ("stiffness", "length"):
        with pytest.raises(SolverError, match=f"rope.{name}"):
            one.set(f"rope.{name}", 0.0)


def test_a_stiff_rope_takes_long_steps_by_radau() -> None:
    """A pendulum on 1e7 N/m that begins with its tension: dopri5 would take some 20 000 evaluations."""
    model = fm.Model("stiff", gravity=(0, 0, -G))
    weight = fm.Body("weight", mass=1.0, inertia=(0.1, 0.1, 0.1))
    swing = fm.Joint("swing", model.ground.at(), weight.at(), modes=(fm.Slide("x"), fm.Slide("z")), q0=(0.6, -0.8))
    way, k = [model.ground.at(), weight.at()], 1e7
    model.add(weight, swing, fm.Rope("rope", way, stiffness=k, length=1.0 - 0.8 * G / k))
    solver = started(model, scheme="radau", tolerance=1e-6)
    solver.step(1.0)
    assert solver.get("solver.evaluations") < 2000
    x, z = solver.get("swing.q")
    assert_allclose(math.hypot(x, z), 1.0, atol=1e-5)


# Pulleys -------------------------------------------------------------------------------------------------------

RADIUS, INERTIA, DEPTH = 0.2, 0.05, 2.0


def atwood(heavy: float, light: float, EA: float, axis: str = "y", **options: Any) -> tuple[fm.Model, float]:
    """Atwood's machine, started at its tensions; and its acceleration."""
    a = (heavy - light) * G / (heavy + light + INERTIA / RADIUS**2)
    tensions = heavy * (G - a), light * (G + a)
    model = fm.Model("atwood", gravity=(0, 0, -G))
    wheel = fm.Body("wheel", mass=1.0, inertia=(0.1, INERTIA, 0.1))
    axle = fm.Revolute("axle", model.ground.at(), wheel.at(), axis=axis)
    ends = []
    model.add(wheel, axle)
    for name, mass, x in (("left", heavy, -RADIUS), ("right", light, RADIUS)):
        body = fm.Body(name, mass=mass, inertia=(0.1, 0.1, 0.1))
        model.add(body, fm.Prismatic(f"{name}_slide", model.ground.at(x), body.at(), axis="z", q0=-DEPTH))
        ends.append(body.at())
    length = [DEPTH / (1 + tension / EA) for tension in tensions]
    way = [ends[0], fm.Pulley(axle, RADIUS, **options), ends[1]]
    model.add(fm.Rope("rope", way, stiffness=EA, length=length))
    return model, a


@each_value
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize(("axis", "side"), [("y", "shorter"), ("-y", "shorter"), ("y", "positive"), ("-y", "negative")])
def test_atwoods_machine(scheme: Any, dynamics: Any, axis: str, side: Any) -> None:
    stiffness = 1e7
    model, a = atwood(3.0, 2.0, stiffness, axis, side=side)
    solver = started(model, scheme=scheme, dynamics=dynamics, tolerance=1e-10)
    strain = 3.0 * G / stiffness
    for name, sign in (("left", -1.0), ("right", 1.0)):
        assert_allclose(solver.get(f"{name}_slide.qdd"), sign * a, rtol=3 * strain)
    before = solver.get("solver.energy")
    solver.step(0.5)
    assert_allclose(solver.get("solver.energy"), before, atol=1e-8)
    assert_allclose(solver.get("left_slide.q"), -DEPTH - 0.125 * a, atol=10 * strain)
    turned = -0.125 * a / RADIUS if axis == "y" else 0.125 * a / RADIUS
    assert_allclose(solver.get("axle.q"), turned, atol=100 * strain)


def test_atwoods_machine_in_fmus(tmp_path: Path) -> None:
    stiffness = 1e7
    model, a = atwood(3.0, 2.0, stiffness, "y")
    for what, t, found in runs(tmp_path, model, ["left_slide.q", "axle.q"], stop=0.5, interval=0.1, tolerance=1e-10):
        strain = 3.0 * G / stiffness
        assert_allclose(found["left_slide.q"], -DEPTH - a * t**2 / 2, rtol=0, atol=10 * strain, err_msg=what)


def test_a_rope_that_is_hauled_over_a_pulley_keeps_energy_and_becomes_stiffer() -> None:
    """A soft rope, strained by a third: the sides' own lengths change by half of themselves."""
    model, _ = atwood(3.0, 2.0, 60.0, side="positive")
    solver = started(model, tolerance=FINE)
    before = solver.get("solver.energy")
    for t in np.linspace(0.1, 1.0, 10):
        solver.step(t)
        assert_allclose(solver.get("solver.energy"), before, atol=1e-7)
        power = INERTIA * solver.get("axle.qd") * solver.get("axle.qdd")
        for mass, name in ((3.0, "left_slide"), (2.0, "right_slide")):
            power += mass * solver.get(f"{name}.qd") * (solver.get(f"{name}.qdd") + G)
        assert_allclose(solver.get("rope.power"), power, rtol=1e-9, atol=1e-9)
    assert abs(solver.get("axle.q")) * RADIUS > 0.5


def reeved(reverse: bool = False, turn: float = 0.0) -> fm.Model:
    """A load under a loose pulley on a rope from the ground, through a ring, over a fixed pulley and down to a weight,
    all of which may be seen by a turned observer.
    """
    R = fm.Rotation.about((0.6, 0.0, 0.8), turn)
    model = fm.Model("reeved", gravity=tuple(R.matrix @ [0.3, 0.2, -9.0]))

    def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> fm.Point:
        return model.ground.at(*(R.matrix @ [x, y, z]), rotation=R)

    names = ("block", "sheave", "drum", "weight")
    block, sheave, drum, weight = (fm.Body(name, mass=1.5, inertia=(0.1, 0.1, 0.1)) for name in names)
    hang = fm.Free("hang", at(), block.at(), q0=(0.1, 0.05, -1.5, 1, 0.02, 0, 0))
    loose = fm.Revolute("loose", block.at(), sheave.at(), axis="y", q0=0.3)
    fixed = fm.Revolute("fixed", at(0.6, 0.0, 0.1), drum.at(), axis="-y", u0=1.0)
    down = fm.Free("down", at(), weight.at(), q0=(0.85, 0.02, -1.0, 1, 0, 0, 0))
    ways: list[Any] = [at(0.0, 0.1, 0.0), fm.Pulley(loose, 0.12), at(0.35, 0.0, 0.0), fm.Pulley(fixed, 0.1)]
    ways.append(weight.at(0.0, 0.0, 0.1))
    model.add(block, sheave, drum, weight, hang, loose, fixed, down)
    model.add(fm.Rope("rope", ways[:: -1 if reverse else 1], stiffness=4e3, damping=5.0, length=4.2))
    return model


def test_a_reversed_rope_and_a_turned_world_are_the_same() -> None:
    names = ("hang.r", "down.v", "fixed.q", "loose.qd", "rope.tension", "rope.path_length")
    found = []
    for model in (reeved(), reeved(reverse=True), reeved(turn=0.7)):
        solver = started(model, tolerance=1e-11)
        solver.step(0.4)
        found.append([np.atleast_1d(solver.get(name)) for name in names])
    for seen, (tension, length) in ((found[1], (found[1][4][::-1], found[1][5][::-1])), (found[2], found[2][4:])):
        for one, other in zip(found[0], [*seen[:4], tension, length], strict=True):
            assert_allclose(other, one, atol=1e-7)


def test_pulleys_on_moving_bodies_agree_with_the_oracle() -> None:
    """With the sides that were chosen as the shorter ones."""
    model, chosen = reeved(), fm.compile(reeved()).arrays["via_turn"]
    rope = model.ropes[0]
    senses = iter("positive" if turn > 0.0 else "negative" for turn in chosen[[2, 5]])
    points = [replace(one, side=next(senses)) if isinstance(one, fm.Pulley) else one for one in rope.points]
    same = fm.Model("same", gravity=model.gravity)
    same.add(*(one for one in model.elements if one is not rope), replace(rope, points=points))
    solver = started(same, tolerance=1e-9)
    assert solver.get("rope.tension").min() > 0.0
    assert_agrees(solver, Case(same, {}))
    solver.step(0.1)
    assert_agrees(solver, Case(same, {}))


def test_a_drum_takes_the_rope_up() -> None:
    """A weight on a drum: m g r = (I + m r^2) q''."""
    model = fm.Model("drum", gravity=(0, 0, -G))
    drum, weight = (fm.Body(name, mass=2.0, inertia=(0.1, INERTIA, 0.1)) for name in ("drum", "weight"))
    axle = fm.Revolute("axle", model.ground.at(), drum.at(), axis="y")
    slide = fm.Prismatic("slide", model.ground.at(RADIUS), weight.at(), axis="z", q0=-1.0)
    a = 2.0 * G / (2.0 + INERTIA / RADIUS**2)
    way, stiffness = [fm.Pulley(axle, RADIUS, side="positive"), weight.at()], 1e7
    tension = 2.0 * (G - a)
    model.add(drum, weight, axle, slide)
    model.add(fm.Rope("rope", way, stiffness=stiffness, length=1.0 / (1 + tension / stiffness)))
    solver = started(model, tolerance=1e-10)
    assert_allclose(solver.get("slide.qdd"), -a, rtol=1e-5)
    solver.step(0.3)
    assert_allclose(solver.get("axle.q"), 0.5 * a * 0.09 / RADIUS, rtol=1e-5)
    solver.set("axle.tau", -200.0)
    with pytest.raises(SolverError, match="a side of rope 'rope' has no length left"):
        solver.step(3.0)


THIN = 0.01
LONG_STEP = 0.4  # [m]: of the ball, the longest way in a step of these runs


def tether(q0: Any = (1.0, 0.1), length: float = 1.512, sense: float = -1.0) -> fm.Model:
    """A ball whose rope winds around a pulley in a plane, nearly two turns within 3 s; or with the other sense off it.
    """
    model = fm.Model("tether", gravity=(0, 0, 0))
    wheel = fm.Body("wheel", mass=1.0, inertia=(30, 30, 50))
    ball = fm.Body("ball", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    axle = fm.Revolute("axle", model.ground.at(), wheel.at(), axis="z")
    slides, start = [fm.Slide("x"), fm.Slide("y")], {"q0": q0, "u0": (0.0, 6.0 * sense)}
    model.add(wheel, ball, axle, fm.Joint("plane", model.ground.at(), ball.at(), modes=slides, **start))
    way = [model.ground.at(-0.5, -0.1), fm.Pulley(axle, THIN, side="negative"), ball.at()]
    model.add(fm.Rope("rope", way, stiffness=1e4, length=length))
    return model


def laid_by_tether(x: Any, y: Any) -> Any:
    """The length of the ball's side beside that at the first of its places, by angles that are continued."""
    far = np.hypot(x, y)
    length = np.sqrt(far**2 - THIN**2) - THIN * (np.unwrap(np.arctan2(y, x)) + np.arccos(THIN / far))
    return length - length[0]


@pytest.mark.parametrize("options", [{"tolerance": 1e-10}, {"scheme": "radau", "tolerance": 1e-9, "dynamics": "copcod"},
                                     {"scheme": "rk4", "step": 2e-4}])  # fmt: skip
def test_a_point_that_goes_round_a_pulley_is_followed(options: Any) -> None:
    result = tether().simulate(stop=3.0, interval=0.01, **options)
    length, energy = result["rope.path_length[2]"], result["solver.energy"]
    turned = np.unwrap(np.arctan2(result["plane.q[2]"], result["plane.q[1]"]))
    assert turned[-1] < -3.5 * math.pi
    assert_allclose(length - length[0], laid_by_tether(result["plane.q[1]"], result["plane.q[2]"]), atol=1e-13)
    assert_allclose(energy, energy[0], rtol=1e-5)


@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"scheme": "radau", "dynamics": "copcod"},
                                     {"scheme": "rk4", "step": 2e-4}])  # fmt: skip
def test_a_rope_that_is_drawn_off_its_pulley_ends_the_run(options: Any) -> None:
    """The ball's side lies on the pulley until the ball is on the straight line of the other side."""
    solver = fm.Solver(tether(sense=1.0), **options)
    solver.assemble()
    with pytest.raises(fm.SolverError, match=r"rope 'rope' lifts off its pulley on joint 'axle'"):
        solver.step(2.0)
    x, y = solver.get("plane.q[1]"), solver.get("plane.q[2]")
    line = math.atan2(0.1, 0.5) + math.asin(THIN / math.hypot(0.5, 0.1))  # of the other side, which touches from above
    most = 6.0 * options["step"] if "step" in options else LONG_STEP
    assert abs(math.sin(line) * x - math.cos(line) * y + THIN) < most
    with pytest.raises(fm.SolverError, match=r"rope 'rope' (is|lifts) off its pulley on joint 'axle'"):
        solver.step(2.0)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
def test_a_step_ends_before_a_rope_lifts_off_beyond_its_end(scheme: str) -> None:
    """However far the integrator ran ahead: the rope is on its pulley up to the instant that small steps find."""
    with pytest.raises(fm.SolverError, match="lifts off") as failed:
        tether(sense=1.0).simulate(stop=2.0, interval=1e-4, scheme=scheme, tolerance=1e-6)
    lifts = failed.value.result.time[-1]  # or up to 1e-4 s later
    for case, before in enumerate(np.geomspace(1e-2, 0.9, 12) * lifts):
        solver = started(tether(sense=1.0), scheme=scheme, tolerance=1e-6)
        for part in range(case % 4):
            solver.step(0.1 * part * (lifts - before))
        solver.step(lifts - before)
        assert solver.time == lifts - before
        with pytest.raises(fm.SolverError, match="lifts off"):
            solver.step(lifts + before)
        assert solver.time <= lifts + before


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_completed_step_names_a_rope_that_lifts_off(
    tmp_path: Path, fmi: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fm.export_fmu(tether(sense=1.0), tmp_path / "tether.fmu", fmi=fmi)
    with pytest.raises(Exception, match=f"fmi{fmi}CompletedIntegratorStep failed with status 2"):
        simulate_fmu(path, stop_time=2.0, output_interval=0.01, fmi_type="ModelExchange")
    printed = capsys.readouterr().out
    assert f"fmi{fmi}CompletedIntegratorStep" in printed
    assert "rope 'rope' lifts off its pulley on joint 'axle'" in printed


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
def test_a_stop_that_closes_beyond_the_end_of_a_step_is_open_at_it(scheme: str) -> None:
    """The mass comes to its stop behind the instant at which the rope lifts off, in one step with that or not."""
    with pytest.raises(fm.SolverError, match="lifts off") as failed:
        tether(sense=1.0).simulate(stop=2.0, interval=1e-4)
    lifts = failed.value.result.time[-1]
    for part in np.linspace(1.001, 1.6, 15):
        model = tether(sense=1.0)
        mass = fm.Body("mass", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
        slide = fm.Prismatic("slide", model.ground.at(), mass.at(), axis="x", q0=part * lifts, u0=-1.0)
        model.add(mass, slide, fm.Stop("floor", slide, lower=0.0, restitution=0.0))
        solver = started(model, tolerance=1e-3, scheme=scheme)
        for end in (0.3, 0.9):
            solver.step(end * lifts)
            assert_allclose(solver.get("slide.q"), (part - end) * lifts, rtol=1e-9)
            assert solver.get("floor.closed") == 0.0


def test_a_slack_rope_may_be_anywhere_beside_its_pulley() -> None:
    """As long as it is slack: taut there, it is refused."""
    solver = started(tether(length=6.0, sense=1.0))
    solver.step(0.2)
    assert solver.get("plane.q[2]") > 1.0 and solver.get("rope.tension").max() == 0.0
    taut = fm.Solver(tether(length=1.0, sense=1.0))
    taut.set("plane.q", (1.0, 1.2))
    with pytest.raises(fm.FmumbsError, match=r"rope 'rope' is off its pulley on joint 'axle'"):
        taut.assemble()


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_turns_round_a_pulley_are_counted_in_an_fmu(tmp_path: Path, kind: str) -> None:
    path = fm.export_fmu(tether(), tmp_path / "tether.fmu", tolerance=1e-8)
    names = ["rope.path_length[2]", "plane.q[1]", "plane.q[2]"]
    found = simulate_fmu(
        path, stop_time=3.0, output_interval=0.01, relative_tolerance=1e-8, fmi_type=kind, output=names
    )  # fmt: skip
    length = found["rope.path_length[2]"]
    assert_allclose(length - length[0], laid_by_tether(found["plane.q[1]"], found["plane.q[2]"]), atol=1e-13)


def test_turns_are_part_of_a_saved_state_and_of_none_after_a_new_start() -> None:
    solver = started(tether())
    first = solver.get("rope.path_length[2]")
    solver.step(3.0)
    saved, length = solver.state_save(), solver.get("rope.path_length[2]")
    other = started(tether())
    other.state_load(saved)
    assert other.get("rope.path_length[2]") == length
    solver.reset()
    solver.assemble()
    assert solver.get("rope.path_length[2]") == first


def test_a_step_in_which_turns_cannot_be_counted_is_named() -> None:
    """A ball that flies past, its rope slack."""
    solver = started(tether((0.2, -1.5), 6.0, 1.0), scheme="rk4", step=0.5)
    with pytest.raises(SolverError, match=r"rope 'rope' goes more than a quarter turn about a pulley in one"):
        solver.step(0.5)


def test_sides_share_one_length_so_that_strains_are_equal() -> None:
    """Beside what damping adds on both sides of the pulley that turns."""
    solver = started(reeved())
    lengths, tensions = solver.get("rope.path_length"), solver.get("rope.tension")
    own = 4.2 * lengths / lengths.sum()
    damped = tensions * own - 4e3 * (lengths - own)
    assert lengths.min() < 0.7 * lengths.max() and lengths.sum() > 4.2
    assert_allclose(damped, np.array([0.0, 1.0, -1.0]) * damped[1], atol=1e-8)
    assert_allclose(abs(damped[1]), 5.0 * 0.1, rtol=1e-9)


def in_a_loop(cut: str, stiffness: float = 300.0) -> fm.Model:
    """A four-bar with a rope from its crank through a ring on the coupler over a pulley on the rocker to a ball."""
    model = fm.Model("loop", gravity=(0, 0, -G))
    a, b, c = (fm.Body.rod(name, length=long, mass=1.0) for name, long in (("a", 0.4), ("b", 1.0), ("c", 0.7)))
    ball, disc = fm.Body.sphere("ball", radius=0.1, mass=0.5), fm.Body("disc", mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    axle = fm.Revolute("axle", c.at(0.35), disc.at(), axis="y")
    model.add(
        a, b, c, ball, disc, axle,
        fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.0, u0=3.0),
        fm.Revolute("B", a.tip, b.base, axis="y"),
        fm.Revolute("C", b.tip, c.tip, axis="y", cut=cut == "C"),
        fm.Revolute("D", model.ground.at(0.9), c.base, axis="y", q0=-1.5, cut=cut == "D"),
        fm.Free("free", model.ground.at(), ball.at(), q0=(1.5, 0.05, -1.2, 1, 0, 0, 0)),
    )  # fmt: skip
    way = [a.at(0.2), b.at(0.5, 0, 0.1), fm.Pulley(axle, 0.05), ball.at()]
    model.add(fm.Rope("rope", way, stiffness=stiffness, damping=1.0, length=2.4))
    return model


@each_value
@pytest.mark.parametrize("cut", ["C", "D"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
def test_ropes_in_loops(cut: str, dynamics: Any, scheme: Any) -> None:
    found = []
    for solver in (
        started(in_a_loop("C"), tolerance=1e-10),
        started(in_a_loop(cut), dynamics=dynamics, scheme=scheme, tolerance=1e-9),
    ):
        solver.step(0.5)
        found.append([*np.atleast_1d(solver.get("free.r")), solver.get("A.q"), *solver.get("rope.tension")])
    assert_allclose(found[1], found[0], atol=1e-5)


def test_sensitivities_of_a_rope_that_becomes_taut_and_slack() -> None:
    given: Any = {"stop": 0.3, "interval": 0.1, "tolerance": 1e-10}
    found = fm.sensitivities(in_a_loop("C"), ["A.q"], ["rope.stiffness"], **given)
    assert len(found.switches) >= 2
    ends = [fm.simulate(in_a_loop("C", 300.0 + h), **given)["A.q"][-1] for h in (0.1, -0.1)]
    assert_allclose(found.forward[-1, 0, 0], (ends[0] - ends[1]) / 0.2, rtol=1e-4)
    weights = np.zeros_like(found.values)
    weights[-1] = 1.0
    assert_allclose(found.adjoint(weights), found.forward[-1, 0], rtol=1e-9)


# Winches -------------------------------------------------------------------------------------------------------


def test_a_winch_pays_out_at_the_last_end() -> None:
    model = falling(damping=400.0, winch=True)
    solver = fm.equilibrium(model).solver
    rest = solver.get("s.q")
    result = fm.simulate(
        model, stop=6.0, interval=0.01, equilibrium=True,
        inputs={"rope.length": fm.Signal([0.0, 1.0, 3.0], [LENGTH, LENGTH, 1.4 * LENGTH])},
    )  # fmt: skip
    paid = (result.time > 2.0) & (result.time < 3.0)  # faster than damping alone carries the weight: slack by length
    assert_allclose(result["rope.tension"][paid], MASS * G, rtol=1e-5)
    assert_allclose(result["s.q"][-1], 1.4 * rest, rtol=1e-6)
    assert_allclose(result["rope.tension"][-1], MASS * G, rtol=1e-5)
    variable = fm.compile(model, everything=True).variables.find("rope.length")
    assert variable is not None and (variable.causality, variable.start) == ("input", LENGTH)


@pytest.mark.parametrize("speed", [0.2, -0.2])
def test_derivatives_by_a_winch_are_differences(speed: float) -> None:
    """Of a slack rope and of a taut one."""
    model, h = falling(damping=400.0, winch=True), 1e-6
    solver = fm.equilibrium(model).solver
    solver.set("s.qd", speed)
    assert (solver.get("rope.tension") > 0.0) == (speed < 0.0)
    outputs = ["s.qdd", "rope.tension", "rope.power", "rope.slack", "solver.energy"]
    found = solver.directional_derivative(outputs, ["rope.length"], [1.0])
    sides = []
    for sign in (1.0, -1.0):
        solver.set("rope.length", LENGTH + sign * h)
        sides.append(np.array([solver.get(name) for name in outputs]))
    assert_allclose(found, (sides[0] - sides[1]) / (2 * h), rtol=1e-6)
    acceleration = fm.compile(model, everything=True).variables.find("s.qdd")
    assert acceleration is not None and acceleration.dependencies is None


def test_a_winch_at_a_pulley_changes_the_last_side_alone() -> None:
    model, _ = atwood(3.0, 2.0, 1e4)
    rope = model.ropes[0]
    wound = fm.Model("wound", gravity=model.gravity)
    wound.add(*(one for one in model.elements if one is not rope), replace(rope, winch=True))
    solver = started(wound)
    before = solver.get("rope.tension")
    solver.set("rope.length", solver.get("rope.length") - 1e-3)
    after = solver.get("rope.tension")
    assert after[0] == before[0] and after[1] > before[1] + 4.0


# Images and modes ----------------------------------------------------------------------------------------------


def test_the_energy_of_a_mode_is_in_the_rope() -> None:
    modes = fm.linearize(falling(), at="equilibrium").modes
    assert_allclose(modes.elastic["rope"], 1.0, rtol=1e-9)


def test_an_image_whose_rope_sticks_is_refused() -> None:
    image = fm.compile(falling())
    arrays = dict(image.arrays)
    arrays["law_range"] = arrays["law_range"].copy()
    arrays["law_range"][0, 3] = 0.0
    with pytest.raises(ModelError, match="a rope has an impossible side"):
        ModelImage(pack(image.sizes, arrays)).check()


# Refusals ------------------------------------------------------------------------------------------------------


def refused(text: str, *points: Any, **options: Any) -> None:
    given: dict[str, Any] = {"stiffness": 1.0, "length": 1.0} | options
    with pytest.raises(ModelError, match=text):
        fm.Rope("R", list(points), **given)


def test_what_a_rope_refuses() -> None:
    model = fm.Model("m")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    P, Q = model.ground.at(), body.at()
    hinge = fm.Revolute("h", P, Q)
    refused(r"Rope 'R': points are 1\. Give two or more", P)
    refused(r"points\[1\] and \[2\] are at one place, ground.*Leave one of them out", P, model.ground.at(), Q)
    refused("points are all on 'ground', so it has no effect", P, model.ground.at(1))
    refused("Rope 'R': stiffness is 0", P, Q, stiffness=0.0)
    refused("Rope 'R': length is 0", P, Q, length=0.0)
    refused("Rope 'R': length is -1", P, Q, length=-1.0)
    refused("Rope 'R': length has 2 entries, but must have 1", P, Q, length=[1.0, 1.0])
    refused("Rope 'R': damping is -1", P, Q, damping=-1.0)
    refused("both pulleys. Give a point on the way between them", P, fm.Pulley(hinge, 0.1), fm.Pulley(hinge, 0.1), Q)
    refused("a drum that takes the rope up. Give its side", P, fm.Pulley(hinge, 0.1))
    with pytest.raises(ModelError, match=r"Pulley on 'h': radius is -0.1"):
        fm.Pulley(hinge, -0.1)
    with pytest.raises(ModelError, match=r"joint is Prismatic 'p', which does not turn about one axis"):
        fm.Pulley(fm.Prismatic("p", P, Q), 0.1)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="Swap the points F and M"):
        fm.Pulley(fm.Revolute("k", Q, P), 0.1)


def test_what_a_pulley_refuses_at_the_start() -> None:
    model, _ = atwood(3.0, 2.0, 1e5)
    hinge = model["axle"]
    assert isinstance(hinge, fm.Revolute)
    ends = model.ropes[0].points[0], model.ropes[0].points[2]
    model.add(fm.Rope("other", [ends[0], fm.Pulley(hinge, 2.1), ends[1]], stiffness=1.0, length=1.0))
    with pytest.raises(ModelError, match=r"'other': a point beside the pulley on 'axle' is 2\.00998 m from its axis"):
        fm.compile(model)
    model, _ = atwood(3.0, 2.0, 1e5)
    level = [model.ground.at(-1.0), fm.Pulley(hinge, 0.1), model.ground.at(1.0)]
    model.add(fm.Rope("other", level, stiffness=1.0, length=1.0))
    with pytest.raises(ModelError, match="both ways around the pulley on 'axle' are equally long"):
        fm.compile(model)
