"""Bodies from matrices against dense eigenproblems; what the choice of nodes, units and frames must not change."""

from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.spatial.transform import Rotation as Turn

import fmumbs as fm
from support import meshes

# Digits of K alone: 1e-16 times the ratio of its largest to its smallest elastic eigenvalue, 1e5 in these meshes.
EXACT = 1e-9
SAME = 1e-10

SIDES = (0.5, 0.06, 0.05)


def rod(seed: int = 0, cells: tuple[int, int, int] = (4, 1, 1)) -> meshes.Mesh:
    return meshes.block(cells, SIDES, np.random.default_rng(seed))


def body(mesh: meshes.Mesh, **changes: Any) -> fm.ModalBody:
    base, tip = mesh.ends
    given: dict[str, Any] = {
        "K": sparse.csr_array(mesh.K), "M": mesh.M, "nodes": mesh.nodes, "modes": 6, "damping": 0.0,
        "interfaces": {"base": base, "tip": tip},
    }  # fmt: skip
    return fm.ModalBody.from_matrices("rod", **(given | changes))


def averaged(mesh: meshes.Mesh) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        name: {n: rng.uniform(0.5, 2.0) for n in nodes} for name, nodes in zip(("base", "tip"), mesh.ends, strict=True)
    }


def squares(found: fm.ModalBody) -> Any:
    return np.array(found.frequencies) ** 2


def elastic(K: Any, M: Any, rigid: int) -> Any:
    return linalg.eigh(K, M, eigvals_only=True)[rigid:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["craig-bampton", "free"])
def test_all_modes_of_a_free_body_are_those_of_its_matrices(seed: int, method: str) -> None:
    mesh = rod(seed)
    size = len(mesh.K)
    modes = size - 12 if method == "craig-bampton" else size - 6
    found = body(mesh, interfaces=averaged(mesh), modes=modes, method=method)
    np.testing.assert_allclose(squares(found), elastic(mesh.K, mesh.M, 6), rtol=EXACT)


@pytest.mark.parametrize("seed", range(3))
def test_all_modes_in_a_tangent_frame_are_those_of_the_clamped_body(seed: int) -> None:
    mesh = rod(seed)
    free = np.setdiff1d(np.arange(len(mesh.K)), [3 * n + a for n in mesh.ends[0] for a in range(3)])
    found = body(mesh, interfaces={"base": mesh.ends[0]}, frame="base", modes=len(free))
    np.testing.assert_allclose(
        squares(found), elastic(mesh.K[np.ix_(free, free)], mesh.M[np.ix_(free, free)], 0), rtol=EXACT
    )


@pytest.mark.parametrize("seed", range(6))
def test_rigid_ties_anywhere_give_the_frequencies_of_the_held_body(seed: int) -> None:
    """The six freedoms that are held for the factor may be those of an interface."""
    rng = np.random.default_rng(seed)
    cells = (int(rng.integers(2, 10)), 1, 1)
    mesh = meshes.block(cells, SIDES * rng.uniform(0.5, 2.0, 3), rng if seed % 2 else None)
    free = np.setdiff1d(np.arange(len(mesh.K)), [3 * n + a for n in mesh.ends[0] for a in range(3)])
    wanted = elastic(mesh.K[np.ix_(free, free)], mesh.M[np.ix_(free, free)], 0)[:3]
    found = squares(body(mesh, frame="base"))[:3]
    assert (found > wanted * (1.0 - EXACT)).all()
    np.testing.assert_allclose(found, wanted, rtol=2e-2)  # the tip is rigid here, and there are six modes


@pytest.mark.parametrize("method", ["craig-bampton", "free"])
@pytest.mark.parametrize("frame", [None, "base"])
@pytest.mark.parametrize("tie", ["rigid", "averaged"])
def test_static_deflections_are_exact_at_any_number_of_modes(method: str, frame: str | None, tie: str) -> None:
    mesh = rod(1)
    ends = {name: fm.Interface(nodes, tie=tie) for name, nodes in zip(("base", "tip"), mesh.ends, strict=True)}
    rng = np.random.default_rng(2)
    wrench = rng.normal(size=6) * np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    moved = _relative_motion(mesh, tie, wrench)
    for modes in (0, 1, 5):
        found = body(mesh, interfaces=ends, modes=modes, method=method, frame=frame)
        shapes = {name: np.array(rows) for name, rows in found.shapes}
        places = {p.name: np.array(p.X_BP.offset) for p in found.points}
        arm = places["tip"] - places["base"]
        back = np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])  # the same at the base
        q = np.linalg.solve(np.array(found.stiffness), shapes["tip"] @ wrench - shapes["base"] @ back)
        base, tip = q @ shapes["base"], q @ shapes["tip"]
        tip = tip - np.concatenate([base[:3] + np.cross(base[3:], arm), base[3:]])
        np.testing.assert_allclose(tip, moved, rtol=0, atol=EXACT * abs(moved).max())


