"""The oracle on joints of several modes, excited modes and rows of velocities, against closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle
from oracle.products import path_at

ROUND_OFF = 1e-11
"""Relative. The dense system has a condition of some thousands, its entries carry a few units of rounding."""

G = 9.81


def hung(joint, **body) -> tuple[fm.Model, Oracle]:
    """A body on the ground by joint(F, M)."""
    model = fm.Model("hung", gravity=body.pop("gravity", (0, 0, -G)))
    solid = fm.Body("b", **body)
    model.add(solid, joint(model.ground.at(), solid.at()))
    return model, Oracle(model)


def test_a_screw_falls_by_its_lead() -> None:
    """(I + m h^2) q'' = tau - m g h, and the nut takes what is left of the weight."""
    m, inertia, h, tau, q, u = 2.0, 0.05, 0.03, 0.4, 9.0, -3.0
    _, oracle = hung(lambda F, M: fm.Screw("S", F, M, axis="z", pitch=h, q0=q, u0=u), mass=m, inertia=(1, 1, inertia))
    state = oracle.state()
    answer = oracle.solve(state, {"S.tau": tau})
    qdd = (tau - m * G * h) / (inertia + m * h**2)
    assert oracle.violation(state) < 1e-14
    assert_allclose(state.frame["b"].p, [0, 0, h * q])
    assert_allclose(answer["S.qdd"], qdd, rtol=ROUND_OFF)
    assert_allclose(answer["S.wrench.f"], [0, 0, m * (G + h * qdd)], rtol=ROUND_OFF, atol=ROUND_OFF)
    assert_allclose(answer["S.wrench.t"], [0, 0, inertia * qdd], rtol=ROUND_OFF, atol=ROUND_OFF)
    assert_allclose(answer["S.reaction.t"], [0, 0, inertia * qdd - tau], rtol=ROUND_OFF, atol=ROUND_OFF)


def test_a_cylindrical_joint_turns_and_slides_by_itself() -> None:
    m, inertia, spring, rest, d = 1.5, 0.2, 40.0, 0.1, 0.7
    _, oracle = hung(
        lambda F, M: fm.Cylindrical(
            "C", F, M, axis="z", q0=(4.0, 0.3), u0=(2.0, -1.0), stiffness=(0, spring), rest=(0, rest), damping=(d, 0)
        ),
        mass=m,
        inertia=(1, 1, inertia),
    )
    answer = oracle.solve(oracle.state(), {"C.tau": (0.9, 3.0)})
    expected = [(0.9 - d * 2.0) / inertia, (3.0 - spring * (0.3 - rest)) / m - G]
    assert_allclose(answer["C.qdd"], expected, rtol=ROUND_OFF)
    assert_allclose(answer["C.reaction.f"], 0, atol=1e-10)


def test_a_universal_joint_carries_cardans_error() -> None:
    """A shaft at the angle b behind one that turns by f: tan(out) = cos(b) tan(f) between their own axes."""
    bend, f, rate = 0.6, 0.8, 3.0
    model = fm.Model("cardan", gravity=(0, 0, 0))
    shaft, out = fm.Body("shaft", mass=1, inertia=(1, 1, 1)), fm.Body("out", mass=1, inertia=(1, 1, 1))
    bent = fm.Rotation.about("y", bend)
    c, s = np.cos(bend), np.sin(bend)
    driven = np.arctan2(np.sin(f), np.cos(f) * c)  # of the second shaft, from its own x axis
    ahead = c / (1 - (s * np.cos(f)) ** 2)
    universal = fm.Universal("U", shaft.at(), out.at(), axes=("x", "y"))
    model.add(shaft, out, fm.Revolute("A", model.ground.at(), shaft.at(), axis="z", q0=f, u0=rate), universal)
    oracle = Oracle(model)
    R = fm.Rotation.about("z", f).inverse().matrix @ bent.matrix @ fm.Rotation.about("z", driven).matrix
    q2 = np.arcsin(R[0, 2])  # Rx(q1) Ry(q2) has sin(q2) there
    q1 = np.arctan2(-R[1, 2], R[2, 2])
    assert_allclose((fm.Rotation.about("x", q1) @ fm.Rotation.about("y", q2)).matrix, R, atol=1e-14)
    spin = bent @ (0, 0, ahead * rate) - np.array([0, 0, rate])  # of the second shaft in the first
    a1 = fm.Rotation.about("z", f) @ (1, 0, 0)
    a2 = fm.Rotation.about("z", f) @ fm.Rotation.about("x", q1) @ (0, 1, 0)
    u = np.linalg.lstsq(np.column_stack([a1, a2]), spin, rcond=None)[0]
    assert_allclose(np.column_stack([a1, a2]) @ u, spin, atol=1e-14)
    state = oracle.state({"U": (q1, q2)}, {"U": u})
    assert oracle.violation(state) < 1e-14
    assert_allclose(state.w["out"], bent @ (0, 0, ahead * rate), atol=1e-13)
    answer = oracle.solve(state, {"U.tau": (0.3, -0.2)})
    assert_allclose(a1 @ (model_wrench(answer, "U", f)), 0.3, atol=1e-10)
    assert_allclose(a2 @ (model_wrench(answer, "U", f)), -0.2, atol=1e-10)


def model_wrench(answer, name: str, f: float) -> np.ndarray:
    return fm.Rotation.about("z", f) @ answer[f"{name}.wrench.t"]


@pytest.mark.parametrize("normal", ["x", "y", "z", "-x", "-y", "-z", (1, 2, 3)])
def test_a_planar_joint_lets_its_body_fly_in_the_plane(normal) -> None:
    m, inertia = 1.2, 0.3
    model, oracle = hung(
        lambda F, M: fm.Planar("P", F, M, normal=normal, q0=(0.1, 0.2, 7.0), u0=(1, 2, 3)),
        mass=m,
        inertia=(inertia, inertia, inertia),
        gravity=(1, -2, 4),
    )
    answer = oracle.solve(oracle.state(), {"P.tau": (0.5, -0.7, 0.9)})
    e1, e2 = model["P"].plane
    n = np.cross(e1, e2)
    assert_allclose(n, model["P"].normal, atol=1e-15)
    g = np.array(model.gravity)
    expected = [0.5 / m + g @ e1, -0.7 / m + g @ e2, 0.9 / inertia]
    assert_allclose(answer["P.qdd"], expected, rtol=ROUND_OFF)
    assert_allclose(answer["P.reaction.f"], -m * (g @ n) * n, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_a_skate_on_a_slope_turns_and_comes_back() -> None:
    """A knife edge under its centre: w' = 0, v' = g sin(slope) cos(angle) along the blade."""
    m, slope, angle, v, w = 3.0, 0.2, 0.9, 1.1, 2.3
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    _, oracle = hung(
        lambda F, M: fm.Skate("K", F, M, q0=(0.4, 0.5, angle), u0=(v, w)),
        mass=m,
        inertia=(1, 1, 0.7),
        gravity=gravity,
    )
    state = oracle.state()
    answer = oracle.solve(state, {"K.tau": (0.6, 0.35)})
    assert_allclose(state.v["b"], [v * np.cos(angle), v * np.sin(angle), 0], atol=1e-15)
    assert_allclose(answer["K.udot"], [0.6 / m + gravity[0] * np.cos(angle), 0.35 / 0.7], rtol=ROUND_OFF)
    across = np.array([-np.sin(angle), np.cos(angle), 0])
    edge = m * (v * w + gravity[0] * np.sin(angle)) * across + [0, 0, m * G * np.cos(slope)]
    assert_allclose(answer["K.reaction.f"], edge, rtol=ROUND_OFF, atol=ROUND_OFF)
    assert_allclose(answer["K.reaction.t"], 0, atol=ROUND_OFF)


def test_chaplygins_sleigh() -> None:
    """With the centre ahead by d of the edge: v' = d w^2, (I + m d^2) w' = -m d v w."""
    m, inertia, d, v, w = 2.0, 0.3, 0.4, 1.5, -1.2
    _, oracle = hung(
        lambda F, M: fm.Skate("K", F, M, q0=(0, 0, 2.0), u0=(v, w)), mass=m, com=(d, 0, 0), inertia=(1, 1, inertia)
    )
    answer = oracle.solve(oracle.state())
    expected = [d * w**2, -m * d * v * w / (inertia + m * d**2)]
    assert_allclose(answer["K.udot"], expected, rtol=ROUND_OFF)


# General joints ----------------------------------------------------------------------------------------------


SLIDE_TURN = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z")]
SAME = [
    (fm.Revolute, {"axis": (1, 2, 2)}, [fm.Turn((1, 2, 2))]),
    (fm.Prismatic, {"axis": "-y"}, [fm.Slide("-y")]),
    (fm.Screw, {"axis": "y", "pitch": 0.2}, [fm.Helix("y", 0.2)]),
    (fm.Cylindrical, {"axis": "x"}, [fm.Turn("x"), fm.Slide("x")]),
    (fm.Universal, {"axes": ("z", (1, 1, 1))}, [fm.Turn("z"), fm.Turn((1, 1, 1))]),
    (fm.Planar, {"normal": "z"}, SLIDE_TURN),
    (fm.Skate, {}, SLIDE_TURN),
]


@pytest.mark.parametrize(("make", "options", "modes"), SAME, ids=[row[0].__name__ for row in SAME])
def test_a_product_of_its_modes_is_the_same_joint(make, options, modes) -> None:
    """Carriers without mass, on a moving parent, with springs, dampers and rotors, against geometry."""
    rng = np.random.default_rng(7)
    n = len(modes)
    one = make in (fm.Revolute, fm.Prismatic, fm.Screw)
    start = {"q0": rng.uniform(-1, 1, n), "u0": rng.uniform(-2, 2, n - (make is fm.Skate))}
    if make is not fm.Skate:
        start |= {law: rng.uniform(0, 3, n) for law in ("stiffness", "damping", "rest", "rotor_inertia")}
    given = {k: float(v[0]) for k, v in start.items()} if one else start
    rows = {}
    if make is fm.Skate:
        rows = {"velocity_rows": [(0, 0, 0, 0, 1, 0)], "speed_rows": [(0, 0, 0, 1, 0, 0), (0, 0, 1, 0, 0, 0)]}
    tau = rng.uniform(-2, 2, n - (make is fm.Skate))
    answers = []
    for joint in (
        lambda F, M: make("J", F, M, **options, **given),
        lambda F, M: fm.Joint("J", F, M, modes=modes, **start, **rows),
    ):
        model = fm.Model("pair")
        a = fm.Body("a", mass=1.1, com=(0.1, 0.2, -0.3), inertia=(0.4, 0.5, 0.6))
        b = fm.Body("b", mass=0.9, com=(0.2, -0.1, 0.3), inertia=(0.3, 0.5, 0.45))
        free = fm.Free("A", model.ground.at(), a.at(), q0=(0, 0, 0, 0.8, 0.1, 0.2, 0.5), u0=(1, -1, 0.5, 0.7, -2, 1))
        F = a.at(0.3, 0.1, 0.2, rotation=fm.Rotation.rpy(0.3, -0.4, 0.9))
        model.add(a, b, free, joint(F, b.at(0.1, -0.2, 0.1, rotation=fm.Rotation.rpy(1, 0.2, -0.5))))
        oracle = Oracle(model)
        state = oracle.state()
        assert oracle.violation(state) < 1e-14
        key = "J.f" if make is fm.Prismatic else "J.tau"
        answers.append((oracle.solve(state, {key: tau}), oracle.energy(state)))
    (plain, energy), (product, product_energy) = answers
    assert_allclose(product_energy, energy, rtol=1e-13)
    assert set(plain.names()) == set(product.names())
    for name in plain.names():
        assert_allclose(product[name], plain[name], rtol=0, atol=1e-10, err_msg=name)


def trough(angle: float, **motion) -> fm.Joint:
    model = fm.Model("trough")
    ball = fm.Body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    skew = (np.sin(angle), np.cos(angle), 0)
    joint = fm.Joint(
        "J", model.ground.at(), ball.at(), modes=[fm.Slide("x"), fm.Slide(skew, role="excited", **motion)], q0=[0.3]
    )
    model.add(ball, joint)
    return model, joint


def test_the_trough_is_driven_along_its_skew_slide() -> None:
    """m (x'', y'') = applied + constraint, with y'' = cos(a) kappa', and nothing but f along x."""
    angle, m, kappa_dot, f = 0.5, 2.0, 3.0, 0.7
    model, _ = trough(angle, input="kappa_dot", eta0=0.2, kappa0=-0.4)
    oracle = Oracle(model)
    state = oracle.state()
    answer = oracle.solve(state, {"J.kappa_dot": kappa_dot, "J.f": f})
    s, c = np.sin(angle), np.cos(angle)
    assert_allclose(state.frame["ball"].p, [0.3 + 0.2 * s, 0.2 * c, 0])
    assert_allclose(state.v["ball"], [-0.4 * s, -0.4 * c, 0])
    assert_allclose(answer["J.qdd"], f / m - s * kappa_dot, rtol=ROUND_OFF)
    assert_allclose(answer["ball.a"], [f / m, c * kappa_dot, 0], rtol=ROUND_OFF, atol=ROUND_OFF)
    wrench = np.array([f, m * c * kappa_dot, m * G])
    assert_allclose(answer["J.wrench.f"], wrench, rtol=ROUND_OFF)
    assert_allclose(answer["J.drive"], s * wrench[0] + c * wrench[1], rtol=ROUND_OFF)
    assert_allclose(answer["J.reaction.f"], wrench - f * np.array([1, -np.tan(angle), 0]), rtol=ROUND_OFF, atol=1e-10)


