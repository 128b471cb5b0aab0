"""Deformations that leave the linear range: warned of once, in every kind of run, and by `check` where speeds tell."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.analysis.structure import structure
from fmumbs.play import Options, run_fmu
from support.sweeps import each_value, seeds

ROOTS = (1.8751040687119611, 4.694091132974175, 7.854757438237613)  # of cos b cosh b = -1
FREE = 1e50  # a bound that nothing reaches


def slopes(count: int, length: float) -> Any:
    """(count,) largest slopes of the clamped-free modes of a beam whose largest deflection is 1, in closed form."""
    x = np.linspace(0, 1, 4001)
    found = []
    for b in ROOTS[:count]:
        part = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        shape = np.cosh(b * x) - np.cos(b * x) - part * (np.sinh(b * x) - np.sin(b * x))
        found.append(np.abs(np.gradient(shape, x)).max() / np.abs(shape).max() / length)
    return np.array(found)


class Cantilever:
    """A beam on a wall that swings under a force at its tip. strains: of each coordinate, by its name."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.model, length, EI = (
            fm.Model("cantilever", gravity=(0, 0, 0)),
            10 ** rng.uniform(-2, 2),
            10 ** rng.uniform(-3, 4),
        )
        mass, self.modal = 10 ** rng.uniform(-3, 3), seed % 3 == 0
        self.period = 2 * np.pi / 3.516 * np.sqrt(mass * length**3 / EI)
        at = self.model.ground.at(rotation=fm.Rotation.rpy(*rng.uniform(-3, 3, 3)))
        size = (-1) ** seed * rng.uniform(0.1, 0.4) * EI / length**2
        if self.modal:
            count = int(rng.integers(1, 4))
            beam: Any = fm.ModalBody.beam("beam", length=length, EI=EI, mass=mass, modes=count)
            own = slopes(count, length)
            self.strains = {f"beam.q[{k + 1}]" if count > 1 else "beam.q": own[k] for k in range(count)}
            tip, force = beam.tip, at.X_BP.rotation @ (0, size, 0)
        else:
            flat, axial, n = bool(rng.random() < 0.5), seed % 3 == 2, int(rng.integers(1, 5))
            stretch = axial or bool(rng.random() < 0.5)
            own = {"EIy": EI, "EIz": EI, "GJ": EI, "EA": 3 * EI / length**2, "axial_inertia": 0.01 * mass * length**2}
            beam = fm.FlexibleLink(
                "beam", length=length, mass=mass, elements=n, plane="xy" if flat else None, stretch=stretch, **own
            )
            self.strains = {
                name: n / length if what == "stretch" else 1.0
                for angles in beam.angles
                for what, name in angles.items()
            }
            tip = beam.tip
            pull = np.array((rng.uniform(-1, 1), 1.0, 0.0 if flat else rng.uniform(-1, 1)))
            if axial:
                pull = np.array((1.0, 0.0, 0.0))
            force = at.X_BP.rotation @ (size * pull)
        self.model.add(beam, fm.Weld("wall", at, beam.base), fm.Load("load", tip, force=force))
        self.image = fm.compile(self.model, everything=True)

    def run(self, bound: float, **options: Any) -> tuple[Any, list[str]]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            interval = self.period / 60
            result = fm.simulate(
                self.image.with_options(deformation=bound), stop=60 * interval, interval=interval,
                outputs=list(self.strains), **options,
            )  # fmt: skip
        assert all(one.category is fm.DeformationWarning for one in seen)
        return result, [str(one.message) for one in seen]

    def largest(self, result: Any) -> float:
        return max(float(np.abs(result[name]).max()) * strain for name, strain in self.strains.items())

    def check(self, message: str, bound: float) -> None:
        found = re.search(
            r"at t = (\S+) s (\S+) makes a rotation or strain of (\S+), and solver.deformation is (\S+)\. ", message
        )
        assert found is not None, message
        t, name, size, told = found.groups()
        assert 0.0 <= float(t) <= 1.3 * self.period
        assert name in self.strains
        np.testing.assert_allclose(float(told), bound, rtol=1e-5)
        assert float(size) >= 0.999 * bound
        assert ("Make this body a FlexibleLink" if self.modal else "more elements") in message


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "radau", "rk4"])
@pytest.mark.parametrize("seed", seeds(6, 200))
def test_a_run_warns_if_and_only_if_a_deformation_is_above_the_bound(seed: int, scheme: str, dynamics: str) -> None:
    drawn = Cantilever(seed)
    options = {"scheme": scheme, "dynamics": dynamics, "step": drawn.period / 3000 if scheme == "rk4" else None}
    result, told = drawn.run(FREE, **options)
    assert told == []
    most, factor = drawn.largest(result), np.random.default_rng([seed, 3]).uniform(1.1, 3.0)
    assert drawn.run(most * factor, **options)[1] == []
    (message,) = drawn.run(most / factor, **options)[1]
    drawn.check(message, most / factor)


@pytest.mark.parametrize("seed", seeds(2, 30, 500))
def test_an_fmu_warns_once_a_run(seed: int, tmp_path: Path) -> None:
    drawn = Cantilever(seed)
    most = drawn.largest(drawn.run(FREE)[0])
    path = fm.export_fmu(drawn.image, tmp_path / "beam.fmu")
    options = Options(stop=drawn.period, interval=drawn.period / 60)
    for bound, count in ((0.7 * most, 1), (1.5 * most, 0)):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run_fmu(path, options, {"solver.deformation": bound})
        assert [one.category for one in seen] == [fm.DeformationWarning] * count
        for one in seen:
            drawn.check(str(one.message), bound)


