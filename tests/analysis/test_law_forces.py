"""Which forces of laws that stick, and of couplings, a rigid model determines, against ranks of all rows together."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.run.reactions import uniqueness
from support.sweeps import seeds


class Drawn:
    """Two to four bars in a loop, some locked by a parallel joint, with brakes, gears and arms beside the loop."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.model = model = fm.Model("drawn")
        turned = fm.Rotation.rpy(*rng.uniform(-3, 3, 3))
        count = int(rng.integers(2, 5))
        corners = np.cumsum(rng.uniform(0.3, 1.0, (count + 1, 2)) * rng.choice([-1, 1], (count + 1, 2)), axis=0)
        places = np.column_stack([corners, np.zeros(count + 1)])
        ground = model.ground.at(rotation=turned)
        at: Any = ground
        for k in range(count):
            body, step = fm.Body(f"b{k}", mass=1.0, inertia=(1, 1, 1)), places[k + 1] - places[k]
            model.add(body, fm.Revolute(f"J{k}", at, body.at(), axis="z", q0=0.0))
            at = body.at(*step)
        end = model.ground.at(*(turned @ (places[-1] - places[0])), rotation=turned)
        model.add(fm.Revolute("close", end, at, axis="z", cut=True))
        for k in range(int(rng.integers(3))):
            arm = fm.Body(f"a{k}", mass=1.0, inertia=(1, 1, 1))
            on = model[f"b{rng.integers(count)}"].at(*rng.uniform(-1, 1, 2), 0.0)
            model.add(arm, fm.Revolute(f"A{k}", on, arm.at(), axis="z"))
        self.tree = [joint for joint in model.joints if joint.name != "close"]
        if rng.random() < 0.4:  # locked: a second joint beside one of the loop
            twin = self.tree[int(rng.integers(len(self.tree)))]
            place, R = np.array((0.37, 0.41, 0.0)), twin.F.X_BP.rotation
            start = twin.F.X_BP.translation + R.matrix @ place
            F, M = twin.F.body.at(*start, rotation=R), twin.M.body.at(*(twin.M.X_BP.translation + place))
            model.add(fm.Revolute("lock", F, M, axis="z", cut=True))
        self.gears, self.brakes = [], []
        for k in range(int(rng.integers(3))):
            one, other = rng.choice(len(self.tree), 2, replace=False)
            gear = fm.Coupling(f"G{k}", [(self.tree[one], 1.0), (self.tree[other], rng.uniform(0.5, 2))], offset=0.0)
            model.add(gear)
            self.gears.append(gear)
        for k in range(int(rng.integers(1, 4))):
            law = fm.Law.brake(f"L{k}", self.tree[int(rng.integers(len(self.tree)))], rng.uniform(0.5, 2))
            model.add(law)
            self.brakes.append(law)
        model.add(fm.Law.polynomial("smooth", self.tree[0], [[1.0, -1.0]]))

    def rows(self, solver: fm.Solver) -> tuple[Any, Any]:
        """Rows of loops and couplings, and of the brakes, on the velocities of the tree."""
        names = [name for name in solver.joint_names if any(name == joint.name for joint in self.tree)]
        place = {name: k for k, name in enumerate(names)}
        held = np.zeros((len(self.brakes), len(names)))
        for k, law in enumerate(self.brakes):
            held[k, place[law.on.name]] = 1.0
        tied = np.zeros((len(self.gears), len(names)))
        for k, gear in enumerate(self.gears):
            for joint, _, ratio in gear.coordinates:
                tied[k, place[joint.name]] += ratio
        return tied, held


def rank(rows: Any) -> int:
    return int(np.linalg.matrix_rank(rows, tol=1e-8)) if rows.size else 0


def unique(rows: Any, k: int) -> bool:
    """Whether the multiplier of a row is: no combination of the others gives it."""
    return rank(rows) > rank(np.delete(rows, k, axis=0))


@pytest.mark.parametrize("seed", seeds(16, 1000))
def test_forces_are_unique_where_no_other_row_does_their_work(seed: int) -> None:
    drawn = Drawn(seed)
    solver = fm.Solver(drawn.model)
    solver.assemble()
    found = uniqueness(drawn.model, solver)
    tied, held = drawn.rows(solver)
    loops = solver.jacobian
    loops = loops[np.abs(loops).max(axis=1) > 0] if loops.size else np.zeros((0, tied.shape[1]))
    own = np.array([row for row in loops if not any(_parallel(row, other) for other in tied)]).reshape(
        -1, tied.shape[1]
    )
    couplings = np.vstack([tied, own])
    expected = [("coupling", gear.name, unique(couplings, k)) for k, gear in enumerate(drawn.gears)]
    everything = np.vstack([held, couplings])
    expected += [("law", law.name, unique(everything, k)) for k, law in enumerate(drawn.brakes)]
    assert [(one.kind, one.name, one.unique) for one in found.forces] == expected
    for one in found.forces:
        assert (f"the force of {one.kind} '{one.name}' is not unique" in str(found)) is not one.unique


def _parallel(one: Any, other: Any) -> bool:
    return bool(np.linalg.norm(np.outer(one, other) - np.outer(other, one)) < 1e-9 * np.linalg.norm(one))