def test_a_path_drives_as_its_second_derivative() -> None:
    path = fm.Path.quintic([0, 2], [0.1, 0.9])
    model, _ = trough(0.5, path=path)
    oracle = Oracle(model)
    state = oracle.state(t=0.7)
    eta, kappa, rate = path(0.7)
    assert_allclose(path_at(path, 0.7), (eta, kappa), rtol=1e-14)
    assert_allclose(state.v["ball"], [kappa * np.sin(0.5), kappa * np.cos(0.5), 0], rtol=1e-14)
    answer = oracle.solve(state)
    assert_allclose(answer["ball.a"], [0, rate * np.cos(0.5), 0], rtol=ROUND_OFF, atol=ROUND_OFF)


def test_a_filtered_position_pulls_as_a_critically_damped_spring() -> None:
    model, _ = trough(0.0, input="eta", cutoff=20.0, eta0=0.1)
    oracle = Oracle(model)
    state = oracle.state(kappa={"J": 0.3})
    answer = oracle.solve(state, {"J.eta_in": 0.4})
    assert_allclose(answer["ball.a"][1], 400 * 0.3 - 40 * 0.3, rtol=ROUND_OFF)


def test_a_locked_mode_is_an_offset() -> None:
    """A body on an arm of locked slide R turns as one whose inertia is shifted by R."""
    m, inertia, R, q, u, tau = 1.3, 0.2, 0.6, 0.4, 2.0, 0.5
    model, oracle = hung(
        lambda F, M: fm.Joint(
            "J", F, M, q0=[q], u0=[u],
            modes=[fm.Turn("z"), fm.Slide("x", role="locked", value=R), fm.Turn("x", role="locked", value=1)],
        ),
        mass=m, inertia=(inertia, inertia, inertia), gravity=(0, 0, 0),
    )  # fmt: skip
    answer = oracle.solve(oracle.state(), {"J.tau": tau})
    assert_allclose(answer["J.qdd"], tau / (inertia + m * R**2), rtol=ROUND_OFF)
    assert_allclose(answer["J.reaction.t"], [0, 0, inertia * answer["J.qdd"] - tau], atol=1e-12)
    assert model["J"].transform().translation == pytest.approx((R * np.cos(q), R * np.sin(q), 0))


