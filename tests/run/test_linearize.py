"""Linear models beside differences of independent equations in mpmath, and by what must hold."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.errors import ModelError
from fmumbs.readers import read_model
from support.closed import plane, space
from support.sweeps import each_value, seeds

ROOT = Path(__file__).parents[2]
AGREEMENT = 1e-9
"""Of the largest entry, as the differences in mpmath are exact to 20 digits."""


def differences(f: Any, x: list[float], u: list[float] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A and B of x' = f(x, u), by differences with forty digits."""
    mp.mp.dps = 40
    point = [mp.mpf(v) for v in (*x, *(u or ()))]
    n = len(x)
    step = mp.mpf(10) ** -15
    columns = []
    for k in range(len(point)):
        ahead, back = list(point), list(point)
        ahead[k] += step
        back[k] -= step
        a, b = f(ahead[:n], ahead[n:]), f(back[:n], back[n:])
        columns.append([float((p - q) / (2 * step)) for p, q in zip(a, b, strict=True)])
    J = np.array(columns).T
    return J[:, :n], J[:, n:]


def close(found: np.ndarray, expected: np.ndarray) -> None:
    assert_allclose(found, expected, rtol=0, atol=AGREEMENT * max(1.0, np.abs(expected).max(initial=0.0)))


def reordered(linear: fm.LinearModel, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    at = [linear.states.index(name) for name in names]
    return linear.A[np.ix_(at, at)], linear.B[at]


def test_cart_pole() -> None:
    """Away from every equilibrium, under a force, with damping."""
    model = fm.Model("cart_pole")
    cart = fm.Body("cart", mass=1.3, inertia=(0.1, 0.1, 0.1))
    pole = fm.Body("pole", mass=0.4, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02))
    model.add(cart, pole, fm.Prismatic("X", model.ground.at(), cart.at(), axis="x", u0=0.6, damping=0.7, tau=2.0))
    model.add(fm.Revolute("A", cart.at(), pole.at(), axis="y", q0=0.5, u0=-1.1))

    def rates(x: Any, u: Any) -> list[Any]:
        _, q, v, w = x
        m, arm, J, g = mp.mpf("0.4"), mp.mpf("0.3"), mp.mpf("0.02"), mp.mpf("9.81")
        c, s = mp.cos(q), mp.sin(q)  # the centre of mass is l (c, -s) from the pivot in x and z
        M = mp.matrix([[mp.mpf("1.7"), -m * arm * s], [-m * arm * s, J + m * arm * arm]])
        right = mp.matrix([u[0] - mp.mpf("0.7") * v + m * arm * c * w * w, m * g * arm * c])
        a = mp.lu_solve(M, right)
        return [v, w, a[0], a[1]]

    linear = fm.linearize(model, inputs=["X.f"], outputs=["X.q", "pole.a"])
    A, B = differences(rates, [0.0, 0.5, 0.6, -1.1], [2.0])
    found, by_input = reordered(linear, ["X.q", "A.q", "X.qd", "A.qd"])
    close(found, A)
    close(by_input, B)
    names = [linear.states.index(name) for name in ("X.q", "A.q", "X.qd", "A.qd")]
    exact = [float(value) for value in rates([mp.mpf(v) for v in (0.0, 0.5, 0.6, -1.1)], [mp.mpf(2)])]
    assert_allclose(linear.f0[names], exact, rtol=1e-12, atol=1e-14)
    assert not linear.at_rest and "not at an equilibrium: the rate of A.qd" in str(linear)
    assert linear.outputs == ("X.q", "pole.a[1]", "pole.a[2]", "pole.a[3]") and linear.output_units[1] == "m/s2"
    close(linear.C[1], linear.A[linear.states.index("X.qd")])
    close(linear.D[1], linear.B[linear.states.index("X.qd")])


