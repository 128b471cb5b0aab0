"""Paths and signals of numbers as large and small as there are: they have finite values, or an FmumbsError says so."""

import random
import warnings
from collections.abc import Callable, Iterator
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.run.signal import INTERPOLATIONS

# fmt: off
NUMBERS = [0.0, -0.0, 0.5, 1.0, -1.0, 3.0, 1e-15, 1e15, 1e154, 1e160, 1e200, -1e200, 1e-200, 1e308, -1e308, 1.7e308,
           1e-308, 5e-324, nan, inf]
# fmt: on
LAWS = ["cycloidal", "modified sine", "3-4-5", "4-5-6-7"]


class Draw:
    """Numbers of any size, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self) -> float:
        r = self.random
        return r.choice(NUMBERS) if r.random() < 0.7 else r.uniform(-2.0, 2.0) * 10.0 ** r.uniform(-308, 308)

    def some(self, n: int) -> list[float]:
        return [self.one() for _ in range(n)]

    def rows(self, n: int, width: int) -> list[list[float]]:
        return [self.some(width) for _ in range(n)]

    def makers(self) -> Iterator[Callable[[], Any]]:
        """Each makes a path, a curve or a signal."""
        r, n, P = self.random, self.random.randint(1, 5), fm.Path
        t, x, y, z, u = sorted(self.some(n)), self.some(n), self.some(n), self.some(n), self.some(6)
        yield lambda: fm.Signal(t, x, r.choice(INTERPOLATIONS))
        yield lambda: fm.Signal.sample(lambda time: time, t, r.choice(INTERPOLATIONS))
        wave = r.choice([None, tuple(u[:3])])
        yield lambda: P(t, self.rows(n, r.randint(1, 8)), continuity=r.choice([1, 2]), period=u[4], wave=wave)
        yield lambda: P.polynomial(*x)
        yield lambda: P.quintic(t, x, r.choice([None, y]), r.choice([None, z]))
        yield lambda: P.spline(t, x)
        yield lambda: P.sine(u[0], u[1], phase=u[2], offset=u[3])
        yield lambda: P.sweep(u[0], u[1], u[2], u[3], kind=r.choice(["linear", "logarithmic"]), phase=u[4])
        yield lambda: P.sweep(1.0, u[1], u[2], u[3], kind="logarithmic")
        yield lambda: P.cam(u[0], u[1], u[2], u[3], law=r.choice(LAWS), period=u[4], begin=u[5])
        yield lambda: P.cam(1.0, abs(u[1]), law=r.choice(LAWS))
        yield lambda: P.line(u[:3], u[3:], self.one(), begin=self.one())
        yield lambda: P.polyline(self.rows(n, 3), r.choice([u[0], x]), begin=u[1], closed=r.random() < 0.5)
        yield lambda: P.circle(u[:3], u[3:], self.some(3), self.one(), turns=self.one())
        yield lambda: P.circle((0, 0, 0), (u[0], 0, 0), (0, 0, u[1]), u[2], turns=u[3], begin=u[4])
        yield lambda: P.rectangle((0, 0, 0), (u[0], 0, 0), (0, u[1], 0), u[2], begin=u[3])
        yield lambda: P.through(t, self.rows(n, 2))


def test_extreme_numbers_are_refused_or_have_finite_values() -> None:
    made = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(300):
            draw = Draw(seed)
            for make in draw.makers():
                try:
                    found = make()
                    made += 1
                    for time in (0.0, draw.one(), draw.one()):
                        assert not isfinite(time) or np.isfinite(found(time)).all(), (seed, found, time)
                except fm.FmumbsError:
                    refused += 1
    assert min(made, refused) > 500


@pytest.mark.parametrize("times", [[0.0, 1e-17, 1.0, 2.0, 3.0], [0.0, 1.0, 1.0 + 3e-16, 1e9], [0.0, 1e-300, 1.0, 2.0]])
def test_a_cubic_that_would_miss_its_rows_is_refused(times: list[float]) -> None:
    with pytest.raises(fm.SolverError, match="too unevenly spaced for a cubic spline"):
        fm.Signal(times, [0.0, 1.0, -1.0, 2.0, 1.0][: len(times)], "cubic")


def test_a_parabola_goes_through_three_rows() -> None:
    signal = fm.Signal([1.0, 1.5, 3.0], [[2.0, 1.0], [0.0, 1.0], [5.0, 2.0]], "cubic")
    for t in np.linspace(1.0, 3.0, 9):
        lagrange = [(t - 1.5) * (t - 3.0) / 1.0, (t - 1.0) * (t - 3.0) / -0.75, (t - 1.0) * (t - 1.5) / 3.0]
        assert np.allclose(
            signal(t), [2.0 * lagrange[0] + 5.0 * lagrange[2], lagrange[0] + lagrange[1] + 2.0 * lagrange[2]]
        )
