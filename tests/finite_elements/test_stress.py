"""Stress at nodes of a solid: exact for fields that elements can have, and beside a static solution of all nodes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.finite_elements.solid import solid, surface
from support import meshes

E, NU, LENGTH, SIDES = 7e10, 0.3, 0.4, (0.4, 0.03, 0.02)
PARTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def stress_of(gradient: Any) -> Any:
    """xx yy zz xy xz yz by Hooke's law."""
    strain = (gradient + gradient.T) / 2
    mu, lam = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    stress = 2 * mu * strain + lam * np.trace(strain) * np.eye(3)
    return np.array([stress[a, b] for a, b in PARTS])


def block(rng: Any = None, cells: Any = (4, 2, 2)) -> meshes.Mesh:
    return meshes.block(cells, SIDES, rng, E)


@pytest.mark.parametrize("degree", [1, 2])
def test_of_a_polynomial_field_it_is_exact(degree: int) -> None:
    rng = np.random.default_rng(degree)
    mesh = block(rng)
    nodes, cells = (mesh.nodes, mesh.cells) if degree == 1 else meshes.with_middles(mesh)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3)) * (degree == 2)
    u = nodes @ a.T + np.einsum("abc,ib,ic->ia", b, nodes, nodes)
    chosen = {f"n{k}": int(k) for k in rng.choice(len(nodes), 6, replace=False)}
    made = solid(nodes, cells, E, NU, 2700.0, "test", chosen)
    for name, k in chosen.items():
        gradient = a + np.einsum("abc,c->ab", b, nodes[k]) + np.einsum("abc,b->ac", b, nodes[k])
        wanted = stress_of(gradient)
        assert abs(made.recovered[name] @ u.reshape(-1) - wanted).max() < 1e-10 * abs(wanted).max()


def cantilever(body: fm.ModalBody, force: Any, torque: Any = (0, 0, 0)) -> fm.Solver:
    """At rest under a load at the tip."""
    model = fm.Model("m", gravity=(0, 0, 0))
    model.add(body, fm.Weld("W", model.ground.at(), body.point("base")))
    model.add(fm.Load("F", body.point("tip"), force=force, torque=torque))
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    return solver


def stress(solver: fm.Solver, name: str) -> Any:
    return np.array([solver.get(f"b.{name}.stress[{k + 1}]") for k in range(6)])


def test_it_is_that_of_a_static_solution_of_all_nodes_at_any_number_of_modes() -> None:
    """Linear tetrahedra, whose stress is constant: the mean of those that meet at the node, all of it by loops."""
    mesh = block(np.random.default_rng(5))
    base, tip = mesh.ends
    force, torque = np.array([300.0, -20.0, 30.0]), np.array([1.0, 2.0, -0.5])
    # all nodes of an end move as one rigid body: the base rests, and the tip has six freedoms
    free = [n for n in range(len(mesh.nodes)) if n not in (*base, *tip)]
    at = mesh.nodes[tip].mean(axis=0)
    T = np.zeros((3 * len(mesh.nodes), 3 * len(free) + 6))
    for column, n in enumerate(free):
        T[3 * n : 3 * n + 3, 3 * column : 3 * column + 3] = np.eye(3)
    for n in tip:
        x, y, z = mesh.nodes[n] - at
        T[3 * n : 3 * n + 3, -6:] = np.hstack([np.eye(3), [(0, z, -y), (-z, 0, x), (y, -x, 0)]])
    load = np.zeros(T.shape[1])
    load[-6:] = np.concatenate([force, torque])
    u = (T @ np.linalg.solve(T.T @ mesh.K @ T, load)).reshape(-1, 3)
    chosen = {f"n{k}": int(k) for k in (0, 7, 20, 31, len(mesh.nodes) - 1)}
    for modes in (0, 5):
        body = fm.ModalBody.from_solid(
            "b", nodes=mesh.nodes, tetrahedra=mesh.cells, E=E, nu=NU, density=2700.0, modes=modes, damping=0.0,
            interfaces={"base": base, "tip": tip}, stress_at=chosen, frame="base",
        )  # fmt: skip
        solver = cantilever(body, force, torque)
        for name, node in chosen.items():
            meeting = [cell for cell in mesh.cells if node in cell]
            wanted = np.zeros(6)
            for cell in meeting:
                slopes = np.linalg.inv(np.hstack([np.ones((4, 1)), mesh.nodes[cell]]))[1:]  # (3, 4)
                wanted += stress_of(u[cell].T @ slopes.T) / len(meeting)
            # the load turns with nothing and the frame of the base rests: what is left is of second order in 1e-4 rad
            assert abs(stress(solver, name) - wanted).max() < 1e-3 * abs(wanted).max()
            few = cantilever(body, 1e-6 * force, 1e-6 * torque)
            assert abs(1e6 * stress(few, name) - wanted).max() < 1e-7 * abs(wanted).max()


