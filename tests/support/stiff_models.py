"""Random stiff mechanisms over the whole API: trees and loops whose springs and dampers go from 1 to 1e9.

`stiff(seed)` draws a Model and values for its inputs. Every elastic element draws its own stiffness k = 10^x, x from 0
to 9, and a damping 2 zeta sqrt(k) with zeta from 1e-3 to 10, or none; the stiffer it is, the nearer its rest it starts.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.compiler import compile
from oracle.joints import turn
from support.closed import body, coupled, plane, space

KINDS = (
    "revolute", "prismatic", "screw", "spherical", "ball", "free", "cylindrical", "universal", "planar", "skate",
    "bushing", "mount", "product", "driven", "filtered", "weld", "link", "modal", "support",
)  # fmt: skip


@dataclass(frozen=True)
class Stiff:
    """A model and values of its inputs; `kinds`: what it is made of."""

    model: fm.Model
    inputs: dict[str, Any]
    kinds: tuple[str, ...]


class Draw:
    """Numbers of one seed, none of its stiffnesses above 10^hardest."""

    def __init__(self, seed: int, hardest: float, rests: dict[str, Any]) -> None:
        self.rng = np.random.default_rng([31, seed])
        self.hardest, self.rests = hardest, rests

    def law(self, count: int | None = None) -> dict[str, Any]:
        """Stiffness and damping, some of them zero."""
        k = 10 ** self.rng.uniform(0, self.hardest, count or 1) * (self.rng.random(count or 1) < 0.85)
        zeta = 10 ** self.rng.uniform(-3, 1, count or 1) * (self.rng.random(count or 1) < 0.85)
        d = 2 * zeta * np.sqrt(np.maximum(k, 1.0))
        return {"stiffness": k if count else float(k[0]), "damping": d if count else float(d[0])}

    def matrix(self, size: int, scale: float) -> Any:
        """Positive definite, of principal values between a hundredth of the scale and the scale."""
        Q, _ = np.linalg.qr(self.rng.normal(size=(size, size)))
        K = Q @ np.diag(scale * 10 ** self.rng.uniform(-2, 0, size)) @ Q.T
        return (K + K.T) / 2

    def matrices(self, size: int, one: str, two: str) -> dict[str, Any]:
        k = 10 ** self.rng.uniform(1, self.hardest)
        return {one: self.matrix(size, k), two: self.matrix(size, 2 * 10 ** self.rng.uniform(-2, 0.5) * np.sqrt(k))}

    def near(self, law: dict[str, Any], reach: float = 0.5) -> Any:
        """Start positions: the stiffer a spring, the nearer its rest."""
        k = np.asarray(law["stiffness"], float)
        q = self.rng.uniform(-1, 1, k.shape) * np.minimum(reach, 10.0 / np.maximum(k, 1.0) ** 0.5)
        return q if q.shape else float(q)

    def start(self, law: dict[str, Any], reach: float = 0.5) -> dict[str, Any]:
        q0 = self.near(law, reach)
        u0 = self.rng.uniform(-1, 1, np.shape(q0))
        return {"q0": q0, "u0": u0 if np.shape(q0) else float(u0)}

    def length(self, name: str, stiffness: float) -> float:
        """A free length: any, or near the spring's own length if it is stiff."""
        drawn, near = float(self.rng.choice((0.0, 0.5, 1.0))), self.rng.uniform(-1, 1) / (1.0 + stiffness) ** 0.5
        return drawn if stiffness < 1e3 else max(0.0, self.rests.get(name, drawn) + near)

    def point(self, part: Any) -> fm.Point:
        if isinstance(part, fm.FlexibleLink):
            return part.tip if self.rng.random() < 0.7 else part.base
        if isinstance(part, fm.ModalBody):
            return part.at(self.rng.choice((0.5, 1.0)) * part.bending.length, 0.02, 0.0)
        R = fm.Rotation(turn(self.rng.uniform(-2, 2, 3))) if self.rng.random() < 0.6 else None
        return part.at(*self.rng.uniform(-0.5, 0.5, 3), rotation=R)

    def axis(self) -> Any:
        return str(self.rng.choice(("x", "y", "z"))) if self.rng.random() < 0.5 else tuple(self.rng.uniform(-1, 1, 3))

    def quaternion(self, size: float) -> Any:
        v = self.rng.uniform(-1, 1, 3) * min(size, 0.5)
        return (float(np.sqrt(1 - v @ v)), *v)


