"""Mode vectors: the numbers of joint-representation's section 5, and what they must be for every joint."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.analysis.modes import mode_vectors
from fmumbs.mechanism import GROUND
from oracle.products import Product
from support.nonholonomic import nonholonomic

EXACT = 1e-15
ROUND_OFF = 1e-12

body = fm.Body.rod("b", length=1, mass=1)
F, M = GROUND.at(), body.base


def product(*modes, **options) -> fm.Joint:
    return fm.Joint("J", F, M, modes=modes, **options)


# The paper's trough -------------------------------------------------------------------------------------------


def trough(angle: float) -> fm.Joint:
    skew = fm.Slide((np.sin(angle), np.cos(angle), 0), role="excited", input="kappa_dot", eta0=0.3)
    return product(fm.Slide("x"), skew, fm.Slide("z", role="locked", value=0.1), q0=[0.2])


ANGLES = [0.3, np.pi / 6, -0.8]
each_angle = pytest.mark.parametrize("angle", ANGLES)


@each_angle
def test_the_troughs_pose_is_equation_5_3(angle):
    X = trough(angle).transform()
    assert_allclose(X.translation, (0.2 + 0.3 * np.sin(angle), 0.3 * np.cos(angle), 0.1), atol=EXACT)
    assert_allclose(X.rotation.matrix, np.eye(3), atol=EXACT)


@each_angle
def test_the_troughs_modes_are_equation_5_4(angle):
    modes = mode_vectors(trough(angle))
    s, c, t = np.sin(angle), np.cos(angle), np.tan(angle)
    locked = np.eye(6)[:, [0, 1, 2, 5]]
    assert_allclose(modes.phi.T, [[0, 0, 0, 1, 0, 0]], atol=EXACT)
    assert_allclose(modes.phibar_kappa.T, [[0, 0, 0, s, c, 0]], atol=EXACT)
    assert_allclose(modes.phibar_locked, locked, atol=EXACT)
    assert_allclose(modes.psi.T, [[0, 0, 0, 1, -t, 0]], atol=EXACT)
    assert_allclose(modes.psibar_kappa.T, [[0, 0, 0, 0, 1 / c, 0]], atol=EXACT)
    assert_allclose(modes.psibar_locked, locked, atol=EXACT)


@each_angle
def test_the_troughs_forces_are_equations_5_9_and_5_10(angle):
    """Applied and constraint parts together; F_z1 = 0 (5.6)."""
    modes = mode_vectors(trough(angle))
    L_e, F_e = np.array([0.1, -0.2, 0.3]), np.array([1.4, -0.7, 0.5])
    L_z, F_z = np.array([0.6, 0.4, -0.5]), np.array([0.0, 1.1, -2.0])
    free, constrained = modes.generalised([*(L_e + L_z), *(F_e + F_z)])
    s, c = np.sin(angle), np.cos(angle)
    driven = F_e[0] * s + (F_e[1] + F_z[1]) * c
    assert_allclose(free, [F_e[0]], atol=EXACT)
    assert_allclose(constrained, [driven, *(L_e + L_z), F_e[2] + F_z[2]], atol=EXACT)
    assert_allclose(modes.generalised([*L_z, *F_z])[0], 0, atol=EXACT)


@each_angle
def test_the_troughs_forces_decompose_as_in_figure_9(angle):
    """Along psi and psibar, not along the modes: psi lambda + psibar lambdabar is what acts."""
    modes = mode_vectors(trough(angle))
    F_e, F_z2 = (1.4, -0.7), 1.1
    free, constrained = modes.generalised([0, 0, 0, F_e[0], F_e[1] + F_z2, 0])
    s, c = np.sin(angle), np.cos(angle)
    along_psi = modes.psi[3:5, 0] * free[0]
    along_psibar = modes.psibar_kappa[3:5, 0] * constrained[0]
    assert_allclose(along_psi, [F_e[0], -F_e[0] * s / c], atol=EXACT)
    assert_allclose(along_psibar, [0, F_e[0] * s / c + F_e[1] + F_z2], atol=2 * EXACT)
    assert_allclose(along_psi + along_psibar, [F_e[0], F_e[1] + F_z2], atol=2 * EXACT)
    along_modes = modes.phi[3:5, 0] * free[0] + modes.phibar_kappa[3:5, 0] * constrained[0]
    assert np.abs(along_modes - [F_e[0], F_e[1] + F_z2]).max() > 0.1


def test_the_trough_at_thirty_degrees():
    modes = mode_vectors(trough(np.pi / 6))
    assert_allclose(modes.phibar_kappa[3:5, 0], [0.5, 0.8660254037844386], rtol=EXACT)
    assert_allclose(modes.psi[3:5, 0], [1, -0.5773502691896257], rtol=2 * EXACT)
    assert_allclose(modes.psibar_kappa[3:5, 0], [0, 1.1547005383792515], rtol=2 * EXACT, atol=EXACT)


# Every joint --------------------------------------------------------------------------------------------------

ROLL = [(0, -0.3, 0, 1, 0, 0), (0.3, 0, 0, 0, 1, 0)]
DISC = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z"), fm.Turn("x"), fm.Slide("z", role="locked", value=0.3)]
STEERED = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z", role="excited", input="kappa_dot", eta0=0.4)]
JOINTS = [
    fm.Revolute("R", F, M, axis=(1, 2, 2)),
    fm.Prismatic("P", F, M, axis="y"),
    fm.Screw("S", F, M, axis=(1, 1, 0), pitch=0.2, q0=2),
    fm.Cylindrical("C", F, M, axis=(0, 1, 1), q0=(1, 2)),
    fm.Universal("U", F, M, axes=("x", (1, 1, 0)), q0=(0.4, 0.9)),
    fm.Planar("E", F, M, normal=(1, 2, 3), q0=(1, 2, 3)),
    fm.Spherical("B", F, M, q0=(1, 2, 3, 4)),
    fm.Free("F", F, M, q0=(1, 2, 3, 1, 2, 3, 4)),
    fm.Weld("W", F, M),
    fm.Skate("K", F, M, q0=(1, 2, 0.7)),
    product(fm.Turn("z"), fm.Slide("x"), fm.Turn((1, 0, 1)), q0=(0.3, 0.7, -0.4)),
    product(fm.Turn("z"), fm.Slide("y", role="locked", value=2), fm.Helix("x", 0.3), q0=(0.3, 0.7)),
    product(fm.Helix("z", 0.1, role="excited", input="kappa_dot"), fm.Turn("y"), fm.Slide("z"), q0=(0.3, 0.7)),
    product(*DISC, fm.Turn("y"), velocity_rows=ROLL, speed_rows=np.eye(3, 6), rows_after=5, q0=(0, 0, 0.5, 0.2, 1)),
    product(*STEERED, velocity_rows=[(0, 0, 0, 0, 1, 0)], speed_rows=[(0, 0, 0, 1, 0, 0)]),
]


def name_of(joint) -> str:
    return f"{joint.name}{len(joint.modes)}"


each_joint = pytest.mark.parametrize("joint", JOINTS, ids=name_of)


@each_joint
def test_the_bases_are_dual(joint):
    """Equations 3.19 and 3.20."""
    modes = mode_vectors(joint)
    assert modes.phi.shape == (6, joint.velocities)
    assert modes.phibar_kappa.shape == (6, len(joint.excited_modes))
    phi, psi = np.hstack([modes.phi, modes.phibar]), np.hstack([modes.psi, modes.psibar])
    assert_allclose(psi.T @ phi, np.eye(6), atol=ROUND_OFF)
    wrench = np.array([0.3, -0.4, 1.2, 0.5, 2.0, -0.7])
    assert_allclose(modes.interaction(*modes.generalised(wrench)), wrench, atol=ROUND_OFF)


@pytest.mark.parametrize("joint", [j for j in JOINTS if not any(m.pitch for m in j.excited_modes)], ids=name_of)
def test_torques_drive_turns_and_forces_drive_slides(joint):
    """Also on a screw; along an excited helix a force alone would do work that must be zero."""
    modes = mode_vectors(joint)
    for column in modes.psi.T:
        assert min(np.linalg.norm(column[:3]), np.linalg.norm(column[3:])) < ROUND_OFF
    for column in modes.phibar_locked.T:
        assert min(np.linalg.norm(column[:3]), np.linalg.norm(column[3:])) == 0
        assert np.linalg.norm(column) == pytest.approx(1)


@pytest.mark.parametrize("joint", [j for j in JOINTS if all(m.kind != "ball" for m in j.modes)], ids=name_of)
def test_the_modes_are_the_derivatives_of_the_place(joint):
    """By differences."""
    modes = mode_vectors(joint)
    p, eta = np.array(joint.start_positions), np.array([mode.prescribed()[0] for mode in joint.excited_modes])
    h, R = 1e-6, joint.transform().rotation.matrix
    directions = [(y, 0 * eta) for y in modes.Y1.T] + [(modes.Y2[:, k], e) for k, e in enumerate(np.eye(len(eta)))]
    for (dp, de), column in zip(directions, np.hstack([modes.phi, modes.phibar_kappa]).T, strict=True):
        ahead, behind = joint.transform(p + h * dp, eta + h * de), joint.transform(p - h * dp, eta - h * de)
        W = (ahead.rotation.matrix - behind.rotation.matrix) / (2 * h) @ R.T
        v = (np.array(ahead.translation) - behind.translation) / (2 * h)
        assert_allclose([W[2, 1], W[0, 2], W[1, 0], *v], column, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@each_joint
def test_the_modes_at_random_positions_are_differences_of_the_pose(joint, seed):
    """G = phi u + phibar_kappa kappa (3.10b) for every kind, with p' = Y1 u + Y2 kappa; a ball turns about M's axes."""
    rng = np.random.default_rng([seed, 8])
    p = np.concatenate([[], *(rng.normal(size=mode.positions) for mode in joint.free_modes)])
    eta, h = rng.uniform(-1, 1, len(joint.excited_modes)), 1e-6
    modes = fm.mode_vectors(joint, p, eta)
    u, kappa = rng.uniform(-1, 1, joint.velocities), rng.uniform(-1, 1, len(eta))
    rates, R = modes.Y1 @ u + modes.Y2 @ kappa, joint.transform(p, eta).rotation.matrix

    def moved(t):
        at, left, rest = [], list(p), list(rates)
        for mode in joint.free_modes:
            if mode.kind != "ball":
                at.append(left.pop(0) + t * rest.pop(0))
                continue
            q, w = np.array([left.pop(0) for _ in range(4)]), t * np.array([rest.pop(0) for _ in range(3)])
            at += [q[0] - q[1:] @ w / 2, *(q[1:] + q[0] * w / 2 + np.cross(q[1:], w) / 2)]
        return joint.transform(at, eta + t * kappa)

    ahead, behind = moved(h), moved(-h)
    W = (ahead.rotation.matrix - behind.rotation.matrix) / (2 * h) @ R.T
    v = (np.array(ahead.translation) - behind.translation) / (2 * h)
    G = modes.phi @ u + modes.phibar_kappa @ kappa
    assert_allclose(G, [W[2, 1], W[0, 2], W[1, 0], *v], atol=1e-7 * max(1.0, np.abs(G).max()))


@pytest.mark.parametrize("joint", [j for j in JOINTS if j.velocity_rows], ids=name_of)
def test_rows_of_velocities_are_kept(joint):
    modes = mode_vectors(joint)
    other = Product(joint, (), ())
    s = np.array(joint.all_positions(), float)
    axes = other.in_axes(s)
    assert_allclose(np.array(joint.velocity_rows) @ axes @ modes.phi, 0, atol=ROUND_OFF)
    assert_allclose(np.array(joint.velocity_rows) @ axes @ modes.phibar_kappa, 0, atol=ROUND_OFF)
    assert_allclose(np.array(joint.speed_rows) @ axes @ modes.phi, np.eye(joint.velocities), atol=ROUND_OFF)
    assert_allclose(modes.psi, other.psi(s), atol=ROUND_OFF)


@settings(max_examples=40)
@given(nonholonomic())
def test_random_velocity_rows_hold_with_the_prescribed_speeds(model):
    """Whatever is excited: nothing along the velocity rows, the speeds along the others (3.22, 3.27)."""
    joint = model["J"]
    modes = mode_vectors(joint)
    other = Product(joint, (), ())
    s = np.array(joint.all_positions(), float)
    rows = other.rows() @ other.in_axes(s)
    n, m = len(joint.velocity_rows), joint.velocities
    scale = max(1.0, np.abs(modes.phi).max(initial=0.0), np.abs(modes.phibar_kappa).max(initial=0.0))
    expected = np.vstack([np.zeros((n, m)), np.eye(m)])
    assert_allclose(rows @ modes.phi, expected, rtol=0, atol=1e-12 * scale**2)
    assert_allclose(rows @ modes.phibar_kappa, 0, atol=1e-12 * scale**2)
    free, excited = other.columns(s)
    assert_allclose(free @ modes.Y1, modes.phi, rtol=0, atol=1e-12 * scale**2)
    assert_allclose(excited + free @ modes.Y2, modes.phibar_kappa, rtol=0, atol=1e-12 * scale**2)


def test_a_skate_moves_along_its_blade():
    modes = mode_vectors(JOINTS[9])
    c, s = np.cos(0.7), np.sin(0.7)
    assert_allclose(modes.Y1, [[c, 0], [s, 0], [0, 1]], atol=EXACT)
    assert_allclose(modes.phi.T, [[0, 0, 0, c, s, 0], [0, 0, 1, 0, 0, 0]], atol=EXACT)


def test_gimbal_lock_is_an_error():
    wrist = product(fm.Turn("z"), fm.Turn("x"), fm.Turn("z"), q0=(0, 1, 0))
    with pytest.raises(fm.ModelError, match="gimbal lock"):
        mode_vectors(wrist, (0.3, 0.0, 0.2))
