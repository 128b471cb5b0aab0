"""Bodies from finite elements: a large mesh is reduced, and what geometric stiffness costs.

    python benchmarks/finite_elements.py [--nodes 50000] [--quick]

A block of tetrahedra of second order with two rigid ends becomes a body of 20 modes: processor time and the largest
memory of it, with the matrices made before. Then a body of ten modes, a free solid rod, with and without stiffening:
processor time of an evaluation, in turns, median of 15, and of a step of Runge and Kutta.
"""

import argparse
import resource
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fmumbs as fm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

STEEL: dict[str, float] = {"E": 2.1e11, "nu": 0.3, "density": 7850.0}


def block(cells: tuple[int, int, int], sides: tuple[float, float, float]) -> tuple[Any, Any, dict[str, Any]]:
    from skfem import Basis, ElementTetP2, MeshTet

    axes = (np.linspace(0.0, side, n + 1) for side, n in zip(sides, cells, strict=True))
    basis = Basis(MeshTet.init_tensor(*axes), ElementTetP2())
    nodes = basis.doflocs.T
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("base", 0.0), ("tip", sides[0]))}
    return nodes, basis.element_dofs.T, ends


def large(count: int) -> None:
    from fmumbs.finite_elements.solid import solid

    n = max(2, round((count / (8 * 8)) ** (1 / 3)))
    nodes, cells, ends = block((8 * n, n, n), (0.8, 0.1, 0.1))
    made = solid(nodes, cells, **STEEL, where="b")
    K, M = made.K, made.M
    begin = time.process_time()
    body = fm.ModalBody.from_matrices("b", K=K, M=M, nodes=nodes, interfaces=ends, modes=20, damping=0.0)
    took = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(nodes)} nodes, {K.nnz} entries of K: {body.modes} modes in {took:.1f} s, {peak:.1f} GB")


def cost(turns: int) -> None:
    solvers = {}
    for stiffening in (False, True):
        nodes, cells, ends = block((10, 1, 1), (0.5, 0.03, 0.02))
        body = fm.ModalBody.from_solid(
            "b", nodes=nodes, tetrahedra=cells, interfaces=ends, modes=4, damping=0.0, stiffening=stiffening, **STEEL
        )
        assert body.modes == 10
        model = fm.Model("rod", gravity=(0, 0, -9.81))
        model.add(body, fm.Spherical("j", model.ground.at(), body.point("base"), u0=(1.0, 2.0, 30.0)))
        solvers[stiffening] = fm.Solver(model)
        solvers[stiffening].assemble()
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(turns):
        for stiffening, solver in solvers.items():
            begin = time.process_time()
            for k in range(3000):
                solver.set("b.q[1]", 1e-6 * k)
                solver.evaluate()
            times[stiffening].append((time.process_time() - begin) / 3000)
    begin = time.process_time()
    for k in range(3000):
        solvers[False].set("b.q[1]", 1e-6 * k)
    calls = (time.process_time() - begin) / 3000
    plain, stiff = (median(times[s]) - calls for s in (False, True))
    print(f"ten modes: {1e6 * plain:.2f} us an evaluation, with stiffening {1e6 * stiff:.2f}, {stiff / plain:.2f} fold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--quick", action="store_true", help="5000 nodes")
    options = parser.parse_args()
    cost(5 if options.quick else 15)
    large(5000 if options.quick else options.nodes)


if __name__ == "__main__":
    main()
