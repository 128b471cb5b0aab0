"""Random closed mechanisms: a random tree, and joints that close loops where its bodies are.

Every closing joint is put at a random place and a random position of its own, with its frames on two bodies at
the same time, so that the loops close at the tree's positions. The model's start values are guesses near them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import fmumbs as fm
from oracle import Frame, Oracle, State
from oracle.joints import matrix_of_quaternion, moving, turn
from oracle.kinematics import STEP, point_in_body

DOF = {
    "revolute": 1, "prismatic": 1, "spherical": 3, "weld": 0, "cylindrical": 2, "universal": 2, "planar": 3,
    "screw": 1, "oblique": 2, "slides": 3, "behind": 2, "turns": 3, "locked": 3, "between": 3,
}  # fmt: skip
PRODUCTS: dict[str, tuple[Any, ...]] = {
    "slides": (fm.Slide("x"), fm.Slide((0, 1, 1)), fm.Turn("z")),
    "behind": (fm.Turn("z"), fm.Slide((1, 0, 0.5))),
    "turns": (fm.Turn("z"), fm.Turn((0, 1, 0.3)), fm.Turn("x")),
    "locked": (fm.Slide("x"), fm.Turn("y", role="locked", value=0.4), fm.Turn("z"), fm.Turn((1, 1, 0)),
               fm.Turn("x", role="locked", value=-0.3)),
    "between": (fm.Slide("z"), fm.Turn("z"), fm.Slide("x"), fm.Slide("y", role="locked", value=0.2)),
}  # fmt: skip


def product(seed: int) -> tuple[Any, ...]:
    """Any modes that a cut joint may have: turns and slides on one side of them, locked ones between and beside."""
    rng = np.random.default_rng([11, seed])

    def any_axis() -> Any:
        return str(rng.choice(("x", "y", "z"))) if rng.random() < 0.3 else tuple(rng.uniform(-1, 1, 3))

    def locked_turns() -> list[Any]:
        angles = rng.uniform(-1, 1, rng.integers(0, 3))
        return [fm.Turn(any_axis(), role="locked", value=float(angle)) for angle in angles]

    turns, slides = int(rng.integers(0, 4)), int(rng.integers(0, 3))
    middle = locked_turns()
    for _ in range(turns):
        middle += [fm.Turn(any_axis()), *locked_turns()]
    beside = [fm.Slide(any_axis()) for _ in range(slides or not turns)]
    beside += [fm.Slide(any_axis(), role="locked", value=float(far)) for far in rng.uniform(-0.3, 0.3, 2)]
    side: list[Any] = []
    for i in rng.permutation(len(beside)):
        side += [beside[i], *locked_turns()]
    return (*side, *middle) if rng.random() < 0.5 else (*middle, *side)


DRAWN = {f"product {seed}": product(seed) for seed in (0, 2, 4, 7)}
PRODUCTS |= DRAWN
_FAR = fm.Slide((1, 0.2, 0), role="locked", value=0.4)
BETWEEN: dict[str, tuple[Any, ...]] = {
    "crank": (fm.Turn("z"), _FAR, fm.Turn("z")),
    "slide between": (fm.Turn("z"), fm.Slide("x"), fm.Turn("y")),
    "parallel": (fm.Turn("z"), fm.Slide((1, 0.3, 0)), fm.Turn("z")),
    "opposite": (fm.Turn("z"), fm.Slide("x"), fm.Turn("-z"), fm.Slide("y", role="locked", value=0.2)),
    "ball between": (fm.Turn("z"), _FAR, *fm.Ball(), fm.Slide("x")),
    "locked ball": (fm.Turn("z"), *fm.Ball(role="locked", value=(0.4, -0.3, 0.6)), _FAR, fm.Turn((0, 1, 1))),
    "two turns behind": (fm.Turn("x"), fm.Slide((0, 1, 1)), fm.Turn("y"), fm.Turn("z")),
    "two turns ahead": (fm.Turn("x"), fm.Turn((0, 1, 0.2)), fm.Slide((0, 1, 1)), fm.Turn("z")),
    "two slides": (fm.Turn("x"), fm.Slide((0.4, 1, 0)), fm.Slide((0, 0.2, 1)), fm.Turn((1, 1, 0))),
    "on both sides": (fm.Slide("x"), fm.Turn("z"), fm.Slide("y"), fm.Turn("x"), fm.Slide("z")),
    "helix": (fm.Helix("z", 0.1), fm.Turn("x")),
    "helix on a crank": (fm.Turn("y"), _FAR, fm.Helix("y", -0.2)),
}  # modes whose constraint rows follow from themselves: with slides between turns, or helices
CLOSING_DOF = {"distance": 5, "hinged rod": 4, "line": 4, "plane": 5}
SPACE = tuple(kind for kind in DOF if kind not in PRODUCTS)
ONLY_CLOSING = tuple(CLOSING_DOF)


@dataclass(frozen=True)
class Closed:
    """A model whose loops close near its guesses; `cuts`: the joints that were added last."""

    model: fm.Model
    cuts: tuple[str, ...]
    inputs: dict[str, Any]


def body(rng: np.random.Generator, name: str) -> fm.Body:
    """Any solid of the order of a kilogram and a metre."""
    mass = rng.uniform(0.3, 2.0)
    a, b, c = rng.uniform(0.03, 0.2, 3)
    R = turn(rng.uniform(-3, 3, 3))
    inertia = R @ (mass * np.diag([b + c, c + a, a + b])) @ R.T
    return fm.Body(name, mass=mass, com=rng.uniform(-0.4, 0.4, 3), inertia=(inertia + inertia.T) / 2)


def at(place: fm.Body | Any, p: Any, R: Any) -> fm.Point:
    return place.at(*p, rotation=fm.Rotation(np.asarray(R)))


def axis(rng: np.random.Generator) -> Any:
    return str(rng.choice(("x", "y", "z"))) if rng.random() < 0.5 else tuple(rng.uniform(-1, 1, 3))


def orientation(rng: np.random.Generator) -> Any:
    return np.eye(3) if rng.random() < 0.3 else turn(rng.uniform(-2, 2, 3))


def tree_joint(rng: np.random.Generator, kind: str, name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    laws: dict[str, Any] = {"damping": rng.choice((0.0, 0.3)), "stiffness": rng.choice((0.0, 5.0))}
    if kind == "spherical":
        half = rng.uniform(-0.8, 0.8, 3)
        q0 = (np.sqrt(max(1 - half @ half / 4, 0.1)), *half / 2)
        return fm.Spherical(name, F, M, q0=q0, u0=rng.uniform(-1, 1, 3), **laws)
    laws["rotor_inertia"] = rng.choice((0.0, 0.2))
    make = fm.Revolute if kind == "revolute" else fm.Prismatic
    reach = 2.0 if kind == "revolute" else 0.5
    return make(name, F, M, axis=axis(rng), q0=rng.uniform(-reach, reach), u0=rng.uniform(-1, 1), **laws)


def closing_joint(rng: np.random.Generator, kind: str, name: str, ends: Any, frames: dict[str, Frame]) -> Any:
    """A joint between two bodies where they are, at a random position of its own."""
    place = Frame(rng.uniform(-1, 1, 3), turn(rng.uniform(-2, 2, 3)))
    p, R, options = np.zeros(3), np.eye(3), {}
    if kind in ("revolute", "prismatic", "cylindrical", "planar"):
        letter = str(rng.choice(("x", "y", "z")))
        e = np.eye(3)["xyz".index(letter)]
        options["axis" if kind != "planar" else "normal"] = letter
        slide = rng.uniform(-0.3, 0.3)
        if kind in ("revolute", "cylindrical", "planar"):
            R = turn(e * rng.uniform(-1, 1))
        if kind in ("prismatic", "cylindrical"):
            p = e * slide
        if kind == "planar":
            p = np.cross(e, rng.uniform(-0.3, 0.3, 3))
    elif kind == "screw":
        turned = rng.uniform(-1, 1)
        R, p = turn(np.array([0, turned, 0])), np.array([0, 0.3 * turned, 0])
        options |= {"axis": "y", "pitch": 0.3}
    elif kind == "oblique":
        other = np.array([0.3, 1.0, 0.2]) / np.linalg.norm((0.3, 1.0, 0.2))
        q = rng.uniform(-1, 1, 2)
        R = turn(np.array([q[0], 0, 0])) @ turn(other * q[1])
        options |= {"axes": ("x", tuple(other)), "q0": q}
    elif kind in PRODUCTS | BETWEEN:
        modes = (PRODUCTS | BETWEEN)[kind]
        q = rng.uniform(-0.5, 0.5, sum(mode.free for mode in modes))
        options |= {"modes": modes, "q0": q + rng.uniform(-0.1, 0.1, len(q))}
        ahead = iter(q)
        for mode in modes:
            s = next(ahead) if mode.free else mode.value
            p = p + R @ mode.axis * s * (1.0 if mode.linear else mode.pitch)
            if not mode.linear:
                R = R @ turn(np.array(mode.axis) * s)
    elif kind == "universal":
        R = turn(np.array([rng.uniform(-1, 1), 0, 0])) @ turn(np.array([0, rng.uniform(-1, 1), 0]))
        options["axes"] = ("x", "y")
    elif kind == "spherical":
        R = turn(rng.uniform(-1, 1, 3))
    elif kind in CLOSING_DOF:
        p, options = only_closing(rng, kind)
        R = turn(rng.uniform(-2, 2, 3))
    points = []
    for end, frame in ((ends[0], place), (ends[1], place.then(p, R))):
        own = frames.get(getattr(end, "name", ""), Frame(np.zeros(3), np.eye(3)))
        points.append(at(end, own.R.T @ (frame.p - own.p), own.R.T @ frame.R))
    makes = {
        "revolute": fm.Revolute,
        "prismatic": fm.Prismatic,
        "spherical": fm.Spherical,
        "weld": fm.Weld,
        "cylindrical": fm.Cylindrical,
        "universal": fm.Universal,
        "planar": fm.Planar,
        "screw": fm.Screw,
        "oblique": fm.Universal,
        "distance": fm.Distance,
        "hinged rod": fm.RevoluteSpherical,
        "line": fm.PointOnLine,
        "plane": fm.PointOnPlane,
    }
    return makes.get(kind, fm.Joint)(name, *points, **options)


def only_closing(rng: np.random.Generator, kind: str) -> tuple[Any, dict[str, Any]]:
    """Where M's origin is in F, and what the joint is given to allow that."""
    p, e = rng.uniform(-0.5, 0.5, 3), rng.uniform(-1, 1, 3)
    unit = e / np.linalg.norm(e)
    match kind:
        case "distance":
            return p, {"length": float(np.linalg.norm(p))}
        case "hinged rod":
            p = np.cross(unit, p)
            return p, {"length": float(np.linalg.norm(p)), "axis": tuple(e)}
        case "line":
            return unit * p[0], {"axis": tuple(e)}
        case _:
            return p, {"normal": tuple(e), "height": float(unit @ p)}


