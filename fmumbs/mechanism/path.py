"""Paths: prescribed motions as piecewise polynomials in time.

    s(t) = sum_k c[i][k] (t - breaks[i])^k     for breaks[i] <= t < breaks[i + 1]

The first piece also applies before its break, and the last piece to all later times, so the last piece of a motion that
ends is constant; one that begins after 0 has a first piece for the time before. With a period, the path repeats from
breaks[0] on. Position and velocity are continuous; the acceleration is, too, unless continuity=1. A path on a circle is
centre + radius cos(s(t) + phase), with s an angle.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs._limits import LEAST_PERIOD, PATH_POWERS
from fmumbs.errors import ModelError
from fmumbs.mechanism import path_laws

DEGREE = PATH_POWERS - 1
_SMOOTH = 1e-9  # a smaller jump, relative to the largest term at any break, is round-off


@dataclass(frozen=True)
class Path:
    """A piecewise polynomial in time, up to the seventh degree.

    breaks: (n,) [s], increasing. coefficients: (n, 8) of the powers of the time since the piece's break, in [rad] or
    [m]; shorter rows are padded with zeros. continuity: 2, or 1 if accelerations may jump. period: [s], longer than
    the breaks; 0 for a path that does not repeat. wave: (centre, radius, phase) [m, m, rad] of a coordinate of a point
    on a circle, centre + radius cos(s + phase), where the polynomials give the angle s [rad]; None for s itself.

    Raises ModelError for a jump in position, velocity or, with continuity=2, acceleration.
    """

    breaks: Sequence[float]
    coefficients: Sequence[Sequence[float]]
    continuity: int = field(default=2, kw_only=True)
    period: float = field(default=0.0, kw_only=True)
    wave: tuple[float, float, float] | None = field(default=None, kw_only=True)

    @_checks.in_range("Path")
    def __post_init__(self) -> None:
        breaks = _numbers(self.breaks, "Path: breaks")
        if not breaks or any(b <= a for a, b in pairwise(breaks)):
            raise ModelError("Path: breaks must be increasing times. Give at least one.")
        rows = _rows(self.coefficients, len(breaks))
        period = _checks.not_negative(self.period, "Path: period")
        if period and period <= breaks[-1] - breaks[0]:
            raise ModelError(
                f"Path: period is {period:g} s, but the breaks span {breaks[-1] - breaks[0]:g} s. Give a longer period."
            )
        if 0 < period < LEAST_PERIOD:
            raise ModelError(f"Path: period is {period:g} s, must be at least {LEAST_PERIOD:g} s. Give a longer one.")
        if not isinstance(self.continuity, int) or self.continuity not in (1, 2):
            raise ModelError(f"Path: continuity is {_checks.shown(self.continuity)}, but must be 1 or 2. Give one.")
        wave = None if self.wave is None else _checks.vector(self.wave, "Path: wave", (0, 1, 0))
        for name, value in (("breaks", breaks), ("coefficients", rows), ("period", period), ("wave", wave)):
            object.__setattr__(self, name, value)
        self._check_continuity()

    @classmethod
    def polynomial(cls, *coefficients: float) -> Path:
        """c0 + c1 t + c2 t^2 + ..., for all times; coefficients: c0, c1, ... [rad] or [m], per power of [s]."""
        return cls((0.0,), (coefficients,))

    @classmethod
    @_checks.in_range("Path.quintic")
    def quintic(
        cls,
        times: Sequence[float],
        positions: Sequence[float],
        velocities: Sequence[float] | None = None,
        accelerations: Sequence[float] | None = None,
    ) -> Path:
        """Quintic polynomials through positions (n,) at times (n,) [s], n >= 2; C2.

        velocities, accelerations: (n,), zero by default, so that the path stops at every position. After the last time,
        and from 0 to the first one, the path continues with the velocity and acceleration there, and rests if they are
        zero.
        """
        t = _numbers(times, "Path.quintic: times")
        if len(t) < 2:
            raise ModelError("Path.quintic: times has fewer than 2 entries. Give a start and an end time.")
        zeros = (0.0,) * len(t)
        x = _checks.numbers(positions, len(t), "Path.quintic: positions")
        v = zeros if velocities is None else _checks.numbers(velocities, len(t), "Path.quintic: velocities")
        a = zeros if accelerations is None else _checks.numbers(accelerations, len(t), "Path.quintic: accelerations")
        ends = list(zip(x, v, a, strict=True))
        rows = [_quintic(t[i + 1] - t[i], ends[i], ends[i + 1]) for i in range(len(t) - 1) if t[i + 1] > t[i]]
        rows.append((x[-1], v[-1], a[-1] / 2, 0.0, 0.0, 0.0))
        if t[0] > 0.0:
            before = (x[0] - t[0] * (v[0] - t[0] * a[0] / 2), v[0] - t[0] * a[0], a[0] / 2)
            return cls((0.0, *t), (before, *rows))
        return cls(t, rows)

    @classmethod
    @_checks.in_range("Path.spline")
    def spline(cls, times: Sequence[float], positions: Sequence[float]) -> Path:
        """A quintic spline through positions (n,) at times (n,) [s], n >= 2, from rest to rest; C4.

        It minimises the integral of the squared jerk; made by SciPy. Before and after it rests. For a periodic path
        use from_scipy() of a CubicSpline with bc_type="periodic".
        """
        t = _numbers(times, "Path.spline: times")
        if len(t) < 2 or any(b <= a for a, b in pairwise(t)):
            raise ModelError("Path.spline: times must be two or more that increase. Give a start and an end time.")
        x = _checks.numbers(positions, len(t), "Path.spline: positions")
        from scipy.interpolate import make_interp_spline

        rests = [(1, 0.0), (2, 0.0)]
        try:
            spline = make_interp_spline(t, x, k=5, bc_type=(rests, rests))
        except ValueError as error:  # SciPy's word for a matrix that overflows
            raise OverflowError from error
        path = cls.from_scipy(spline)
        breaks, rows = (*path.breaks, t[-1]), (*path.coefficients, (x[-1],))
        return cls((0.0, *breaks), ((x[0],), *rows)) if t[0] > 0.0 else cls(breaks, rows)

    @classmethod
    @_checks.in_range("Path.sine")
    def sine(cls, amplitude: float, frequency: float, *, phase: float = 0.0, offset: float = 0.0) -> Path:
        """A sine, offset + amplitude sin(2 pi frequency t + phase), for all times; exact at any phase.

        amplitude, offset: [rad] or [m]; with the amplitude 0 it rests. frequency [Hz], above zero. phase [rad].
        """
        omega = 2 * math.pi * _checks.positive(frequency, "Path.sine: frequency")
        return cls((0.0,), ((0.0, omega),), wave=_sine(amplitude, phase, offset, "Path.sine"))

    @classmethod
    @_checks.in_range("Path.sweep")
    def sweep(
        cls, amplitude: float, first: float, last: float, duration: float, *,
        kind: Literal["linear", "logarithmic"] = "linear", phase: float = 0.0, offset: float = 0.0,
    ) -> Path:  # fmt: skip
        """A chirp, offset + amplitude sin(a(t) + phase), whose frequency goes from first to last within a duration [s].

        kind "linear": da/dt = 2 pi (first + (last - first) t / duration), exact. "logarithmic": da/dt = 2 pi first
        (last / first)^(t / duration), as many octaves in equal times; a(t) is a polynomial of seventh degree in pieces,
        to 1e-14 of its size. Afterwards the frequency stays; the acceleration jumps there.

        amplitude, offset: [rad] or [m]. first, last: [Hz], above zero. phase [rad].
        """
        T = _checks.positive(duration, "Path.sweep: duration")
        begin, end = (
            2 * math.pi * _checks.positive(f, f"Path.sweep: {what}") for f, what in ((first, "first"), (last, "last"))
        )
        wave = _sine(amplitude, phase, offset, "Path.sweep")
        if kind not in ("linear", "logarithmic"):
            raise ModelError(f"Path.sweep: kind is {kind!r}. Give 'linear' or 'logarithmic'.")
        if begin == end:
            return cls((0.0,), ((0.0, begin),), wave=wave)
        if kind == "linear":
            rise = (0.0, begin, (end - begin) / (2 * T))
            return cls((0.0, T), (rise, ((begin + end) / 2 * T, end)), continuity=1, wave=wave)
        octaves = math.log(end) - math.log(begin) if end < 0.5 * begin else math.log1p((end - begin) / begin)
        _, _, growth = _finite(begin, end, octaves / T)
        breaks, rows = path_laws.exponential(T, begin, growth)
        return cls((*breaks, T), (*rows, ((end - begin) / growth, end)), continuity=1, wave=wave)

    @classmethod
    @_checks.in_range("Path.cam")
    def cam(
        cls, lift: float, rise: float, dwell: float = 0.0, fall: float | None = None, *,
        law: path_laws.RiseLaw = "cycloidal", period: float = 0.0, begin: float = 0.0, base: float = 0.0,
    ) -> Path:  # fmt: skip
        """A cam's follower: it rises by `lift`, dwells, falls, and dwells again until the next period.

        law of both strokes, s from 0 to 1 over x from 0 to 1; all have zero velocity and acceleration at the ends:
            "cycloidal"      s = x - sin(2 pi x) / (2 pi)
            "modified sine"  s'' = A sin(4 pi x) in the first and last eighth, A sin((4 x + 1) pi / 3) between,
                             A = 4 pi^2 / (4 + pi)
            "3-4-5"          s = 10 x^3 - 15 x^4 + 6 x^5
            "4-5-6-7"        s = 35 x^4 - 84 x^5 + 70 x^6 - 20 x^7, whose jerk is zero at the ends too
        The sines are pieces of seventh degree: positions are exact to 1e-14 of the lift, accelerations to 1e-11 of the
        largest.

        lift, base: [rad] or [m], base is where it dwells below. rise, dwell, fall: durations [s], of a cam at constant
        speed its angles over the speed; fall=None: it does not fall. period [s]: of a revolution, at least the
        durations together; 0: the motion does not repeat. begin [s]: when it rises; before, it dwells below, or with a
        period is in the revolution before.
        """
        what = "Path.cam"
        h, low, at = (_checks.number(value, f"{what}: {name}") for value, name in (
            (lift, "lift"), (base, "base"), (begin, "begin")))  # fmt: skip
        if law not in path_laws.RISES:
            raise ModelError(f"{what}: law is {law!r}. Give one of {', '.join(path_laws.RISES)}.")
        if fall is None and period:
            raise ModelError(f"{what}: it repeats, but does not fall. Give fall.")
        breaks, rows = path_laws.cam_stroke(law, at, _checks.positive(rise, f"{what}: rise"), low, h)
        end = at + rise
        high = _checks.not_negative(dwell, f"{what}: dwell")
        if high or fall is None:
            breaks, rows = [*breaks, end], [*rows, (low + h,)]
            end += high
        if fall is not None:
            down = path_laws.cam_stroke(law, end, _checks.positive(fall, f"{what}: fall"), low + h, -h)
            breaks, rows = breaks + down[0], rows + down[1]
            end += fall
        if period and end - at > period * (1 + 1e-12):
            raise ModelError(f"{what}: it takes {end - at:g} s, but period is {period:g} s. Give a longer period.")
        if fall is not None and not (period and end - at >= period * (1 - 1e-12)):
            breaks, rows = [*breaks, end], [*rows, (low,)]
        if at > 0.0 and not period:
            breaks, rows = [0.0, *breaks], [(low,), *rows]
        return cls(breaks, rows, period=period)

    @classmethod
    @_checks.in_range("Path.from_scipy")
    def from_scipy(cls, curve: Any, *, continuity: int = 2) -> Path:
        """A path from SciPy: a PPoly such as CubicSpline or PchipInterpolator, or a BSpline.

        The first and last polynomials extrapolate; with extrapolate="periodic" the path repeats. continuity: 1 if its
        acceleration jumps, as for a PchipInterpolator. Raises ModelError for another type, for a vector-valued curve,
        and for a degree above 7.
        """
        if hasattr(curve, "t") and hasattr(curve, "k"):
            from scipy.interpolate import PPoly

            curve = PPoly.from_spline(curve)
        x, c = getattr(curve, "x", None), getattr(curve, "c", None)
        if x is None or c is None or getattr(c, "ndim", 0) != 2:
            raise ModelError(
                f"Path.from_scipy: {type(curve).__name__} is not a scalar piecewise polynomial. Give a PPoly, such as "
                "scipy.interpolate.CubicSpline(times, positions)."
            )
        pieces = [i for i in range(len(x) - 1) if x[i + 1] > x[i]]  # a spline repeats the knots at its ends
        start, end = float(x[0]), float(x[-1])
        period = end - start if curve.extrapolate == "periodic" else 0.0
        rows = [c[::-1, i].tolist() for i in pieces]
        return cls([float(x[i]) for i in pieces], rows, continuity=continuity, period=period)

    @classmethod
    def line(cls, start: ArrayLike, end: ArrayLike, duration: float, *, begin: float = 0.0) -> Curve:
        """A straight line from rest to rest by a polynomial of fifth degree in time (copcod, Eq 28).

        start, end: (n,) [m] or [rad]. duration, begin: [s]; before and after, the point rests.
        """
        return cls.polyline(np.array([start, end]), duration, begin=begin)

    @classmethod
    @_checks.in_range("Path.polyline")
    def polyline(
        cls, points: ArrayLike, durations: float | Sequence[float], *, begin: float = 0.0, closed: bool = False
    ) -> Curve:
        """Straight lines through points (n, dimensions), with a stop at each (copcod, Eq 28).

        durations: of each edge [s], or one for all. begin: [s]. closed: a last edge leads back to the first point.
        """
        places = np.asarray(_table(points, "Path.polyline: points"))
        if closed:
            places = np.vstack([places, places[:1]])
        if len(places) < 2:
            raise ModelError("Path.polyline: points are fewer than 2. Give a start and an end.")
        each = durations if isinstance(durations, Iterable) else (durations,) * (len(places) - 1)
        given = _checks.numbers(each, len(places) - 1, "Path.polyline: durations")
        for value in given:
            _checks.positive(value, "Path.polyline: durations")
        times = np.cumsum([_checks.number(begin, "Path.polyline: begin"), *given]).tolist()
        return Curve(tuple(cls.quintic(times, column) for column in places.T.tolist()))

    @classmethod
    @_checks.in_range("Path.rectangle")
    def rectangle(
        cls, corner: ArrayLike, first: ArrayLike, second: ArrayLike, durations: float | Sequence[float], *,
        begin: float = 0.0,
    ) -> Curve:  # fmt: skip
        """A rectangle ABCD from its corner A, along `first` to B, then along `second` to C, with stops in the corners.

        corner, first, second: (3,) [m], edges perpendicular to each other. durations: of the four edges [s], or one.
        begin: [s], where it starts to move.
        """
        A, u, v = (np.array(_checks.vector(x, f"Path.rectangle: {what}")) for x, what in (
            (corner, "corner"), (first, "first"), (second, "second")))  # fmt: skip
        if abs(u @ v) > 1e-9 * math.sqrt((u @ u) * (v @ v)) or not (u.any() and v.any()):
            raise ModelError("Path.rectangle: its edges are not perpendicular, or zero. Use Path.polyline().")
        return cls.polyline([A, A + u, A + u + v, A + v], durations, begin=begin, closed=True)

    @classmethod
    @_checks.in_range("Path.circle")
    def circle(
        cls, centre: ArrayLike, start: ArrayLike, normal: ArrayLike, duration: float, *, turns: float = 1.0,
        begin: float = 0.0,
    ) -> Curve:  # fmt: skip
        """A circle about a centre from rest to rest; its angle is a polynomial of fifth degree in time (copcod, Eq 28).

        centre, start: (3,) [m]; normal: (3,), about which it turns by the right-hand rule, perpendicular to the radius.
        duration, begin: [s]. turns: of the whole motion, also negative.
        """
        middle = np.array(_checks.vector(centre, "Path.circle: centre"))
        axis = np.array(_checks.axis(normal, "Path.circle: normal"))
        arm = np.array(_checks.vector(start, "Path.circle: start")) - middle
        if not arm.any() or abs(arm @ axis) > 1e-9 * math.sqrt(arm @ arm):
            raise ModelError("Path.circle: start is not in the circle's plane, or is its centre. Move it.")
        begin = _checks.number(begin, "Path.circle: begin")
        end = begin + _checks.positive(duration, "Path.circle: duration")
        angle = cls.quintic((begin, end), (0.0, 2 * math.pi * _checks.number(turns, "Path.circle: turns")))
        across = np.cross(axis, arm)
        return Curve(tuple(
            cls(angle.breaks, angle.coefficients, wave=(m, math.hypot(a, b), math.atan2(-b, a)))
            for m, a, b in zip(middle.tolist(), arm.tolist(), across.tolist(), strict=True)
        ))  # fmt: skip

    @classmethod
    @_checks.in_range("Path.through")
    def through(cls, times: Sequence[float], points: ArrayLike) -> Curve:
        """A quintic spline through points (n, dimensions) at times (n,) [s], from rest to rest; see spline()."""
        places = _table(points, "Path.through: points")
        return Curve(tuple(cls.spline(times, column) for column in zip(*places, strict=True)))

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Position, velocity and acceleration at the time t [s]."""
        with _checks.in_range(f"Path at {t:g} s"):
            if self.period:
                t = self.breaks[0] + (t - self.breaks[0]) % self.period
            s, v, a = self._piece(max(bisect_right(self.breaks, t) - 1, 0), t)
            if self.wave is None:
                return s, v, a
            centre, radius, phase = self.wave
            _finite(s + phase, v, a)
            sine, cosine = radius * math.sin(s + phase), radius * math.cos(s + phase)
            return _finite(centre + cosine, -sine * v, -cosine * v * v - sine * a)

    def _piece(self, i: int, t: float) -> tuple[float, float, float]:
        x, c = t - self.breaks[i], self.coefficients[i]
        used = [k for k in range(DEGREE + 1) if c[k]]
        return _finite(
            sum(c[k] * x**k for k in used),
            sum(k * c[k] * x ** (k - 1) for k in used if k > 0),
            sum(k * (k - 1) * c[k] * x ** (k - 2) for k in used if k > 1),
        )

    def _largest(self, i: int, x: float, order: int) -> float:
        """The largest term of a derivative of piece i, x [s] after its break."""
        terms = enumerate(self.coefficients[i])
        return max((abs(math.perm(k, order) * c * x ** (k - order)) for k, c in terms if k >= order and c), default=0.0)

    def _check_continuity(self) -> None:
        joints = [(i - 1, i, self.breaks[i], self.breaks[i]) for i in range(1, len(self.breaks))]
        if self.period:
            joints.append((len(self.breaks) - 1, 0, self.breaks[0] + self.period, self.breaks[0]))
        sides = [(end, self._piece(i, end), self._piece(j, begin)) for i, j, end, begin in joints]
        for order, what in enumerate(("position", "velocity", "acceleration")[: self.continuity + 1]):
            scale = max((self._largest(i, end - self.breaks[i], order) for i, _, end, _ in joints), default=0.0)
            for time, before, after in sides:
                if abs(after[order] - before[order]) > _SMOOTH * scale:
                    fix = "Give continuity=1, or a smoother path." if order == 2 else "Give a path without a jump."
                    raise ModelError(
                        f"Path: the {what} jumps from {before[order]:g} to {after[order]:g} at {time:g} s. {fix}"
                    )


