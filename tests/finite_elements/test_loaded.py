"""Stiffening from stiffness matrices under loads: beside that of the elements, and from CalculiX."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import fmumbs as fm
from fmumbs.finite_elements.solid import solid
from support import calculix, meshes
from support.sweeps import first

pytest.importorskip("skfem")

SIDES = (0.5, 0.06, 0.05)
E, NU, DENSITY = 7e6, 0.3, 2700.0
AXES = ("fx", "fy", "fz", "tx", "ty", "tz")


def block(seed: int | None = None) -> meshes.Mesh:
    return meshes.block((3, 1, 1), SIDES, None if seed is None else np.random.default_rng(seed), E=E)


def geometric(elements: Any, u: Any) -> Any:
    """Of the stress of displacements u (nodes, 3): the second variation of its work on Green's strain."""
    G = elements.gradients(u)
    strain = (G + np.swapaxes(G, 2, 3)) / 2
    S = 2 * elements.mu * strain + elements.lam * np.trace(strain, axis1=2, axis2=3)[..., None, None] * np.eye(3)
    each = np.einsum("eg,enga,egab,emgb->enm", elements.volumes, elements.slopes, S, elements.slopes)
    cells = elements.cells
    rows, columns = (np.repeat(cells, cells.shape[1], axis=1).ravel(), np.tile(cells, (1, cells.shape[1])).ravel())
    return sparse.kron(sparse.csr_array((each.ravel(), (rows, columns)), shape=(len(u), len(u))), np.eye(3), "csr")


def answer(K: Any, nodes: Any, f: Any, tied: tuple[Any, ...]) -> Any:
    """Displacements of the free body by a load in equilibrium, with rigid ends, up to rigid motion: dense."""
    size = K.shape[0]
    free = np.setdiff1d(np.arange(size), [3 * n + a for end in tied for n in end for a in range(3)])
    T = np.zeros((size, len(free) + 6 * len(tied)))
    T[free, np.arange(len(free))] = 1.0
    for k, end in enumerate(tied):
        for n in end:
            arm = nodes[n] - nodes[end].mean(axis=0)
            T[3 * n : 3 * n + 3, len(free) + 6 * k : len(free) + 6 * k + 3] = np.eye(3)
            T[3 * n : 3 * n + 3, len(free) + 6 * k + 3 : len(free) + 6 * k + 6] = np.cross(np.eye(3), arm).T
    return T @ (np.linalg.pinv(T.T @ K.toarray() @ T, rcond=1e-10) @ (T.T @ f))


def under_unit_loads(mesh: meshes.Mesh, ends: dict[str, Any]) -> tuple[dict[str, Any], list[fm.Loaded]]:
    """Arguments of a body, and its stiffness under unit wrenches at the tip, gravity and spin, the base held."""
    made = solid(mesh.nodes, mesh.cells, E, NU, DENSITY, "b")
    K, M, elements = made.K, made.M, made.elements
    given = {"K": K, "M": M, "nodes": mesh.nodes, "interfaces": ends}
    rigid = tuple(mesh.ends[k] for k, name in enumerate(("base", "tip")) if ends[name].tie == "rigid")
    from fmumbs.finite_elements.interfaces import ties
    from fmumbs.finite_elements.matrices import finite_elements

    fe = finite_elements(K, M, mesh.nodes, "b")
    places = ties(ends, fe)
    loads = [{"wrenches": {"tip": row}, "held": "base"} for row in np.eye(6)]
    loads += [{"acceleration": row, "held": "base"} for row in np.eye(3)]
    turns = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1))
    loads += [{"spin": row, "held": "base"} for row in turns]
    stiff = []
    for load in loads:
        f = fm.Loaded(K, **load).forces(fe, places, "b")
        stiff.append(fm.Loaded(K + geometric(elements, answer(K, mesh.nodes, f, rigid).reshape(-1, 3)), **load))
    return given, stiff


def both(tie: str, frame: str | None, seed: int | None) -> tuple[fm.ModalBody, fm.ModalBody]:
    mesh = block(seed)
    ends = {name: fm.Interface(nodes, tie=tie) for name, nodes in zip(("base", "tip"), mesh.ends, strict=True)}
    given, loads = under_unit_loads(mesh, ends)
    reduction: dict[str, Any] = {"modes": 6, "damping": 0.0, "frame": frame}
    return (
        fm.ModalBody.from_matrices("b", **given, stiffening=loads, **reduction),
        fm.ModalBody.from_solid(
            "b", nodes=mesh.nodes, tetrahedra=mesh.cells, E=E, nu=NU, density=DENSITY, interfaces=ends, stiffening=True,
            **reduction,
        ),
    )  # fmt: skip


@pytest.mark.parametrize("tie", ["rigid", "averaged"])
@pytest.mark.parametrize("frame", ["base", None])
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_it_does_what_elements_do_under_these_loads(tie: str, frame: str | None, seed: int) -> None:
    """Work of tip wrenches, weight and centrifugal forces along the displacements of second order, the base held."""
    from_matrices, from_solid = both(tie, frame, seed)
    found = []
    for body in (from_matrices, from_solid):
        seconds = body.second_order
        base, tip = (np.einsum("ac,ajk->cjk", rows, seconds.followers) for rows in seconds.rows)
        arm = np.array(body.point("tip").X_BP.offset) - np.array(body.point("base").X_BP.offset)
        turned = np.cross(base[3:], arm, axisa=0, axisc=0)
        tip = tip - np.concatenate([base[:3] + turned, base[3:]])
        first_ = np.einsum("ab,ajk->bjk", seconds.first, seconds.followers)
        moved = first_ - body.mass * base[:3]  # of the mass, less what the base's motion does
        moved -= body.mass * np.cross(base[3:], np.array(body.com) - body.point("base").X_BP.offset, axisa=0, axisc=0)
        found.append((tip, moved))
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-6 * abs(other).max())


