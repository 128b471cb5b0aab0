"""The paper's semi-analytic Jacobian and direct differentiation, against a complex step of the constraints."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracle.constraint_jacobians import (
    GROUND,
    TOLERANCE,
    Array,
    D,
    Element,
    End,
    FlexibleBody,
    Node,
    Pin,
    RigidBody,
    SecondaryJoint,
    Slide,
    System,
    algorithm_1,
    algorithm_2,
    complex_step,
    correct,
)

AGREEMENT = 1e-10
ROUND_OFF = 1e-13


def node(rng: np.random.Generator, modes: int) -> Node:
    return Node(rng.uniform(-1, 1, 2), rng.uniform(-1, 1, (2, modes)), rng.uniform(-1, 1, modes))


def body(rng: np.random.Generator, flexible: bool) -> Element:
    """With one to three tips."""
    tips = int(rng.integers(1, 4))
    if flexible and rng.random() < 0.5:
        modes = int(rng.integers(1, 4))
        return FlexibleBody(node(rng, modes), tuple(node(rng, modes) for _ in range(tips)))
    return RigidBody(tuple((rng.uniform(-1, 1, 2), float(rng.uniform(-2, 2))) for _ in range(tips)))


def closed_system(seed: int, flexible: bool, loops: int) -> tuple[System, Array]:
    """A random tree whose loops are closed at random coordinates, where B and M of each meet."""
    rng = np.random.default_rng(seed)
    elements: list[Element] = []
    inboard: list[End] = []
    tips: list[End] = [GROUND]
    for _ in range(int(rng.integers(3, 6)) + 2 * loops):
        at = tips[-1] if rng.random() < 0.6 else tips[rng.integers(len(tips))]
        direction = rng.uniform(-1, 1, 2)
        joint: Element = Pin() if rng.random() < 0.7 else Slide(direction / np.linalg.norm(direction))
        elements += [joint, body(rng, flexible)]
        inboard += [at, (len(elements) - 2, 0)]
        count = len(elements[-1].tips)  # type: ignore[union-attr]
        tips += [(len(elements) - 1, tip) for tip in range(count)]
    tree = System(elements, inboard, [])
    q = rng.uniform(-1, 1, tree.coordinates) * 0.7
    ends, secondary = tree.ends(q), []
    for _ in range(loops):
        first, second = (tips[k] for k in rng.choice(len(tips), 2, replace=False))
        slides = bool(rng.random() < 0.3)
        r, angle = rng.uniform(-1, 1, 2), float(rng.uniform(-2, 2))
        places = []
        for end, away in ((first, 0.0), (second, rng.uniform(-1, 1) if slides else 0.0)):
            r_OT, A_OT = ends[end]
            own = float(np.arctan2(A_OT[1, 0], A_OT[0, 0]))
            l_TP = A_OT.T @ (r + away * np.array([np.cos(angle), np.sin(angle)]) - r_OT)
            places.append((end, l_TP, angle - own))
        secondary.append(SecondaryJoint(places[0], places[1], slides))
    return replace(tree, secondary=secondary), q


each_system = pytest.mark.parametrize(
    ("seed", "flexible", "loops"), [(s, f, n) for s in range(12) for f in (False, True) for n in (1, 3)]
)


@each_system
def test_both_algorithms_agree_with_a_complex_step(seed: int, flexible: bool, loops: int) -> None:
    system, q = closed_system(seed, flexible, loops)
    assert_allclose(system.constraints(q), 0, atol=ROUND_OFF)
    expected = complex_step(system, q)
    scale = max(1.0, np.abs(expected).max())
    assert_allclose(algorithm_1(system, q), expected, rtol=0, atol=AGREEMENT * scale)
    assert_allclose(algorithm_2(system, q), expected, rtol=0, atol=AGREEMENT * scale)


@each_system
def test_while_the_loops_are_open(seed: int, flexible: bool, loops: int) -> None:
    """Algorithm 1 lacks D c of a pin in the columns of the turns below the loop's root, and nothing else."""
    system, q = closed_system(seed, flexible, loops)
    q = q + np.random.default_rng(seed).uniform(-0.3, 0.3, len(q))
    expected = complex_step(system, q)
    assert_allclose(algorithm_2(system, q), expected, rtol=0, atol=AGREEMENT * max(1.0, np.abs(expected).max()))
    lacking, c = expected - algorithm_1(system, q), system.constraints(q)
    for k, joint in enumerate(system.secondary):
        paths = [system.path(end) for end, _, _ in (joint.base, joint.moving)]
        below = {i for i, tip in paths[0] if (i, tip) in paths[1]}
        for i, element in enumerate(system.elements):
            columns = lacking[2 * k : 2 * k + 2, system.first[i] : system.first[i + 1]]
            missing = D @ c[2 * k : 2 * k + 2] if i in below and not joint.slides else np.zeros(2)
            if isinstance(element, Pin):
                assert_allclose(columns[:, 0], missing, rtol=0, atol=AGREEMENT)
            elif i not in below:
                assert_allclose(columns, 0, rtol=0, atol=AGREEMENT)


