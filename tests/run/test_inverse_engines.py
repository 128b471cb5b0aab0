"""Mass matrix, inverse dynamics, momentum, Jacobians and accelerations beside Pinocchio and MuJoCo.

Both are in .venv after `make bench`; without them figures of Pinocchio for one arm stand in.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import seeds

ROUND_OFF = 1e-12
GRAVITY = (0.3, -0.4, -9.7)
KINDS = ("revolute", "prismatic", "spherical")


def inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    a, b, c = rng.uniform(0.02, 0.3, 3)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = R @ np.diag([b + c, c + a, a + b]) @ R.T * mass
    return np.asarray((found + found.T) / 2)


class Chain:
    """A tree of links with joints of one mode and balls, perhaps on a free base: seed 0, 1, ..."""

    def __init__(self, seed: int, kinds: tuple[str, ...] = KINDS) -> None:
        rng = self.rng = np.random.default_rng([seed, 29])
        self.free = seed % 4 == 3
        self.links: list[dict[str, Any]] = []
        for i in range(int(rng.integers(3, 9))):
            mass = float(rng.uniform(0.3, 3.0))
            kind = "free" if i == 0 and self.free else str(rng.choice(kinds))
            axis = rng.normal(size=3)
            ancestors = [i - 1] if i else []  # depth first, as Pinocchio numbers joints
            while ancestors and ancestors[-1] >= 0:
                ancestors.append(self.links[ancestors[-1]]["parent"])
            parents = [one for one in ancestors if one >= 0 or not self.free] or [-1]
            self.links.append(
                {
                    "kind": kind,
                    "axis": axis / np.linalg.norm(axis),
                    "parent": int(rng.choice(parents)),
                    "r": rng.uniform(-0.5, 0.5, 3),
                    "mass": mass,
                    "R": np.linalg.qr(rng.normal(size=(3, 3)))[0],
                    "com": rng.uniform(-0.3, 0.3, 3),
                    "inertia": inertia(rng, mass),
                    "rotor": float(rng.choice((0.0, 0.05))) if kind in KINDS[:2] else 0.0,
                }
            )
            self.links[-1]["R"] *= np.sign(np.linalg.det(self.links[-1]["R"]))

    def model(self) -> fm.Model:
        model = fm.Model("chain", gravity=GRAVITY)
        bodies: list[fm.Body] = []
        for i, one in enumerate(self.links):
            body = fm.Body(f"b{i}", mass=one["mass"], com=one["com"], inertia=one["inertia"])
            on: Any = model.ground if one["parent"] < 0 else bodies[one["parent"]]
            F = on.at(*one["r"], rotation=fm.Rotation(one["R"]))
            bodies.append(body)
            model.add(body, self.joint(f"j{i}", one, F, body.at()))
        return model

    @staticmethod
    def joint(name: str, one: dict[str, Any], F: fm.Point, M: fm.Point) -> Any:
        if one["kind"] in ("revolute", "prismatic"):
            make = fm.Revolute if one["kind"] == "revolute" else fm.Prismatic
            return make(name, F, M, axis=tuple(one["axis"]), rotor_inertia=one["rotor"])
        return (fm.Spherical if one["kind"] == "spherical" else fm.Free)(name, F, M)

    def state(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        q: dict[str, Any] = {}
        u: dict[str, Any] = {}
        a: dict[str, Any] = {}
        for i, one in enumerate(self.links):
            if one["kind"] in ("revolute", "prismatic"):
                q[f"j{i}.q"], u[f"j{i}.qd"], a[f"j{i}.qdd"] = self.rng.normal(size=3)
                continue
            quaternion = self.rng.normal(size=4)
            q[f"j{i}.q"], u[f"j{i}.w"], a[f"j{i}.alpha"] = (
                quaternion / np.linalg.norm(quaternion),
                *self.rng.normal(size=(2, 3)),
            )
            if one["kind"] == "free":
                q[f"j{i}.r"], u[f"j{i}.v"], a[f"j{i}.a"] = self.rng.normal(size=(3, 3))
        return q, u, a


def order(model: fm.Model) -> list[str]:
    image = fm.compile(model, everything=True)
    return image.variables.names(image.variables.speeds())


class InPinocchio:
    """The same tree; T: velocities of Pinocchio are T times ours, with the rate D of T u at zero accelerations."""

    def __init__(self, chain: Chain, names: list[str]) -> None:
        pin = self.pin = pytest.importorskip("pinocchio")
        self.model, self.chain = pin.Model(), chain
        self.model.gravity.linear = np.array(GRAVITY)
        ids: list[int] = []
        for i, one in enumerate(chain.links):
            joint = {
                "revolute": pin.JointModelRevoluteUnaligned,
                "prismatic": pin.JointModelPrismaticUnaligned,
                "spherical": lambda axis: pin.JointModelSpherical(),
                "free": lambda axis: pin.JointModelFreeFlyer(),
            }[one["kind"]](one["axis"])
            parent = 0 if one["parent"] < 0 else ids[one["parent"]]
            ids.append(self.model.addJoint(parent, joint, pin.SE3(one["R"], one["r"]), f"j{i}"))
            solid = pin.Inertia(one["mass"], one["com"], one["inertia"])
            self.model.appendBodyToJoint(ids[-1], solid, pin.SE3.Identity())
        self.rotor, self.names = np.zeros(self.model.nv), names
        for i, one in enumerate(chain.links):
            self.rotor[self.model.joints[ids[i]].idx_v] = one["rotor"]
        self.ids, self.data = ids, self.model.createData()

    def place(self, q: dict[str, Any], u: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, T and the rate of T u."""
        at, n = np.zeros(self.model.nq), self.model.nv
        T, D = np.zeros((n, n)), np.zeros(n)
        for i, one in enumerate(self.chain.links):
            joint, name = self.model.joints[self.ids[i]], f"j{i}"
            p, v = joint.idx_q, joint.idx_v
            if one["kind"] in ("revolute", "prismatic"):
                at[p] = q[f"{name}.q"]
                T[v, self.names.index(f"{name}.qd")] = 1.0
                continue
            w = [self.names.index(f"{name}.w[{k + 1}]") for k in range(3)]
            quaternion = np.roll(q[f"{name}.q"], -1)
            R = self.pin.Quaternion(quaternion).toRotationMatrix()
            if one["kind"] == "free":
                at[p : p + 3] = q[f"{name}.r"]
                moves = [self.names.index(f"{name}.v[{k + 1}]") for k in range(3)]
                T[np.ix_(range(v, v + 3), moves)] = R.T
                D[v : v + 3] = -np.cross(u[f"{name}.w"], R.T @ u[f"{name}.v"])
                p, v = p + 3, v + 3
            at[p : p + 4] = quaternion
            T[np.ix_(range(v, v + 3), w)] = np.eye(3)
        return at, T, D


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_beside_pinocchio(seed: int) -> None:
    """Trees of revolutes, prismatic joints and balls, every fourth on a free base, with rotors."""
    chain = Chain(seed)
    model = chain.model()
    names = order(model)
    peer = InPinocchio(chain, names)
    pin = peer.pin
    q, u, a = chain.state()
    at, T, D = peer.place(q, u)
    rates = np.array([flat(u, name) for name in names])
    second = np.array([flat(a, name) for name in accelerations(model)])
    M = T.T @ (symmetric(pin.crba(peer.model, peer.data, at)) + np.diag(peer.rotor)) @ T
    found = fm.mass_matrix(model, q)
    assert_allclose(found, M, rtol=0, atol=ROUND_OFF * np.abs(M).max())
    v = T @ rates
    tau = T.T @ (pin.rnea(peer.model, peer.data, at, v, T @ second + D) + peer.rotor * (T @ second))
    assert_allclose(fm.inverse_dynamics(model, q, u, a), tau, rtol=0, atol=ROUND_OFF * np.abs(tau).max())
    h = T.T @ pin.rnea(peer.model, peer.data, at, v, D)
    assert_allclose(fm.bias(model, q, u), h, rtol=0, atol=ROUND_OFF * np.abs(h).max())
    pin.ccrba(peer.model, peer.data, at, v)
    assert_allclose(fm.momentum(model, q, u), peer.data.hg.vector, rtol=0, atol=ROUND_OFF * 10)
    assert_allclose(fm.center_of_mass(model, q), pin.centerOfMass(peer.model, peer.data, at), rtol=0, atol=ROUND_OFF)
    last = len(chain.links) - 1
    J = pin.computeJointJacobians(peer.model, peer.data, at)
    J = pin.getJointJacobian(peer.model, peer.data, peer.ids[last], pin.LOCAL_WORLD_ALIGNED) @ T
    assert_allclose(fm.point_jacobian(model, q, f"b{last}"), J, rtol=0, atol=ROUND_OFF * 10)


