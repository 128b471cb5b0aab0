"""Bodies with handles, and their assembly two by two: the main pass of the divide-and-conquer algorithm.

A body or an assembly of bodies interacts with others only at its handles: a = Phi f + b (Eq 1), with the accelerations
and wrenches of all handles stacked, (angular, linear) and (torque, force), in world axes about the points of the
handles. A joint with the modes S merges two of them, i and j (Eq 7):

    U = Phi_j11 + Phi_i22,  V = U^-1,  W = V - V S (S' V S)^-1 S' V,  beta = b_i2 - b_j1
    Phi_11 = Phi_i11 - Phi_i12 W Phi_i21      Phi_22 = Phi_j22 - Phi_j21 W Phi_j12      Phi_21 = Phi_j21 W Phi_i21
    b_1 = b_i1 - Phi_i12 W beta               b_2 = b_j2 + Phi_j21 W beta

at rest and without springs in the joints. Handle 2 of i and handle 1 of j are those of the joint; 1 of i and 2 of j
stand for all others. The back-substitution is f_j1 = W (Phi_i21 f_i1 - Phi_j12 f_j2 + beta) = -f_i2.

Lengths are divided by a characteristic length of the mechanism. Uniqueness does not depend on the inertias: by default
every body has unit mass and a radius of gyration equal to the spread of its handles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fmumbs import _checks
from fmumbs.analysis.placed import GROUND, Array, Placed, reciprocal, shift
from fmumbs.errors import ModelError

EMPTY = -1  # the joint of an empty handle

_SINGULAR = 1e-12  # U is singular if its reciprocal condition number is below this


@dataclass(frozen=True)
class Assembly:
    """A body, or two assemblies connected by a joint.

    number: bodies from 1, then assemblies in the order in which they are made. bodies: their numbers. handles: the
    joint of each handle, EMPTY for none; owners: the number of the body of each handle. Phi: (6 h, 6 h), b: (6 h,).
    parts: numbers of the two assemblies that it is made of; joint: between them; W: (6, 6) of that joint.
    """

    number: int
    bodies: tuple[int, ...]
    handles: tuple[int, ...]
    owners: tuple[int, ...]
    Phi: Array
    b: Array
    parts: tuple[int, int] | None = None
    joint: int | None = None
    W: Array | None = None

    def rows(self, handles: Sequence[int]) -> list[int]:
        """Rows of handles, given by their indices."""
        return [6 * handle + k for handle in handles for k in range(6)]


@dataclass(frozen=True)
class Assembled:
    """All assemblies by number from 1; roots: the complete ones, which are connected to the ground only."""

    placed: Placed
    length: float
    each: tuple[Assembly, ...]
    roots: tuple[int, ...]

    def __getitem__(self, number: int) -> Assembly:
        return self.each[number - 1]

    def leaves(self) -> tuple[Assembly, ...]:
        return self.each[: len(self.placed.bodies)]


def assemble(
    placed: Placed, order: Sequence[str] = (), own_inertias: bool = False, gravity: Sequence[float] = (0.0, 0.0, 0.0)
) -> Assembled:
    """The main pass.

    order: names of the joints between bodies in the order of elimination; by default in rounds that pair neighbours, so
    that chains become balanced trees. Raises ModelError for bodies in a loop that does not contain the ground, which
    would need an internal multijoint connection, and for a singular U.
    """
    length = _length(placed)
    each = [_body(placed, body, length, own_inertias, gravity) for body in range(len(placed.bodies))]
    whole = {assembly.number: assembly.number for assembly in each}  # the assembly that each body is in
    for joint in _order(placed, order):
        i, j = (each[whole[int(end[joint]) + 1] - 1] for end in (placed.F, placed.M))
        made = _merge(placed, joint, i, j, len(each) + 1)
        each.append(made)
        whole.update(dict.fromkeys(made.bodies, made.number))
    return Assembled(placed, length, tuple(each), tuple(dict.fromkeys(whole.values())))


def _length(placed: Placed) -> float:
    away = placed.origin - placed.origin.mean(axis=0) if len(placed.origin) else np.zeros((1, 3))
    return float(np.sqrt(np.mean(np.sum(away**2, axis=1)))) or 1.0


def _order(placed: Placed, given: Sequence[str]) -> list[int]:
    """The joints between bodies in the order of their elimination."""
    if placed.couplings:
        raise ModelError(
            f"coupling '{placed.couplings[0].name}' is not supported by divide and conquer. "
            "Use the general method."
        )
    if placed.flexible:
        raise ModelError("flexible bodies are not supported by divide and conquer. Use the general method.")
    inside = [joint for joint in range(len(placed.joints)) if GROUND not in (placed.F[joint], placed.M[joint])]
    _check_forest(placed, inside)
    if len(named := _checks.names(tuple(given) if isinstance(given, str) else given, "order")):
        wanted = sorted(placed.joints[joint] for joint in inside)
        if sorted(named) != wanted:
            raise ModelError(
                f"the assembly eliminates the joints {_checks.shown(named)}, but those between bodies are "
                f"{', '.join(wanted)}. Give each of them once."
            )
        return [placed.joints.index(name) for name in named]
    found: list[int] = []
    whole = list(range(len(placed.bodies)))
    while len(found) < len(inside):  # a round: merges neighbours that were not merged in this round yet
        busy: set[int] = set()
        for joint in inside:
            i, j = _whole(whole, int(placed.F[joint])), _whole(whole, int(placed.M[joint]))
            if i != j and not {i, j} & busy:
                busy |= {i, j}
                whole[max(i, j)] = min(i, j)
                found.append(joint)
    return found


def _whole(whole: list[int], body: int) -> int:
    while whole[body] != body:
        whole[body] = whole[whole[body]]
        body = whole[body]
    return body


def _check_forest(placed: Placed, inside: list[int]) -> None:
    whole = list(range(len(placed.bodies)))
    for joint in inside:
        i, j = _whole(whole, int(placed.F[joint])), _whole(whole, int(placed.M[joint]))
        if i == j:
            raise ModelError(
                f"joint '{placed.joints[joint]}' closes a loop that does not contain the ground, so two assemblies "
                "would be connected by several joints. Use the general method."
            )
        whole[max(i, j)] = min(i, j)


def _body(placed: Placed, body: int, length: float, own: bool, gravity: Sequence[float]) -> Assembly:
    """A body with a handle at each joint; a body with fewer than two joints gets an empty handle."""
    joints = list(placed.at[body])
    points = [placed.origin[joint] for joint in joints]
    centre = placed.com[body] if own else np.mean(points, axis=0)
    if len(joints) < 2:
        joints.append(EMPTY)
        points.append(placed.com[body])
    arms = (np.array(points) - centre) / length
    if own:
        try:
            turning = np.linalg.inv(placed.inertia[body] / length**2)
        except np.linalg.LinAlgError:
            raise ModelError(
                f"body '{placed.bodies[body]}' has no inertia about some axis, so own_inertias cannot be used. "
                "Leave it out."
            ) from None
        inverse = np.block([[turning, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3) / placed.mass[body]]])
    else:
        gyration = float(np.mean(np.sum(arms**2, axis=1))) or 1.0
        inverse = np.diag([1.0 / gyration] * 3 + [1.0] * 3)
    moved = shift(arms)  # transforms wrenches from handles to the centre, its transpose accelerations back
    moved = moved.transpose(1, 0, 2).reshape(6, -1)
    falling = np.concatenate([np.zeros(3), np.asarray(gravity, float) / length])
    return Assembly(
        number=body + 1,
        bodies=(body + 1,),
        handles=tuple(joints),
        owners=(body + 1,) * len(joints),
        Phi=moved.T @ inverse @ moved,
        b=np.tile(np.eye(6), (len(joints), 1)) @ falling,
    )


def modes(placed: Placed, joint: int, length: float) -> Array:
    """(6, n) modes S of a joint in world axes, lengths divided; its wrenches do no work on them (Eq 19)."""
    return reciprocal(wrenches(placed, joint, length))


def wrenches(placed: Placed, joint: int, length: float) -> Array:
    """(6, n) orthonormal T of a joint in world axes, lengths divided."""
    R = placed.axes[joint]
    span = placed.spans[joint]
    return np.linalg.qr(np.vstack([R @ span[:3] / length, R @ span[3:]]))[0] if span.shape[1] else np.zeros((6, 0))


def _merge(placed: Placed, joint: int, i: Assembly, j: Assembly, number: int) -> Assembly:
    """Eq 7; the wrench at the joint's handle on j is that of its F side on its M side."""
    at_i, at_j = i.handles.index(joint), j.handles.index(joint)
    rest_i = [handle for handle in range(len(i.handles)) if handle != at_i]
    rest_j = [handle for handle in range(len(j.handles)) if handle != at_j]
    i1, i2, j1, j2 = i.rows(rest_i), i.rows([at_i]), j.rows([at_j]), j.rows(rest_j)
    U = j.Phi[np.ix_(j1, j1)] + i.Phi[np.ix_(i2, i2)]
    if np.linalg.cond(U) > 1.0 / _SINGULAR:
        raise ModelError(
            f"the matrix U of joint '{placed.joints[joint]}' is singular: other joints constrain its relative "
            "acceleration. Use the general method."
        )
    V, S = np.linalg.inv(U), modes(placed, joint, _length(placed))
    W = V - V @ S @ np.linalg.solve(S.T @ V @ S, S.T @ V) if S.shape[1] else V
    W = (W + W.T) / 2
    Phi11 = i.Phi[np.ix_(i1, i1)] - i.Phi[np.ix_(i1, i2)] @ W @ i.Phi[np.ix_(i2, i1)]
    Phi22 = j.Phi[np.ix_(j2, j2)] - j.Phi[np.ix_(j2, j1)] @ W @ j.Phi[np.ix_(j1, j2)]
    Phi21 = j.Phi[np.ix_(j2, j1)] @ W @ i.Phi[np.ix_(i2, i1)]
    beta = i.b[i2] - j.b[j1]
    return Assembly(
        number=number,
        bodies=(*i.bodies, *j.bodies),
        handles=(*(i.handles[h] for h in rest_i), *(j.handles[h] for h in rest_j)),
        owners=(*(i.owners[h] for h in rest_i), *(j.owners[h] for h in rest_j)),
        Phi=np.block([[Phi11, Phi21.T], [Phi21, Phi22]]),
        b=np.concatenate([i.b[i1] - i.Phi[np.ix_(i1, i2)] @ W @ beta, j.b[j2] + j.Phi[np.ix_(j2, j1)] @ W @ beta]),
        parts=(i.number, j.number),
        joint=joint,
        W=W,
    )