def rolling(R: float, q0, u0, **body) -> tuple[fm.Model, Oracle]:
    """A disc that rolls on z = 0: contact x, y, heading, lean, then its radius, then its own turn."""
    modes = [
        fm.Slide("x"), fm.Slide("y"), fm.Turn("z"), fm.Turn("x"), fm.Slide("z", role="locked", value=R), fm.Turn("y"),
    ]  # fmt: skip
    return hung(
        lambda F, M: fm.Joint(
            "W",
            F,
            M,
            modes=modes,
            rows_after=5,
            velocity_rows=[(0, -R, 0, 1, 0, 0), (R, 0, 0, 0, 1, 0)],
            speed_rows=[(1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0)],
            q0=q0,
            u0=u0,
        ),
        **body,
    )


def test_a_rolling_disc_obeys_its_equations() -> None:
    """Newton and Euler about its centre, with the force that the ground puts on the point of contact."""
    m, R, thickness, C = 1.7, 0.5, 0.11, 0.2
    lean, w = 0.3, np.array([0.7, 5.0, -0.9])
    _, oracle = rolling(R, (0.2, -0.1, 0.6, lean, 0.4), w, mass=m, inertia=(thickness, C, thickness))
    state = oracle.state()
    axes = (fm.Rotation.about("z", 0.6) @ fm.Rotation.about("x", lean)).matrix
    spin = axes @ w
    n = axes[:, 2]
    assert_allclose(state.w["b"], spin, atol=1e-13)
    assert_allclose(state.v["b"], np.cross(spin, R * n), atol=1e-13)
    answer = oracle.solve(state)
    frame_spin = spin - axes[:, 1] * w[1] + axes[:, 1] * w[2] * np.tan(lean)  # of the axes, which do not roll
    inertia = axes @ np.diag([thickness, C, thickness]) @ axes.T
    n_dot = np.cross(frame_spin, n)
    a = np.cross(answer["b.alpha"], R * n) + np.cross(spin, R * n_dot)
    f = m * (a + np.array([0, 0, G]))
    L_dot = inertia @ answer["b.alpha"] + np.cross(spin, inertia @ spin)
    assert_allclose(answer["b.a"], a, atol=1e-11)
    assert_allclose(L_dot, np.cross(-R * n, f), atol=1e-11)
    assert_allclose(answer["W.reaction.f"], f, atol=1e-11)
    power = answer["W.reaction.f"] @ state.v["b"] + answer["W.reaction.t"] @ state.w["b"]
    assert_allclose(power, 0, atol=1e-10)


