"""What a mechanism knows about a motion: forces that it takes, mass matrix, momentum, Jacobians of points.

All follow from the core's inverse dynamics of the spanning tree (core/motion/required.c), at many instants in one call
and at a cost linear in the number of bodies for each row of what is returned. In a loop the constraint forces J' lambda
are not known either:

    M a + h - Q = J' lambda + B tau

gives them and the forces tau of as many actuators, with columns B, as the mechanism has freedoms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fmumbs._checks import names as checked_names
from fmumbs._checks import nearest
from fmumbs.compiler import ModelImage
from fmumbs.compiler.inverse import inverse_image
from fmumbs.compiler.kinds import BODY, POINT
from fmumbs.compiler.layout import lib
from fmumbs.errors import ModelError
from fmumbs.mechanism import Body, Model, Point
from fmumbs.mechanism.bodies import Ground
from fmumbs.run.closed import actuate, choices
from fmumbs.run.coordinates import Array, Coordinates, Given, pointer, required, solver_of
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver

Mechanism = Model | ModelImage | Solver


def inverse_dynamics(
    model: Mechanism,
    q: Given | Result,
    u: Given | None = None,
    a: Given | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> Array:
    """The generalised forces that a motion takes: tau = M(q) a + h(q, u) - Q(q, u).

    h: velocity products and gravity. Q: what springs, dampers, force laws, friction and inputs exert, these with their
    start values, or those of a Solver. LuGre friction slides, with bristles deflected as after long sliding at the same
    velocity; a force law at a jump of its force, as dry friction at rest, exerts the mean of both sides.

    model: a Model, a ModelImage with all variables, or a Solver, whose parameters and inputs are then used; its state
        remains.
    q: positions of the joints in the order of Solver.set_state() [rad] or [m], quaternions w, x, y, z; (positions,) of
        one instant or (n, positions) of many. Or a mapping by name: {"A.q": ..., "S.q": ...}, with a number or (n,)
        for each. Or one table with positions, velocities and accelerations, such as a Result, u and a being None.
    u: velocities in the same order, {"A.qd": ..., "S.w": ...} [rad/s] or [m/s]. a: their rates {"A.qdd": ...,
        "S.alpha": ...}. Rows as q, or one for all instants; None is zero.
    actuated: inputs that carry the force, such as ["A.tau", "push.force[1]"], as many as the mechanism has degrees of
        freedom beside modes of flexible bodies, which take what their elasticity lacks; required in loops, where a
        joint that closes a loop may carry it too.

    Returns (n, speeds) or (speeds,) forces [N.m] or [N] in the order of the velocities, those of excited modes what
    their drives exert; or (n, actuated) in the order of `actuated`. Ball joints in the axes of their w.

    Raises ModelError where the motion does not fit the loops, by more than 1e-6 of the model's length and the fastest
    velocity and acceleration, where `actuated` does not determine the forces, and with the choices where it is missing;
    SolverError for friction that its own joint's reaction loads.
    """
    solver = solver_of(model)
    coordinates = Coordinates(solver.image)
    motion, single = coordinates.read_motion(q, u, a)
    if actuated is not None:
        forces = actuate(solver, checked_names(actuated, "actuated"), *motion)
    else:
        forces = _of_tree(solver, *motion)
    return forces[0] if single else forces


def _of_tree(solver: Solver, q: Array, u: Array, a: Array) -> Array:
    if solver.image.sizes["rows"]:
        inverse_image(solver.image, ())  # raises what no actuator would change
        raise ModelError(f"Model '{solver.image.name}' has loops and {choices(solver)}")
    return required(solver, True, q, u, a)


def mass_matrix(model: Mechanism, q: Given) -> Array:
    """The mass matrix M(q) of the spanning tree, with loops left open.

    model, q: as for inverse_dynamics(). Returns (speeds, speeds) or (n, speeds, speeds) [kg.m2], [kg.m] or [kg], in
    the order of the velocities; rotor inertias are included.
    """
    solver = solver_of(model)
    positions, single = Coordinates(solver.image).read_positions(q)
    n = solver.image.sizes["speeds"]
    mass = np.zeros((len(positions), n, n))
    solver.call(lib.fm_mass_matrix, len(positions), pointer(positions), pointer(mass))
    return mass[0] if single else mass


def bias(model: Mechanism, q: Given, u: Given | None = None) -> Array:
    """h(q, u) of M a + h: velocity products and gravity, without springs, dampers, friction and inputs.

    model, q, u: as for inverse_dynamics(). Returns (speeds,) or (n, speeds) [N.m] or [N]; loops are left open.
    """
    solver = solver_of(model)
    coordinates = Coordinates(solver.image)
    positions, single = coordinates.read_positions(q)
    speeds = coordinates.read_rates(u, "velocities", len(positions))
    forces = required(solver, False, positions, speeds, np.zeros_like(speeds))
    return forces[0] if single else forces


def gravity_forces(model: Mechanism, q: Given) -> Array:
    """The forces that hold the mechanism against gravity at rest: bias() without velocities.

    model, q: as for inverse_dynamics(). Returns (speeds,) or (n, speeds) [N.m] or [N].
    """
    return bias(model, q)


def center_of_mass(model: Mechanism, q: Given) -> Array:
    """The centre of mass of all bodies, in world axes: (3,) or (n, 3) [m]. model, q: as for inverse_dynamics()."""
    momenta, single = _momenta(model, q, None)
    return momenta[0, 1:4] if single else momenta[:, 1:4]


def momentum(model: Mechanism, q: Given, u: Given) -> Array:
    """Momentum [N.s], then angular momentum about the centre of mass [N.m.s], of all bodies in world axes.

    model, q, u: as for inverse_dynamics(). Returns (6,) or (n, 6). Spins of rotors in joints are not included.
    """
    momenta, single = _momenta(model, q, u)
    return momenta[0, 4:] if single else momenta[:, 4:]


def point_jacobian(model: Mechanism, q: Given, point: Point | Body | str) -> Array:
    """J with v = J u: the velocity of a point [m/s], then the angular velocity of its body [rad/s], in world axes.

    J' (force, torque) are the generalised forces that a force and torque at the point exert. model, q: as for
    inverse_dynamics(). point: a Point, a Body, for the origin of its frame, or the name of either: "link", "link.tip";
    on a flexible body a point with a name. Returns (6, speeds) or (n, 6, speeds), in the order of the velocities.
    """
    solver = solver_of(model)
    positions, single = Coordinates(solver.image).read_positions(q)
    link, r = _place(solver.image, point)
    J = np.zeros((len(positions), 6, solver.image.sizes["speeds"]))
    solver.call(lib.fm_point_jacobian, len(positions), pointer(positions), link, pointer(r), pointer(J))
    return J[0] if single else J


def _momenta(model: Mechanism, q: Given, u: Given | None) -> tuple[Array, bool]:
    solver = solver_of(model)
    coordinates = Coordinates(solver.image)
    positions, single = coordinates.read_positions(q)
    speeds = coordinates.read_rates(u, "velocities", len(positions))
    momenta = np.zeros((len(positions), 10))
    given = (pointer(one) for one in (positions, speeds, momenta))
    solver.call(lib.fm_momenta, len(positions), *given)
    return momenta, single


def _place(image: ModelImage, point: Point | Body | str) -> tuple[int, Array]:
    """The link of a point, and where it is in the link's axes."""
    names = image.variables.structured
    bodies, points = names.elements(BODY), names.elements(POINT)
    arrays = image.arrays
    if isinstance(point, Point) and isinstance(point.body, Ground):
        return -1, np.zeros(3)
    name = point if isinstance(point, str) else point.name if isinstance(point, Body) else repr(point)
    if name in points and name:
        at = points.index(name)
        return int(arrays["point_link"][at]), np.ascontiguousarray(arrays["point_r"][at])
    body, offset = (point.body.name, point.X_BP.offset) if isinstance(point, Point) else (name, (0.0, 0.0, 0.0))
    if body not in bodies:
        known = [*bodies, *filter(None, points)]
        raise ModelError(f"Model '{image.name}' has no body or named point '{name}'. {nearest(str(name), known)}")
    at = bodies.index(body)
    link = int(arrays["body_link"][at])
    if int(arrays["link_modal"][link]) >= 0 and isinstance(point, Point):
        raise ModelError(
            f"Model '{image.name}': {point!r} is on a flexible body and moves with its modes. Give the point a name, "
            "and the model a variable or joint at it."
        )
    R = arrays["body_R"][at].reshape(3, 3)
    return link, np.ascontiguousarray(arrays["body_r"][at] + R @ np.asarray(offset))