@pytest.mark.parametrize("seed", seeds(5, 40))
def test_beside_mujoco(seed: int) -> None:
    """The same without balls and free bases, whose velocities MuJoCo counts in other axes."""
    mujoco = pytest.importorskip("mujoco")
    chain = Chain(4 * seed, ("revolute", "prismatic"))
    model = chain.model()
    spec = mujoco.MjSpec()
    spec.option.gravity = GRAVITY
    spec.compiler.balanceinertia = False
    bodies = []
    for i, one in enumerate(chain.links):
        on = spec.worldbody if one["parent"] < 0 else bodies[one["parent"]]
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, one["R"].ravel())
        body = on.add_body(name=f"b{i}", pos=one["r"], quat=quaternion, mass=one["mass"], ipos=one["com"])
        body.explicitinertial = True
        body.fullinertia = one["inertia"][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        kind = mujoco.mjtJoint.mjJNT_HINGE if one["kind"] == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=f"j{i}", type=kind, axis=one["axis"], armature=one["rotor"])
        bodies.append(body)
    peer = spec.compile()
    data = mujoco.MjData(peer)
    q, u, a = chain.state()
    ours = [int(name[1:-3]) for name in order(model)]
    theirs = np.array([peer.joint(f"j{i}").dofadr[0] for i in ours])
    for at, values, suffix in ((data.qpos, q, "q"), (data.qvel, u, "qd"), (data.qacc, a, "qdd")):
        at[theirs] = [values[f"j{i}.{suffix}"] for i in ours]
    wanted = data.qacc.copy()
    mujoco.mj_inverse(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, M)
    scale = np.abs(data.qfrc_inverse).max()
    assert_allclose(fm.mass_matrix(model, q), M[np.ix_(theirs, theirs)], rtol=0, atol=ROUND_OFF * np.abs(M).max())
    assert_allclose(
        fm.inverse_dynamics(model, q, u, a), data.qfrc_inverse[theirs], rtol=0, atol=ROUND_OFF * scale
    )
    solver = fm.Solver(fm.compile(model, everything=True))
    taken = fm.inverse_dynamics(model, q, u, a)
    solver.assemble()
    solver.set_state([q[f"j{i}.q"] for i in ours], [u[f"j{i}.qd"] for i in ours])
    for i, force in zip(ours, taken, strict=True):
        solver.set(f"j{i}.{'tau' if chain.links[i]['kind'] == 'revolute' else 'f'}", force)
    reached = [solver.get(f"j{i}.qdd") for i in ours]
    assert_allclose(reached, wanted[theirs], rtol=0, atol=ROUND_OFF * np.linalg.cond(M))


