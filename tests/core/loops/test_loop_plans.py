"""Bodies joined many times over, by parallel rods or hangers: all compile, and move alike whichever joints are cut."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.export import export_fmu
from fmumbs.play import Options, run_fmu
from support.many_loops import bipartite, bridge, parallel_rods
from support.sweeps import first, seeds

SAME = 1e-7
"""Relative to the largest acceleration: K of a hundred rods that hold the same two bars is conditioned up to 1e6."""


def cut_elsewhere(model: fm.Model, seed: int) -> fm.Model:
    """The same mechanism with joints cut at random, of which one stays for every body."""
    rng = np.random.default_rng(seed)
    group = {body.name: body.name for body in (*model.bodies, model.ground.at().body)}
    other = fm.Model(model.name, gravity=model.gravity)
    other.add(*model.bodies)
    sprung = [joint for joint in model.joints if any(joint.law("stiffness"))]
    rest = [joint for joint in model.joints if joint not in sprung]
    cut = set()
    for joint in (*sprung, *(rest[k] for k in rng.permutation(len(rest)))):  # Kruskal's spanning tree
        one, two = (group[end.body.name] for end in joint.ends)
        if one == two:
            cut.add(joint.name)
        group = {body: one if of == two else of for body, of in group.items()}
    other.add(*(replace(joint, cut=joint.name in cut) for joint in model.joints))
    return other


def moved(model: fm.Model, t: float, dynamics: str) -> np.ndarray:
    """Angles, then accelerations, of all bodies at time t."""
    solver = fm.Solver(fm.compile(model, everything=True).with_options(dynamics=dynamics, tolerance=1e-10))
    solver.assemble()
    solver.step(t)
    return np.array([[*solver.get(f"{body.name}.r"), *solver.get(f"{body.name}.a")] for body in model.bodies])


def assert_same(model: fm.Model, seed: int, t: float = 0.02) -> None:
    expected = moved(model, t, "riccati")
    scale = np.abs(expected).max(axis=0, initial=1.0)
    for dynamics, other in (("copcod", model), ("riccati", cut_elsewhere(model, seed))):
        assert_allclose(moved(other, t, dynamics) / scale, expected / scale, rtol=0, atol=SAME, err_msg=dynamics)


@pytest.mark.parametrize("rods", first(7, [1, 2, 3, 5, 12, 18, 40, *range(4, 40)]))
def test_two_bars_with_any_number_of_rods_compile(rods: int) -> None:
    assert fm.compile(parallel_rods([(0, 1, (k + 1) / rods) for k in range(rods)], 2)).sizes["rows"] == 5 * rods


@pytest.mark.parametrize("rods", [2, 6, 18])
def test_two_bars_with_many_rods_move_alike_with_other_cuts(rods: int) -> None:
    assert_same(parallel_rods([(0, 1, (k + 1) / rods) for k in range(rods)], 2), rods)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_random_bars_and_rods_move_alike_with_other_cuts(seed: int) -> None:
    assert_same(bipartite(seed, 1 + 2 * seed % 30), seed)


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_suspension_bridges_move_alike_with_other_cuts(seed: int) -> None:
    assert_same(bridge(seed, 2 + 3 * seed % 20), seed)


@pytest.mark.parametrize("panels", first(1, [60, 90]))
def test_an_fmu_of_many_loops_steps_like_the_solver(panels: int, tmp_path: Path) -> None:
    model = bridge(panels, panels)
    sprung = [joint.name for joint in model.joints if any(joint.law("stiffness"))]
    names = [f"{name}_{what}" for name in sprung for what in ("q", "qd")]
    for name in names:
        model.output(name, of=".".join(name.rsplit("_", 1)))
    there = run_fmu(export_fmu(model, tmp_path / "loops.fmu"), Options(stop=0.02, interval=0.01))
    here = fm.simulate(model, stop=0.02, interval=0.01)
    for name in names:
        assert np.array_equal(there[name], here[name]), name
    assert max(np.ptp(here[name]) for name in names) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_two_hundred_loops_compile(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for model in (bipartite(seed, int(rng.integers(40, 201))), bridge(seed, int(rng.integers(40, 270)))):
        assert fm.compile(model).sizes["rows"] > 0