def moved(rng: np.random.Generator, joint: fm.Joint, by: float) -> fm.Joint:
    """The same joint with a start position that is a guess."""
    if isinstance(joint, fm.Spherical):
        half = by * rng.uniform(-1, 1, 3) / 2
        w, v = joint.q0[0], np.array(joint.q0[1:])
        return replace(joint, q0=(w - v @ half, *(v + w * half + np.cross(v, half))))
    if np.ndim(joint.q0):
        return replace(joint, q0=np.array(joint.q0) + by * rng.uniform(-1, 1, len(joint.q0)))
    return replace(joint, q0=joint.q0 + by * rng.uniform(-1, 1))


def space(
    seed: int,
    kind: str | None = None,
    loops: int = 1,
    both_ends: bool = False,
    guess: float = 0.02,
    spare: int = 2,
    driven: bool = False,
    sorts: tuple[str, ...] = ("revolute", "prismatic", "spherical", "spherical"),
) -> Closed:
    """Loops in space, of one kind of cut joint or of any, that leave about one degree of freedom more than `spare`.

    sorts: of the tree's joints, also those of multi_mode_joint.
    """
    rng = np.random.default_rng(seed)
    ground = fm.Model("ground").ground
    cuts = [kind or str(rng.choice(SPACE)) for _ in range(loops)]
    left = DOF | CLOSING_DOF | {kind: sum(mode.free for mode in modes) for kind, modes in (DRAWN | BETWEEN).items()}
    needed = spare + sum(6 - left[cut] for cut in cuts)
    bodies: list[fm.Body] = []
    joints: list[fm.Joint] = []
    while needed > 0 or len(bodies) < loops + 1:
        index = len(bodies)
        new = body(rng, f"b{index}")
        carrier = ground if index == 0 or (rng.random() < 0.15 and not both_ends) else bodies[-1]
        if bodies and rng.random() < 0.2 and not both_ends:
            carrier = bodies[rng.integers(len(bodies))]
        sort = str(rng.choice(sorts))
        needed -= {"spherical": 3, "cylindrical": 2, "product": 2, "skate": 2}.get(sort, 1)
        F = at(carrier, rng.uniform(-0.5, 0.5, 3), orientation(rng))
        M = at(new, rng.uniform(-0.5, 0.5, 3), orientation(rng))
        make = multi_mode_joint if sort in ("cylindrical", "screw", "product", "skate") else tree_joint
        joints.append(make(rng, sort, f"j{index}", F, M))
        bodies.append(new)
    tree = fm.Model("tree")
    tree.add(*bodies, *joints)
    frames = dict(Oracle(tree).state().frame)
    closing = []
    for index, cut in enumerate(cuts):
        if both_ends:
            ends: list[Any] = [ground, bodies[-1]]
        else:
            chosen = rng.permutation(len(bodies) + 1)[:2]
            ends = [ground if k == len(bodies) else bodies[k] for k in chosen]
        if rng.random() < 0.5:
            ends.reverse()
        closing.append(closing_joint(rng, cut, f"c{index}", ends, frames))
    model = fm.Model("closed", gravity=rng.uniform(-10, 10, 3))
    model.add(*bodies, *(moved(rng, joint, guess) for joint in joints), *closing)
    P, Q = bodies[0].at(*rng.uniform(-1, 1, 3)), ground.at(3, 2, 2)
    model.add(fm.Spring("s", P, Q, stiffness=3.0, damping=0.2, free_length=0.5))
    model.add(fm.Load("l", bodies[-1].at(*rng.uniform(-1, 1, 3)), force=rng.uniform(-3, 3, 3), torque=(0.3, 0, 1)))
    name = joints[0].name + (".f" if isinstance(joints[0], fm.Prismatic) else ".tau")
    first = joints[0].velocities
    inputs: dict[str, Any] = {name: rng.uniform(-1, 1, first) if first > 1 else float(rng.uniform(-1, 1))}
    inputs |= {f"{j.name}.kappa_dot": float(rng.uniform(-1, 1)) for j in joints if j.excited_modes}
    if driven:
        forced = [with_forces(rng, joint, inputs) for joint in closing]
        model = _with(model, forced)
    return Closed(model, tuple(joint.name for joint in closing), inputs)