def symmetric(upper: np.ndarray) -> np.ndarray:
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def accelerations(model: fm.Model) -> list[str]:
    image = fm.compile(model, everything=True)
    return image.variables.names(image.variables.accelerations())


def flat(values: dict[str, Any], name: str) -> float:
    stem, _, part = name.partition("[")
    return float(np.atleast_1d(values[stem])[int(part[:-1]) - 1 if part else 0])


TAU = [
    3.789401749956193,
    1.928366462674355,
    -6.396188670272606,
    3.2784497299434614,
    1.5587766117975195,
    1.8026953087521953,
    -0.5732779452322507,
    0.31516454955422557,
    -17.500355752241397,
]
DIAGONAL = [
    0.7322885121263446,
    2.781448037765196,
    1.0259876632177278,
    0.599869717783656,
    0.39044677091939267,
    0.31917754709953905,
    0.37968204242251963,
    0.8788518822695998,
    1.7896791571409456,
]


def test_figures_of_pinocchio() -> None:
    """Of version 4.1.0, for the first of the trees above."""
    model = Chain(0).model()
    q, u, a = Chain(0).state()
    assert_allclose(fm.inverse_dynamics(model, q, u, a), TAU, rtol=0, atol=1e-12 * 70)
    assert_allclose(np.diag(fm.mass_matrix(model, q)), DIAGONAL, rtol=0, atol=1e-12 * 20)