def test_a_rolling_disc_on_a_slope() -> None:
    m, R, C, slope = 1.0, 0.3, 0.045, 0.25
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    _, oracle = rolling(R, (0, 0, 0, 0, 0), (0, 2, 0), mass=m, inertia=(0.1, C, 0.1), gravity=gravity)
    answer = oracle.solve(oracle.state(), {"W.tau": (0, 0.05, 0)})
    expected = (m * gravity[0] * R + 0.05) / (C + m * R**2)
    assert_allclose(answer["W.udot"], [0, expected, 0], rtol=ROUND_OFF, atol=ROUND_OFF)


def test_an_excited_mode_under_rows_of_velocities() -> None:
    """A skate whose heading is prescribed: its speed alone is free."""
    m, inertia = 2.0, 0.3
    modes = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z", role="excited", input="kappa_dot", eta0=0.7, kappa0=1.5)]
    _, oracle = hung(
        lambda F, M: fm.Joint(
            "J", F, M, modes=modes, u0=[2.0], velocity_rows=[(0, 0, 0, 0, 1, 0)], speed_rows=[(0, 0, 0, 1, 0, 0)]
        ),
        mass=m,
        inertia=(1, 1, inertia),
    )
    state = oracle.state()
    answer = oracle.solve(state, {"J.kappa_dot": 0.4, "J.tau": [0.9]})
    assert_allclose(state.v["b"], [2 * np.cos(0.7), 2 * np.sin(0.7), 0], atol=1e-14)
    assert_allclose(answer["J.udot"], 0.9 / m, rtol=ROUND_OFF)
    assert_allclose(answer["J.drive"], inertia * 0.4, rtol=ROUND_OFF)
    across = m * 2.0 * 1.5 * np.array([-np.sin(0.7), np.cos(0.7), 0])
    assert_allclose(answer["J.reaction.f"], across + np.array([0, 0, m * G]), rtol=ROUND_OFF)