def add_part(d: Draw, model: fm.Model, name: str, kind: str, carrier: Any, inputs: dict[str, Any]) -> Any:
    """A body, or a flexible one, on a joint of that kind."""
    rng, F, j = d.rng, d.point(carrier), f"j{name}"
    if kind == "link":
        plane = str(rng.choice(("", "xy", "xz"))) or None
        part: Any = fm.FlexibleLink(
            name, length=rng.uniform(0.5, 1.5), EA=10 ** rng.uniform(3, 9), EIy=10 ** rng.uniform(0, 5),
            EIz=10 ** rng.uniform(0, 5), GJ=10 ** rng.uniform(0, 5), mass=rng.uniform(0.3, 2.0), axial_inertia=0.02,
            damping=10 ** rng.uniform(-5, -3), elements=int(rng.integers(1, 5)), plane=plane,
            stretch=rng.random() < 0.3,
        )  # fmt: skip
        model.add(part, fm.Revolute(j, F, part.base, axis="z", q0=rng.uniform(-1, 1), u0=rng.uniform(-1, 1)))
        return part
    if kind == "modal":
        part = fm.ModalBody.beam(
            name, length=1.0, mass=1.0, EI=10 ** rng.uniform(0, 5), modes=int(rng.integers(1, 4)),
            plane=str(rng.choice(("xy", "xz"))), damping_ratio=10 ** rng.uniform(-3, -1), axial_inertia=0.01,
        )  # fmt: skip
        model.add(part, fm.Revolute(j, F, part.base, axis=d.axis(), q0=rng.uniform(-1, 1), u0=rng.uniform(-1, 1)))
        return part
    part = body(rng, name)
    M = d.point(part)
    if kind == "support":
        places = rng.uniform(-0.5, 0.5, (3, 3))
        law = d.law(3)
        model.add(part, fm.FlexibleSupport(j, F, M, layers=[fm.Layer(places, **{k: v + 1.0 for k, v in law.items()})]))
        return part
    model.add(part, joint(d, kind, j, F, M, inputs))
    return part