def four_bar(cut: str) -> fm.Model:
    model = fm.Model("four_bar")
    lengths, masses = {"a": 0.3, "b": 0.8, "c": 0.6}, {"a": 0.5, "b": 1.0, "c": 0.8}
    bodies = {
        name: fm.Body(name, mass=masses[name], com=(length / 2, 0, 0), inertia=[masses[name] * length**2 / 12] * 3)
        for name, length in lengths.items()
    }
    a, b, c = bodies.values()
    x, z = _closure(0.7)
    joints = [
        fm.Revolute("A", model.ground.at(), a.at(), axis="y", q0=-0.7, u0=-2.0, held=True, damping=0.2, tau=1.5),
        fm.Revolute("B", a.at(0.3, 0, 0), b.at(), axis="y", q0=-(x - 0.7), cut=cut == "B"),
        fm.Revolute("C", b.at(0.8, 0, 0), c.at(0.6, 0, 0), axis="y", cut=cut == "C", q0=-(z - x)),
        fm.Revolute("D", model.ground.at(0.9, 0, 0), c.at(), axis="y", q0=-z, cut=cut == "D"),
    ]
    model.add(*bodies.values(), *joints)
    return model


def _closure(angle: Any) -> tuple[float, float]:
    """Angles of coupler and rocker, in the plane of x and z from x up."""
    found = mp.findroot(
        lambda b, c: [
            mp.mpf("0.3") * mp.cos(angle) + mp.mpf("0.8") * mp.cos(b) - mp.mpf("0.9") - mp.mpf("0.6") * mp.cos(c),
            mp.mpf("0.3") * mp.sin(angle) + mp.mpf("0.8") * mp.sin(b) - mp.mpf("0.6") * mp.sin(c),
        ],
        (0.5, 1.5),
    )
    return found[0], found[1]


@pytest.mark.parametrize("cut", ["B", "C", "D"])
def test_four_bar(cut: str) -> None:
    """Whichever joint is cut, the equation of its one coordinate: (I q')' = I' q'^2/2 - V' + torque."""
    mp.mp.dps = 50

    def energies(angle: Any) -> tuple[Any, Any]:
        """Inertia about the crank's angle, and the height of the weights."""

        def points(t: Any) -> list[Any]:
            b, c = _closure(t)
            crank = (mp.mpf("0.3") * mp.cos(t), mp.mpf("0.3") * mp.sin(t))
            middle = (crank[0] + mp.mpf("0.4") * mp.cos(b), crank[1] + mp.mpf("0.4") * mp.sin(b))
            return [*middle, b, c]

        h = mp.mpf(10) ** -12
        x, z, b, c = ((p - q) / (2 * h) for p, q in zip(points(angle + h), points(angle - h), strict=True))
        inertia = mp.mpf("0.5") * mp.mpf("0.09") / 3 + (x * x + z * z) + b * b * mp.mpf("0.64") / 12
        inertia += c * c * mp.mpf("0.8") * mp.mpf("0.36") / 3
        _, height, _, rocker = points(angle)
        weight = (
            mp.mpf("0.5") * mp.mpf("0.15") * mp.sin(angle) + height + mp.mpf("0.8") * mp.mpf("0.3") * mp.sin(rocker)
        )
        return inertia, mp.mpf("9.81") * weight

    def rates(x: Any, u: Any) -> list[Any]:
        q, v = -x[0], -x[1]  # about y the angle falls as the crank rises
        h = mp.mpf(10) ** -8
        (I1, V1), (I0, V0), (inertia, _) = energies(q + h), energies(q - h), energies(q)
        a = (-(I1 - I0) / (2 * h) * v * v / 2 - (V1 - V0) / (2 * h) - mp.mpf("0.2") * v - u[0]) / inertia
        return [x[1], -a]

    linear = fm.linearize(four_bar(cut), inputs=["A.tau"], outputs=["A.q", "A.qd", "A.qdd"])
    T = linear.C[:2]  # from the independent coordinates, whichever they are, to the crank
    step, torque = mp.mpf(10) ** -6, mp.mpf("1.5")
    point = [mp.mpf("-0.7"), mp.mpf("-2")]
    slopes = []
    for k in range(2):
        ahead, back = (rates([p + sign * step * (i == k) for i, p in enumerate(point)], [torque]) for sign in (1, -1))
        slopes.append(float((ahead[1] - back[1]) / (2 * step)))
    close(linear.C[2:], np.array([slopes]) @ T)
    assert_allclose(linear.y0[2], float(rates(point, [torque])[1]), rtol=1e-9)
    assert_allclose(linear.D[2, 0], 1 / float(energies(mp.mpf("0.7"))[0]), rtol=1e-9)