def _with(model: fm.Model, changed: list[fm.Joint]) -> fm.Model:
    """The same with other joints of these names."""
    new, names = fm.Model(model.name, gravity=model.gravity), {joint.name: joint for joint in changed}
    joints = (names.get(joint.name, joint) for joint in model.joints)
    new.add(*model.bodies, *joints, *model.forces)
    return new


def with_forces(rng: np.random.Generator, joint: fm.Joint, inputs: dict[str, Any]) -> fm.Joint:
    """A joint with springs, dampers and inputs along its free modes, or with inputs alone."""
    n = joint.velocities
    if n == 0:
        return joint
    if isinstance(joint, fm.Spherical):
        inputs[f"{joint.name}.tau"] = rng.uniform(-1, 1, 3)
        laws = {"stiffness": 2.0, "damping": 0.3} if rng.random() < 0.5 else {}
        return replace(joint, cut=True, **laws)
    laws = {"stiffness": rng.uniform(0, 5, n), "damping": rng.uniform(0, 1, n), "rest": rng.uniform(-0.3, 0.3, n)}
    slides = n == 1 and joint.free_modes[0].linear
    inputs[f"{joint.name}.{'f' if slides else 'tau'}"] = rng.uniform(-1, 1, n) if n > 1 else float(rng.uniform(-1, 1))
    single = isinstance(joint, fm.Revolute | fm.Prismatic | fm.Screw)
    if rng.random() < 0.4:
        laws = {}
    return replace(joint, cut=True, **{k: float(v[0]) if single else v for k, v in laws.items()})


