"""Deployable nets of scissors: their mobility and their degree of redundancy are those of closed forms."""

from collections.abc import Callable

import numpy as np
import pytest

import fmumbs as fm


def lattice(n: int, angle: float, unit: float) -> fm.Model:
    """n bars in each of two directions of a plane, pinned where they cross; the first one on a hinge."""
    model = fm.Model("lattice")
    bars = {
        name: [fm.Body(f"{name}{i}", mass=1, com=(unit, 0, 0), inertia=(unit**2,) * 3) for i in range(n)]
        for name in "pq"
    }
    model.add(*bars["p"], *bars["q"], fm.Revolute("G", model.ground.at(), bars["p"][0].at(), axis="y", q0=-angle))
    for i, one in enumerate(bars["p"]):
        for j, other in enumerate(bars["q"]):
            ends = one.at(unit * j, 0, 0), other.at(unit * i, 0, 0)
            model.add(fm.Revolute(f"J{i}_{j}", *ends, axis="y", q0=2 * angle))
    return model


def deployable(n: int, angle: float, unit: float) -> fm.Model:
    """n x n upright pairs of hubs; between neighbours a pair of scissors, from the lower hub of one to the upper one
    of the other. The first lower hub stands."""
    model, body = fm.Model("deployable"), {}

    def add(name: str) -> None:
        body[name] = fm.Body(name, mass=1, com=(0.1 * unit, 0, 0), inertia=(unit**2,) * 3)
        model.add(body[name])

    for i, j in np.ndindex(n, n):
        add(f"low{i}_{j}")
        add(f"high{i}_{j}")
    model.add(fm.Weld("G", model.ground.at(), body["low0_0"].at()))
    for i, j in np.ndindex(n, n):
        for u, v, axis, sign in ((i + 1, j, "y", -1), (i, j + 1, "x", 1)):
            if u == n or v == n:
                continue
            middle, end = (tuple(unit * x * np.array([axis == "y", axis == "x", 0])) for x in (1, 2))
            tag = f"{i}_{j}{axis}"
            for bar, here, there, side in (("up", "low", "high", sign), ("down", "high", "low", -sign)):
                add(bar + tag)
                one, other = body[f"{here}{i}_{j}"], body[f"{there}{u}_{v}"]
                model.add(
                    fm.Revolute(f"a{bar}{tag}", one.at(), body[bar + tag].at(), axis=axis, q0=side * angle),
                    fm.Revolute(f"b{bar}{tag}", body[bar + tag].at(*end), other.at(), axis=axis, q0=-side * angle),
                )
            pin = body["up" + tag].at(*middle), body["down" + tag].at(*middle)
            model.add(fm.Revolute(f"x{tag}", *pin, axis=axis, q0=-2 * sign * angle))
    return model


CASES = [(lattice, 3, 2), (lattice, 6, 2), (deployable, 2, 1), (deployable, 4, 1)]


@pytest.mark.parametrize(("make", "n", "mobility"), CASES)
def test_mobility_and_redundancy(make: Callable[[int, float, float], fm.Model], n: int, mobility: int) -> None:
    rng = np.random.default_rng([244, n])
    model = make(n, rng.uniform(0.2, 1.2), float(10.0 ** rng.uniform(-3, 3)))
    solver = fm.Solver(fm.compile(model, everything=True))
    solver.assemble()
    size = solver.jacobian.shape[1]
    assert size - np.count_nonzero(solver.active_rows) == mobility
    constraints = sum(6 if isinstance(joint, fm.Weld) else 5 for joint in model.joints)
    assert fm.uniqueness(model).stress.degree == constraints - 6 * len(model.bodies) + mobility


@pytest.mark.parametrize(("make", "n", "mobility"), CASES)
def test_neighbours_are_found_along_motions(
    make: Callable[[int, float, float], fm.Model], n: int, mobility: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the search for the nearest configuration, which takes minutes for a net of 196 loops."""

    def search(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(fm.Solver, "set_state", search)
    found = fm.uniqueness(make(n, 0.7, 1.0))
    assert found.nearby == (found.rank,) * 3
    assert 0.0 < max(abs(kept - found.gap.kept) for kept in found.nearby_kept) < 0.3 * found.gap.kept
