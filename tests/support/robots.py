"""Robots as files: those of the tests, random ones, and MuJoCo's dynamics beside those of what was read."""

from pathlib import Path
from types import ModuleType

import numpy as np

from support.scripts import load

DATA = Path(__file__).parents[1] / "readers" / "data"
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def with_mujoco() -> ModuleType:
    return load(BENCHMARKS / "with_mujoco.py")


def with_pinocchio() -> ModuleType:
    return load(BENCHMARKS / "with_pinocchio.py")


def random_urdf(seed: int, bodies: int = 7, heavy_root: bool = False, mimic: bool = False) -> str:
    """A tree of links with turned frames, on joints of all kinds that MuJoCo reads, too; some fixed ones have no mass.

    Sizes and masses over six decades. heavy_root: the first link has a mass. mimic: the last moving joint follows the
    first.
    """
    generator = np.random.default_rng(seed)
    length, mass = 10.0 ** generator.uniform(-3.0, 3.0), 10.0 ** generator.uniform(-3.0, 3.0)
    links, joints = ['<link name="l0"/>'], []
    for i in range(1, bodies + 1):
        parent = int(generator.integers(max(0, i - 3), i))
        kind = str(generator.choice(["revolute", "continuous", "prismatic", "fixed", "revolute"]))
        limit = f'<limit lower="-1" upper="{generator.uniform(0.1, 1.0)}" effort="1" velocity="1"/>'
        dynamics = f'<dynamics damping="{mass * length**2 * generator.uniform(0.0, 1.0)}"/>'
        axis = "" if generator.uniform() < 0.2 else f'<axis xyz="{_numbers(generator.normal(size=3))}"/>'
        joints.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/>'
            f"{_origin(generator, length)}{axis}{limit}{dynamics}</joint>"
        )
        massless = kind == "fixed" and generator.uniform() < 0.5
        links.append(f'<link name="l{i}">{"" if massless else _inertial(generator, length, mass)}</link>')
    more = np.random.default_rng([seed, 1])
    if heavy_root:
        links[0] = f'<link name="l0">{_inertial(more, length, mass)}</link>'
    moving = [k for k, joint in enumerate(joints) if 'type="fixed"' not in joint]
    if mimic:
        text = f'<mimic joint="j{moving[0] + 1}" multiplier="{more.uniform(0.5, 2.0)!r}" offset="{more.normal()!r}"/>'
        joints[moving[-1]] = joints[moving[-1]].replace("</joint>", f"{text}</joint>")
    order = generator.permutation(len(links + joints))
    return f'<robot name="random">{"".join([*links, *joints][k] for k in order)}</robot>'


def _inertial(generator: np.random.Generator, length: float, mass: float) -> str:
    """Of a few random mass points."""
    points = 0.3 * length * generator.normal(size=(5, 3))
    points -= points.mean(axis=0)
    m = mass * generator.uniform(0.1, 1.0)
    J = m / 5 * (np.sum(points**2) * np.eye(3) - points.T @ points)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = zip(names, J[np.triu_indices(3)], strict=True)
    inertia = " ".join(f'{name}="{float(value)!r}"' for name, value in entries)
    return f'<inertial>{_origin(generator, length)}<mass value="{m!r}"/><inertia {inertia}/></inertial>'


def _origin(generator: np.random.Generator, length: float) -> str:
    xyz, rpy = length * generator.normal(size=3), generator.uniform(-3.0, 3.0, 3)
    if generator.uniform() < 0.2:
        return f'<origin xyz="{_numbers(xyz)}"/>'
    return f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>'


def random_mjcf(seed: int, bodies: int = 6) -> str:
    """A tree of bodies with up to three joints each, references, springs, armature, friction, servos and inertias."""
    generator = np.random.default_rng(seed)
    length, density = 10.0 ** generator.uniform(-2.0, 2.0), 10.0 ** generator.uniform(1.0, 4.0)
    unit = density * length**5 * 0.1
    text, ends = "", []
    for i in range(bodies):
        depth = int(generator.integers(0, len(ends) + 1)) if i else 0
        while len(ends) > depth:
            text += ends.pop()
        text += f'<body name="b{i}" pos="{_numbers(length * generator.normal(size=3))}" {_euler(generator)}>'
        text += _joints(generator, i, length, unit, not ends)
        text += f'<geom type="box" size="{_numbers(0.2 * length * generator.uniform(0.2, 1.0, 3))}" '
        text += f'pos="{_numbers(0.2 * length * generator.normal(size=3))}" {_euler(generator)}/>'
        ends.append("</body>")
    text += "".join(ends)
    names = [f"j{i}_{k}" for i in range(bodies) for k in range(3) if f'name="j{i}_{k}" axis' in text]
    motors = "".join(
        f'<general name="m{n}" joint="{name}" gainprm="{generator.uniform(0.5, 2.0) * unit}" biastype="affine" '
        f'biasprm="{_numbers(unit * np.array([0.3, -generator.uniform(), -generator.uniform()]))}" '
        f'gear="{generator.uniform(0.5, 2.0)}"/>'
        for n, name in enumerate(names[:3])
    )
    return (
        f'<mujoco><compiler angle="radian"/><default><geom density="{density}"/></default>'
        f'<option gravity="{_numbers(10.0 * generator.normal(size=3))}"/>'
        f"<worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def _joints(generator: np.random.Generator, i: int, length: float, unit: float, at_root: bool) -> str:
    kind = generator.choice(["free", "ball", "several", "several", "hinge", "none", "mixed"])
    law = f'damping="{unit * generator.uniform()}" armature="{unit * generator.uniform()}"'
    pos = f'pos="{_numbers(0.3 * length * generator.normal(size=3))}"'
    if kind == "free" and at_root:
        return f'<freejoint name="j{i}"/>'
    if kind in ("ball", "mixed"):
        ball = f'<joint name="j{i}_ball" type="ball" {pos} damping="{unit}" stiffness="{unit * generator.uniform()}"/>'
        slide = f'<joint name="j{i}_0" axis="1 0.3 0" type="slide" armature="{unit / length**2}"/>'
        return ball if kind == "ball" else slide + ball
    if kind == "none" and not at_root:
        return ""
    found = ""
    for k, axis in enumerate(np.eye(3)[: 1 if kind == "hinge" else int(generator.integers(2, 4))]):
        turns = generator.uniform() < 0.6
        what = "hinge" if turns else "slide"
        ref = generator.uniform(-0.5, 0.5) * (1.0 if turns else length)
        scale = 1.0 if turns else 1.0 / length**2
        laws = f'damping="{scale * unit}" armature="{scale * unit}" stiffness="{scale * unit}"' if k else law
        found += (
            f'<joint name="j{i}_{k}" axis="{_numbers(axis + 0.2 * generator.normal(size=3))}" type="{what}" {pos} '
            f'ref="{ref}" springref="{ref * generator.uniform()}" frictionloss="{0.01 * scale * unit}" {laws}/>'
        )
    return found


def _euler(generator: np.random.Generator) -> str:
    return f'euler="{_numbers(generator.uniform(-3.0, 3.0, 3))}"'


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
