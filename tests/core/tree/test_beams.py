"""Flexible beams against closed forms: eigenfrequencies and deflections."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from support.sweeps import first

L, MASS, EI = 1.3, 0.7, 12.0
EULER = {  # beta L, the first three beside rigid motions
    "clamped-free": (1.8751040687119611, 4.694091132974175, 7.854757438237613),
    "free-clamped": (1.8751040687119611, 4.694091132974175, 7.854757438237613),
    "pinned-pinned": (np.pi, 2 * np.pi, 3 * np.pi),
    "free-free": (4.730040744862704, 7.853204624095838, 10.995607838001671),
    "clamped-clamped": (4.730040744862704, 7.853204624095838, 10.995607838001671),
    "clamped-pinned": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "pinned-clamped": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "pinned-free": (3.926602312047919, 7.068582745628732, 10.210176122813031),
    "clamped-sliding": (2.3650203724313520, 5.497803919000836, 8.639379828699742),
    "sliding-free": (2.3650203724313520, 5.497803919000836, 8.639379828699742),
    "sliding-sliding": (np.pi, 2 * np.pi, 3 * np.pi),
    "pinned-sliding": (np.pi / 2, 3 * np.pi / 2, 5 * np.pi / 2),
}


def eigenfrequencies(model: fm.Model, joints: tuple[str, ...], bodies: tuple[str, ...], rigid: int = 0) -> Any:
    """Of small motions about the undeformed rest [rad/s], from the core's accelerations; `rigid`: motions left out."""
    solver = Solver(compile(model))
    places = [(f"{name}.q", 1) for name in joints]
    places += [(f"{name}.q", len(np.atleast_1d(solver.get(f"{name}.q")))) for name in bodies]
    columns = []
    size = 1e-4

    def at(name: str, k: int, count: int, value: float) -> Any:
        solver.reset()
        vector = np.zeros(count)
        vector[k] = value
        solver.set(name, vector if count > 1 else float(vector[0]))
        solver.assemble()
        return np.concatenate([np.atleast_1d(solver.get(f"{place[:-2]}.qdd")) for place, _ in places])

    for name, count in places:
        for k in range(count):
            columns.append((at(name, k, count, size) - at(name, k, count, -size)) / (2 * size))
    squares = np.sort(-np.linalg.eigvals(np.array(columns).T).real)
    return np.sqrt(squares[rigid:])


def in_euler(frequencies: Any) -> Any:
    return np.sqrt(np.asarray(frequencies) / np.sqrt(EI / (MASS * L**3)))


def uniform(boundary: str, modes: int, **options: Any) -> Any:
    return fm.ModalBody.beam("b", length=L, mass=MASS, EI=EI, modes=modes, boundary=boundary, **options)


@pytest.mark.parametrize("boundary", first(3, EULER))
def test_modes_have_the_frequencies_of_their_supports(boundary: str) -> None:
    assert_allclose(in_euler(uniform(boundary, 3).frequencies), EULER[boundary], rtol=1e-13)
    high = in_euler(uniform(boundary, 24).frequencies)
    assert_allclose(np.diff(high)[2:], np.pi, rtol=1e-2)


@pytest.mark.parametrize("boundary", ["clamped-free", "clamped-clamped", "clamped-pinned", "clamped-sliding"])
def test_a_beam_welded_to_the_ground_has_the_frequencies_of_its_modes(boundary: str) -> None:
    model = fm.Model("cantilever", gravity=(0, 0, 0))
    beam = uniform(boundary, 3)
    model.add(beam, fm.Weld("w", model.ground.at(), beam.base))
    assert_allclose(in_euler(eigenfrequencies(model, (), ("b",))), EULER[boundary], rtol=1e-7)


