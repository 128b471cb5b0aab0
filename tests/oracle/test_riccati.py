"""The transcription of riccati-mstmm against the paper's printed results, and against the oracle.

The demonstration example (section 5.1) has rods of mass m and length 2a; c and s are cosine and sine of their
angles, w their rates. What the core has to do with it stands in tests/core/tree/test_dynamics.py.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracle import Oracle, branch_systems
from oracle.riccati import (
    CLAMPED,
    FIXED,
    FREE,
    MOMENT,
    PLANE,
    SPACE,
    Chain,
    RigidBody,
    body_matrix,
    chain_elements,
    hinge_matrix,
    multi_hinge_matrices,
    multiply_chain,
    solve_chain,
    tilde,
)

ROUND_OFF = 1e-13
"""Absolute, for closed forms whose terms are of the order one to a hundred."""
AGREEMENT = 1e-11
"""Relative to the largest value: systems of condition 1e5 at most, a few dozen roundings deep."""

m, a, g = 1.0, 0.5, 9.81
ANGLES, RATES = (1.2, 0.9, 0.5, 0.1), (0.3, 0.7, -0.4, 0.5)  # rods 1, 3, 5, 7


def rods() -> dict[int, RigidBody]:
    links = branch_systems.demonstration(ANGLES, RATES).links
    return {number: link.rigid_body() for number, link in zip((1, 3, 5, 7), links, strict=True)}


def test_transfer_matrix_of_a_rod_is_that_of_equation_38() -> None:
    """Rearranged by (20): rows and columns m, q (a) and r'', Omega' (b)."""
    U = body_matrix(rods()[1], PLANE)
    c, s, w = np.cos(ANGLES[0]), np.sin(ANGLES[0]), RATES[0]
    T11 = [[1, -2 * a * s, 2 * a * c], [0, 1, 0], [0, 0, 1]]
    T12 = [[m * a * s, -m * a * c, -2 * m * a**2 / 3], [-m, 0, m * a * s], [0, -m, -m * a * c]]
    T22 = [[1, 0, -2 * a * s], [0, 1, 2 * a * c], [0, 0, 1]]
    fa = [-m * a * g * c, m * a * c * w**2, m * a * s * w**2 - m * g]
    fb = [-2 * a * c * w**2, -2 * a * s * w**2, 0]
    x, y = slice(3, 6), slice(0, 3)
    assert_allclose(U[x, x], T11, atol=ROUND_OFF)
    assert_allclose(U[x, y], T12, atol=ROUND_OFF)
    assert_allclose(U[y, x], 0, atol=ROUND_OFF)
    assert_allclose(U[y, y], T22, atol=ROUND_OFF)
    assert_allclose(U[x, 6], fa, atol=ROUND_OFF)
    assert_allclose(U[y, 6], fb, atol=ROUND_OFF)


def test_riccati_of_a_free_rod_is_that_of_equations_39_and_40() -> None:
    chain = Chain([body_matrix(rods()[1], PLANE)], PLANE)
    S2, e2 = branch_systems.equations_39_and_40(ANGLES[0], RATES[0])
    assert_allclose(chain.S[1], S2, atol=ROUND_OFF)
    assert_allclose(chain.e[1], e2, atol=ROUND_OFF)


