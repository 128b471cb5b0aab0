"""The same block from scikit-fem and from CalculiX 2.20: where they differ, and why.

Both have the same stiffness. CalculiX integrates the mass of a tetrahedron of second order by four points, which are
exact for polynomials of degree two; the product of two shape functions is of degree four. With these points the
matrices are the same; the frequencies differ by what the rule leaves, a part of the fourth power of the size of
elements over the wavelength.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support import calculix
from support.robots import DATA

pytest.importorskip("skfem")

WRITTEN = 1e-12  # digits of its files: fourteen
PRINTED = 1e-6  # digits of its frequencies: eight, of a search that stops there
# *FREQUENCY of CalculiX 2.20 on 16 x 2 x 2 blocks of six tetrahedra [rad/s]: the first four elastic modes
SAMPLED = (9903.137, 16149.67, 26747.61, 41912.65)



def of_solid(nodes: Any, tetrahedra: Any) -> Any:
    return fm.ModalBody.from_solid(
        "b", nodes=nodes, tetrahedra=tetrahedra, E=calculix.E, nu=calculix.NU, density=calculix.DENSITY,
        interfaces={}, modes=4, damping=0.0,
    ).frequencies  # fmt: skip


def of_file(path: Path) -> Any:
    found = fm.read_matrices(path)
    return fm.ModalBody.from_matrices(
        "b", K=found.K, M=found.M, nodes=found.nodes, interfaces={}, modes=4, damping=0.0
    ).frequencies  # fmt: skip


def by_four_points(nodes: Any, tetrahedra: Any) -> tuple[Any, Any]:
    """K and M by the rule of four points, one element after another: shape functions of the corners' coordinates."""
    a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
    points = np.full((4, 4), a) + (b - a) * np.eye(4)
    edges = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    lam = calculix.E * calculix.NU / ((1 + calculix.NU) * (1 - 2 * calculix.NU))
    mu = calculix.E / (2 * (1 + calculix.NU))
    size = 3 * len(nodes)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    for cell in tetrahedra:
        P = np.hstack([np.ones((4, 1)), nodes[cell[:4]]])
        volume, slopes = abs(np.linalg.det(P)) / 6, np.linalg.inv(P)[1:].T  # (4, 3)
        rows = (3 * cell[:, None] + np.arange(3)).ravel()
        for c in points:
            N = np.array([*(c * (2 * c - 1)), *(4 * c[i] * c[j] for i, j in edges)])
            middles = [4 * (c[i] * slopes[j] + c[j] * slopes[i]) for i, j in edges]
            G = np.vstack([(4 * c - 1)[:, None] * slopes, middles])
            k = lam * np.einsum("ia,jb->iajb", G, G) + mu * np.einsum("ib,ja->iajb", G, G)
            k += mu * np.einsum("ic,jc,ab->iajb", G, G, np.eye(3))
            K[np.ix_(rows, rows)] += volume / 4 * k.reshape(30, 30)
            M[np.ix_(rows, rows)] += calculix.DENSITY * volume / 4 * np.kron(np.outer(N, N), np.eye(3))
    return K, M


def test_its_matrices_are_those_of_four_points() -> None:
    found = fm.read_matrices(DATA / "elements" / "rod.sti")
    text = (DATA / "elements" / "rod.inp").read_text().split("ELSET=ROD\n")[1].split("*")[0]
    cells = np.array([line.split(",")[1:] for line in text.splitlines()], int) - 1
    K, M = by_four_points(found.nodes, cells)
    assert_allclose(found.K.toarray(), K, rtol=0, atol=WRITTEN * abs(K).max())
    assert_allclose(found.M.toarray(), M, rtol=0, atol=WRITTEN * abs(M).max())
    assert np.linalg.matrix_rank(M) < len(M)  # singular


def test_its_frequencies_are_sampled() -> None:
    """Within what the rule leaves of the fourth mode here; of the first three within 5e-5."""
    found = of_solid(*calculix.block((16, 2, 2)))
    assert_allclose(found[:3], SAMPLED[:3], rtol=5e-5)
    assert_allclose(found, SAMPLED, rtol=1e-4)


@pytest.mark.skipif(calculix.CCX is None, reason="needs CalculiX: apt-get install calculix-ccx")
def test_it_gives_the_same_body(tmp_path: Path) -> None:
    gaps = []
    for cells in ((5, 1, 1), (10, 2, 2)):
        nodes, tetrahedra = calculix.block(cells)
        calculix.run(tmp_path / "k.inp", nodes, tetrahedra)
        theirs = of_file(tmp_path / "k.sti")
        calculix.run(tmp_path / "f.inp", nodes, tetrahedra, matrices=False)
        printed = re.findall(r"^ +\d+ +\S+ +(\S+) +\S+ +\S+ *$", (tmp_path / "f.dat").read_text(), re.M)
        assert_allclose(theirs, np.array(printed, float)[6:10], rtol=PRINTED)
        gaps.append(theirs / of_solid(nodes, tetrahedra) - 1.0)
    assert (gaps[1][:2] < 5e-5).all()
    assert (gaps[0][:3] > 8.0 * gaps[1][:3]).all()  # fourth order: elements of half the size