def test_ball_joint() -> None:
    """A heavy body that spins about any axis: three small rotations in its own axes."""
    own = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.5]])
    c, m, w0 = np.array([0.1, -0.2, 0.3]), 2.0, (1.0, -2.0, 3.0)
    q0 = np.array([0.8, 0.1, -0.3, 0.5])
    q0 /= np.linalg.norm(q0)
    model = fm.Model("top")
    body = fm.Body("top", mass=m, com=c, inertia=own)
    model.add(body, fm.Spherical("S", model.ground.at(), body.at(), q0=q0, u0=w0, damping=0.3))
    J = own + m * (c @ c * np.eye(3) - np.outer(c, c))
    w, x, y, z = q0
    R0 = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip

    def skew(v: Any) -> Any:
        return mp.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    def rates(state: Any, _: Any) -> list[Any]:
        s, v = mp.matrix(state[:3]), mp.matrix(state[3:])
        S = skew(s)
        small = mp.norm(s) < mp.mpf(10) ** -10
        E = mp.eye(3) + S + S * S / 2 + S * S * S / 6 if small else mp.expm(S)
        down = (mp.matrix(R0.tolist()) * E).T * mp.matrix([0, 0, mp.mpf("-9.81")])
        arm = mp.matrix((m * c).tolist())
        torque = skew(arm) * down - skew(v) * (mp.matrix(J.tolist()) * v) - mp.mpf("0.3") * v
        spin = mp.lu_solve(mp.matrix(J.tolist()), torque)
        rate = v + S * v / 2 + S * S * v / 12  # of the rotation vector, to second order
        return [*rate, *spin]

    A, _ = differences(rates, [0.0, 0.0, 0.0, *w0])
    linear = fm.linearize(model)
    close(linear.A, A)
    assert linear.states == ("S.rotation[1]", "S.rotation[2]", "S.rotation[3]", "S.w[1]", "S.w[2]", "S.w[3]")
    assert linear.state_units == ("rad",) * 3 + ("rad/s",) * 3


def test_bushing() -> None:
    """A body on an elastic mount with full matrices, at rest where it exerts no force."""
    rng = np.random.default_rng(3)
    K, D = (B @ B.T + 6 * np.eye(6) for B in rng.normal(size=(2, 6, 6)))
    model = fm.Model("mount", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(0.3, 0.4, 0.5))
    model.add(body, fm.Bushing("mount", model.ground.at(), body.at(), stiffness_matrix=100 * K, damping_matrix=D))
    linear = fm.linearize(model)
    M = np.diag([2.0, 2.0, 2.0, 0.3, 0.4, 0.5])
    close(linear.A, np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(M, 100 * K), -np.linalg.solve(M, D)]]))
    assert linear.at_rest
    assert_allclose(sum(linear.modes.kinetic.values()), 1.0)
    assert list(linear.modes.elastic) == ["mount"]