def plane(seed: int, loops: int = 1, guess: float = 0.02, driven: bool = False) -> Closed:
    """Bodies on parallel pins in one plane, every loop by one more pin: three rows of each are redundant.

    driven: the bodies lie in layers, and forces act along the pins that close loops.
    """
    rng, aside = np.random.default_rng(seed), np.random.default_rng([seed, 5])
    ground = fm.Model("ground").ground
    tilt = fm.Rotation(turn(rng.uniform(-2, 2, 3))) if rng.random() < 0.5 else fm.Rotation.identity()
    bodies: list[fm.Body] = []
    joints: list[fm.Joint] = []
    for index in range(2 * loops + 1):
        carrier = ground if index == 0 else bodies[-1] if rng.random() < 0.7 else bodies[rng.integers(len(bodies))]
        new = body(rng, f"b{index}")
        x, z = rng.uniform(-0.6, 0.6, 2)
        y = aside.uniform(-0.3, 0.3) if driven else 0.0
        F = carrier.at(*(tilt.matrix @ (x, y, z)), rotation=tilt) if index == 0 else carrier.at(x, y, z)
        start = {"q0": rng.uniform(-1.5, 1.5), "u0": rng.uniform(-1, 1)}
        joints.append(fm.Revolute(f"j{index}", F, new.at(), axis="y", **start))
        bodies.append(new)
    tree = fm.Model("tree")
    tree.add(*bodies, *joints)
    frames = Oracle(tree).state().frame
    closing = []
    for index in range(loops):
        first, second = bodies[-1 - 2 * index], ground if rng.random() < 0.5 else bodies[rng.integers(2)]
        if second is first:
            second = ground
        p = tilt.matrix @ (rng.uniform(-1, 1), 0, rng.uniform(-1, 1))
        F = frames[first.name]
        G = frames[second.name] if second is not ground else Frame(np.zeros(3), tilt.matrix)
        on_second = at(second, G.R.T @ (p - G.p), np.eye(3)) if second is not ground else at(ground, p, tilt.matrix)
        closing.append(fm.Revolute(f"c{index}", at(first, F.R.T @ (p - F.p), np.eye(3)), on_second, axis="y"))
    model = fm.Model("plane", gravity=rng.uniform(-10, 10, 3))
    model.add(*bodies, *(moved(rng, joint, guess) for joint in joints), *closing)
    inputs: dict[str, Any] = {"j0.tau": float(rng.uniform(-1, 1))}
    if driven:
        model = _with(model, [with_forces(aside, joint, inputs) for joint in closing])
    return Closed(model, tuple(joint.name for joint in closing), inputs)