def test_the_start_counts_and_a_second_run_warns_again() -> None:
    model, beam = fm.Model("bent", gravity=(0, 0, 0)), fm.ModalBody.beam("beam", length=1, EI=1, mass=1, q0=(0.5, 0))
    model.add(beam, fm.Weld("wall", model.ground.at(), beam.base))
    solver = fm.Solver(model)
    for _ in range(2):
        solver.assemble()
        assert "at t = 0 s beam.q[1] makes" in solver.deformation
        saved = solver.state_save()
        solver.step(0.1)
        solver.state_load(saved)
        assert "at t = 0 s beam.q[1] makes" in solver.deformation
        solver.reset()
        assert solver.deformation == ""


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, 1e200])
def test_a_bound_that_is_none_is_refused(bound: float) -> None:
    with pytest.raises(fm.FmumbsError, match="deformation"):
        Cantilever(0).image.with_options(deformation=bound)


@pytest.mark.parametrize("exported", [False, True], ids=["model", "FMU"])
def test_a_sweep_says_which_runs_left_the_range(exported: bool, tmp_path: Path) -> None:
    drawn = Cantilever(3)
    most = drawn.largest(drawn.run(FREE)[0])
    target = fm.export_fmu(drawn.image, tmp_path / "beam.fmu") if exported else drawn.image
    grid = {"solver.deformation": [2 * most, 0.5 * most, 3 * most]}
    out = tmp_path / "runs.parquet"
    found = fm.sweep(target, out, grid=grid, stop=drawn.period, interval=drawn.period / 60, workers=1)
    before, left, after = found["warning"]
    assert "leaves the linear range" in left
    assert not before
    assert not after


def test_a_model_without_flexible_parts_has_no_bound() -> None:
    model, body = fm.Model("rigid"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(body, fm.Revolute("A", model.ground.at(), body.at()))
    assert not fm.compile(model).variables.references("solver.deformation")


# What `check` says of known speeds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["u0", "path", "program", "two joints", "ball", "reversed"])
@pytest.mark.parametrize("seed", seeds(5, 100))
def test_check_warns_of_bodies_that_turn_faster_than_their_first_frequency(seed: int, how: str) -> None:
    rng = np.random.default_rng(seed)
    length, EI, mass = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-3, 4), 10 ** rng.uniform(-3, 3)
    first = ROOTS[0] ** 2 * np.sqrt(EI / (mass * length**3))
    speed = first * rng.choice([1 / rng.uniform(1.01, 5), rng.uniform(1.01, 5)])
    fast = speed > first
    model, beam = fm.Model("turning"), fm.ModalBody.beam("beam", length=length, EI=EI, mass=mass)
    ground = model.ground.at(rotation=fm.Rotation.rpy(*rng.uniform(-3, 3, 3)))
    model.add(beam)
    if how == "u0":
        model.add(fm.Revolute("A", ground, beam.base, axis="z", u0=-speed))
    elif how == "path":
        turn = fm.Turn("z", role="excited", path=fm.Path.quintic((1.0, 2.0), (0.0, speed / 1.875)))  # 15/8 of the mean
        model.add(fm.Joint("A", ground, beam.base, modes=(turn,)))
    elif how == "program":
        model.add(fm.Revolute("A", ground, beam.base, axis="z"))
        model.add(fm.ProgrammedJoint("P", model["A"], path=fm.Path.polynomial(0.0, speed)))
    elif how == "two joints":
        arm, share = fm.Body("arm", mass=1.0, inertia=(1, 1, 1)), rng.uniform(-2, 2)
        model.add(arm, fm.Revolute("A", ground, arm.at(), axis="z", u0=share * speed, q0=1.0))
        model.add(fm.Revolute("B", arm.at(), beam.base, axis="z", u0=(1 - share) * speed))
    elif how == "ball":
        axis = rng.normal(size=3)
        model.add(fm.Spherical("A", ground, beam.base, u0=speed * axis / np.linalg.norm(axis)))
    else:
        arm, angles, rates = fm.Body("arm", mass=1.0, inertia=(1, 1, 1)), rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 3)
        first_turn, second_turn = fm.Rotation.about((0, 0, 1), angles[0]), fm.Rotation.about((0, 1, 0), angles[1])
        relative = np.array((0, 0, rates[1])) + first_turn @ (0, rates[2], 0)  # of M in F, in F's axes
        spin = np.array((0, 0, rates[0])) - (first_turn @ second_turn).inverse() @ relative
        rates *= speed / np.linalg.norm(spin)
        model.add(arm, fm.Revolute("A", ground, arm.at(), axis="z", u0=rates[0]))
        turns = (fm.Turn("z"), fm.Turn("y"))
        model.add(fm.Joint("B", beam.base, arm.at(), modes=turns, q0=angles, u0=rates[1:]))
    told = [message for message in structure(model).warnings if "above its first frequency" in message]
    assert len(told) == int(fast)
    if fast:
        numbers = re.search(r"turns at (\S+) rad/s, above its first frequency of (\S+) rad/s", told[0])
        assert numbers is not None
        np.testing.assert_allclose([float(n) for n in numbers.groups()], [speed, first], rtol=1e-2)