def disassemble(assembled: Assembled, root: int, outer: Array, biased: bool = False) -> dict[int, Array]:
    """The back-substitution pass: wrenches (6, n) in the joints inside, of the F side on the M side, world axes.

    outer: (6 h, n) wrenches on the handles of the complete assembly. biased: includes b, for actual reactions.
    """
    found: dict[int, Array] = {}
    waiting = [(assembled[root], outer)]
    while waiting:
        k, f = waiting.pop()
        if k.parts is None or k.joint is None or k.W is None:
            continue
        i, j = (assembled[number] for number in k.parts)
        at_i, at_j = i.handles.index(k.joint), j.handles.index(k.joint)
        rest_i = [handle for handle in range(len(i.handles)) if handle != at_i]
        rest_j = [handle for handle in range(len(j.handles)) if handle != at_j]
        split = 6 * len(rest_i)
        i1, i2, j1, j2 = i.rows(rest_i), i.rows([at_i]), j.rows([at_j]), j.rows(rest_j)
        apart = i.Phi[np.ix_(i2, i1)] @ f[:split] - j.Phi[np.ix_(j1, j2)] @ f[split:]
        if biased:
            apart = apart + (i.b[i2] - j.b[j1])[:, None]
        passed = k.W @ apart
        found[k.joint] = passed
        for part, rows, place, wrench in ((i, f[:split], at_i, -passed), (j, f[split:], at_j, passed)):
            waiting.append((part, np.vstack([rows[: 6 * place], wrench, rows[6 * place :]])))
    return found
