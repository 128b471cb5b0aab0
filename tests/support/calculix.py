"""Decks of CalculiX for blocks of tetrahedra of second order, and its runs."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from support import meshes

E, NU, DENSITY = 2.1e11, 0.3, 7850.0
SIDES = (0.2, 0.02, 0.012)
_TURNED = [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]  # of a left-handed tetrahedron
CCX = shutil.which("ccx")


def block(cells: tuple[int, int, int]) -> tuple[Any, Any]:
    """Nodes and right-handed tetrahedra."""
    nodes, tetrahedra = meshes.with_middles(meshes.block(cells, SIDES))
    corners = nodes[tetrahedra[:, :4]]
    left = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[left] = tetrahedra[left][:, _TURNED]
    return nodes, tetrahedra


def run(path: Path, nodes: Any, tetrahedra: Any, preload: Iterable[str] = (), matrices: bool = True) -> None:
    """Writes a deck and solves it; preload: lines of a step before, whose stresses count and whose
    supports are removed.
    """
    rows = ["*NODE, NSET=ALL", *(f"{k + 1}, {x:.12g}, {y:.12g}, {z:.12g}" for k, (x, y, z) in enumerate(nodes)),
            "*ELEMENT, TYPE=C3D10, ELSET=ROD",
            *(", ".join(map(str, [k + 1, *(cell + 1)])) for k, cell in enumerate(tetrahedra)),
            "*MATERIAL, NAME=STEEL", "*ELASTIC", f"{E!r}, {NU!r}", "*DENSITY", f"{DENSITY!r}",
            "*SOLID SECTION, ELSET=ROD, MATERIAL=STEEL", *preload,
            *(("*STEP, PERTURBATION", "*BOUNDARY, OP=NEW") if preload else ("*STEP",)),
            "*FREQUENCY, SOLVER=MATRIXSTORAGE" if matrices else "*FREQUENCY", "16", "*END STEP", ""]  # fmt: skip
    path.write_text("\n".join(rows))
    assert CCX is not None
    subprocess.run([CCX, "-i", path.stem], cwd=path.parent, check=True, capture_output=True, timeout=300)