def joint(d: Draw, kind: str, j: str, F: fm.Point, M: fm.Point, inputs: dict[str, Any]) -> Any:
    rng = d.rng
    if kind in ("revolute", "prismatic", "screw"):
        law = d.law()
        pitch = {"pitch": 0.2} if kind == "screw" else {}
        rotor = {"rotor_inertia": float(rng.choice((0.0, 0.3)))}
        make = {"revolute": fm.Revolute, "prismatic": fm.Prismatic, "screw": fm.Screw}[kind]
        return make(j, F, M, axis=d.axis(), **pitch, **law, **rotor, **d.start(law))
    if kind == "spherical":
        law = d.law()
        return fm.Spherical(j, F, M, **law, q0=d.quaternion(abs(d.near(law))), u0=rng.uniform(-1, 1, 3))
    if kind == "ball":
        law = d.matrices(3, "stiffness", "damping")
        return fm.Spherical(
            j, F, M, **law, q0=d.quaternion(0.5 / np.abs(law["stiffness"]).max() ** 0.5), u0=rng.uniform(-1, 1, 3)
        )
    if kind == "free":
        law = d.law(6)
        at = d.near(law)
        return fm.Free(j, F, M, **law, q0=(*at[:3], *d.quaternion(np.abs(at[3:]).min())), u0=rng.uniform(-1, 1, 6))
    if kind in ("cylindrical", "universal", "planar", "skate"):
        n = {"cylindrical": 2, "universal": 2, "planar": 3, "skate": 3}[kind]
        law = d.law(n)
        start = d.start(law)
        if kind == "skate":
            start["u0"] = start["u0"][:2]
        if kind == "universal":
            return fm.Universal(j, F, M, axes=("x", "y"), **law, **start)
        where = {"cylindrical": {"axis": d.axis()}, "planar": {"normal": d.axis()}, "skate": {}}[kind]
        make = {"cylindrical": fm.Cylindrical, "planar": fm.Planar, "skate": fm.Skate}[kind]
        return make(j, F, M, **where, **law, **start)
    if kind == "bushing":
        law = d.law(6)
        return fm.Bushing(j, F, M, **law, **d.start(law, 0.3))
    if kind == "mount":
        law = d.matrices(6, "stiffness_matrix", "damping_matrix")
        near = min(0.3, 3.0 / np.abs(law["stiffness_matrix"]).max() ** 0.5)
        return fm.Bushing(j, F, M, **law, q0=near * rng.uniform(-1, 1, 6), u0=rng.uniform(-1, 1, 6))
    if kind == "product":
        law = d.law(3)
        return fm.Joint(j, F, M, modes=(fm.Slide("x"), fm.Turn((0, 1, 0.3)), fm.Turn("z")), **law, **d.start(law))
    if kind == "driven":
        law = d.law(1)
        path = fm.Path.polynomial(*rng.uniform(-0.8, 0.8, 5))
        return fm.Joint(j, F, M, modes=(fm.Turn("y"), fm.Slide("z", role="excited", path=path)), **law, **d.start(law))
    if kind == "filtered":
        law = d.law(1)
        mode = fm.Turn("z", role="excited", input="eta", eta0=0.1, kappa0=0.3, cutoff=float(10 ** rng.uniform(0, 4)))
        inputs[f"{j}.eta_in"] = float(rng.uniform(-0.5, 0.5))
        return fm.Joint(j, F, M, modes=(mode, fm.Slide("x")), **law, **d.start(law))
    return fm.Weld(j, F, M)


def add_forces(d: Draw, model: fm.Model, parts: list[Any]) -> None:
    """Springs between points, laws on joints and springs."""
    rng = d.rng
    for i in range(int(rng.integers(0, 3))):
        P, Q = d.point(model.ground), d.point(parts[rng.integers(len(parts))])
        law = d.law()
        model.add(fm.Spring(f"s{i}", P, Q, **law, free_length=d.length(f"s{i}", law["stiffness"])))
    able = [j for j in model.joints if isinstance(j, fm.Revolute | fm.Prismatic) and not j.cut]
    for i in range(min(len(able), int(rng.integers(0, 3)))):
        on = able[i]
        what = rng.integers(4)
        if what == 0:
            model.add(
                fm.Stop(
                    f"w{i}", on, lower=-0.3, upper=0.3, stiffness=10 ** rng.uniform(1, 7), damping=rng.uniform(0, 20)
                )
            )
        elif what == 1:
            model.add(
                fm.Law.damper(f"w{i}", on, [-2.0, -0.5, 0.5, 2.0], np.array([-3, -1, 1, 3]) * 10 ** rng.uniform(0, 3))
            )
        elif what == 2:
            model.add(fm.Law.polynomial(f"w{i}", on, [(0, -rng.uniform(0, 30)), (-(10 ** rng.uniform(0, 6)),)]))
        else:
            c = rng.uniform(0.5, 5)
            model.add(
                fm.Law(f"w{i}", on, pieces=[fm.Piece([[c, -0.1]], v_upper=0.0), fm.Piece([[-c, -0.1]], v_lower=0.0)])
            )


