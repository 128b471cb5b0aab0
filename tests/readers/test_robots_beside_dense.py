"""Twenty random robots beside dense matrices made from their text: M, inverse and forward dynamics, centre of mass."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle.robots import Motion, Robot
from support.robots import random_urdf

SAME = 1e-12
"""Of M relative to the diagonal, of forces to the sum of their terms, of the centre to the largest distance."""

FREE, MIMIC = (3, 10, 17), (1, 6, 11, 16)


def drawn(robot: Robot, seed: int) -> Motion:
    """A motion in which mimic joints follow. Velocities and accelerations of slides are of the robot's size."""
    rng = np.random.default_rng([seed, 3])
    motion = Motion({}, {}, {})
    size = max(1e-3, robot.answer(Motion(*(dict.fromkeys(robot.names, 0.0) for _ in range(3)))).size)
    for name in map(str, robot.joints):
        unit = size if name in robot.prismatic else 1.0
        motion.q[name], motion.qd[name], motion.qdd[name] = unit * rng.normal(size=3)
    for name, rule in robot.mimics.items():
        factor, leader = float(rule["multiplier"]), rule["joint"]
        motion.q[name] = factor * motion.q[leader] + float(rule["offset"])
        motion.qd[name], motion.qdd[name] = factor * motion.qd[leader], factor * motion.qdd[leader]
    if robot.free:
        motion.quaternion = rng.normal(size=4)
        motion.quaternion /= np.linalg.norm(motion.quaternion)
        motion.r, motion.v, motion.a = size * rng.normal(size=(3, 3))
        motion.w, motion.alpha = rng.normal(size=(2, 3))
    return motion


def read(seed: int, tmp_path: Path) -> tuple[fm.Model, Robot]:
    text = random_urdf(seed, heavy_root=seed in FREE, mimic=seed in MIMIC)
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    base: Any = "free" if seed in FREE else "fixed"
    return fm.read_urdf(path, base=base, massless="fix"), Robot(text, seed in FREE)


def given(motion: Motion, robot: Robot, root: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The motion by the names of our variables. root: the name of the free joint."""
    q, u, a = ({f"{name}.{suffix}": value[name] for name in value}
               for suffix, value in (("q", motion.q), ("qd", motion.qd), ("qdd", motion.qdd)))  # fmt: skip
    if robot.free:
        q |= {f"{root}.r": motion.r, f"{root}.q": motion.quaternion}
        u |= {f"{root}.v": motion.v, f"{root}.w": motion.w}
        a |= {f"{root}.a": motion.a, f"{root}.alpha": motion.alpha}
    return q, u, a


def columns(model: fm.Model, robot: Robot, root: str) -> list[int]:
    """Of our velocities, their columns in the oracle."""
    variables = fm.compile(model, everything=True).variables
    names = variables.names(variables.speeds())
    return [robot.names.index(n.replace(f"{root}.", "free.") if n.startswith(f"{root}.") else n.removesuffix(".qd"))
            for n in names]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_a_robot_moves_as_its_text_says(seed: int, tmp_path: Path) -> None:
    model, robot = read(seed, tmp_path)
    root = next((joint.name for joint in model.joints if isinstance(joint, fm.Free)), "none")
    motion = drawn(robot, seed)
    exact = robot.answer(motion)
    order = columns(model, robot, root)
    q, u, a = given(motion, robot, root)
    M, tau, terms = exact.M[np.ix_(order, order)], exact.tau[order], exact.terms[order]
    size = np.sqrt(np.diag(M)).astype(float)
    assert_allclose(
        fm.mass_matrix(model, q) / np.outer(size, size), (M / np.outer(size, size)).astype(float), rtol=0, atol=SAME
    )
    assert np.abs(fm.center_of_mass(model, q) - exact.com).max() <= SAME * exact.size
    if not robot.mimics:
        assert (np.abs(fm.inverse_dynamics(model, q, u, a) - tau) <= SAME * terms).all()
    else:
        G = np.eye(len(robot.names))
        for name, rule in robot.mimics.items():
            G[robot.names.index(name), robot.names.index(rule["joint"])] = float(rule["multiplier"])
        free = [name for name in robot.names if name not in robot.mimics]
        G = G[:, [robot.names.index(name) for name in free]]
        carried = [f"{name}.{'f' if name in robot.prismatic else 'tau'}" for name in free]
        found = fm.inverse_dynamics(model, q, u, a, actuated=carried)
        assert (np.abs(found - G.T @ exact.tau) <= SAME * (np.abs(G).T @ exact.terms)).all()


@pytest.mark.parametrize("seed", [seed for seed in range(20) if seed not in MIMIC])
def test_a_robot_accelerates_as_its_text_says(seed: int, tmp_path: Path) -> None:
    """Without forces of motors: what M a + h leaves, relative to the sum of its terms."""
    model, robot = read(seed, tmp_path)
    root = next((joint.name for joint in model.joints if isinstance(joint, fm.Free)), "none")
    motion = drawn(robot, seed)
    q, u, _ = given(motion, robot, root)
    image = fm.compile(model, everything=True)
    solver, variables = fm.Solver(image), image.variables
    positions, speeds = (variables.names(one) for one in (variables.positions(), variables.speeds()))
    solver.set_state([flat(q, name) for name in positions], [flat(u, name) for name in speeds])
    if robot.free:
        motion.a, motion.alpha = solver.get(f"{root}.a"), solver.get(f"{root}.alpha")
    motion.qdd = {str(name): float(solver.get(f"{name}.qdd")) for name in robot.joints}
    exact = robot.answer(motion)
    assert (np.abs(exact.tau) <= SAME * exact.terms).all()


def flat(values: dict[str, Any], name: str) -> float:
    """A component by its name, "j.q" or "j.v[2]"."""
    stem, _, rest = name.partition("[")
    return float(values[stem][int(rest[:-1]) - 1] if rest else values[stem])
