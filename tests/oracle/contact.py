"""Free bodies that touch, by Newton's and Euler's equations in absolute coordinates, integrated by SciPy.

It shares nothing with the package: poses are positions and rotation matrices, whose nine numbers are integrated; where
a law has branches, the integration knows nothing of them, and steps across.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

_LONGEST = 2e-3  # [s] of a step: none passes a contact


@dataclass(frozen=True)
class Law:
    """N = k x^m (1 + c dx/dt); bristles of stiffness K and damping D under mu, static and stribeck; against rolling and
    drilling bristles of stiffness turning and damping eddy, under the arms rolling and drilling."""

    k: float
    m: float = 1.0
    c: float = 0.0
    mu: float = 0.0
    static: float = 0.0
    stribeck: float = 1.0
    K: float = 1.0
    D: float = 1.0
    rolling: float = 0.0
    drilling: float = 0.0
    turning: float = 1.0
    eddy: float = 1.0

    def moment(self, N: float, normal: Array, w: Array, turn: Array) -> tuple[Array, Array]:
        """What resists the angular velocity w, and the rate of these bristles."""
        about = np.outer(normal, normal)
        moment, rate = np.zeros(3), np.zeros(3)
        for part, arm in ((about, self.drilling), (np.eye(3) - about, self.rolling)):
            trial = part @ (self.turning * turn + self.eddy * w)
            size = float(np.linalg.norm(trial))
            held = trial * min(1.0, arm * N / size) if size > 0.0 else trial
            moment, rate = moment + held, rate + (held - self.turning * part @ turn) / self.eddy
        return moment, rate

    def forces(self, overlap: float, rate: float, slip: Array, z: Array) -> tuple[float, Array, Array]:
        """The normal force, the friction and the rate of z."""
        N = self.k * max(overlap, 0.0) ** self.m * max(1.0 + self.c * rate, 0.0)
        trial = self.K * z + self.D * slip
        size = float(np.linalg.norm(trial))
        limit = N * (self.mu + (self.static - self.mu) * np.exp(-float(slip @ slip) / self.stribeck**2))
        friction = trial if size <= limit else trial * (limit / size)
        return N, friction, (friction - self.K * z) / self.D


def nearest(road: CubicSpline, centre: Array, looks: int = 400) -> float:
    """The x of the road that is nearest to a centre: the best of many, then where the connection is perpendicular."""
    x, _, z = centre
    wide = abs(z - float(road(x))) + 1e-6
    tried = np.linspace(x - wide, x + wide, looks)
    best = int(np.argmin((tried - x) ** 2 + (road(tried) - z) ** 2))
    low, high = tried[max(best - 1, 0)], tried[min(best + 1, looks - 1)]
    return float(brentq(lambda at: (at - x) + (float(road(at)) - z) * float(road(at, 1)), low, high, xtol=1e-15))


@dataclass
class Bodies:
    """masses, (n, 3) principal inertias; contacts: (body, where in it, radius, other body or None for the plane z = 0,
    its radius, below 0 of a hollow about the origin, law). road: in place of the plane, its height and slope at x.
    """

    masses: Array
    inertias: Array
    gravity: Array
    contacts: list[tuple[int, Array, float, int | None, float, Law]] = field(default_factory=list)
    road: CubicSpline | None = None

    def rates(self, _: float, y: Array) -> Array:
        n, out = len(self.masses), np.zeros_like(y)
        r, R, v, w, z, turns = self.parts(y)
        rate = self.parts(out)
        force, torque = self.masses[:, None] * self.gravity, np.zeros((n, 3))
        for number, (i, at, radius, other, wide, law) in enumerate(self.contacts):
            centre = r[i] + R[i] @ at
            moves = np.zeros(3), np.zeros(3), np.zeros(3)  # of the other: position, velocity, angular velocity
            normal, gap = np.array([0.0, 0.0, 1.0]), centre[2] - radius
            if self.road is not None and other is None and wide == 0.0:
                x = nearest(self.road, centre)
                slope = float(self.road(x, 1))
                normal = np.array([-slope, 0.0, 1.0]) / np.hypot(1.0, slope)
                gap = float((centre - [x, centre[1], float(self.road(x))]) @ normal) - radius
            if other is not None or wide != 0.0:
                moves = moves if other is None else (r[other], v[other], w[other])
                apart = centre - moves[0]
                far = float(np.linalg.norm(apart))
                normal = np.sign(wide) * apart / far
                gap = np.sign(wide) * far - radius - wide
            point = centre - (radius + 0.5 * gap) * normal
            past = v[i] + np.cross(w[i], point - r[i]) - moves[1] - np.cross(moves[2], point - moves[0])
            slip = past - (past @ normal) * normal
            turned = np.eye(3) if other is None else R[other]
            held = turned @ z[number]
            along = (held @ normal) * normal
            N, friction, dz = law.forces(-gap, -float(past @ normal), slip, held - along)
            push = N * normal - friction
            force[i] += push
            torque[i] += np.cross(point - r[i], push)
            if other is not None:
                force[other] -= push
                torque[other] -= np.cross(point - r[other], push)
            rate[4][number] = turned.T @ (dz - law.K / law.D * along)
            moment, turning = law.moment(N, normal, w[i] - moves[2], turned @ turns[number])
            torque[i] -= moment
            if other is not None:
                torque[other] += moment
            rate[5][number] = turned.T @ turning
        rate[0][:], rate[2][:] = v, force / self.masses[:, None]
        for i in range(n):
            rate[1][i] = np.cross(np.eye(3), w[i]) @ R[i]
            J, spin = self.inertias[i], R[i].T @ w[i]
            rate[3][i] = R[i] @ ((R[i].T @ torque[i] - np.cross(spin, J * spin)) / J)
        return out

    def parts(self, y: Array) -> tuple[Array, ...]:
        """Views of positions, axes, velocities, angular velocities in world axes, bristles, and those that turn."""
        n, parts, at = len(self.masses), [], 0
        for shape in ((n, 3), (n, 3, 3), (n, 3), (n, 3), (len(self.contacts), 3), (len(self.contacts), 3)):
            parts.append(y[at : at + np.prod(shape)].reshape(shape))
            at += int(np.prod(shape))
        return tuple(parts)

    def run(self, r: Any, q: Any, v: Any, w: Any, stop: float, tolerance: float = 1e-9) -> tuple[Array, ...]:
        """What they are at `stop`; q: quaternions w x y z."""
        R = Rotation.from_quat(np.asarray(q), scalar_first=True).as_matrix()
        y = np.concatenate([np.ravel(one) for one in (r, R, v, w, np.zeros((len(self.contacts), 6)))]).astype(float)
        found = solve_ivp(
            self.rates, (0.0, stop), y, method="DOP853", rtol=tolerance, atol=1e-3 * tolerance,
            max_step=_LONGEST,
        )
        assert found.success, found.message
        return self.parts(found.y[:, -1].copy())