def state_of(solver: fm.Solver, model: fm.Model) -> State:
    """The bodies as the solver has them."""
    frame, v, w, angle = {}, {}, {}, {}
    for b in model.bodies:
        frame[b.name] = Frame(solver.get(f"{b.name}.r"), matrix_of_quaternion(solver.get(f"{b.name}.quat")))
        v[b.name], w[b.name] = solver.get(f"{b.name}.v"), solver.get(f"{b.name}.w")
    for joint in model.joints:
        if not isinstance(joint, fm.Spherical | fm.Weld | fm.Joint) and joint.positions:
            angle[joint.name] = solver.get(f"{joint.name}.q")
    return with_carriers(Oracle(model), State(frame, v, w, angle), solver)


def with_carriers(oracle: Oracle, state: State, solver: fm.Solver) -> State:
    """The state with the massless carriers between the modes of general joints."""
    frame, v, w, angle = dict(state.frame), dict(state.v), dict(state.w), dict(state.angle)
    for name, product in oracle.products.items():
        known, given = (
            [np.ravel(solver.get(f"{name}.{suffix}")).tolist() for suffix in suffixes] if there else [[], []]
            for suffixes, there in ((("q", "qd"), True), (("eta", "kappa"), product.joint.excited_modes))
        )
        ahead: dict[complex, Frame] = {}
        for part, mode in zip(product.parts, product.joint.modes, strict=True):
            own = known if mode.free else given if mode.role == "excited" else [[0.0], [0.0]]
            q, u = (values.pop(0) for values in own)
            for t in (0.0, 1j * STEP):
                F = ahead[t].then(*point_in_body(part.F)) if ahead.get(t) else oracle._flown(state, part.F, t)
                ahead[t] = F.then(*moving(part, q, u, t))
            now, then = ahead.values()
            angle[part.name] = q
            carrier = getattr(part.M.body, "name", "")
            if carrier.startswith(f"{name}__"):
                W = then.R.imag / STEP @ now.R.T
                frame[carrier], v[carrier] = Frame(now.p.real, now.R.real), then.p.imag / STEP
                w[carrier] = np.array([W[2, 1], W[0, 2], W[1, 0]])
    return State(frame, v, w, angle)