def test_riccati_behind_a_hinge_is_that_of_equations_45_to_47() -> None:
    """With the entries (1, 2) and (1, 3) of Eq 46 as the errata read them, and c_c = c3 in Eq 47."""
    U5 = body_matrix(rods()[5], PLANE)
    hinge = hinge_matrix(U5, PLANE)
    c3, s3, w = np.cos(ANGLES[1]), np.sin(ANGLES[1]), RATES[1]
    c5, s5 = np.cos(ANGLES[2]), np.sin(ANGLES[2])
    row = [3 * s5 / (2 * a), -3 * c5 / (2 * a), 0, 3 / (2 * m * a**2), -3 * s5 / (m * a), 3 * c5 / (m * a)]
    assert_allclose(hinge[2], [*row, -3 * g * c5 / (2 * a)], atol=ROUND_OFF)

    chain = Chain([body_matrix(rods()[3], PLANE), hinge], PLANE)
    pivot = 3 * c3 * c5 + 3 * s3 * s5 + 2
    S3 = [
        [
            3 * m * a * (s3**2 * s5 + s3 * c3 * c5 - 2 * s5),
            -3 * m * a * (c3**2 * c5 + s3 * c3 * s5 - 2 * c5),
            4 * m * a**2 / 3,
        ],
        [
            m / 2 * (3 * s3**2 + 3 * s3 * s5 - 6 * c3 * c5 - 4),
            -1.5 * m * s3 * (c3 + 3 * c5),
            -m * a * s3,
        ],
        [
            -1.5 * m * c3 * (s3 + 3 * s5),
            m / 2 * (3 * c3**2 + 3 * c3 * c5 - 6 * s3 * s5 - 4),
            m * a * c3,
        ],
    ]
    X = (g * (c3 + c5) + 2 * a * w**2 * (s3 * c5 - c3 * s5) + 2 * g * c5) / pivot
    e3 = [
        2 * m * a * X - m * a * g * c3,
        -1.5 * m * s3 * X - m * a * w**2 * c3,
        1.5 * m * c3 * X - m * a * w**2 * s3 - m * g,
    ]
    assert_allclose(chain.pivots[1], pivot, atol=ROUND_OFF)
    assert_allclose(chain.S[2], np.array(S3) / pivot, atol=ROUND_OFF)
    assert_allclose(chain.e[2], e3, atol=ROUND_OFF)


def test_multi_hinge_is_that_of_equation_52() -> None:
    """Rod 7 hangs in its middle, so its weight and its inputs' accelerations do not turn it."""
    U7 = body_matrix(rods()[7], PLANE)
    c, s = np.cos(ANGLES[3]), np.sin(ANGLES[3])
    assert_allclose(U7[3], [0, 0, m * a**2 / 3, 1, -a * s, a * c, 1, a * s, -a * c, 0], atol=ROUND_OFF)
    first, second = multi_hinge_matrices(U7, PLANE, 2)
    k = 3 / (m * a**2)
    assert_allclose(first[2], [0, 0, 0, -k, k * a * s, -k * a * c, 0], atol=ROUND_OFF)
    assert_allclose(second[2], [0, 0, 0, -k, -k * a * s, k * a * c, 0], atol=ROUND_OFF)
    others = [0, 1, 3, 4, 5, 9]
    assert_allclose(first[others], np.eye(7)[[0, 1, 3, 4, 5, 6]], atol=0)
    assert_allclose(second[[6, 7, 8]], np.eye(7)[[3, 4, 5]], atol=0)


def test_the_printed_boundaries_leave_two_conditions_open() -> None:
    """Eq 59 as printed has rank 7 of 9; with smooth first hinges in the two idle rows it is regular."""
    branch = branch_systems.demonstration(ANGLES, RATES).branch()
    assert branch.overall_matrix().shape == (10, 15)
    printed, _ = branch.equations(literal=True)
    assert printed.shape == (9, 9)
    assert np.linalg.matrix_rank(printed) == 7
    assert_allclose(branch.chains[1].S[-1][0], 0, atol=ROUND_OFF)  # m = 0 behind rod 5, whatever moves
    scaled, _ = branch.equations()
    assert np.linalg.cond(scaled) < 1e4


def test_all_conditions_of_the_demonstration_hold() -> None:
    """Free tips, smooth hinges and the ceiling: none of them is asked for where it is checked."""
    output, (first, second) = branch_systems.demonstration(ANGLES, RATES).branch().solve()
    tip = PLANE.rows(FREE)
    for passed in (first, second):
        assert_allclose(passed[0][tip], 0, atol=AGREEMENT)
        for state in passed[1:]:
            assert_allclose(state[PLANE.block(MOMENT)], 0, atol=AGREEMENT)
    assert_allclose(output[PLANE.rows(FIXED)], 0, atol=AGREEMENT)
    S2, e2 = branch_systems.equations_39_and_40(ANGLES[0], RATES[0])
    assert_allclose(first[-1][3:6], S2 @ first[-1][:3] + e2, atol=AGREEMENT)  # Eq 61


def test_the_printed_pivot_vanishes_where_the_mechanism_is_regular() -> None:
    """2 + 3 cos(theta3 - theta5): the recursion fails, the oracle does not."""
    angles = (0.4, 0.2 + np.arccos(-2 / 3), 0.2, 0.0)
    system = branch_systems.demonstration(angles, RATES)
    with pytest.raises(np.linalg.LinAlgError, match="element 2 is singular"):
        system.branch()
    oracle = Oracle(system.model())
    answer = oracle.solve(oracle.state())
    assert abs(answer["rod3.alpha"][2]) < 100


