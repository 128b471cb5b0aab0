"""Follower loads: forces and torques in the axes of their points, whose work depends on the way."""

from functools import cache
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from support.both_ways import runs

BECK = 20.0509  # EI / L^2: M. Beck, ZAMP 3 (1952) 225


def column(elements: int, push: float, axes: Any = "point", plane: str | None = "xy", **more: float) -> fm.Model:
    """A cantilever of unit length, bending stiffness and mass, pressed along the axis of its tip."""
    model = fm.Model("column", gravity=(0, 0, 0))
    own = {"EIz": 1.0, "EIy": 2.0, "GJ": 1.0, "axial_inertia": 1e-2} if plane is None else {"EIz": 1.0}
    link = fm.FlexibleLink("c", length=1.0, mass=1.0, elements=elements, plane=plane, **own, **more)
    model.add(link, fm.Weld("root", model.ground.at(), link.base))
    model.add(fm.Load("thrust", link.tip, force=(-push, 0, 0), axes=axes))
    return model


def flutter_load(elements: int) -> float:
    """Where the verdict of the core changes."""
    low, high = 15.0, 25.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        if fm.equilibrium(column(elements, middle)).solver.departure[0] == 0.0:
            low = middle
        else:
            high = middle
    return low


def test_becks_column_flutters_where_beck_says_with_errors_of_order_two() -> None:
    coarse, fine = flutter_load(8), flutter_load(16)
    assert 3.5 < (BECK - coarse) / (BECK - fine) < 4.5
    assert_allclose(fine + (fine - coarse) / 3, BECK, rtol=2e-4)


def test_a_load_in_world_axes_buckles_the_same_column_at_eulers_load() -> None:
    euler = np.pi**2 / 4
    assert fm.equilibrium(column(16, 0.99 * euler, "world")).stable
    growth, name = fm.equilibrium(column(16, 1.01 * euler, "world")).solver.departure
    assert growth > 0.0 and name.startswith("c_e")
    assert fm.equilibrium(column(16, 1.01 * euler)).stable  # the follower load does not buckle it


@pytest.mark.parametrize("push", [19.0, 22.0])
def test_core_verdict_squares_and_linear_model_agree(push: float) -> None:
    model = column(8, push)
    found = fm.equilibrium(model)
    values = np.linalg.eigvals(fm.linearize(model, at="equilibrium").A)
    assert_allclose(found.solver.departure[0], found.growth, atol=1e-6)
    assert_allclose(values.real.max(), found.growth, atol=1e-6)
    assert found.solver.departure[1] == ""  # a vibration
    assert (found.growth > 0.5) == (push > BECK)


def test_flutter_of_a_large_mechanism_is_found_or_left_open() -> None:
    found = fm.equilibrium(column(20, 22.0, plane=None))
    assert found.solver.departure[0] > 0.0 or np.isnan(found.solver.departure[0])
    assert found.verdict == "unstable" and "vibration" in str(found)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("axes", ["world", "point"])
def test_loads_on_a_large_planar_mechanism_that_have_a_potential_leave_nothing_open(axis: str, axes: Any) -> None:
    """A torque about the common axis of all hinges does the same work every way, so that no flutter need be sought."""
    turn = np.eye(3)["xyz".index(axis)]
    along = tuple(np.roll(turn, 1).tolist())
    model = fm.Model("comb", gravity=(0, 0, 0))
    end = model.ground.at()
    for i in range(50):
        rod = fm.Body(f"r{i}", mass=1.0, com=tuple(0.5 * np.array(along)), inertia=(0.1, 0.1, 0.1))
        model.add(rod, fm.Revolute(f"J{i}", end, rod.at(), axis=axis, stiffness=100.0 + i))
        model.add(fm.Load(f"L{i}", rod.at(), torque=tuple((0.1 * turn).tolist()), axes=axes))
        end = rod.at(*along)
    found = fm.equilibrium(model)
    assert found.solver.departure == (0.0, "")


def ziegler(push: float, first: float = 1.0, axes: Any = "point") -> fm.Model:
    """Two rods without mass of unit length with masses 2 and 1 at their ends, and springs in both hinges."""
    model = fm.Model("ziegler", gravity=(0, 0, 0))
    hinge, last = model.ground.at(), None
    for name, mass, k in (("A", 2.0, first), ("B", 1.0, 1.0)):
        last = fm.Body(name + "_rod", mass=mass, com=(1, 0, 0))
        model.add(last, fm.Revolute(name, hinge, last.at(), axis="y", stiffness=k))
        hinge = last.at(1, 0, 0)
    model.add(fm.Load("P", hinge, force=(-push, 0, 0), axes=axes))
    return model