def test_a_beam_may_be_supported_anywhere() -> None:
    """Modes of a free beam that is clamped at its tip, where the weld's frame moves with them.

    None of them bends there as a clamped beam does, so that the error of their sum falls as 1 / modes.
    """
    found = []
    for modes in (6, 12, 24):
        model = fm.Model("cantilever", gravity=(0, 0, 0))
        beam = uniform("free-free", modes)
        model.add(beam, fm.Weld("w", model.ground.at(), beam.tip))
        found.append(in_euler(eigenfrequencies(model, (), ("b",)))[0])
    errors = np.array(found) / EULER["clamped-free"][0] - 1
    assert (errors > 0).all()  # Rayleigh: from above
    assert_allclose(errors[:-1] / errors[1:], 2.0, rtol=0.05)
    assert errors[-1] < 0.02


@pytest.mark.parametrize("boundary", ["clamped-free", "free-free", "pinned-free"])
def test_a_pinned_beam_tends_to_the_frequencies_of_pinned_and_free(boundary: str) -> None:
    model = fm.Model("pinned", gravity=(0, 0, 0))
    beam = uniform(boundary, 12)
    model.add(beam, fm.Revolute("J", model.ground.at(), beam.base))
    found = in_euler(eigenfrequencies(model, ("J",), ("b",), rigid=1))[:2]
    assert_allclose(found, EULER["pinned-free"][:2], rtol=2e-3)
    assert (found > np.array(EULER["pinned-free"][:2]) * (1 - 1e-6)).all()


def test_two_slides_and_a_pin_leave_a_beam_free() -> None:
    model = fm.Model("afloat", gravity=(0, 0, 0))
    beam, x, y = uniform("free-free", 3), fm.Body("x", mass=0.0), fm.Body("y", mass=0.0)
    model.add(
        x, y, beam,
        fm.Prismatic("X", model.ground.at(), x.at(), axis="x"),
        fm.Prismatic("Y", x.at(), y.at(), axis="y"),
        fm.Revolute("T", y.at(), beam.at(0.4 * L)),
    )  # fmt: skip
    assert_allclose(in_euler(eigenfrequencies(model, ("X", "Y", "T"), ("b",), rigid=3)), EULER["free-free"], rtol=1e-6)


def test_a_tip_mass_lowers_the_frequency_as_rayleigh_has_it() -> None:
    """A cantilever with a tip mass of mu times its own: 1 + cos b cosh b + mu b (cos b sinh b - sin b cosh b) = 0."""
    mu = 2.0
    b = 1.0761962
    for _ in range(20):

        def f(b: float) -> float:
            return 1 + np.cos(b) * np.cosh(b) + mu * b * (np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b))

        b -= f(b) / ((f(b + 1e-6) - f(b - 1e-6)) / 2e-6)
    model = fm.Model("tip", gravity=(0, 0, 0))
    beam, tip = uniform("clamped-free", 20), fm.Body("tip", mass=mu * MASS)
    model.add(beam, tip, fm.Weld("w", model.ground.at(), beam.base), fm.Weld("t", beam.tip, tip.at()))
    assert_allclose(in_euler(eigenfrequencies(model, (), ("b",)))[0], b, rtol=1e-4)


def test_a_load_bends_a_cantilever_by_its_length_cubed_over_3_EI() -> None:
    model = fm.Model("cantilever", gravity=(0, 0, 0))
    beam = uniform("clamped-free", 24, damping_ratio=1.0)
    model.add(beam, fm.Weld("w", model.ground.at(), beam.base), fm.Load("F", beam.tip, force=(0, 0.01, 0)))
    solver = Solver(compile(model))
    K = np.array(beam.stiffness)
    rows = np.array(beam.node(beam.tip)[1])
    solver.set("b.q", np.linalg.solve(K, rows[:, 1] * 0.01))
    solver.assemble()
    assert_allclose(solver.get("b.qdd"), 0.0, atol=1e-9)
    assert_allclose(solver.get("b.tip.r")[1], 0.01 * L**3 / (3 * EI), rtol=1e-5)
    assert_allclose(solver.get("w.reaction.t")[2], -0.01 * L, rtol=1e-9)