# Switching laws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "u", "force"),
    [(0.0, 1.0, 0.0), (0.52, 1.0, -20.0 - 3.0), (0.52, -1.0, -20.0), (-0.31, -2.0, 10.0 + 6.0), (-0.31, 2.0, 10.0)],
)
def test_a_stop_pushes_and_never_pulls(q, u, force) -> None:
    m = 2.0
    model, _ = hung(lambda F, M: fm.Prismatic("P", F, M, axis="x", q0=q, u0=u), mass=m)
    model.add(fm.Stop("E", model["P"], lower=-0.3, upper=0.5, stiffness=1000.0, damping=3.0))
    oracle = Oracle(model)
    assert_allclose(oracle.solve(oracle.state())["P.qdd"], force / m, rtol=1e-10, atol=1e-12)


def test_laws_act_on_the_mode_that_they_name() -> None:
    model, _ = hung(
        lambda F, M: fm.Joint("J", F, M, modes=[fm.Slide("x"), fm.Slide("y", role="excited", input="kappa_dot"),
                                                fm.Slide("z")], q0=(0.1, 0.25), u0=(0.0, 2.0)),
        mass=1.0, gravity=(0, 0, 0),
    )  # fmt: skip
    model.add(fm.Law.table("T", model["J"], [0, 0.2, 0.3], [0, 1, 3], mode=2))
    model.add(fm.Law.damper("D", model["J"], [-1, 0, 1], [10, 0, -2], mode=2))
    oracle = Oracle(model)
    assert_allclose(oracle.solve(oracle.state())["J.qdd"], [0, 2.0 - 4.0], rtol=ROUND_OFF, atol=ROUND_OFF)


def test_a_law_on_a_spring_pulls_beside_it() -> None:
    model = fm.Model("tethered", gravity=(0, 0, 0))
    body = fm.Body("b", mass=2.0)
    model.add(body, fm.Prismatic("P", model.ground.at(), body.at(), axis="x", q0=0.8, u0=0.5))
    spring = fm.Spring("S", model.ground.at(), body.at(), stiffness=5, free_length=0.2)
    model.add(spring, fm.Law.polynomial("C", spring, [[0, 2], [0], [0], [4.0]]))
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state())
    pull = 5 * 0.6 + 2 * 0.5 + 4 * 0.8**3
    assert_allclose(answer["S.f"], pull, rtol=ROUND_OFF)
    assert_allclose(answer["P.qdd"], -pull / 2, rtol=ROUND_OFF)


def test_the_laws_of_a_table_meet() -> None:
    law = fm.Law.table("T", fm.Spring("S", fm.Model("m").ground.at(), fm.Body("b", mass=1).at()), [0, 1, 3], [0, 2, 1])
    for left, right in pairwise(law.pieces):
        assert left.upper == right.lower
        assert left.force(left.upper, 0.0) == pytest.approx(right.force(right.lower, 0.0))
