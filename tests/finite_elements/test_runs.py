"""Bodies from matrices in motion: beside beams in closed form, and whatever frame, tie and nodes are chosen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from support import meshes
from support.both_ways import runs

LENGTH, MASS, EI = 0.8, 0.5, 20.0
SPIN = 1e-5  # of the cross-section, per length: rotary inertia changes the first frequency by 1e-4


def nodal_beam(elements: int, modes: int = 4) -> fm.ModalBody:
    mesh = meshes.beam(elements, LENGTH, EI, 1e5, 50.0, MASS / LENGTH, SPIN)
    return fm.ModalBody.from_matrices(
        "b", K=mesh.K, M=mesh.M, nodes=mesh.nodes, interfaces={"base": 0, "tip": elements}, modes=modes, frame="base",
        damping=0.0,
    )  # fmt: skip


def beam() -> fm.ModalBody:
    return fm.ModalBody.beam(
        "b", length=LENGTH, mass=MASS, EI=EI, plane=None, modes=4, twist=2, GJ=50.0, axial_inertia=SPIN * LENGTH,
        stretch=2, EA=1e5,
    )  # fmt: skip


def test_the_frequencies_of_nodes_with_rotations_converge_to_those_of_a_beam() -> None:
    wanted = beam().frequencies[:4]
    errors = [float(abs(nodal_beam(n).frequencies[:4] / wanted - 1.0).max()) for n in (8, 16, 32)]
    assert errors[0] > 3.0 * errors[1]  # order 2, down to the rotary inertia that `.beam` leaves out
    assert errors[2] < 2e-3


def swinging(body: fm.ModalBody) -> fm.Model:
    """A body that swings in space from rest, with a weight that turns at its tip."""
    model = fm.Model("swing", gravity=(0.0, 2.0, -9.81))
    weight = fm.Body("w", mass=0.1, inertia=(1e-4, 2e-4, 3e-4), com=(0.02, 0.0, 0.0))
    model.add(body, weight, fm.Revolute("J", model.ground.at(), body.point("base"), axis="y", q0=0.1))
    model.add(fm.Revolute("T", body.point("tip"), weight.at(0, 0, 0), axis="z", u0=1.0))
    return model


def motion(body: fm.ModalBody, **changes: Any) -> Any:
    """The path of the weight."""
    return fm.simulate(swinging(body), stop=0.4, tolerance=1e-10, outputs=["w.r", "w.v"], **changes)


def apart(one: Any, other: Any) -> float:
    return max(float(abs(one[n] - other[n]).max() / abs(one[n]).max()) for n in ("w.r[1]", "w.r[2]", "w.r[3]"))


def test_nodes_with_rotations_move_as_a_beam() -> None:
    plain = motion(beam())
    errors = [apart(motion(nodal_beam(n)), plain) for n in (8, 24)]
    assert errors[0] > 6.0 * errors[1]
    assert errors[1] < 4e-3


def rod(**changes: Any) -> fm.ModalBody:
    mesh = meshes.block((4, 1, 1), (LENGTH, 0.03, 0.02), E=2e9)
    base, tip = mesh.ends
    given: dict[str, Any] = {
        "interfaces": {"base": base, "tip": tip},
        "modes": 8,
        "frame": "base",
        "damping": fm.Rayleigh(0.0, 3e-5),
    }
    return fm.ModalBody.from_matrices("b", K=mesh.K, M=mesh.M, nodes=mesh.nodes, **(given | changes))


# Between frames the modes differ in what is of second order in the deflections of 0.4 mm in 0.8 m, 2e-7 m, beside the
# least of the three components, 7e-5 m. Damping by stiffness alone is the same in each frame, by ratios it is not.
SECOND_ORDER = 1e-2


@pytest.mark.parametrize("changes", [{"frame": None}, {"frame": "tip"}, {"method": "free"}, {"modes": 20}])
def test_the_choice_of_frame_method_and_modes_changes_the_motion_only_in_second_order(changes: Any) -> None:
    assert apart(motion(rod()), motion(rod(**changes))) < SECOND_ORDER


def test_both_formulations_and_radau_agree() -> None:
    plain = motion(rod())
    assert apart(plain, motion(rod(), dynamics="copcod")) < 1e-7
    assert apart(plain, motion(rod(), scheme="radau")) < 1e-7


def test_a_free_body_keeps_its_energy() -> None:
    model = fm.Model("free", gravity=(0.0, 0.0, 0.0))
    body = fm.ModalBody.from_matrices(
        "b", **_matrices(), interfaces={"base": 0, "tip": 11}, modes=4, damping=0.0, q0=np.linspace(-1e-4, 1e-4, 10)
    )
    model.add(body, fm.Free("F", model.ground.at(), body.point("base"), u0=(0.1, 0.2, 0.3, 1.0, -2.0, 3.0)))
    energy = fm.simulate(model, stop=0.05, tolerance=1e-11, outputs=["solver.energy"])["solver.energy"]
    assert abs(energy - energy[0]).max() < 1e-8 * abs(energy[0])


def _matrices() -> dict[str, Any]:
    mesh = meshes.block((2, 1, 1), (0.3, 0.05, 0.04), E=1e7)  # slow: its errors of integration add up in few periods
    return {"K": mesh.K, "M": mesh.M, "nodes": mesh.nodes}


def test_more_modes_than_twenty_four_run() -> None:
    assert apart(motion(rod(modes=34), scheme="radau"), motion(rod(modes=20), scheme="radau")) < SECOND_ORDER


def test_fmus_of_more_modes_than_twenty_four_move_as_in_python(tmp_path: Path) -> None:
    names = ["w.r[1]", "w.r[3]", "b.q[28]"]
    found = [values for _, _, values in runs(tmp_path, swinging(rod(modes=24)), names, stop=0.05, interval=0.01)]
    assert len(found) > 2
    for other in found[1:]:
        for name in names:
            np.testing.assert_allclose(other[name], found[0][name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("cells", [4, 10])
def test_a_solid_of_tetrahedra_has_the_matrices_of_its_elements(cells: int) -> None:
    pytest.importorskip("skfem")
    mesh = meshes.block((3, 1, 1), (0.3, 0.05, 0.04), np.random.default_rng(1))
    nodes, tetrahedra = mesh.nodes, mesh.cells
    if cells == 10:
        nodes, tetrahedra = meshes.with_middles(mesh)
    ends = {"base": np.flatnonzero(nodes[:, 0] == 0.0), "tip": np.flatnonzero(nodes[:, 0] == nodes[:, 0].max())}
    found = fm.ModalBody.from_solid(
        "b", nodes=nodes, tetrahedra=tetrahedra, E=7e10, nu=0.3, density=2700.0, interfaces=ends, modes=4, damping=0.0
    )
    linear = fm.ModalBody.from_matrices(
        "b",
        K=mesh.K,
        M=mesh.M,
        nodes=mesh.nodes,
        modes=4,
        damping=0.0,
        interfaces=dict(zip(("base", "tip"), mesh.ends, strict=True)),
    )
    np.testing.assert_allclose(found.inertia, linear.inertia, rtol=0, atol=1e-10)
    if cells == 4:
        np.testing.assert_allclose(found.frequencies, linear.frequencies, rtol=1e-9)
    else:  # elements of second order are softer
        assert (found.frequencies < linear.frequencies).all()


def test_elements_of_second_order_have_curved_edges() -> None:
    """A block that is bent to y + 0.4 x^2, which keeps its volume and which these elements have exactly."""
    mesh = meshes.block((3, 1, 1), (0.3, 0.05, 0.04))
    nodes, tetrahedra = meshes.with_middles(mesh)
    bent = nodes + 0.4 * nodes[:, :1] ** 2 * np.array([0.0, 1.0, 0.0])
    found = fm.ModalBody.from_solid(
        "b", nodes=bent, tetrahedra=tetrahedra, E=7e10, nu=0.3, density=2700.0, interfaces={}, modes=2, damping=0.0
    )
    assert found.mass == pytest.approx(2700.0 * 0.3 * 0.05 * 0.04, rel=1e-12)
    np.testing.assert_allclose(found.com, [0.15, 0.025 + 0.4 * 0.3**2 / 3, 0.02], rtol=1e-12)