def _relative_motion(mesh: meshes.Mesh, tie: str, wrench: Any) -> Any:
    """Motion of the tip relative to the base by dense elimination: G u of both, K u = G'(wrenches)."""
    rows = []
    for nodes in mesh.ends:
        middle = mesh.nodes[nodes].mean(axis=0)
        W = np.zeros((3 * len(nodes), 6))
        for k, n in enumerate(nodes):
            W[3 * k : 3 * k + 3, :3] = np.eye(3)
            W[3 * k : 3 * k + 3, 3:] = [np.cross(e, mesh.nodes[n] - middle) for e in np.eye(3)]
            W[3 * k : 3 * k + 3, 3:] = W[3 * k : 3 * k + 3, 3:].T
        columns = [3 * n + a for n in nodes for a in range(3)]
        rows.append((W, columns))
    size = len(mesh.K)
    if tie == "rigid":
        free = np.setdiff1d(np.arange(size), rows[0][1] + rows[1][1])
        T = np.zeros((size, len(free) + 6))  # the base stands still
        T[free, np.arange(len(free))] = 1.0
        T[np.ix_(rows[1][1], range(len(free), len(free) + 6))] = rows[1][0]
        load = np.zeros(len(free) + 6)
        load[-6:] = wrench
        return np.linalg.solve(T.T @ mesh.K @ T, load)[-6:]
    G = np.zeros((12, size))
    for k, (W, columns) in enumerate(rows):
        G[6 * k : 6 * k + 6, columns] = np.linalg.pinv(W)
    whole = np.block([[mesh.K, G[:6].T], [G[:6], np.zeros((6, 6))]])  # the base's mean motion is zero
    u = np.linalg.solve(whole, np.concatenate([G[6:].T @ wrench, np.zeros(6)]))[:size]
    return G[6:] @ u


def test_frequencies_converge_from_above() -> None:
    mesh = rod(4)
    exact = elastic(mesh.K, mesh.M, 6)
    before = np.full(6, np.inf)
    for modes in (0, 2, 4, 8, 14):
        found = squares(body(mesh, interfaces=averaged(mesh), modes=modes))[:6]
        assert (found <= before * (1 + EXACT)).all()
        assert (found >= exact[:6] * (1 - EXACT)).all()
        before = found


def test_highest_keeps_the_normal_modes_below_it() -> None:
    mesh = rod(2)
    clamped = [3 * n + a for nodes in mesh.ends for n in nodes for a in range(3)]
    free = np.setdiff1d(np.arange(len(mesh.K)), clamped)
    rates = np.sqrt(elastic(mesh.K[np.ix_(free, free)], mesh.M[np.ix_(free, free)], 0))
    for k in (0, 3, 7):
        found = body(mesh, modes=None, highest=float((rates[k] + rates[k + 1]) / 2))
        assert found.modes == 6 + k + 1


def test_integrals_are_those_over_the_elements() -> None:
    mesh = rod(3)
    found = body(mesh, interfaces=averaged(mesh), points={"n": 0}, modes=3)
    ones = np.ones_like(mesh.nodes)
    mass = moments_trace(mesh, ones) / 3
    assert found.mass == pytest.approx(mass, rel=SAME)
    second = meshes.moments(mesh, mesh.nodes, mesh.nodes)
    first = meshes.moments(mesh, ones, mesh.nodes)[0]
    np.testing.assert_allclose(np.array(found.com) * mass, first, rtol=SAME)
    about = (
        np.trace(second) * np.eye(3)
        - second
        - mass * (np.dot(found.com, found.com) * np.eye(3) - np.outer(found.com, found.com))
    )
    np.testing.assert_allclose(found.inertia, about, rtol=0, atol=SAME * about.max())
    shapes = _fields(mesh, found)
    for k, one in enumerate(shapes):
        np.testing.assert_allclose(found.shape_mass[k], meshes.moments(mesh, ones, one)[0], rtol=0, atol=SAME * mass)
        np.testing.assert_allclose(
            found.shape_moment[k], meshes.moments(mesh, mesh.nodes, one), rtol=0, atol=SAME * mass
        )
        for j, other in enumerate(shapes):
            wanted = meshes.moments(mesh, one, other)
            np.testing.assert_allclose(found.shape_product[k][j], wanted, rtol=0, atol=SAME * mass)