@dataclass(frozen=True)
class Curve:
    """Several coordinates over time: of a point, of an orientation. Path.line(), .polyline(), .circle() make them.

    paths: one Path for each coordinate.
    """

    paths: Sequence[Path]

    def __post_init__(self) -> None:
        paths = _checks.items(self.paths, "Curve: paths", "Give one Path for each coordinate.")
        if not paths or not all(isinstance(path, Path) for path in paths):
            raise ModelError(f"Curve: paths are {_checks.shown(paths)}. Give one Path for each coordinate.")
        object.__setattr__(self, "paths", paths)

    def __call__(self, t: float) -> NDArray[np.float64]:
        """(3, coordinates) positions, velocities and accelerations at the time t [s]."""
        return np.array([path(t) for path in self.paths]).T


def _finite(position: float, velocity: float, acceleration: float) -> tuple[float, float, float]:
    """The same; OverflowError if one has left the range of floating-point numbers."""
    if not (math.isfinite(position) and math.isfinite(velocity) and math.isfinite(acceleration)):
        raise OverflowError
    return position, velocity, acceleration


def _table(points: ArrayLike, what: str) -> list[tuple[float, ...]]:
    """Rows of equally many finite numbers."""
    if isinstance(points, str | bytes) or not isinstance(points, Iterable):
        raise ModelError(
            f"{what} is {_checks.shown(points)}, but must be a table of points. Give one row for each point."
        )
    rows = [_numbers(row, f"{what}[{i + 1}]") for i, row in enumerate(cast("Iterable[object]", points))]
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ModelError(f"{what} do not have equally many coordinates. Give one row for each point.")
    return rows


