"""Matrices, interfaces and choices that no body can have are refused by name."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import fmumbs as fm
from fmumbs.finite_elements.factor import Factor
from support import meshes

MESH = meshes.block((3, 1, 1), (0.3, 0.05, 0.04))
BASE, TIP = MESH.ends
SIZE = len(MESH.K)


def given(**changes: Any) -> dict[str, Any]:
    return {
        "K": MESH.K, "M": MESH.M, "nodes": MESH.nodes, "interfaces": {"base": BASE, "tip": TIP}, "modes": 2,
        "damping": 0.01,
    } | changes  # fmt: skip


def _held() -> Any:
    K = MESH.K.copy()
    K[0, 0] += 1e-3 * K.max()
    return K


def _apart() -> Any:
    """Two blocks of which nothing connects the one with the other."""
    return np.kron(np.eye(2), MESH.K)


def _asymmetric() -> Any:
    K = MESH.K.copy()
    K[4, 1] *= 1.001
    return K


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"K": "stiff"}, r"K is 'stiff', which is not a matrix"),
        ({"K": np.ones((3, 4))}, r"which is not square"),
        ({"K": MESH.K[:12, :12]}, r"K has 12 rows, but 16 nodes have 48 freedoms, or 96"),
        ({"K": MESH.K * np.nan}, r"K has entries that are not finite"),
        ({"K": _asymmetric()}, r"K is not symmetric: \[1, 4\]|K is not symmetric: \[4, 1\]"),
        ({"K": np.tril(MESH.K)}, r"It is one triangle: give A"),
        ({"K": _held()}, r"K resists rigid motion: the translation along x meets forces, the largest at node 0"),
        ({"K": _apart(), "M": np.kron(np.eye(2), MESH.M), "nodes": np.vstack([MESH.nodes, MESH.nodes + 1.0])},
         "K lets parts of the body move without strain"),
        ({"M": np.zeros((SIZE, SIZE))}, r"M is zero"),
        ({"M": np.diag(np.tile([1.0, 2.0, 1.0], SIZE // 3))}, r"M gives no rigid mass: 16 kg along x, 32 along y"),
        ({"M": -MESH.M}, r"M gives the mass -"),
        ({"M": np.eye(2 * SIZE)}, r"K has 48 rows and M 96"),
        ({"nodes": MESH.nodes[:, :2]}, r"nodes has the shape \(16, 2\)"),
        ({"nodes": MESH.nodes * 0.0}, r"all nodes are at one place"),
        ({"nodes": MESH.nodes[np.r_[1, 0, 2 : len(MESH.nodes)]]}, r"K resists rigid motion"),
        ({"interfaces": {"base": BASE, "tip": [*TIP, BASE[0]]}}, f"'base' and 'tip' overlap: both have node {BASE[0]}"),
        ({"interfaces": {"base": [0, 99]}}, r"'base' has node 99, but nodes are numbered from 0 to 15"),
        ({"interfaces": {"base": []}}, r"'base': Interface: nodes is empty"),
        ({"interfaces": {"base": [0, 0, 1]}}, r"node 0 stands twice"),
        ({"interfaces": {"base": [0, 1]}}, r"its nodes lie on one line"),
        ({"interfaces": [1]}, r"interfaces is .*which is not a mapping"),
        ({"interfaces": {"base": {0: 1.0, 1: -1.0, 2: 1.0}}}, r"weight of node 1"),
        ({"points": {"tip": 3}}, r"'tip' is both an interface and a point"),
        ({"modes": None}, r"neither modes nor highest is given"),
        ({"modes": 47}, r"modes is 47, but the body has 24 besides its interfaces"),
        ({"modes": 65}, r"modes is 65, but must be a whole number from 0 to 64"),
        ({"modes": 0, "interfaces": {"base": BASE}}, r"has 0 modes"),
        ({"highest": -1.0}, r"highest"),
        ({"method": "guyan"}, r"method is 'guyan'. Give 'craig-bampton' or 'free'"),
        ({"frame": "basis"}, r"frame is 'basis', which is no interface. The nearest name is 'base'"),
        ({"damping": [0.1]}, r"damping has 1 entries, but must have 8"),
        ({"damping": -0.1}, r"damping"),
        ({"damping": lambda w: -1.0}, r"damping at .* rad/s"),
    ],
)  # fmt: skip
def test_what_no_body_has_is_refused_by_name(changes: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words) as found:
        fm.ModalBody.from_matrices("rod", **given(**changes))
    assert "rod" in str(found.value)


@pytest.mark.parametrize("seed", range(8))
def test_parts_that_nothing_connects_are_refused_whatever_round_off_their_pivots_have(seed: int) -> None:
    mesh = meshes.block((2, 1, 1), (0.3, 0.05, 0.04), np.random.default_rng(seed))
    K, M = (np.kron(np.eye(2), A) for A in (mesh.K, mesh.M))
    nodes = np.vstack([mesh.nodes, mesh.nodes + np.random.default_rng(seed).normal(size=3)])
    with pytest.raises(fm.ModelError, match="move without strain"):
        fm.ModalBody.from_matrices("rod", K=K, M=M, nodes=nodes, interfaces={}, modes=3, damping=0.0)


def test_a_pivot_of_round_off_is_no_stiffness() -> None:
    K = sparse.csr_array([[2.0, -2.0], [-2.0, 2.0 * (1.0 + 2.0**-50)]])
    with pytest.raises(fm.ModelError, match="seen at the node at 1, 0, 0 m"):
        Factor(K, np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), "rod")


def test_an_interface_says_what_it_cannot_have() -> None:
    with pytest.raises(fm.ModelError, match="weights have no meaning for a rigid tie"):
        fm.Interface([1, 2, 3], weights=[1.0, 2.0, 3.0])
    with pytest.raises(fm.ModelError, match=r"tie is 'glued'. Give 'rigid' or 'averaged'"):
        fm.Interface([1, 2, 3], tie="glued")
    with pytest.raises(fm.ModelError, match="Rayleigh: mass"):
        fm.Rayleigh(-1.0, 0.0)