def test_zieglers_pendulum_flutters_at_its_closed_form() -> None:
    limit = 3.5 - np.sqrt(2.0)
    assert fm.equilibrium(ziegler(limit * (1 - 1e-6))).solver.departure[0] == 0.0
    assert fm.equilibrium(ziegler(limit * (1 + 1e-6))).solver.departure[0] > 0.0


def test_a_follower_load_may_also_let_a_coordinate_depart_without_vibrations() -> None:
    model = ziegler(0.5, first=-0.3)
    found = fm.equilibrium(model)
    A = np.array([[2.0 + 1.0, 1.0], [1.0, 1.0]])  # in the angles of both rods against the ground
    K = np.array([[-0.3 + 1.0 - 0.5, -1.0 + 0.5], [-1.0, 1.0]])
    growth = np.sqrt(-np.linalg.eigvals(np.linalg.solve(A, K)).real.min())
    assert_allclose(found.solver.departure[0], growth, rtol=1e-6)
    assert found.solver.departure[1] in ("A.q", "B.q")


def spun(force: tuple[float, float, float], torque: tuple[float, float, float]) -> fm.Model:
    model = fm.Model("spun", gravity=(0, 0, -9.81))
    body = fm.Body("b", mass=1.7, com=(0.1, -0.2, 0.3), inertia=(0.3, 0.4, 0.5))
    start = {"q0": (0, 0, 0, 1, 0, 0, 0), "u0": (0.1, 0.0, -0.2, 0.3, 0.2, 7.0)}
    turned = fm.Rotation.about("x", 0.4) @ fm.Rotation.about("z", -0.7)
    model.add(body, fm.Free("J", model.ground.at(), body.at(), **start))
    model.add(fm.Load("jet", body.at(0.2, 0.5, -0.1, rotation=turned), force=force, torque=torque, axes="point"))
    return model


def vec(values: Any) -> Any:
    return mp.matrix([mp.mpf(str(x)) for x in values])


