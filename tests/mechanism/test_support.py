"""Flexible supports and bushings against dense models of a rigid body on springs and dampers."""

import numpy as np
import pytest

import fmumbs as fm
from support.energy import energy_and_power
from support.sweeps import seeds

G = 9.81


def cross(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def seen_from(M, body):
    """Centre of mass and inertia of a body in the axes of a point on it."""
    R = M.X_BP.rotation.matrix
    return R.T @ (np.array(body.com) - M.X_BP.translation), R.T @ np.array(body.inertia) @ R


def inertia_matrix(M, body):
    """(6, 6) of (translation of the point, rotation), in its axes."""
    (c, inertia), m = seen_from(M, body), body.mass
    return np.block([[m * np.eye(3), -m * cross(c)], [m * cross(c), inertia - m * cross(c) @ cross(c)]])


def random_base(rng):
    moments = rng.uniform(4, 6, 3)
    return fm.Body("base", mass=rng.uniform(50, 200), com=rng.uniform(-0.2, 0.2, 3), inertia=moments)


def supported(rng, rigid=False):
    base = random_base(rng)
    layers = [
        fm.Layer(rng.uniform(-1, 1, (count, 3)), stiffness=rng.uniform(1e7, 4e7, 3), damping=rng.uniform(1e3, 4e3, 3))
        for count in rng.integers(3, 6, rng.integers(1, 4))  # two points alone let it turn about their line
    ]
    model = fm.Model("support")
    ground = model.ground.at(0.3, -0.2, 0.1, rotation=fm.Rotation.rpy(*rng.uniform(-3, 3, 3)))
    M = base.at(*rng.uniform(-0.1, 0.1, 3), rotation=fm.Rotation.rpy(*rng.uniform(-3, 3, 3)))
    model.add(base, fm.FlexibleSupport("support", ground, M, layers=layers, rigid=rigid))
    return model, base, layers


def matrices(layers):
    """K and D of Eqs 15, by hand."""
    K, D = np.zeros((6, 6)), np.zeros((6, 6))
    for layer in layers:
        for place in layer.points:
            B = np.hstack([np.eye(3), -cross(place)])
            K += B.T @ np.diag(layer.stiffness) @ B
            D += B.T @ np.diag(layer.damping) @ B
    return K, D


@pytest.mark.parametrize("seed", seeds(5, 100))
def test_the_sag_and_the_six_frequencies_are_those_of_the_dense_model(seed):
    model, base, layers = supported(np.random.default_rng(seed))
    K, _ = matrices(layers)
    F, M = model["support"].ends
    weight = F.X_BP.rotation.matrix.T @ (0, 0, -base.mass * G)
    sag = np.linalg.solve(K, np.concatenate([weight, np.cross(seen_from(M, base)[0], weight)]))
    found = fm.equilibrium(model)
    np.testing.assert_allclose(found.solver.get("support_base.q"), sag, atol=2e-3 * np.abs(sag).max())
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(inertia_matrix(M, base), K)).real)
    np.testing.assert_allclose(found.frequencies, np.sqrt(squares), rtol=2e-3)  # gravity's own stiffness: m g c / K
    assert found.stable


@pytest.mark.parametrize("seed", range(3))
def test_energy_is_lost_by_the_power_of_the_dampers(seed):
    rng = np.random.default_rng(seed)
    model, base, layers = supported(rng)
    model.add(fm.Load("kick", base.at(0.1, 0.2, 0.3)))
    solver = fm.Solver(fm.compile(model, everything=True).with_options(tolerance=1e-11))
    solver.set("support_base.qd", rng.uniform(-0.3, 0.3, 6))
    solver.assemble()
    dampers = [(f"support_{i}_{j}", np.array(layer.damping)) for i, layer in enumerate(layers, 1)
               for j in range(1, len(layer.points) + 1)]  # fmt: skip

    def power():
        return sum(float(d @ solver.get(f"{name}.qd")[:3] ** 2) for name, d in dampers)

    fell, lost = energy_and_power(solver, power, 1e-5, 400)
    np.testing.assert_allclose(fell, lost, rtol=1e-6)


def test_a_rigid_support_does_not_move():
    model, _, _ = supported(np.random.default_rng(1), rigid=True)
    solver = fm.Solver(model)
    solver.assemble()
    before = solver.get("base.r")
    assert np.linalg.norm(before - (0.3, -0.2, 0.1)) < 0.18  # M is up to 0.1 m from its origin
    solver.step(0.1)
    np.testing.assert_array_equal(solver.get("base.r"), before)


def test_a_layers_number_holds_along_all_axes():
    layer = fm.Layer([(1, 0, 0)], stiffness=3.0, damping=0.5)
    assert (layer.stiffness, layer.damping) == ((3.0, 3.0, 3.0), (0.5, 0.5, 0.5))


def test_a_layers_points_may_come_one_by_one_and_are_kept():
    places = [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0)]
    layer = fm.Layer((place for place in places), stiffness=3.0)
    for _ in range(2):  # a support reads them more than once
        assert np.array_equal(list(layer.points), places)