def moments_trace(mesh: meshes.Mesh, ones: Any) -> float:
    return float(np.trace(meshes.moments(mesh, ones, ones)))


def _fields(mesh: meshes.Mesh, found: fm.ModalBody) -> Any:
    """The displacement of every node by each mode, from a body on which every node is a point to measure at."""
    whole = body(mesh, interfaces=averaged(mesh), points={f"n{k}": k for k in range(len(mesh.nodes))}, modes=3)
    assert whole.stiffness == found.stiffness
    shapes = dict(whole.shapes)
    return np.array([np.array(shapes[f"n{k}"])[:, :3] for k in range(len(mesh.nodes))]).transpose(1, 0, 2)


@pytest.mark.parametrize("frame", [None, "base"])
def test_order_of_nodes_units_and_axes_of_the_mesh_change_nothing(frame: str | None) -> None:
    mesh, rng = rod(6), np.random.default_rng(7)
    plain = body(mesh, frame=frame)
    order = rng.permutation(len(mesh.nodes))
    turn, shift = Turn.random(random_state=3).as_matrix(), np.array([3.0, -1.0, 2.0])
    rows = (3 * order[:, None] + np.arange(3)).reshape(-1)
    spin = np.kron(np.eye(len(mesh.nodes)), turn)
    K, M = (spin @ A[np.ix_(rows, rows)] @ spin.T for A in (mesh.K, mesh.M))
    place = np.argsort(order)
    ends = {name: place[nodes].tolist() for name, nodes in zip(("base", "tip"), mesh.ends, strict=True)}
    other = body(mesh, K=K, M=M, nodes=mesh.nodes[order] @ turn.T + shift, interfaces=ends, frame=frame)
    np.testing.assert_allclose(squares(other), squares(plain), rtol=SAME)
    np.testing.assert_allclose(other.com, turn @ plain.com + shift, rtol=SAME)
    np.testing.assert_allclose(other.inertia, turn @ np.array(plain.inertia) @ turn.T, rtol=0, atol=SAME)
    for k, (one, two) in enumerate(zip(other.shape_mass, plain.shape_mass, strict=True)):
        sign = _sign(other, plain, turn, k)
        np.testing.assert_allclose(one, sign * turn @ two, rtol=0, atol=1e-8 * plain.mass)
    milli = body(mesh, K=mesh.K * 1e-3, M=mesh.M * 1e-3, nodes=mesh.nodes, frame=frame)  # kN, t, m
    np.testing.assert_allclose(squares(milli), squares(plain), rtol=SAME)
    assert milli.mass == pytest.approx(1e-3 * plain.mass, rel=SAME)


def _sign(one: fm.ModalBody, other: fm.ModalBody, turn: Any, k: int) -> float:
    a, b = (np.array(dict(found.shapes)["tip"])[k, :3] for found in (one, other))
    return float(np.sign(a @ turn @ b))


def test_modes_without_momentum_and_modes_that_leave_an_interface_at_rest() -> None:
    mesh = rod(8)
    mean = body(mesh)
    cross = np.array([[N[1][2] - N[2][1], N[2][0] - N[0][2], N[0][1] - N[1][0]] for N in mean.shape_moment])
    assert abs(np.array(mean.shape_mass)).max() < SAME * mean.mass
    assert abs(cross).max() < SAME * mean.mass
    for name in ("base", "tip"):
        tangent = body(mesh, frame=name)
        assert abs(np.array(dict(tangent.shapes)[name])).max() < SAME