def test_lugre() -> None:
    """Sliding slowly, with bristles that are deflected otherwise than by steady sliding."""
    model = fm.Model("slider", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.7, inertia=(1, 1, 1))
    pads = fm.LuGre(0.5, 0.3, stribeck=0.05, stiffness=2e3, damping=12.0, viscous=0.4, preload=4.0)
    model.add(body, fm.Prismatic("X", model.ground.at(), body.at(), axis="x", u0=0.04, friction=pads, stiffness=30.0))
    solver = fm.Solver(fm.compile(model, everything=True))
    solver.assemble()
    solver.set("X.friction.z", 1e-4)
    solver.assemble()

    def rates(x: Any, u: Any) -> list[Any]:
        q, v, z = x
        g = (mp.mpf("0.3") + mp.mpf("0.2") * mp.exp(-((v / mp.mpf("0.05")) ** 2))) / 2000
        rate = v - abs(v) * z / g
        force = 4 * (2000 * z + 12 * rate + mp.mpf("0.4") * v)
        return [v, (u[0] - 30 * q - force) / mp.mpf("1.7"), rate]

    A, B = differences(rates, [0.0, 0.04, 1e-4], [0.0])
    linear = fm.linearize(solver, inputs=["X.f"])
    assert linear.states == ("X.q", "X.qd", "X.friction.z")
    close(linear.A, A)
    close(linear.B, B)


def test_flexible_arm() -> None:
    """A beam of elements on a hinge: its stiffness is that of the elements, its mass matrix is known."""
    model = fm.Model("arm", gravity=(0, 0, 0))
    arm = fm.FlexibleLink("arm", length=1.0, mass=0.6, EIy=2.0, EIz=3.0, GJ=1.0, axial_inertia=1e-3, elements=5)
    model.add(arm, fm.Revolute("A", model.ground.at(), arm.base, axis="z", stiffness=4.0))
    linear = fm.linearize(model)
    solver = fm.Solver(fm.compile(model, everything=True))
    n = solver.image.sizes["speeds"]
    K = np.diag(np.asarray(solver.image.arrays["stiffness"])[:n])
    A = -np.linalg.solve(fm.mass_matrix(model, solver.positions), K)
    close(linear.A[n:, :n], A)
    assert linear.frozen == ()
    elastic = linear.modes.elastic
    assert_allclose(sum(elastic.values()), 1.0)
    assert set(elastic) > {"A", "arm_e1"}