def test_in_a_bent_beam_it_converges_to_the_closed_form() -> None:
    """M c / I at the surface halfway, where a force at the tip has the moment F L / 2."""
    wide, high = SIDES[2], SIDES[1]
    wanted = 10.0 * LENGTH / 2 * (high / 2) / (wide * high**3 / 12)
    errors = []
    for count in (8, 16):
        nodes, cells = meshes.with_middles(block(cells=(count, 2, 2)))
        base, tip = (np.flatnonzero(nodes[:, 0] == x) for x in (0.0, LENGTH))
        top = int(np.argmin(np.linalg.norm(nodes - (LENGTH / 2, high, wide / 2), axis=1)))
        body = fm.ModalBody.from_solid(
            "b", nodes=nodes, tetrahedra=cells, E=E, nu=NU, density=2700.0, modes=2, damping=0.0, frame="base",
            interfaces={"base": base, "tip": tip}, stress_at={"top": top},
        )  # fmt: skip
        solver = cantilever(body, (0.0, -10.0, 0.0))
        found = stress(solver, "top")
        errors.append(abs(found[0] / wanted - 1.0))
        assert abs(found[1:]).max() < 0.01 * wanted
        assert solver.get("b.top.mises") == pytest.approx(found[0], rel=5e-3)
    assert errors[0] > 2.0 * errors[1]
    assert errors[1] < 0.012


def strained(modes: int = 3) -> fm.Model:
    """A body that swings and bends, with stresses of its own."""
    rng = np.random.default_rng(3)
    mesh = block()
    model = fm.Model("strained")
    body = fm.ModalBody.from_solid(
        "b", nodes=mesh.nodes, tetrahedra=mesh.cells, E=E / 1e4, nu=NU, density=2700.0, modes=modes, damping=0.01,
        interfaces={"base": mesh.ends[0], "tip": mesh.ends[1]}, stress_at={"near": 4, "far": 40},
        q0=1e-3 * rng.normal(size=modes + 6), stiffening=True,
    )  # fmt: skip
    model.add(body, fm.Revolute("J", model.ground.at(), body.point("base"), axis="y", q0=0.3))
    model.add(fm.Load("L", body.point("tip"), force=(0.0, 1.0, 0.0)))
    return model


def test_the_equivalent_stress_is_von_mises() -> None:
    solver = fm.Solver(strained())
    solver.assemble()
    for name in ("near", "far"):
        xx, yy, zz, xy, xz, yz = stress(solver, name)
        tensor = np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
        deviator = tensor - np.trace(tensor) / 3 * np.eye(3)
        assert solver.get(f"b.{name}.mises") == pytest.approx(np.sqrt(1.5 * (deviator**2).sum()), rel=1e-13)


def test_derivatives_by_the_modes_are_those_of_differences() -> None:
    solver = fm.Solver(strained(), derivatives=True)
    solver.assemble()
    outputs = [f"b.{name}.stress[{k}]" for name in ("near", "far") for k in range(1, 7)] + ["b.near.mises"]
    knowns = [f"b.q[{k}]" for k in range(1, 10)]
    exact = np.array([solver.directional_derivative(outputs, knowns, seed) for seed in np.eye(len(knowns))]).T
    back = np.array([solver.adjoint(outputs, knowns, seed) for seed in np.eye(len(outputs))])
    assert np.allclose(back, exact, rtol=1e-12, atol=1e-12 * abs(exact).max())
    step = 1e-6
    for column, known in enumerate(knowns):
        value, found = solver.get(known), []
        for sign in (1.0, -1.0):
            solver.set(known, value + sign * step)
            found.append(np.array([solver.get(out) for out in outputs]))
        solver.set(known, value)
        change = (found[0] - found[1]) / (2 * step)
        assert abs(exact[:, column] - change).max() < 1e-7 * abs(exact).max()


def test_the_surface_is_closed_and_looks_outwards() -> None:
    mesh = block(np.random.default_rng(1))
    faces = surface(mesh.cells[:, ::-1], mesh.nodes)
    a, b, c = (mesh.nodes[faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6  # by Gauss's theorem
    edge = mesh.nodes[mesh.cells[:, 1:]] - mesh.nodes[mesh.cells[:, :1]]
    assert volume == pytest.approx(abs(np.linalg.det(edge)).sum() / 6, rel=1e-12)
    edges = {(int(f[k]), int(f[k - 1])) for f in faces for k in range(3)}
    assert edges == {(j, i) for i, j in edges}


@pytest.mark.parametrize(
    ("given", "words"),
    [({"n": 999}, "node 999, which no element has"), ({"base": 3}, "'base', which is a point as well")],
)
def test_wrong_places_are_refused(given: Any, words: str) -> None:
    mesh = block()
    with pytest.raises(fm.ModelError, match=words):
        fm.ModalBody.from_solid(
            "b", nodes=mesh.nodes, tetrahedra=mesh.cells, E=E, nu=NU, density=2700.0, modes=1, damping=0.0,
            interfaces={"base": mesh.ends[0]}, stress_at=given,
        )  # fmt: skip


def test_an_fmu_has_it_with_the_same_bits(tmp_path: Path) -> None:
    from fmpy import simulate_fmu

    model = strained()
    names = ["b.near.mises", "b.far.stress[1]", "b.far.stress[6]"]
    path = fm.export_fmu(model, tmp_path / "m.fmu")
    result = model.simulate(stop=0.05, interval=0.01, outputs=names)
    rows = simulate_fmu(str(path), stop_time=0.05, output_interval=0.01, output=names)
    for name in names:
        assert np.array_equal(rows[name], result[name])
        assert result.units[name] == "Pa"


def test_an_image_with_modal_stresses_out_of_place_is_refused() -> None:
    from fmumbs.compiler import ModelImage, compile
    from fmumbs.compiler.layout import pack

    image = compile(strained())
    for row in (0, 8):
        arrays = image.arrays | {"gauge_first": np.array([0, row], np.int32)}
        with pytest.raises(fm.ModelError, match="modal stresses are out of place"):
            ModelImage(pack(image.sizes, arrays))