def test_bad_supports_are_refused():
    model, base = fm.Model("m"), fm.Body("base", mass=1.0)
    with pytest.raises(fm.ModelError, match="layers are none"):
        fm.FlexibleSupport("s", model.ground.at(), base.at())
    with pytest.raises(fm.ModelError, match="on the ground"):
        fm.FlexibleSupport("s", base.at(), model.ground.at(), rigid=True)
    with pytest.raises(fm.ModelError, match="points are none"):
        fm.Layer([], stiffness=1.0)
    with pytest.raises(fm.ModelError, match="below zero"):
        fm.Layer([(0, 0, 0)], stiffness=(1, 2, -3))


def positive(rng, units):
    root = rng.normal(size=(6, 6))
    return (root @ root.T + 0.2 * np.eye(6)) * np.outer(units, units)


def bushing(rng, K, D, **load):
    body = fm.Body("body", mass=rng.uniform(1, 3), inertia=rng.uniform(0.4, 0.6, 3))
    model = fm.Model("bushing", gravity=(0, 0, 0))
    turned = fm.Rotation.rpy(*rng.uniform(-1, 1, 3))
    place = rng.uniform(-1, 1, 3)
    ground = model.ground.at(*place, rotation=turned)
    model.add(body, fm.Bushing("mount", ground, body.at(), stiffness_matrix=K, damping_matrix=D))
    model.add(fm.Load("load", body.at(), **load))
    return model, body, turned.matrix, place


@pytest.mark.parametrize("seed", range(6))
def test_a_bushing_has_the_matrices_that_it_is_given(seed):
    rng = np.random.default_rng(seed)
    units = np.array((30, 30, 30, 10, 10, 10.0))
    K, D = positive(rng, units), positive(rng, units / 10)
    if seed == 4:
        D = np.zeros((6, 6))
    if seed == 5:  # nothing resists two directions but dampers
        one, other = rng.normal(size=(6, 2)), rng.normal(size=(6, 4))
        K, D = other @ other.T * 400, one @ one.T * 40 + K / 50
    small = 1e-4
    force, torque = rng.uniform(-1, 1, 3) * small, rng.uniform(-1, 1, 3) * small
    model, body, R, place = bushing(rng, K, D, force=force, torque=torque)
    M = np.diag([body.mass] * 3 + [body.inertia[i][i] for i in range(3)])
    solver = fm.Solver(model)
    v = rng.uniform(-1, 1, 6) * small
    solver.set("mount.qd", v)
    solver.assemble()
    a = np.concatenate([R.T @ solver.get("body.a"), R.T @ solver.get("body.alpha")])
    load = np.concatenate([R.T @ force, R.T @ torque])
    np.testing.assert_allclose(M @ a, load - D @ v, atol=1e-3 * small * np.abs(D).max() + 1e-3 * small)
    if seed < 5:
        found = fm.equilibrium(model)
        x = np.linalg.solve(K, load)
        np.testing.assert_allclose(R.T @ (found.solver.get("body.r") - place), x[:3], atol=1e-3 * np.abs(x).max())
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
        np.testing.assert_allclose(found.frequencies, np.sqrt(squares), rtol=1e-3)


@pytest.mark.parametrize("cut", [False, True])
def test_six_stiffnesses_hold_in_a_tree_and_in_a_loop(cut):
    """Beside the forces of the bushing by hand, with a second way to the body where it closes a loop."""
    K, small = np.array((100, 200, 300, 40, 50, 60.0)), 1e-4
    model, body = fm.Model("mount", gravity=(0, 0, 0)), fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    load = fm.Load("load", body.at(), force=(small, 2 * small, -small), torque=(small, small, -small))
    model.add(body, fm.Bushing("mount", model.ground.at(), body.at(), stiffness=K, damping=K / 10, cut=cut), load)
    if cut:
        model.add(fm.Free("way", model.ground.at(), body.at()))
    found = fm.equilibrium(model).solver
    np.testing.assert_allclose(found.get("mount.q"), np.array((1, 2, -1, 1, 1, -1)) * small / K, rtol=1e-4)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"stiffness_matrix": np.eye(5)}, r"\(6, 6\) finite numbers"),
        ({"stiffness_matrix": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"damping_matrix": -np.eye(6)}, "negative eigenvalue"),
        ({"stiffness": (1, 2)}, "2 entries, but must have 6"),
    ],
)
def test_bad_bushings_are_refused(given, told):
    model, body = fm.Model("m"), fm.Body("body", mass=1.0)
    with pytest.raises(fm.ModelError, match=told):
        fm.Bushing("mount", model.ground.at(), body.at(), **given)


def test_a_bushing_with_matrices_can_be_replaced():
    import dataclasses

    model, body = fm.Model("m"), fm.Body("body", mass=1.0, inertia=(1, 1, 1))
    K = positive(np.random.default_rng(3), np.ones(6))
    mount = fm.Bushing("mount", model.ground.at(), body.at(), stiffness_matrix=K, cut=True)
    assert dataclasses.replace(mount) == mount