def cross(a: Any, b: Any) -> Any:
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@cache
def flown(force: Any, torque: Any, stop: float) -> list[Any]:
    """Position of the body's origin and its rotation after `stop`, by Newton and Euler about the centre of mass and
    Gragg's method in 30 digits.
    """
    with mp.workdps(30):
        m, c, inertia = mp.mpf("1.7"), vec((0.1, -0.2, 0.3)), vec((0.3, 0.4, 0.5))
        x, z = mp.mpf("0.4"), mp.mpf("-0.7")
        about_x = mp.matrix([[1, 0, 0], [0, mp.cos(x), -mp.sin(x)], [0, mp.sin(x), mp.cos(x)]])
        about_z = mp.matrix([[mp.cos(z), -mp.sin(z), 0], [mp.sin(z), mp.cos(z), 0], [0, 0, 1]])
        turn = about_x * about_z
        f, t = turn * vec(force), turn * vec(torque)  # in the body's axes, constant
        about = t + cross(vec((0.2, 0.5, -0.1)) - c, f)
        gravity, w = vec((0, 0, -9.81)), vec((0.3, 0.2, 7.0))
        v = vec((0.1, 0.0, -0.2)) + cross(w, c)

        def rates(_: Any, y: Any) -> list[Any]:
            R, u = mp.matrix(3, 3), mp.matrix(y[9:12])
            for i in range(9):
                R[i // 3, i % 3] = y[i]
            spin = mp.matrix(
                [about[i] - cross(u, mp.matrix([inertia[k] * u[k] for k in range(3)]))[i] for i in range(3)]
            )
            turning = R * mp.matrix([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            return [*turning, *(spin[i] / inertia[i] for i in range(3)), *(R * f / m + gravity), *y[12:15]]

        start = [*mp.eye(3), *w, *v, *c]
        steps, y = 60, start
        h = mp.mpf(str(stop)) / steps
        for _ in range(steps):  # the midpoint rule, extrapolated in the square of its step
            table: list[list[list[Any]]] = []
            for k, n in enumerate((2, 4, 6, 8, 10, 12)):
                g, before, now = h / n, y, [a + h / n * b for a, b in zip(y, rates(0, y), strict=True)]
                for _ in range(n - 1):
                    before, now = now, [a + 2 * g * b for a, b in zip(before, rates(0, now), strict=True)]
                row = [[(a + b + g * d) / 2 for a, b, d in zip(now, before, rates(0, now), strict=True)]]
                for j in range(1, k + 1):
                    ratio = (mp.mpf(n) / (2 * (k - j) + 2)) ** 2 - 1
                    row.append([a + (a - b) / ratio for a, b in zip(row[-1], table[-1][j - 1], strict=True)])
                table.append(row)
            y = table[-1][-1]
        R = np.array([float(one) for one in y[:9]]).reshape(3, 3)
        return [np.array([float(one) for one in y[15:18]]) - R @ [0.1, -0.2, 0.3], R]


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
def test_a_jet_on_a_spinning_body_flies_as_newton_and_euler_say(scheme: Any) -> None:
    force, torque, stop = (3.0, -8.0, 11.0), (0.5, 0.2, -0.4), 1.0
    r, R = flown(force, torque, stop)
    result = fm.simulate(spun(force, torque), stop=stop, scheme=scheme, tolerance=1e-10)
    assert_allclose([result[f"b.r[{i}]"][-1] for i in (1, 2, 3)], r, atol=1e-8)
    w, x, y, z = (result[f"b.quat[{i}]"][-1] for i in (1, 2, 3, 4))
    assert_allclose(fm.Rotation.quaternion(w, x, y, z).matrix, R, atol=1e-8)


def test_a_thrust_on_a_body_that_spins(tmp_path: Path) -> None:
    """v = F / (m w) (sin w t, 1 - cos w t), in Python and in FMUs."""
    F, m, w = 6.0, 2.0, 3.0
    model = fm.Model("thrust", gravity=(0, 0, 0))
    body = fm.Body("body", mass=m, inertia=(0.1, 0.1, 0.1))
    modes = (fm.Slide("x"), fm.Slide("y"), fm.Turn("z"))
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=modes, u0=(0.0, 0.0, w)))
    model.add(fm.Load("push", body.at(), force=(F, 0, 0), axes="point"))
    names = ["J.qd[1]", "J.qd[2]"]
    for what, t, found in runs(tmp_path, model, names, stop=2.0, interval=0.1, tolerance=1e-12, scheme="dop853"):
        assert_allclose(found["J.qd[1]"], F / (m * w) * np.sin(w * t), rtol=0, atol=1e-9, err_msg=what)
        assert_allclose(found["J.qd[2]"], F / (m * w) * (1 - np.cos(w * t)), rtol=0, atol=1e-9, err_msg=what)


def test_a_jet_does_the_work_that_the_energy_gains() -> None:
    result = fm.simulate(spun((3.0, -8.0, 11.0), (0.5, 0.2, -0.4)), stop=1.0, tolerance=1e-10, interval=1e-3)
    turned = fm.Rotation.about("x", 0.4) @ fm.Rotation.about("z", -0.7)
    f, t, at = turned @ np.array((3.0, -8.0, 11.0)), turned @ np.array((0.5, 0.2, -0.4)), np.array((0.2, 0.5, -0.1))
    quat, v, w = (
        np.array([result[f"b.{what}[{i + 1}]"] for i in range(n)]).T for what, n in (("quat", 4), ("v", 3), ("w", 3))
    )
    power = []
    for q, speed, spin in zip(quat, v, w, strict=True):
        R = fm.Rotation.quaternion(*q).matrix
        power.append((R @ f) @ (speed + np.cross(spin, R @ at)) + (R @ t) @ spin)
    p = np.array(power)
    work = 1e-3 * (p[0] + p[-1] + 4 * p[1::2].sum() + 2 * p[2:-1:2].sum()) / 3
    assert_allclose(result["solver.energy"][-1] - result["solver.energy"][0], work, rtol=1e-8)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_schemes_and_formulations_agree_under_a_strong_follower_load(dynamics: Any) -> None:
    end = []
    for scheme in ("dop853", "radau"):
        model = column(6, 30.0, damping=0.002)
        result = fm.simulate(
            model, stop=0.5, scheme=scheme, tolerance=1e-9, dynamics=dynamics, inputs={"thrust.force[2]": 0.3}
        )
        end.append(result["c_tip.q[2]"][-1])
    assert_allclose(end[0], end[1], rtol=1e-5)


def test_how_its_inputs_are_described_and_what_is_refused() -> None:
    image = compile(column(1, 1.0))
    assert "axes of its point" in image.variables.find("thrust.force[1]").description  # type: ignore[union-attr]
    assert "world axes" in compile(column(1, 1.0, "world")).variables.find("thrust.force[1]").description  # type: ignore[union-attr]
    with pytest.raises(fm.ModelError, match=r"axes.* is 'body'\. Give 'world' or 'point'"):
        fm.Load("L", fm.Body("b", mass=1.0).at(), axes="body")  # type: ignore[arg-type]