def test_elements_with_rotations_have_modes_without_momentum() -> None:
    mesh = meshes.beam(4, 0.8, 20.0, 1e5, 50.0, 0.6, 1e-3, consistent=True)
    found = body(mesh, interfaces={"base": 0, "tip": 4}, modes=4)
    np.testing.assert_allclose(found.mass, 0.48, rtol=SAME)
    np.testing.assert_allclose(np.diag(found.inertia), [0.0008, 0.0256, 0.0256], rtol=SAME)
    cross = np.array([[N[1][2] - N[2][1], N[2][0] - N[0][2], N[0][1] - N[1][0]] for N in found.shape_moment])
    assert abs(cross).max() < SAME
    assert abs(np.array(found.shape_mass)).max() < SAME


def test_the_motion_of_an_interface_is_the_weighted_mean_of_its_nodes() -> None:
    mesh, rng = rod(5), np.random.default_rng(6)
    nodes, weights = mesh.ends[1], rng.uniform(0.2, 3.0, 4)
    corner = mesh.ends[0][0]
    around = np.unique(np.nonzero(mesh.K[3 * corner])[0] // 3)
    points = {f"n{k}": k for k in range(len(mesh.nodes))} | {
        "mean": fm.Interface(nodes, weights, "averaged"),
        "node": corner,
    }
    found = body(mesh, interfaces={}, modes=5, points=points)
    shapes = {name: np.array(rows) for name, rows in found.shapes}
    fields = np.array([shapes[f"n{k}"][:, :3] for k in range(len(mesh.nodes))])
    middle = np.average(mesh.nodes[nodes], axis=0, weights=weights)
    for name, of, at, by in (
        ("mean", nodes, middle, weights),
        ("node", around, mesh.nodes[corner], np.ones(len(around))),
    ):
        rigid = np.vstack(
            [np.hstack([np.eye(3), np.array([np.cross(e, mesh.nodes[n] - at) for e in np.eye(3)]).T]) for n in of]
        )
        root = np.repeat(np.sqrt(by), 3)[:, None]
        for mode in range(5):
            fit = np.linalg.lstsq(root * rigid, root[:, 0] * fields[of, mode].reshape(-1), rcond=None)[0]
            np.testing.assert_allclose(shapes[name][mode, 3:], fit[3:], rtol=0, atol=1e-8 * abs(shapes[name]).max())
            if name == "mean":
                np.testing.assert_allclose(shapes[name][mode, :3], fit[:3], rtol=0, atol=SAME)


def test_answers_under_conditions_are_those_of_the_whole_system() -> None:
    from fmumbs.finite_elements.elastic import Conditions, Elastic
    from fmumbs.finite_elements.matrices import finite_elements

    mesh, rng = rod(0, (6, 2, 2)), np.random.default_rng(3)
    fe = finite_elements(mesh.K, mesh.M, mesh.nodes, "rod")
    size, count = len(mesh.K), 8
    C, b, x = rng.normal(size=(count, size)), rng.normal(size=(size, 2)), 1e-9 * rng.normal(size=(count, 2))
    scale = mesh.K.max()
    whole = np.block([[mesh.K / scale, C.T], [C, np.zeros((count, count))]])
    wanted = np.linalg.solve(whole, np.vstack([b / scale, x]))[:size]
    elastic = Elastic(fe.K, fe.rigid, np.repeat(fe.nodes, 3, axis=0), "rod")
    found = Conditions(elastic, C).solve(b, x)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * abs(wanted).max())


def test_a_mass_matrix_with_nodes_without_mass_is_taken() -> None:
    mesh = rod(0, (3, 2, 2))
    lumped = np.diag(mesh.M.sum(axis=1))
    inner = [n for n in range(len(mesh.nodes)) if n not in mesh.ends[0] + mesh.ends[1]][:3]
    for n in inner:
        lumped[3 * n : 3 * n + 3] = 0.0
    found = body(mesh, M=lumped, modes=10)
    heavy = np.flatnonzero(np.diag(lumped) > 0)
    light = np.flatnonzero(np.diag(lumped) == 0)
    condensed = mesh.K[np.ix_(heavy, heavy)] - mesh.K[np.ix_(heavy, light)] @ np.linalg.solve(
        mesh.K[np.ix_(light, light)], mesh.K[np.ix_(light, heavy)]
    )
    exact = elastic(condensed, lumped[np.ix_(heavy, heavy)], 6)
    free = body(mesh, M=lumped, interfaces={}, modes=10)
    np.testing.assert_allclose(squares(free), exact[:10], rtol=EXACT)
    assert (squares(found)[:10] >= exact[:10] * (1 - EXACT)).all()


