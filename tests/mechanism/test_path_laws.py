"""Sines, sweeps and cams: paths against their laws, in Python and as the core moves a slide along them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

import fmumbs as fm

mp.dps = 30
Law = Callable[[Any], Any]
LIFT, RISE = 0.03, 0.4


def modified_sine(x: Any) -> Any:
    """By its textbook pieces (Norton, Cam Design and Manufacturing Handbook), of a unit rise."""
    k = mp.pi / (4 + mp.pi)
    if x < 0.125:
        return k * (x - mp.sin(4 * mp.pi * x) / (4 * mp.pi))
    if x < 0.875:
        return 2 / (4 + mp.pi) + k * x - 9 / (4 * (4 + mp.pi)) * mp.cos((4 * mp.pi * x - mp.pi / 2) / 3)
    return 4 / (4 + mp.pi) + k * x - k / (4 * mp.pi) * mp.sin(4 * mp.pi * x)


CAMS: dict[str, Law] = {
    "cycloidal": lambda x: x - mp.sin(2 * mp.pi * x) / (2 * mp.pi),
    "modified sine": modified_sine,
    "3-4-5": lambda x: 10 * x**3 - 15 * x**4 + 6 * x**5,
    "4-5-6-7": lambda x: 35 * x**4 - 84 * x**5 + 70 * x**6 - 20 * x**7,
}


def derivatives(law: Law, t: float) -> list[float]:
    return [float(mp.diff(law, mp.mpf(t), k)) for k in range(3)]


@pytest.mark.parametrize("law", CAMS)
def test_a_stroke_follows_its_law(law: str) -> None:
    path = fm.Path.cam(LIFT, RISE, dwell=0.1, fall=0.25, law=law, period=1.0, base=0.01)
    bounds = LIFT * np.array([1e-14, 1e-12, 6e-10])
    for x in np.random.default_rng(1).uniform(0.001, 0.999, 40):
        up = derivatives(lambda t: 0.01 + LIFT * CAMS[law](t / RISE), x * RISE)
        down = derivatives(lambda t: 0.01 + LIFT * (1 - CAMS[law]((t - mp.mpf(0.5)) / 0.25)), 0.5 + 0.25 * x)
        assert (np.abs(np.subtract(path(x * RISE), up)) <= bounds + 1e-17).all()
        assert (np.abs(np.subtract(path(0.5 + 0.25 * x), down)) <= 3 * bounds + 1e-17).all()
    for t, place in ((0.0, 0.01), (RISE, 0.04), (0.45, 0.04), (0.75, 0.01), (0.9, 0.01), (1.0 + 0.45, 0.04)):
        assert_allclose(path(t), (place, 0, 0), atol=1e-12)


@pytest.mark.parametrize("law", CAMS)
def test_strokes_are_few_pieces_in_which_the_integration_does_not_stop(law: str) -> None:
    path = fm.Path.cam(LIFT, RISE, fall=0.3, law=law, period=0.7)
    assert len(path.breaks) <= 2 * 66
    model = carriage(path)
    stops = fm.compile(model).arrays["piece_stop"]
    assert stops.sum() <= 8


def test_a_cam_may_rise_only_and_begins_when_it_is_told() -> None:
    path = fm.Path.cam(2.0, 0.5, begin=1.0, base=-1.0)
    assert_allclose([path(t)[0] for t in (0.0, 0.9, 1.0, 1.25, 1.5, 9.0)], [-1, -1, -1, 0, 1, 1], atol=1e-14)
    again = fm.Path.cam(2.0, 0.5, fall=0.5, begin=0.25, period=1.0)
    assert_allclose([again(t)[0] for t in (0.0, 0.25, 0.75, 1.0, 1.25)], [1, 0, 2, 1, 0], atol=1e-14)


def test_a_motion_that_begins_later_rests_before() -> None:
    for path in (
        fm.Path.quintic([2, 3], [0.5, 1]),
        fm.Path.spline([2, 3], [0.5, 1]),
        fm.Path.line([0.5], [1], 1.0, begin=2).paths[0],
    ):
        assert_allclose([path(t) for t in (0.0, 1.0, 2.0)], [(0.5, 0, 0)] * 3, atol=1e-14)
    moving = fm.Path.quintic([2, 3], [1, 0], velocities=[0.5, 0], accelerations=[-1.0, 0])
    assert_allclose(moving(1.0), (1 - 0.5 - 0.5, 0.5 + 1.0, -1.0), atol=1e-14)


# As the core moves a slide -------------------------------------------------------------------------------------------


def carriage(path: fm.Path) -> fm.Model:
    """4 kg on a slide that follows the path; the slide's drive is 4 kg times its acceleration."""
    model = fm.Model("carriage", gravity=(0, 0, 0))
    model.add(body := fm.Body("b", mass=4.0, inertia=(1, 1, 1)))
    model.add(fm.Joint("J", model.ground.at(), body.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    return model


def moved(path: fm.Path, times: list[float], **options: Any) -> np.ndarray:
    """(times, 3) position, velocity and force over mass."""
    outputs = ["b.r[1]", "b.v[1]", "J.drive"]
    found = fm.simulate(carriage(path), times=times, outputs=outputs, **options)
    return np.stack([found["b.r[1]"], found["b.v[1]"], found["J.drive"] / 4.0], axis=1)


@pytest.mark.parametrize("law", CAMS)
def test_the_core_follows_a_cam_for_many_revolutions(law: str) -> None:
    path = fm.Path.cam(LIFT, RISE, dwell=0.1, fall=0.25, law=law, period=1.0)
    times = [0.13, 0.3, 0.55, 0.7, 0.93, 30.2, 30.6]
    expected = []
    for t in times:
        t = t % 1.0
        x, sign = (t / RISE, 1) if t < RISE else (1.0, 1) if t < 0.5 else ((t - 0.5) / 0.25, -1)
        span = RISE if sign > 0 else 0.25
        if 0.0 < x < 1.0:
            s, v, a = derivatives(CAMS[law], x)
            expected.append((LIFT * (s if sign > 0 else 1 - s), sign * LIFT * v / span, sign * LIFT * a / span**2))
        else:
            expected.append((LIFT if sign > 0 else 0.0, 0.0, 0.0))
    assert_allclose(moved(path, times), expected, rtol=1e-9, atol=1e-12)


def test_a_sine_is_exact_at_late_times() -> None:
    """Up to the resolution of the time itself: 1e5 s at 50 Hz are 3e7 rad."""
    path = fm.Path.sine(0.02, 50.0, phase=0.3, offset=1.0)
    omega = 2 * math.pi * 50.0
    times = [0.0, 0.0137, 1.0, 1e4 + 0.0037]
    exact = derivatives(lambda t: 1 + mp.mpf(0.02) * mp.sin(2 * mp.pi * 50 * t + mp.mpf(0.3)), times[-1])
    late = moved(path, times, scheme="rk4", step=0.5)[-1]
    resolution = omega * math.ulp(times[-1])
    assert_allclose(late, exact, rtol=0, atol=0.02 * omega**2 * resolution)
    assert_allclose(late[0], exact[0], rtol=0, atol=0.02 * 4 * resolution)
    for t in times[:3]:
        assert_allclose(path(t), derivatives(lambda t: 1 + 0.02 * mp.sin(2 * mp.pi * 50 * t + 0.3), t), rtol=1e-12)
    assert_allclose(moved(path, [0.0])[0], path(0.0), rtol=1e-14)


@pytest.mark.parametrize(("first", "last"), [(0.5, 20.0), (20.0, 0.5), (3.0, 3.0), (1.0, 1.0 + 1e-9)])
@pytest.mark.parametrize("kind", ["linear", "logarithmic"])
def test_a_sweep_has_its_frequencies(kind: str, first: float, last: float) -> None:
    T, f, g = mp.mpf(8), mp.mpf(first), mp.mpf(last)

    def angle(t: Any) -> Any:
        if t > T:
            return angle(T) + 2 * mp.pi * g * (t - T)
        if kind == "linear" or f == g:
            return 2 * mp.pi * (f * t + (g - f) * t**2 / (2 * T))
        return 2 * mp.pi * f * T / mp.log(g / f) * ((g / f) ** (t / T) - 1)

    path = fm.Path.sweep(0.1, first, last, 8.0, kind=kind, phase=0.2)
    times = [0.4, 2.2, 5.0, 7.9, 11.0]
    exact = [derivatives(lambda t: mp.mpf(0.1) * mp.sin(angle(t) + mp.mpf(0.2)), t) for t in times]
    largest = 0.1 * (2 * math.pi * max(first, last)) ** np.arange(3)
    error = np.abs(np.array(exact) - [path(t) for t in times]) / largest
    assert error.max() < 3e-12
    core = np.abs(np.array(exact) - moved(path, times)) / largest
    assert core.max() < 3e-12


def test_a_coordinate_along_the_normal_of_a_circle_stays() -> None:
    circle = fm.Path.circle((0, 0, 1), (1, 0, 1), (0, 0, 1), 2.0)
    assert_allclose(moved(circle.paths[2], [0.0, 0.5, 3.0]), [(1, 0, 0)] * 3, atol=1e-15)


@pytest.mark.parametrize("path", [
    fm.Path.sine(0.0, 1.0, offset=0.3), fm.Path.sweep(0.0, 1.0, 2.0, 3.0, phase=1.0, offset=0.3),
])  # fmt: skip
def test_a_sine_of_no_amplitude_rests(path: fm.Path) -> None:
    """In Python and in the core, also between a sine and another piece."""
    assert [path(t) for t in (0.0, 0.4, 5.0)] == [(0.3, 0.0, 0.0)] * 3
    assert_allclose(moved(path, [0.0, 0.4, 5.0]), [(0.3, 0, 0)] * 3, atol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fm.Path.sine(1.0, 0.0), "Path.sine: frequency is 0, but must be above zero"),
        (lambda: fm.Path.sweep(1.0, 1.0, -2.0, 3.0), "Path.sweep: last"),
        (lambda: fm.Path.sweep(1.0, 1.0, 2.0, 3.0, kind="log"), "Give 'linear' or 'logarithmic'"),
        (lambda: fm.Path.cam(1.0, 0.5, law="harmonic"), "law is 'harmonic'. Give one of cycloidal, modified sine"),
        (lambda: fm.Path.cam(1.0, 0.5, period=1.0), "it repeats, but does not fall"),
        (lambda: fm.Path.cam(1.0, 0.5, 0.2, 0.4, period=1.0), "it takes 1.1 s, but period is 1 s"),
        (lambda: fm.Path.cam(1.0, 0.0), "Path.cam: rise is 0, but must be above zero"),
    ],
)
def test_what_is_no_path_is_reported(make: Callable[[], fm.Path], message: str) -> None:
    with pytest.raises(fm.ModelError) as caught:
        make()
    assert message in str(caught.value)