def test_loads_are_weight_and_what_pulls_outwards() -> None:
    """At nodes that are not held; all in equilibrium."""
    mesh = block()
    made = solid(mesh.nodes, mesh.cells, E, NU, DENSITY, "b")
    K, M = made.K, made.M
    from fmumbs.finite_elements.interfaces import interfaces_of, ties
    from fmumbs.finite_elements.matrices import finite_elements

    fe = finite_elements(K, M, mesh.nodes, "b")
    held = ties(interfaces_of({"base": mesh.ends[0]}, "b"), fe)
    loose = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.ends[0])
    x, y, _ = mesh.nodes.T
    for load, field in (
        ({"spin": (0, 0, 2.0)}, 4.0 * np.stack([x, y, 0 * x], axis=1)),
        ({"acceleration": (0, 0, -9.81)}, np.tile([0, 0, -9.81], (len(x), 1))),
    ):
        f = fm.Loaded(K, **load, held="base").forces(fe, held, "b").reshape(-1, 3)
        assert_allclose(f[loose], (M @ field.ravel()).reshape(-1, 3)[loose], rtol=1e-12, atol=1e-15)
        assert_allclose(f.sum(axis=0), 0.0, atol=1e-12)
        assert_allclose(np.cross(mesh.nodes, f).sum(axis=0), 0.0, atol=1e-12)


def test_what_it_lacks_is_named() -> None:
    mesh = block()
    ends = {name: fm.Interface(nodes) for name, nodes in zip(("base", "tip"), mesh.ends, strict=True)}
    made = solid(mesh.nodes, mesh.cells, E, NU, DENSITY, "b")
    K, M = made.K, made.M

    def refused(message: str, *loads: Any, **changes: Any) -> None:
        given: dict[str, Any] = {"K": K, "M": M, "nodes": mesh.nodes, "interfaces": ends}
        with pytest.raises(fm.ModelError, match=message):
            fm.ModalBody.from_matrices("b", **(given | changes), modes=2, damping=0.0, stiffening=loads)

    push = {"tip": (1, 0, 0, 0, 0, 0)}
    refused(r"stiffening\[0\]: 'tpi' is no interface of the body", fm.Loaded(K, {"tpi": push["tip"]}))
    refused(r"stiffening\[1\]: 'top' is no interface", fm.Loaded(K, push), fm.Loaded(K, push, held="top"))
    refused(r"stiffening\[0\] has no load", fm.Loaded(K))
    refused(r"stiffening\[0\]: K has 3 rows, and the body's", fm.Loaded(np.eye(3), push))
    refused(r"stiffening\[0\] is 3, which is not an fm\.Loaded", 3)
    beam = meshes.beam(3, 1.0, 10.0, 1e4, 5.0, 2.0, 1e-3, consistent=True)
    refused("three freedoms a node", fm.Loaded(beam.K, {"tip": (1, 0, 0, 0, 0, 0)}), K=beam.K, M=beam.M,
            nodes=beam.nodes, interfaces={"tip": 3})  # fmt: skip
    with pytest.raises(fm.ModelError, match="Loaded: wrench at 'tip'"):
        fm.Loaded(K, {"tip": (1, 0, 0)})


@pytest.mark.skipif(calculix.CCX is None, reason="needs CalculiX: apt-get install calculix-ccx")
def test_calculix_s_perturbation_step_stiffens_as_elements_do(tmp_path: Path) -> None:
    """A thrust, which shortens the rod: K has besides what the displacements of the step before add, a part of the
    square of the radius of gyration over the wavelength.
    """
    nodes, cells = calculix.block((4, 1, 1))
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("base", 0.0), ("tip", calculix.SIDES[0]))}
    force = -1000.0
    sets = [f"*NSET, NSET={n.upper()}\n" + ",\n".join(map(str, at + 1)) for n, at in ends.items()]
    before = [*sets, "*STEP", "*STATIC", "*BOUNDARY", "BASE, 1, 3", "*CLOAD", f"TIP, 1, {force / len(ends['tip'])!r}",
              "*END STEP"]  # fmt: skip
    calculix.run(tmp_path / "free.inp", nodes, cells)
    calculix.run(tmp_path / "loaded.inp", nodes, cells, before)
    free, loaded = (fm.read_matrices(tmp_path / f"{name}.sti") for name in ("free", "loaded"))
    found = []
    interfaces = {name: dict.fromkeys(at.tolist(), 1.0) for name, at in ends.items()}
    push = fm.Loaded(loaded.K, {"tip": (force, 0, 0, 0, 0, 0)}, held="base")
    given: dict[str, Any] = {"interfaces": interfaces, "modes": 4, "damping": 0.0, "frame": "base"}
    for body in (
        fm.ModalBody.from_matrices("b", K=free.K, M=free.M, nodes=free.nodes, stiffening=[push], **given),
        fm.ModalBody.from_solid("b", nodes=nodes, tetrahedra=cells, E=calculix.E, nu=calculix.NU,
                                density=calculix.DENSITY, stiffening=True, **given),
    ):  # fmt: skip
        seconds = body.second_order
        found.append(np.einsum("a,ajk->jk", seconds.rows[1][:, 0], seconds.followers)[:2, :2])
    assert_allclose(found[0], found[1], rtol=0, atol=1e-2 * abs(found[1]).max())