@pytest.mark.parametrize("count", [4, 12])
def test_lanczos_finds_what_dense_matrices_find(count: int) -> None:
    mesh = rod(9, (12, 3, 3))
    assert len(mesh.K) > 600
    found = body(mesh, interfaces={}, modes=count)
    np.testing.assert_allclose(squares(found), elastic(mesh.K, mesh.M, 6)[:count], rtol=EXACT)


def test_lanczos_finds_frequencies_that_are_twice_there() -> None:
    """A beam that bends alike in two planes; its K has stiffnesses over nine decades, which leaves seven digits."""
    mesh = meshes.beam(80, 0.8, 20.0, 1e5, 50.0, 0.6, 1e-3)
    found = squares(body(mesh, interfaces={}, modes=10))
    np.testing.assert_allclose(found, elastic(mesh.K, mesh.M, 6)[:10], rtol=1e-7)
    assert (np.diff(found) < 1e-6 * found[1:]).sum() >= 3


@pytest.mark.parametrize(
    "damping", [0.02, [0.01 * k for k in range(1, 13)], lambda w: 1e-5 * w, fm.Rayleigh(3.0, 1e-6)]
)
def test_damping_by_ratio_by_mode_by_function_and_rayleigh(damping: Any) -> None:
    found = body(rod(), damping=damping)
    for k, row in enumerate(found.table):
        w = 2 * np.pi * row.frequency
        wanted = damping(w) if callable(damping) else damping[k] if isinstance(damping, list) else damping
        assert row.damping == pytest.approx(wanted, rel=1e-12)
    if isinstance(damping, fm.Rayleigh):
        proportional = 3.0 * np.array(found.modal_mass) + 1e-6 * np.array(found.stiffness)
        np.testing.assert_allclose(found.damping, proportional, rtol=0, atol=1e-12 * proportional.max())


