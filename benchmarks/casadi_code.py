"""The accelerations of a Tree as C code by CasADi, as an engineer would generate it for one mechanism.

Its constants are in the code, its common expressions are shared. Chains and trees of revolutes: the articulated-body
algorithm in link axes. Loops in a plane: absolute angles and multipliers, [M J'; J 0] eliminated once, in the order of
the bodies, without what is zero.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from common import BUILD
from trees import BALL, GRAVITY, REVOLUTE_Y, ROD_COM, ROD_END, ROD_INERTIA, ROD_MASS, Floats, Tree

Symbols = Any  # casadi.SX, whose functions have no types
MOST_BODIES = 100
"""A compiler takes half a minute for the code of so many."""


def generate(tree: Tree) -> tuple[Path, dict[str, int]]:
    """A C file with the function `accelerations` of positions, velocities and torques, and its numbers of work arrays.

    ValueError: why there is none.
    """
    import casadi

    if tree.bodies > MOST_BODIES or BALL in tree.joint:
        raise ValueError(f"has code for revolutes of up to {MOST_BODIES} bodies here")
    q, u, tau = (casadi.SX.sym(name, tree.bodies) for name in ("q", "u", "tau"))
    closed = len(tree.closing) > 0
    if closed and (tree.joint != REVOLUTE_Y).any():
        raise ValueError("has code for loops in a plane here")
    found = casadi.cse((_closed if closed else _open)(casadi, tree, q, u, tau))
    function = casadi.Function("accelerations", [q, u, tau], [found])
    code = casadi.CodeGenerator("accelerations")
    code.add(function)
    text = code.dump()
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / f"casadi-{hashlib.sha256(text.encode()).hexdigest()[:16]}.inc"
    path.write_text(text)
    sizes = {"ARG": function.sz_arg(), "RES": function.sz_res(), "IW": function.sz_iw(), "W": function.sz_w()}
    return path, {"BODIES": tree.bodies, **sizes}


# Trees ----------------------------------------------------------------------------------------------------------------


def _open(ca: Any, tree: Tree, q: Symbols, u: Symbols, tau: Symbols) -> Symbols:
    """The articulated-body algorithm: torque and force = [J H; H' M] (alpha, a) + (n, f) about a hinge."""
    n, com = tree.bodies, ca.DM(ROD_COM)
    inertia = np.diag(ROD_INERTIA) + ROD_MASS * (np.dot(ROD_COM, ROD_COM) * np.eye(3) - np.outer(ROD_COM, ROD_COM))
    R, w, bias, lift = [], [], [], []
    J, H = [ca.SX(ca.DM(inertia)) for _ in range(n)], [ca.SX(ROD_MASS * ca.skew(com)) for _ in range(n)]
    M, torque, force = [ca.SX(ROD_MASS * ca.DM.eye(3)) for _ in range(n)], [], []
    for i, parent in enumerate(tree.parent):
        axis, R_i = ca.DM(np.eye(3)[tree.joint[i]]), _turn(ca, tree.joint[i], q[i])
        R.append(R_i)
        above = w[parent] if parent >= 0 else ca.SX(3, 1)
        w.append(R_i.T @ above + axis * u[i])
        bias.append(ca.cross(w[i], axis * u[i]))
        lift.append(R_i.T @ ca.cross(above, ca.cross(above, ca.DM(tree.hinge[i]))))
        torque.append(ca.cross(w[i], ca.DM(inertia) @ w[i]))
        force.append(ROD_MASS * ca.cross(w[i], ca.cross(w[i], com)))
    U, D, left = [None] * n, [None] * n, [None] * n
    for i in reversed(range(n)):
        k = int(tree.joint[i])
        U[i], D[i], left[i] = (J[i][:, k], H[i].T[:, k]), J[i][k, k], tau[i] - torque[i][k]
        parent = tree.parent[i]
        if parent < 0:
            continue
        one, two = U[i]
        J_i, H_i, M_i = J[i] - one @ one.T / D[i], H[i] - one @ two.T / D[i], M[i] - two @ two.T / D[i]
        t = torque[i] + J_i @ bias[i] + H_i @ lift[i] + one * (left[i] / D[i])
        f = force[i] + H_i.T @ bias[i] + M_i @ lift[i] + two * (left[i] / D[i])
        J_i, H_i, M_i, t, f = R[i] @ J_i @ R[i].T, R[i] @ H_i @ R[i].T, R[i] @ M_i @ R[i].T, R[i] @ t, R[i] @ f
        X = ca.skew(ca.DM(tree.hinge[i]))
        J[parent] += J_i + X @ H_i.T - H_i @ X - X @ M_i @ X
        H[parent] += H_i + X @ M_i
        M[parent] += M_i
        torque[parent] += t + X @ f
        force[parent] += f
    alpha, a, found = [], [], []
    for i, parent in enumerate(tree.parent):
        above, carried = (alpha[parent], a[parent]) if parent >= 0 else (ca.SX(3, 1), ca.SX(-ca.DM(GRAVITY)))
        turned = R[i].T @ above + bias[i]
        moved = R[i].T @ (carried + ca.cross(above, ca.DM(tree.hinge[i]))) + lift[i]
        found.append((left[i] - U[i][0].T @ turned - U[i][1].T @ moved) / D[i])
        alpha.append(turned + ca.DM(np.eye(3)[tree.joint[i]]) * found[i])
        a.append(moved)
    return ca.vertcat(*found)


def _turn(ca: Any, axis: int, angle: Symbols) -> Symbols:
    """Rotation about a coordinate axis."""
    c, s, (j, k) = ca.cos(angle), ca.sin(angle), ((axis + 1) % 3, (axis + 2) % 3)
    R = ca.SX.eye(3)
    R[j, j], R[k, k], R[j, k], R[k, j] = c, c, -s, s
    return R


# Loops in a plane -----------------------------------------------------------------------------------------------------


def _closed(ca: Any, tree: Tree, q: Symbols, u: Symbols, tau: Symbols) -> Symbols:
    """By angles and velocities of the bodies in the world, in x and z."""
    angle, rate = _sums(tree, q), _sums(tree, u)
    theta, omega = ca.SX.sym("theta", tree.bodies), ca.SX.sym("omega", tree.bodies)
    hinge: list[Symbols] = []
    for i, parent in enumerate(tree.parent):
        at = _turned(ca, theta[parent], tree.hinge[i]) if parent >= 0 else ca.SX(ca.DM(tree.hinge[i][[0, 2]]))
        hinge.append(at + (hinge[parent] if parent >= 0 else 0))
    com = [hinge[i] + _turned(ca, theta[i], np.array(ROD_COM)) for i in range(tree.bodies)]
    M, h = ca.SX(tree.bodies, tree.bodies), ca.SX(tree.bodies, 1)
    for i in range(tree.bodies):
        J = ca.jacobian(com[i], theta)
        M += ROD_MASS * J.T @ J
        M[i, i] += ROD_INERTIA[1]
        pull = ca.jtimes(J @ omega, theta, omega) - ca.DM([GRAVITY[0], GRAVITY[2]])
        h += ROD_MASS * J.T @ pull
    gaps = ca.vertcat(*[hinge[a] + _turned(ca, theta[a], np.array(ROD_END)) - hinge[b] - _turned(ca, theta[b], pin)
                        for (a, b), pin in zip(tree.closing, tree.pin, strict=True)])  # fmt: skip
    J = ca.jacobian(gaps, theta)
    push = ca.SX(tau)
    for i, parent in enumerate(tree.parent):
        if parent >= 0:
            push[parent] -= tau[i]
    A = ca.vertcat(ca.horzcat(M, J.T), ca.horzcat(J, ca.SX(J.rows(), J.rows())))
    b = ca.vertcat(push - h, -ca.jtimes(J @ omega, theta, omega))
    turns = _eliminate(A, b)[: tree.bodies]
    relative = [turns[i] - (turns[p] if p >= 0 else 0) for i, p in enumerate(tree.parent)]
    return ca.substitute(ca.vertcat(*relative), ca.vertcat(theta, omega), ca.vertcat(*angle, *rate))


def _sums(tree: Tree, relative: Symbols) -> list[Symbols]:
    """Of the joints' values along the tree."""
    found: list[Symbols] = []
    for i, parent in enumerate(tree.parent):
        found.append(relative[i] + (found[parent] if parent >= 0 else 0))
    return found


def _turned(ca: Any, angle: Symbols, place: Floats) -> Symbols:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * place[0] + s * place[2], c * place[2] - s * place[0])


def _eliminate(A: Symbols, b: Symbols) -> list[Symbols]:
    """Solves A x = b; pivots in order, where those of M are positive and those of -J M^-1 J' negative."""
    n = A.rows()
    rows = [{j: A[i, j] for j in range(n) if not A[i, j].is_zero()} for i in range(n)]
    right = [b[i] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            if k not in rows[i]:
                continue
            part = rows[i].pop(k) / rows[k][k]
            for j, entry in rows[k].items():
                if j > k:
                    rows[i][j] = rows[i].get(j, 0) - part * entry
            right[i] -= part * right[k]
    found: list[Symbols] = [0] * n
    for k in reversed(range(n)):
        found[k] = (right[k] - sum(entry * found[j] for j, entry in rows[k].items() if j > k)) / rows[k][k]
    return found