@each_system
def test_velocities(seed: int, flexible: bool, loops: int) -> None:
    """The rate (8) of the constraints along a motion is c_q q'."""
    system, q = closed_system(seed, flexible, loops)
    qd = np.random.default_rng(seed).uniform(-1, 1, len(q))
    rate = system.constraints(q + 1e-30j * qd).imag / 1e-30
    assert_allclose(algorithm_1(system, q) @ qd, rate, rtol=0, atol=AGREEMENT * max(1.0, np.abs(rate).max()))


@pytest.mark.parametrize("seed", range(12))
def test_the_correction_closes_the_loops(seed: int) -> None:
    system, closed = closed_system(seed, flexible=True, loops=1)
    rng = np.random.default_rng(seed)
    q, qd = closed + rng.uniform(-1, 1, len(closed)) * 1e-3, rng.uniform(-1, 1, len(closed))
    assert np.abs(system.constraints(q)).max() > TOLERANCE
    q, qd = correct(system, q, qd)
    assert np.abs(system.constraints(q)).max() <= TOLERANCE
    assert np.abs(complex_step(system, q) @ qd).max() <= TOLERANCE
    assert_allclose(q, closed, rtol=0, atol=0.1)


def test_the_printed_derivatives_of_a_flexible_body() -> None:
    """(31) is what group I (20) makes of group II (30)."""
    rng = np.random.default_rng(0)
    R, T, A_OR, q = node(rng, 2), node(rng, 2), np.array([[0.8, -0.6], [0.6, 0.8]]), rng.uniform(-1, 1, 2)
    element, l_TP = FlexibleBody(R, (T,)), rng.uniform(-1, 1, 2)
    _, A_RT = element.tip(q, 0)
    A_OOf, r_TP, rho_R, rho_T = A_OR @ R.A_Of(q).T, A_OR @ A_RT @ l_TP, R.rho(q), T.rho(q)
    for i, (l_RT_q, A_RT_q) in enumerate(element.preprocess(q, 0)):
        r_OP_q = A_OR @ l_RT_q + A_OR @ A_RT_q @ l_TP
        turning = D @ (A_OOf @ rho_R - A_OOf @ rho_T - r_TP) * R.slope[i] + D @ r_TP * T.slope[i]
        printed = turning - A_OOf @ R.shape[:, i] + A_OOf @ T.shape[:, i]
        assert_allclose(printed, r_OP_q, rtol=0, atol=ROUND_OFF)
        A_OP_q = -A_OR @ D @ A_RT * R.slope[i] + A_OOf @ D @ T.A_Of(q) * T.slope[i]
        assert_allclose(A_OP_q, A_OR @ A_RT_q, rtol=0, atol=ROUND_OFF)


def test_a_pin_turns_the_elements_that_it_carries() -> None:
    """(18), (35), (37): a crank of length 1 on the ground, once as the base's path, once as the moving point's."""
    crank, ground = RigidBody(((np.array([1.0, 0.0]), 0.0),)), (GROUND, np.array([0.6, 0.8]), 0.0)
    q = np.array([np.arctan2(0.8, 0.6)])
    tip = ((1, 0), np.zeros(2), 0.0)
    for joint, sign in ((SecondaryJoint(ground, tip), 1.0), (SecondaryJoint(tip, ground), -1.0)):
        system = System([Pin(), crank], [GROUND, (0, 0)], [joint])
        assert_allclose(algorithm_1(system, q), sign * np.array([[-0.8], [0.6]]), atol=ROUND_OFF)