def test_all_clamped_modes_together_move_the_mass_that_is_free() -> None:
    mesh = rod()
    table = body(mesh, interfaces={"base": mesh.ends[0]}, frame="base", modes=3 * (len(mesh.nodes) - 4)).table
    free = np.flatnonzero(~np.isin(np.arange(len(mesh.M)) // 3, mesh.ends[0]))
    for axis in range(3):
        felt = mesh.M[free] @ np.tile(np.eye(3)[axis], len(mesh.nodes))
        whole = felt @ np.linalg.solve(mesh.M[np.ix_(free, free)], felt)
        share = np.array([row.share[axis] for row in table])
        assert share[-1] * body(mesh).mass == pytest.approx(whole, rel=EXACT)
        assert (np.diff(share) >= 0.0).all()


@pytest.mark.parametrize("rotations", [False, True])
def test_a_point_beside_its_nodes_moves_as_their_rigid_motion(rotations: bool) -> None:
    mesh = meshes.beam(6, 0.8, 20.0, 1e5, 50.0, 0.6, 1e-3) if rotations else rod(2)
    node, arm = mesh.ends[1][0], np.array([0.01, 0.03, -0.02])
    beside = fm.Interface(node, at=mesh.nodes[node] + arm)
    found = body(mesh, interfaces={"base": mesh.ends[0]}, points={"at": node, "beside": beside}, modes=5)
    shapes = {name: np.array(rows) for name, rows in found.shapes}
    wanted = shapes["at"][:, :3] + np.cross(shapes["at"][:, 3:], arm)
    np.testing.assert_allclose(shapes["beside"][:, :3], wanted, rtol=0, atol=SAME)
    assert abs(shapes["at"][:, 3:]).max() > 1e-2


def test_one_node_turns_as_what_is_around_it_where_the_body_turns_as_one() -> None:
    """A bar much stiffer at its end than elsewhere: the rotation there is that of a rigid tie of the same nodes."""
    mesh = rod(0)
    around = np.unique(np.nonzero(mesh.K[3 * mesh.ends[1][0]])[0] // 3)
    stiff = np.array(sorted({*around.tolist(), *mesh.ends[1]}))
    K = mesh.K.copy()
    rows = (3 * stiff[:, None] + np.arange(3)).reshape(-1)
    rigid = np.zeros((len(rows), 6))
    for k, n in enumerate(stiff):
        rigid[3 * k : 3 * k + 3, :3] = np.eye(3)
        rigid[3 * k : 3 * k + 3, 3:] = np.array([np.cross(e, mesh.nodes[n]) for e in np.eye(3)]).T
    onto, _ = np.linalg.qr(rigid)
    K[np.ix_(rows, rows)] += 1e3 * mesh.K.max() * (np.eye(len(rows)) - onto @ onto.T)
    node = mesh.ends[1][0]
    points = {"node": node, "all": fm.Interface(stiff, at=mesh.nodes[node])}
    found = body(mesh, K=K, interfaces={"base": mesh.ends[0]}, modes=5, points=points)
    shapes = {name: np.array(rows) for name, rows in found.shapes}
    np.testing.assert_allclose(shapes["node"], shapes["all"], rtol=0, atol=2e-3 * abs(shapes["all"]).max())


def test_integrals_of_lumped_rotary_inertia_are_those_of_masses_on_arms() -> None:
    """Each node's inertia is that of six masses on its axes; modes move them as rigid parts of the node."""
    mesh, rng = meshes.beam(3, 0.6, 20.0, 1e4, 30.0, 0.6, 1e-3), np.random.default_rng(4)
    M, parts = np.zeros_like(mesh.M), []
    for n, place in enumerate(mesh.nodes):
        E = np.diag(rng.uniform(1e-4, 4e-4, 3))  # second moments
        parts.append((0.2, place, E))
        M[6 * n : 6 * n + 3, 6 * n : 6 * n + 3] = 0.2 * np.eye(3)
        M[6 * n + 3 : 6 * n + 6, 6 * n + 3 : 6 * n + 6] = np.trace(E) * np.eye(3) - E
    points = {f"n{k}": k for k in range(4)}
    found = body(mesh, M=M, interfaces={}, points=points, modes=6)
    shapes = np.array([np.array(dict(found.shapes)[f"n{k}"]) for k in range(4)])
    masses = []
    for (mass, place, E), shape in zip(parts, shapes, strict=True):
        for axis in range(3):
            for side in (1.0, -1.0):
                arm = side * np.sqrt(3.0 * E[axis, axis] / mass) * np.eye(3)[axis]
                masses.append((mass / 6, place + arm, shape[:, :3] + np.cross(shape[:, 3:], arm)))
    for k in range(6):
        moment = sum(m * np.outer(r, phi[k]) for m, r, phi in masses)
        np.testing.assert_allclose(found.shape_moment[k], moment, rtol=0, atol=SAME)
        for j in range(6):
            product = sum(m * np.outer(phi[j], phi[k]) for m, _, phi in masses)
            np.testing.assert_allclose(found.shape_product[j][k], product, rtol=0, atol=SAME)


def test_participation_is_that_of_the_frames_motions() -> None:
    mesh = rod(1)
    found = body(mesh, interfaces={"base": mesh.ends[0]}, frame="base", modes=9)
    shapes = np.array(found.shape_mass)
    for k, row in enumerate(found.table):
        modal = np.array(found.modal_mass)[k, k]
        np.testing.assert_allclose(
            row.participation[:3], np.abs(shapes[k] / modal) * np.sign(row.participation[:3]), rtol=1e-9
        )
        N = np.array(found.shape_moment[k]) - np.outer(found.com, shapes[k])
        turned = np.array([N[1, 2] - N[2, 1], N[2, 0] - N[0, 2], N[0, 1] - N[1, 0]]) / modal
        np.testing.assert_allclose(np.abs(row.participation[3:]), np.abs(turned), rtol=1e-6, atol=1e-12)
    assert {row.kind for row in found.table} <= {"interface", "normal"}
    assert body(mesh, modes=0).kinds == ("interface",) * 6


def test_modal_coordinates_are_largest_displacements() -> None:
    mesh = rod(2)
    shapes = abs(np.linalg.norm(_fields(mesh, body(mesh, interfaces=averaged(mesh), modes=3)), axis=2)).max(axis=1)
    np.testing.assert_allclose(shapes, 1.0, rtol=SAME)
    twisted = body(meshes.beam(6, 0.8, 20.0, 1e5, 0.01, 0.6, 1e-3), interfaces={}, points={"n0": 0}, modes=3)
    assert abs(np.array(dict(twisted.shapes)["n0"])[:, 3:]).max() == pytest.approx(1.0 / (0.1 * 0.8), rel=1e-6)
