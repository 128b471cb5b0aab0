"""Euler angles of bodies beside those that SciPy takes from their quaternions, for every sequence."""

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import fmumbs as fm
from fmumbs.compiler.layout import pack

ROUND_OFF = 1e-14
"""[rad], over the margin: what a rotation matrix keeps."""
ABOUT_FIXED = [a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c]
SEQUENCES = [*ABOUT_FIXED, *map(str.upper, ABOUT_FIXED)]


def tumbling(sequence: str, q0: Any = (1.0, 0.0, 0.0, 0.0), u0: Any = (0.0, 0.0, 0.0)) -> fm.Model:
    model = fm.Model("tumbling", gravity=(0.0, 0.0, 0.0))
    body = fm.Body("b", mass=1.0, inertia=(1.0, 1.2, 1.3), euler=sequence)
    turned = fm.Rotation.quaternion(0.8, 0.1, -0.5, 0.3)
    model.add(body, fm.Spherical("S", model.ground.at(), body.at(0.1, 0.2, 0.0, rotation=turned), q0=q0, u0=u0))
    return model


def read(solver: fm.Solver, suffix: str, count: int) -> np.ndarray:
    return np.array([solver.get(f"b.{suffix}[{i + 1}]") for i in range(count)])


def rotation(solver: fm.Solver) -> Rotation:
    return Rotation.from_quat(read(solver, "quat", 4), scalar_first=True)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_every_sequence(sequence: str) -> None:
    """At random orientations; the rates that outputs have are those of SciPy's angles."""
    rng = np.random.default_rng(SEQUENCES.index(sequence))
    for _ in range(5):
        solver = fm.Solver(tumbling(sequence, rng.normal(size=4).tolist(), rng.normal(size=3).tolist()))
        solver.assemble()
        solver.step(0.2)
        found, margin = read(solver, "euler", 3), solver.get("b.euler_margin")
        expected = rotation(solver).as_euler(sequence)
        assert_allclose(np.sin((found - expected) / 2.0), 0.0, rtol=0, atol=ROUND_OFF / margin)
        fold = expected[1] if sequence[0] == sequence[2] else expected[1] + np.pi / 2
        assert_allclose(margin, np.sin(fold), atol=ROUND_OFF)
        h, w = 1e-5, np.array([solver.get(f"b.w[{i}]") for i in (1, 2, 3)])
        beside = [(Rotation.from_rotvec(s * h * w) * rotation(solver)).as_euler(sequence) for s in (1, -1)]
        rates = np.sin((beside[0] - beside[1]) / 2.0) / h
        found = solver.output_derivative("b.euler")
        assert_allclose(found, rates, rtol=0, atol=1e-6 * max(1.0, np.abs(rates).max()))


@pytest.mark.parametrize("sequence", ["ZYX", "xyz", "ZXZ", "yxy"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_where_two_axes_are_parallel(sequence: str, sign: float) -> None:
    """The angles are those of the orientation, one of them zero, and the margin says that they are not unique."""
    middle = sign * np.pi / 2 if sequence[0] != sequence[2] else (0.0 if sign > 0.0 else np.pi)
    there = Rotation.from_euler(sequence, [0.7, middle, 0.4])
    q = (there * Rotation.from_quat([0.8, 0.1, -0.5, 0.3], scalar_first=True)).as_quat(scalar_first=True)
    solver = fm.Solver(tumbling(sequence, q.tolist()))
    solver.assemble()
    found = read(solver, "euler", 3)
    assert solver.get("b.euler_margin") < 1e-8
    assert found[0 if sequence.islower() else 2] == 0.0
    assert_allclose(Rotation.from_euler(sequence, found).as_matrix(), rotation(solver).as_matrix(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("fmi", [2, 3])
def test_in_an_fmu(fmi: int, tmp_path: Path) -> None:
    path = fm.export_fmu(tumbling("ZYX", u0=(0.3, 0.5, -0.2)), tmp_path / "tumbling.fmu", fmi=fmi)
    names = [f"b.euler[{i}]" for i in (1, 2, 3)]
    rows = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.25, output=[*names, "b.euler_margin"])
    run = fm.simulate(tumbling("ZYX", u0=(0.3, 0.5, -0.2)), stop=1.0, interval=0.25)
    for name in (*names, "b.euler_margin"):
        assert_allclose(rows[name], run[name], rtol=0, atol=1e-9)


def test_of_every_body() -> None:
    """Shapes and flexible bodies take it as they take a colour; others have no such outputs."""
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, euler="ZYX")
    beam = fm.ModalBody.beam("beam", length=1.0, mass=1.0, EI=10.0, euler="xyz")
    assert (rod.euler, beam.euler, fm.Body("b", mass=1.0).euler) == ("ZYX", "xyz", None)
    model = fm.Model("chain")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base), beam, fm.Revolute("B", rod.tip, beam.base, q0=0.3))
    solver = fm.Solver(model)
    solver.assemble()
    assert_allclose([solver.get("beam.euler[3]"), solver.get("rod.euler[1]")], [0.3, 0.0], atol=ROUND_OFF)


@pytest.mark.parametrize("wrong", ["zzy", "ZyX", "xy", "abc", "", 3])
def test_no_sequence_is_refused(wrong: Any) -> None:
    with pytest.raises(fm.ModelError, match=r"Body 'b': euler is .* not a sequence of three axes"):
        fm.Body("b", mass=1.0, euler=wrong)


@pytest.mark.parametrize("code", [-1, 1, 55, 2**31 - 1])  # "XXX", beyond the last one
def test_a_damaged_sequence_is_refused(code: int) -> None:
    image = fm.compile(tumbling("ZYX"))
    damaged = np.full_like(image.arrays["body_euler"], code)
    with pytest.raises(fm.ModelError, match="Euler angles about axes that do not exist"):
        fm.ModelImage(pack(image.sizes, image.arrays | {"body_euler": damaged}))


def test_a_body_that_is_made_flexible_has_none() -> None:
    model = fm.Model("m")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.01, euler="ZYX")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base))
    with pytest.raises(fm.ModelError, match="'rod' has Euler angles"):
        fm.make_flexible(model, ["rod"], material=fm.Material.steel())