def _sine(amplitude: float, phase: float, offset: float, what: str) -> tuple[float, float, float]:
    """The wave of offset + amplitude sin(angle + phase)."""
    size, start = _checks.number(amplitude, f"{what}: amplitude"), _checks.number(phase, f"{what}: phase")
    return _checks.number(offset, f"{what}: offset"), size, start - math.pi / 2


def _quintic(
    T: float, begin: tuple[float, float, float], end: tuple[float, float, float]
) -> tuple[float, float, float, float, float, float]:
    """(6,) coefficients of the quintic with these positions, velocities and accelerations at 0 and T."""
    x, v, a = begin
    d = end[0] - (x + v * T + a * T * T / 2)
    r = (end[1] - (v + a * T)) * T
    s = (end[2] - a) * T * T
    c = (10 * d - 4 * r + s / 2, -15 * d + 7 * r - s, 6 * d - 3 * r + s / 2)
    return (x, v, a / 2, c[0] / T**3, c[1] / T**4, c[2] / T**5)


def _numbers(values: object, what: str) -> tuple[float, ...]:
    """Any number of finite numbers."""
    items = _checks.items(values, what, "Give a list of numbers.")
    return _checks.numbers(items, len(items), what)


def _rows(values: object, count: int) -> tuple[tuple[float, ...], ...]:
    what = "Path: coefficients"
    given = _checks.items(values, what, "Give numbers, one row for each break.")
    rows = tuple(_numbers(row, f"{what}[{i + 1}]") for i, row in enumerate(given))
    if len(rows) != count:
        raise ModelError(f"{what} has {len(rows)} rows, but there are {count} breaks. Give one row for each break.")
    for i, row in enumerate(rows):
        if not 0 < len(row) <= DEGREE + 1:
            raise ModelError(
                f"{what}[{i + 1}] has {len(row)} entries, but the degree of a piece is at most {DEGREE}. "
                f"Give 1 to {DEGREE + 1} numbers."
            )
    return tuple(row + (0.0,) * (DEGREE + 1 - len(row)) for row in rows)