def tree(seed: int, hardest: float, rests: dict[str, Any]) -> Stiff:
    d = Draw(seed, hardest, rests)
    model = fm.Model("stiff", gravity=d.rng.uniform(-10, 10, 3))
    parts: list[Any] = []
    kinds: list[str] = []
    inputs: dict[str, Any] = {}
    for i in range(int(d.rng.integers(1, 6))):
        kind = str(d.rng.choice(KINDS))
        carrier = model.ground if i == 0 or d.rng.random() < 0.2 else parts[d.rng.integers(len(parts))]
        parts.append(add_part(d, model, f"b{i}", kind, carrier, inputs))
        kinds.append(kind)
    for i in range(int(d.rng.integers(0, 3))):  # loops that constrain nothing
        P, Q = d.point(model.ground if len(parts) == 1 else parts[0]), d.point(parts[-1])
        if P.body is Q.body:
            continue
        if d.rng.random() < 0.4:
            law = d.law(6)
            law["stiffness"][3:] = law["damping"][3:] = 0.0
            free = tuple(fm.Slide(a) for a in "xyz") + tuple(fm.Turn(a) for a in "xyz")
            rest = rests.get(f"m{i}", np.zeros(6)) + d.near(law)
            model.add(fm.Joint(f"m{i}", P, Q, modes=free, **law, rest=rest, cut=True))
            kinds.append("element")
    add_forces(d, model, parts)
    return Stiff(model, inputs, tuple(kinds))


def closed(seed: int, hardest: float, rests: dict[str, Any]) -> Stiff:
    """Loops of rigid bodies, also redundant or coupled ones, with stiff springs in all joints that may have them."""
    d = Draw(seed, hardest, rests)
    which = int(d.rng.integers(4))
    made = (
        lambda: space(
            seed,
            loops=int(d.rng.integers(1, 3)),
            spare=int(d.rng.integers(1, 4)),
            sorts=("revolute", "prismatic", "spherical", "cylindrical", "product"),
        ),
        lambda: plane(seed, loops=int(d.rng.integers(1, 4))),
        lambda: coupled(seed, couplings=int(d.rng.integers(1, 3))),
        lambda: coupled(seed, closed=True, couplings=1),
    )[which]()
    model = fm.Model("stiff", gravity=made.model.gravity)
    joints = [stiffened(d, joint, joint.name in made.cuts) for joint in made.model.joints]
    new = {joint.name: joint for joint in joints}
    model.add(*made.model.bodies, *joints, *made.model.forces)
    for coupling in made.model.couplings:
        terms = tuple((new[t[0].name], *t[1:]) for t in coupling.terms)
        model.add(replace(coupling, terms=terms))
    P, Q = d.point(model.ground), d.point(model.bodies[-1])
    law = d.law()
    model.add(fm.Spring("stiffest", P, Q, **law, free_length=d.length("stiffest", law["stiffness"])))
    return Stiff(model, made.inputs, (("space", "plane", "coupled", "closed")[which],))


def stiffened(d: Draw, joint: Any, cut: bool) -> Any:
    """The joint with a spring of its own, at rest where it starts; none in half of those that are cut."""
    if isinstance(joint, fm.Revolute | fm.Prismatic | fm.Screw):
        law = d.law()
        if cut:
            law = {"stiffness": min(law["stiffness"], 1e3) if d.rng.random() < 0.5 else 0.0, "damping": law["damping"]}
        elif np.ndim(joint.q0) == 0 and joint.q0 is not None:
            law["rest"] = float(joint.q0)
        return replace(joint, **law)
    return joint


def stiff(seed: int, hardest: float = 9.0) -> Stiff:
    """Drawn twice: the first has the lengths of springs and the coordinates of cut joints where they start."""
    make = closed if seed % 3 == 2 else tree
    first = make(seed, hardest, {}).model
    solver = fm.Solver(compile(first, everything=True))
    solver.assemble()
    rests: dict[str, Any] = {spring.name: float(solver.get(f"{spring.name}.length")) for spring in first.springs}
    rests |= {joint.name: solver.get(f"{joint.name}.q") for joint in first.joints if joint.cut and joint.name[0] == "m"}
    return make(seed, hardest, rests)