def coupled(seed: int, closed: bool = False, couplings: int = 2) -> Closed:
    """A tree with joints that point either way, or a chain with both ends fixed, in which coordinates are coupled."""
    rng, aside = np.random.default_rng(seed), np.random.default_rng([seed, 5])
    if closed:
        case = space(seed, both_ends=True, spare=3 + couplings)
        model, inputs = case.model, case.inputs
    else:
        bodies = [body(rng, f"b{i}") for i in range(6)]
        joints: list[fm.Joint] = []
        for i, new in enumerate(bodies):
            carrier = bodies[rng.integers(i)] if i and rng.random() < 0.8 else fm.Model("ground").ground
            F = at(carrier, rng.uniform(-0.5, 0.5, 3), orientation(rng))
            M = at(new, rng.uniform(-0.5, 0.5, 3), orientation(rng))
            kind = str(rng.choice(("revolute", "prismatic", "spherical", "cylindrical", "screw", "product")))
            ends = (M, F) if aside.random() < 0.4 else (F, M)
            joints.append(multi_mode_joint(rng, kind, f"j{i}", *ends))
        model, inputs = fm.Model("coupled", gravity=rng.uniform(-10, 10, 3)), {}
        model.add(*bodies, *joints)
    tree = model.joints[: len(model.bodies)]
    coordinates = [(j, k + 1) for j in tree for k in range(_scalars(j))]
    rng.shuffle(coordinates)
    for index in range(couplings):
        size = min(int(rng.integers(2, 4)), len(coordinates))
        if size < 2 or not any(map(_is_free, coordinates)):
            break
        while not any(map(_is_free, coordinates[-size:])):
            rng.shuffle(coordinates)
        terms = [(*coordinates.pop(), float(rng.uniform(0.3, 2.0) * rng.choice((-1, 1)))) for _ in range(size)]
        model.add(fm.Coupling(f"g{index}", terms))
    return Closed(model, (), inputs)


def cammed(seed: int, closed: bool = False) -> Closed:
    """A mechanism of coupled() in which a cam takes the place of each coupling: of a free coordinate by another one."""
    case, rng = coupled(seed, closed, couplings=2 - closed), np.random.default_rng([seed, 6])
    model = fm.Model("cammed", gravity=case.model.gravity)
    model.add(*(one for one in case.model.elements if not isinstance(one, fm.Coupling)))
    for one in case.model.couplings:
        terms = sorted(one.coordinates, key=lambda term: term[1] > len(term[0].free_modes))[:2]
        (B, mode_B, _), (A, mode_A, _) = terms
        x = np.cumsum(rng.uniform(0.2, 0.6, 6)) - 1.0
        table = list(zip(x.tolist(), rng.uniform(-0.3, 0.3, 6).tolist(), strict=True))
        periodic = bool(rng.random() < 0.5)
        if periodic:
            table[-1] = (table[-1][0], table[0][1])
        given = {"offset": rng.uniform(-0.2, 0.2), "phase": rng.uniform(-0.5, 0.5), "scale": rng.choice((-1.5, 0.7))}
        model.add(fm.Cam(one.name, A, B, table, mode_A=mode_A, mode_B=mode_B, periodic=periodic, **given))
    return Closed(model, case.cuts, case.inputs)