def test_a_flexible_body_has_its_frequencies() -> None:
    model = fm.Model("beam", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam("link", length=1.0, mass=1.0, EI=20.0)
    model.add(beam, fm.Weld("W", model.ground.at(), beam.base))
    modes = fm.linearize(model).modes
    assert_allclose(modes.frequencies, fm.equilibrium(model).frequencies, rtol=1e-6)
    assert_allclose(modes.kinetic["link"], 1.0)


def test_program() -> None:
    """A pendulum whose pivot a program moves: its acceleration takes part, and the drive stays where it is."""
    model = fm.Model("pivot")
    cart = fm.Body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    bob = fm.Body("bob", mass=0.5, com=(0, 0, -0.7), inertia=(0.01, 0.01, 0.01))
    X = fm.Prismatic("X", model.ground.at(), cart.at(), axis="x")
    model.add(cart, bob, X, fm.Revolute("A", cart.at(), bob.at(), axis="y", q0=0.4))
    model.add(fm.ProgrammedJoint("P", X, path=fm.Path.sine(0.2, frequency=1.5, phase=0.6)))
    linear = fm.linearize(model, outputs=["X.qdd"])
    a = linear.y0[0]
    assert_allclose(a, -0.2 * (3 * np.pi) ** 2 * np.sin(0.6), rtol=1e-9)
    J = 0.01 + 0.5 * 0.49
    slope = 0.5 * 0.7 / J * (-9.81 * np.cos(0.4) - a * np.sin(0.4))
    assert linear.states == ("A.q", "A.qd")
    close(linear.A, np.array([[0.0, 1.0], [slope, 0.0]]))
    assert any("follows a path" in text for text in linear.frozen)


def test_bicycle() -> None:
    """The benchmark of Meijaard and others at 5 m/s: weave, capsize and castering; and where it balances itself."""
    build = bicycle()
    linear = fm.linearize(build(5.0), inputs=[], outputs=[])
    values = linear.modes.eigenvalues
    weave, real = values[values.imag > 0.0], np.sort(values[values.imag == 0.0].real)
    assert_allclose(weave, [-0.77534188 + 4.46486771j], rtol=0, atol=1e-8)
    assert_allclose(real[:2], [-14.07838969, -0.32286643], rtol=0, atol=1e-8)
    assert len(linear.states) == 7 + 3  # of nine coordinates two follow, of nine velocities six
    assert_allclose(real[2:], 0.0, atol=1e-6)  # where it is, and where it heads
    for speed, stable in ((4.292, False), (4.293, True), (6.024, True), (6.0245, False)):
        assert (np.linalg.eigvals(fm.linearize(build(speed), inputs=[], outputs=[]).A).real.max() < 1e-5) == stable


def bicycle() -> Any:
    """build() of examples/bicycle.py, without the push."""
    spec = importlib.util.spec_from_file_location("bicycle", ROOT / "examples" / "bicycle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PUSH = 0.0  # type: ignore[attr-defined]
    return module.build


# By what must hold ---------------------------------------------------------------------------------------------------


@each_value
@pytest.mark.parametrize("seed", [0, 1, 2, 101, 300])
def test_linear_models_of_loops_have_twice_their_mobility(seed: int) -> None:
    """States, and derivatives to many digits, whatever joints close the loops."""
    case = plane(seed, 2) if seed >= 300 else space(seed, loops=1 + seed // 100)
    solver = fm.Solver(fm.compile(case.model, everything=True))
    solver.assemble()
    linear = fm.linearize(solver, outputs=[f"{case.model.bodies[0].name}.v"])
    freedoms = solver.mobility
    assert len(linear.states) == 2 * freedoms
    for error, matrix in zip(linear.errors, (linear.A, linear.B, linear.C, linear.D), strict=True):
        assert error.max(initial=0.0) <= 1e-7 * max(1.0, np.abs(matrix).max(initial=0.0))


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_eigenvalues_do_not_depend_on_the_cut(seed: int) -> None:
    """At an equilibrium of a loop under gravity, whichever joint is cut."""
    values = []
    for cut in ("B", "C", "D"):
        linear = fm.linearize(four_bar(cut), "equilibrium")
        assert linear.at_rest
        values.append(np.sort_complex(np.linalg.eigvals(linear.A)))
    assert_allclose(values[1:], [values[0]] * 2, rtol=1e-7)


def test_a_state_of_a_result() -> None:
    """The same model as at the Solver's state there."""
    model = read_model("four_bar")
    solver = fm.Solver(fm.compile(model, everything=True).with_options(tolerance=1e-10))
    solver.assemble()
    solver.step(0.2)
    result = fm.simulate(model, times=[0.0, 0.1, 0.2, 0.5], tolerance=1e-10)
    found, expected = fm.linearize(model, (result, 0.21)), fm.linearize(solver)
    assert found.time == 0.2
    assert_allclose(found.A, expected.A, rtol=1e-6, atol=1e-6)


def test_stuck_and_kinked_laws_are_named() -> None:
    model = fm.Model("brake", gravity=(0, 0, 0))
    a, b = (fm.Body(name, mass=1.0, inertia=(1, 1, 1)) for name in "ab")
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x", stiffness=3.0)
    B = fm.Prismatic("B", a.at(), b.at(), axis="x")
    model.add(a, b, A, B, fm.Law.brake("grip", B, force=1.0))
    linear = fm.linearize(model)
    assert linear.frozen == ("law 'grip' sticks",)
    assert linear.states == ("A.q", "B.q", "A.qd") or linear.states == ("A.q", "A.qd")
    assert_allclose(linear.modes.frequencies.max(), np.sqrt(3.0 / 2.0), rtol=1e-9)


def test_it_goes_to_other_tools(tmp_path: Path) -> None:
    linear = fm.linearize(read_model("double_pendulum"), "equilibrium", inputs=["A.tau"], outputs=["A.q"])
    system = linear.to_scipy()
    assert_allclose(system.A, linear.A)
    read = np.load(linear.save(tmp_path / "m.npz"))
    assert_allclose(read["A"], linear.A)
    assert list(read["states"]) == list(linear.states)
    from scipy.io import loadmat

    assert_allclose(loadmat(linear.save(tmp_path / "m.mat"))["B"], linear.B)
    with pytest.raises(ModelError, match=r"Call it m.npz or m.mat"):
        linear.save(tmp_path / "m.txt")


def test_it_goes_to_control() -> None:
    pytest.importorskip("control")
    linear = fm.linearize(read_model("double_pendulum"), "equilibrium", inputs=["A.tau"], outputs=["A.q"])
    system = linear.to_control()
    assert_allclose(system.A, linear.A)
    assert system.input_labels == ["A_tau"]


def test_command(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["linearize", "double_pendulum", "--at", "equilibrium"])
    assert done.exit_code == 0 and "eigenvalue" in done.output
    names = ["linearize", "four_bar", "--input", "A.tau", "--output", "A.q"]
    done = CliRunner().invoke(main, [*names, "--json", "-o", str(tmp_path / "m.npz")])
    facts = json.loads(done.output)
    assert facts["inputs"] == ["A.tau"] and len(facts["A"]) == 2 and (tmp_path / "m.npz").exists()
    done = CliRunner().invoke(main, ["linearize", "four_bar", "--input", "A.q"])
    assert done.exit_code == 1 and "'A.q' is not an input" in done.output


@pytest.mark.parametrize("length", [1e-3, 1e-2])
def test_whether_it_is_at_rest_is_compared_with_gravity(length: float) -> None:
    """At an angle e a small pendulum accelerates by e g / l: it is at rest for e = 5e-7, not for 5e-6."""
    for angle, at_rest in ((5e-7, True), (5e-6, False)):
        model = fm.Model("small")
        bob = fm.Body("bob", mass=1e-3, com=(0, 0, -length), inertia=(0, 0, 0))
        model.add(bob, fm.Revolute("A", model.ground.at(), bob.at(), axis="y", q0=angle))
        linear = fm.linearize(model)
        assert linear.residual == pytest.approx(9.81 / length * np.sin(angle), rel=1e-9)
        assert linear.at_rest == at_rest


@pytest.mark.parametrize("gravity", [0.0, 1e-3])
def test_without_much_gravity_it_is_compared_with_seconds(gravity: float) -> None:
    """A free wheel under a torque of 5e-7 N.m is at rest, under 5e-6 N.m it is not."""
    for torque, at_rest in ((5e-7, True), (5e-6, False)):
        model = fm.Model("wheel", gravity=(0, 0, -gravity))
        wheel = fm.Body("wheel", mass=1.0, inertia=(1, 1, 1))
        model.add(wheel, fm.Revolute("A", model.ground.at(), wheel.at(1, 0, 0), axis="z", tau=torque))
        assert fm.linearize(model).at_rest == at_rest


@pytest.mark.parametrize(("call", "words"), [
    (lambda m: fm.linearize(m, "there"), "Give 'start', 'equilibrium', a Steady motion"),
    (lambda m: fm.linearize(m, inputs=["A.q"]), "'A.q' is not an input"),
    (lambda m: fm.linearize(m, outputs=["A.qq"]), "has no variable 'A.qq'"),
    (lambda m: fm.linearize(m, (fm.simulate(m, stop=0.1), 3.0)), "has no time 3 s"),
    (lambda m: fm.linearize(m, outputs=[]).to_scipy(), "has no outputs"),
])  # fmt: skip
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ModelError) as found:
        call(read_model("double_pendulum"))
    assert words in str(found.value)
