"""Contacts that begin and end within a fixed step, or a step of a host, are told; those that are resolved are not."""

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu

import fmumbs as fm
from fmumbs.play.simulation import Options, run_fmu
from support.sweeps import seeds

RADIUS, SPEED, STEP = 0.01, 10.0, 0.005  # [m], [m/s], [s]: a step is five radii long
MISSED = "steps are too long for contact 'touch': it begins and ends within the step of 0.005 s to t = "


def passing(aside: float, start: float = -2.5 * SPEED * STEP, later: float = 0.0) -> fm.Model:
    """A ball flies past one at rest, without forces; centres are `aside` apart as it passes, at -start/SPEED. `later`:
    how far behind that one there is another, if it is not 0."""
    model = fm.Model("passing", gravity=(0, 0, 0))
    body = fm.Body("ball", mass=0.1, inertia=(4e-6,) * 3)
    there: dict[str, Any] = {"q0": (start, aside, 0, 1, 0, 0, 0), "u0": (SPEED, 0, 0, 0, 0, 0)}
    model.add(body, fm.Free("free", model.ground.at(), body.at(), **there))
    model.add(fm.Contact("touch", fm.Sphere(body.at(), RADIUS), fm.Sphere(model.ground.at(), RADIUS), fm.Press(1e3)))
    if later:
        other = fm.Sphere(model.ground.at(later), RADIUS)
        model.add(fm.Contact("later", fm.Sphere(body.at(), RADIUS), other, fm.Press(1e3)))
    return model


def told(run: Any, stop: float = 6.0 * STEP, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run(stop=stop, **options)
    assert all(one.category is fm.ContactWarning for one in seen)
    return [str(one.message) for one in seen]


@pytest.mark.parametrize("seed", seeds(10, 200))
def test_a_contact_that_fixed_steps_pass_over_is_told(seed: int) -> None:
    """Half a step before and after the spheres are next to each other. The square of their distance is a parabola of
    time, so that it is known to round-off whether they touch."""
    rng = np.random.default_rng([seed, 43])
    aside = 2.0 * RADIUS * float(1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-9.0, -0.5))
    model = passing(aside, start=-SPEED * STEP * (4.5 + float(rng.uniform(-0.05, 0.05))))
    messages = told(model.simulate, scheme="rk4", step=STEP, interval=STEP)
    assert [f"{MISSED}0.025 s" in one for one in messages] == [True] * (aside < 2.0 * RADIUS)


@pytest.mark.parametrize("turn", [0.2, 1.4, 2.0])
def test_a_rod_that_turns_above_the_floor_has_no_contact(turn: float) -> None:
    """Its end comes as near as a thousandth of its length within a step of `turn` [rad]: the parabola that ignores the
    rate after the step would be below the floor. A rod that is longer than its joint is high has one."""
    for before, height in ((0.05, 0.5005), (0.15, 0.5005), (0.25, 0.5005), (0.5, 0.45)):
        model = fm.Model("clock", gravity=(0, 0, 0))
        rod = fm.Body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
        hinge = model.ground.at(0, 0, height)
        model.add(rod, fm.Revolute("hinge", hinge, rod.at(), axis="y", q0=-(1.0 + before) * turn, u0=turn / STEP))
        tip = fm.Sphere(rod.at(0, 0, -0.48), 0.02)
        model.add(fm.Contact("touch", tip, fm.Plane(model.ground.at()), fm.Press(1e3)))
        messages = told(model.simulate, stop=2.0 * STEP, scheme="rk4", step=STEP, interval=STEP)
        assert len(messages) == (height < 0.5 and turn > 1.0)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_what_other_schemes_find_is_not_told(scheme: Any) -> None:
    for aside in (0.2, 1.0, 1.99, 2.01):
        assert told(passing(aside * RADIUS).simulate, scheme=scheme, interval=STEP) == []


def bouncing(u0: float) -> fm.Model:
    """A contact lasts pi/sqrt(k/m), 0.0314 s."""
    model = fm.Model("bouncing", gravity=(0, 0, -9.81))
    body = fm.Body("ball", mass=1.0, inertia=(4e-3,) * 3)
    model.add(body, fm.Prismatic("slide", model.ground.at(), body.at(), axis="z", q0=0.3, u0=u0))
    press = fm.Press(1e4, restitution=0.5, speed=1.0)
    model.add(fm.Contact("touch", fm.Sphere(body.at(), 0.1), fm.Plane(model.ground.at()), press))
    return model


@pytest.mark.parametrize("parts", [4, 10])
def test_a_contact_of_some_steps_is_not_told(parts: int) -> None:
    """Nor one that hardly begins, as the ball comes to rest."""
    assert told(bouncing(-0.3).simulate, stop=5.0, scheme="rk4", step=math.pi / 100.0 / parts) == []


def test_the_first_since_assembly_is_told() -> None:
    solver = fm.Solver(passing(0.0, later=2.0 * SPEED * STEP), scheme="rk4", step=STEP)
    solver.assemble()
    solver.step(2.0 * STEP)
    assert solver.missed_contact == ""
    solver.step(4.0 * STEP)
    assert MISSED in solver.missed_contact
    saved, first = solver.state_save(), solver.missed_contact
    solver.step(6.0 * STEP)
    assert solver.missed_contact == first
    solver.assemble()
    assert solver.missed_contact == ""
    solver.state_load(saved)
    assert solver.missed_contact == first


def test_fmus_tell_it(tmp_path: Path) -> None:
    path = fm.export_fmu(passing(RADIUS), tmp_path / "passing.fmu", scheme="rk4", step=STEP)
    (message,) = told(lambda stop: run_fmu(path, Options(stop=stop, interval=STEP)))
    assert MISSED in message


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("aside", [1.0, 2.01])
def test_hosts_are_told(tmp_path: Path, fmi: Any, aside: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Of steps that they complete. With FMPy's own logger, see test_cylinders.py."""
    path = fm.export_fmu(passing(aside * RADIUS), tmp_path / "passing.fmu", fmi=fmi)
    options = {"solver": "Euler", "step_size": STEP, "output_interval": STEP, "debug_logging": True}
    simulate_fmu(path, stop_time=0.03, fmi_type="ModelExchange", **options)
    lines = capsys.readouterr().out.splitlines()
    assert sum(bool(re.search(MISSED, one)) for one in lines) == (aside < 2.0)