def multi_mode_joint(rng: np.random.Generator, kind: str, name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    """A joint of a tree, also of those with several modes, one of them excited in a product."""
    u0 = rng.uniform(-1, 1, 3)
    if kind == "cylindrical":
        return fm.Cylindrical(name, F, M, axis=axis(rng), q0=(0.3, -0.2), u0=u0[:2], damping=(0.2, 0.1))
    if kind == "screw":
        return fm.Screw(name, F, M, axis=axis(rng), pitch=0.2, q0=0.4, u0=u0[0])
    if kind == "skate":
        return fm.Skate(name, F, M, q0=rng.uniform(-0.5, 0.5, 3), u0=u0[:2])
    if kind == "product":
        excited = fm.Turn("y", role="excited", input="kappa_dot", eta0=0.2, kappa0=0.5)
        modes = (fm.Turn("x"), excited, fm.Slide((0, 1, 1)))
        return fm.Joint(name, F, M, modes=modes, q0=(0.1, 0.2), u0=u0[:2])
    return tree_joint(rng, kind, name, F, M)


def _is_free(coordinate: tuple[fm.Joint, int]) -> bool:
    """Excited ones alone cannot be coupled."""
    joint, mode = coordinate
    return mode <= len(joint.free_modes)


def _scalars(joint: fm.Joint) -> int:
    """How many of its coordinates may be coupled; with a product's excited one."""
    if isinstance(joint, fm.Spherical):
        return 0
    return len(joint.free_modes) + len(joint.excited_modes)


def tree_state(solver: fm.Solver, model: fm.Model) -> State:
    """The same of a tree, from its joints: also where some modes are excited."""
    known = set(solver.image.variables.names())
    q, u, eta, kappa = ({}, {}, {}, {})  # type: dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]
    for joint in model.joints:
        for found, suffixes in ((q, ("q",)), (u, ("qd", "w")), (eta, ("eta",)), (kappa, ("kappa",))):
            for suffix in suffixes:
                name = f"{joint.name}.{suffix}"
                if name in known or f"{name}[1]" in known:
                    found[joint.name] = solver.get(name)
    return Oracle(model).state(q, u, eta, kappa, solver.time)


def two_pendulums(kind: str) -> fm.Model:
    """Rods on balls, joined at their ends by a joint that only closes loops."""
    model = fm.Model("two")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in "ab")
    F, M = a.at(0.9, 0, 0), b.at(0.8, 0, 0)
    joint: Any = {
        "distance": fm.Distance("C", F, M, length=1.0),
        "hinged rod": fm.RevoluteSpherical("C", F, M, length=0.8, axis="z"),
        "line": fm.PointOnLine("C", F, M, axis="y"),
        "plane": fm.PointOnPlane("C", F, M, normal=(0, 0.5, 1), height=0.1),
    }[kind]
    model.add(a, b, fm.Spherical("A", model.ground.at(), a.base, u0=(0.3, 0.5, -0.4)))
    model.add(fm.Spherical("B", model.ground.at(0, 0.8, 0), b.base, q0=(1, 0.1, 0.1, 0.2)), joint)
    return model


CLOSING = {
    "ball": lambda F, M: fm.Spherical("c", F, M, cut=True, stiffness=3.0, damping=0.4),
    "slide": lambda F, M: fm.Prismatic("c", F, M, axis="x", cut=True, stiffness=30.0, damping=0.4),
    "two turns": lambda F, M: fm.Universal("c", F, M, cut=True, stiffness=(3.0, 2.0), damping=0.4),
    "turn and slide": lambda F, M: fm.Cylindrical(
        "c", F, M, axis="y", cut=True, stiffness=(3.0, 20.0), damping=(0.4, 0.5)
    ),
    "screw": lambda F, M: fm.Screw("c", F, M, axis="z", pitch=0.1, cut=True, stiffness=3.0, damping=0.4),
}


def closed_by(kind: str) -> fm.Model:
    """A free body on a pendulum, with a joint c of CLOSING between them."""
    model = fm.Model("closed")
    swing, body = (
        fm.Body(name, mass=1.5, com=(0.1, 0.2, 0.1), inertia=(0.1, 0.12, 0.15)) for name in ("swing", "body")
    )
    model.add(swing, body, fm.Revolute("A", model.ground.at(), swing.at(), axis="y", q0=0.4, u0=1.0))
    model.add(fm.Free("B", model.ground.at(), body.at(), q0=(0.3, 0.1, -0.4, 1.0, 0.1, 0.2, 0.0), u0=(0.3,) * 6))
    model.add(CLOSING[kind](swing.at(0.5, 0.0, -0.2), body.at(0.0, 0.1, 0.1)))
    return model