def test_a_third_body_in_space_has_no_pivot() -> None:
    system = branch_systems.random_system(SPACE, seed=0)
    two = system.subchains[0]
    assert len(two) == 2
    bodies = [link.rigid_body() for link in (*two, system.hub)]
    with pytest.raises(np.linalg.LinAlgError, match="element 4 is singular"):
        Chain(chain_elements([*bodies[:2], bodies[0]], SPACE), SPACE)


def test_clamped_tip_carries_the_weight() -> None:
    """A beam in a wall: q is what holds it up, -m the torque. With a second body the pivot is singular."""
    beam = RigidBody(
        mass=2.0,
        J=np.diag([0.1, 2 / 3, 2 / 3]),
        A=np.eye(3),
        Omega=np.zeros(3),
        r_IC=np.array([0.5, 0, 0]),
        r_IO=np.array([1.0, 0, 0]),
        f_C=np.array([0, 0, -2 * g]),
    )
    chain = Chain([body_matrix(beam)], SPACE, CLAMPED)
    tip, end = chain.back(np.zeros(6))  # z_b = [m, q] at the free end
    assert_allclose(end[:6], 0, atol=0)
    assert_allclose(tip[9:12], [0, 0, 2 * g], atol=ROUND_OFF)
    assert_allclose(tip[6:9], tilde(beam.r_IC) @ beam.f_C, atol=ROUND_OFF)
    with pytest.raises(np.linalg.LinAlgError, match="element 3 is singular"):
        Chain(chain_elements([beam, beam], SPACE), SPACE, CLAMPED)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_algorithm_a_from_either_end(count: int) -> None:
    """The same chain from its free tip to the ceiling, and from the ceiling, a fixed tip, to its free end."""
    system = branch_systems.hanging_chain(count)
    links = [*system.support, system.hub]
    oracle = Oracle(system.model())
    answer = oracle.solve(oracle.state())
    downwards = Chain(chain_elements([link.rigid_body() for link in links], PLANE), PLANE, FIXED)
    upwards = Chain(chain_elements([link.upside_down().rigid_body() for link in links[::-1]], PLANE), PLANE)
    down = solve_chain(downwards, FREE)
    up = solve_chain(upwards, FIXED)
    for k, link in enumerate(links):
        alpha = answer[f"{link.name}.alpha"][2]
        assert_allclose(down[2 * k][2], alpha, rtol=AGREEMENT)
        assert_allclose(up[2 * (count - 1 - k)][2], alpha, rtol=AGREEMENT)
    weight = answer[f"J_{links[0].name}.reaction.f"][:2]
    assert_allclose(down[0][4:6], weight, rtol=AGREEMENT)
    assert_allclose(up[-1][4:6], -weight, rtol=AGREEMENT)


@pytest.mark.parametrize("layout", [PLANE, SPACE], ids=["plane", "space"])
@pytest.mark.parametrize("seed", range(12))
def test_algorithm_b_agrees_with_the_oracle(layout: branch_systems.Layout, seed: int) -> None:
    system = branch_systems.random_system(layout, seed)
    oracle = Oracle(system.model())
    answer = oracle.solve(oracle.state())
    expected = system.expected()
    scale = max(np.abs(value).max() for value in expected.values())
    for name, value in expected.items():
        found = branch_systems.in_layout(layout, name, answer[name])
        assert_allclose(found, value, atol=AGREEMENT * scale, rtol=0, err_msg=name)


def test_plain_multiplication_loses_a_digit_every_other_rod() -> None:
    """Eq 19: seven digits are gone with 12 rods, with 36 all of them."""
    errors = []
    for count in (6, 12, 36):
        system = branch_systems.hanging_chain(count)
        links = [*system.support, system.hub]
        states = multiply_chain([link.rigid_body() for link in links], PLANE)
        found = np.array([state[2] for state in states[1::2]])
        oracle = Oracle(system.model())
        answer = oracle.solve(oracle.state())
        right = np.array([answer[f"{link.name}.alpha"][2] for link in links])
        errors.append(np.abs(found - right).max() / np.abs(right).max())
    assert errors[0] < 1e-11
    assert 1e-12 < errors[1] < 1e-7
    assert errors[2] > 0.1
