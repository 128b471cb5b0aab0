"""Roads and discs: where they touch beside searches, motion beside an independent integration, energy, and in FMUs."""

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.transform import Rotation

import fmumbs as fm
from oracle.contact import Bodies, Law, nearest
from support.both_ways import goes_on_alike, runs
from support.sweeps import seeds

G = 9.81
BESIDE = 1e-8  # of places [m] beside SciPy's integration at 1e-9
SEARCHED = 1e-7  # of a distance [m] that SciPy's search for the least one finds


def rolling_road(rng: np.random.Generator, points: int = 20, step: float = 0.4, high: float = 0.03) -> Any:
    return [(step * i, float(z)) for i, z in enumerate(high * rng.uniform(-1, 1, points))]


def natural(profile: Any) -> CubicSpline:
    return CubicSpline(*np.transpose(profile), bc_type="natural")


def height(curve: CubicSpline, x: Any) -> Any:
    """Of a road, straight beyond its ends."""
    inside = np.clip(x, curve.x[0], curve.x[-1])
    return curve(inside) + curve(inside, 1) * (x - inside)


def over_road(shape: str, profile: Any, normal: Any, friction: Any = None, gravity: Any = (0, 0, -G)) -> fm.Model:
    model = fm.Model("over_road", gravity=gravity)
    body = fm.Body("b", mass=2.0, inertia=(0.01, 0.01, 0.02) if shape == "Disc" else (0.008,) * 3)
    model.add(body, fm.Free("f", model.ground.at(), body.at()))
    road = fm.Road(model.ground.at(), profile)
    model.add(fm.Contact("touch", getattr(fm, shape)(body.at(), 0.1), road, normal, friction))
    return model


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_a_sphere_is_next_to_the_nearest_spot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    profile = rolling_road(rng)
    solver, curve = fm.Solver(over_road("Sphere", profile, fm.Press(1e5))), natural(profile)
    for _ in range(20):
        centre = np.array([rng.uniform(0.5, 7.0), rng.normal(), 0.0])
        centre[2] = float(curve(centre[0])) + rng.uniform(0.05, 0.6)
        solver.set_all({f"f.r[{k + 1}]": centre[k] for k in range(3)})
        solver.assemble()
        x = nearest(curve, centre)
        away = np.array([centre[0] - x, centre[2] - float(curve(x))])
        gap = float(np.hypot(*away)) - 0.1
        at = np.array([x, float(curve(x))]) + 0.5 * gap * away / np.hypot(*away)
        assert_allclose(solver.get("touch.gap"), gap, atol=1e-12)
        assert_allclose([solver.get("touch.point[1]"), solver.get("touch.point[3]")], at, atol=1e-7)
        assert_allclose(solver.get("touch.point[2]"), centre[1], atol=1e-12)


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_a_sphere_far_above_several_near_spots_or_beyond_an_end_has_the_least_distance(seed: int) -> None:
    """From a grid of the road and its straight ends, each near spot of it searched further."""
    rng = np.random.default_rng(seed)
    step, high = [(0.4, 0.05), (1.2, 0.35)][seed % 2]  # of the latter a part between knots can have several near spots
    profile = rolling_road(rng, int(rng.integers(3, 12)), step, high)
    solver, curve = fm.Solver(over_road("Sphere", profile, fm.Press(1e5))), natural(profile)
    end = profile[-1][0]
    grid = np.linspace(-8.0, end + 8.0, 20001)
    for _ in range(40):
        centre = np.array([rng.uniform(-2.0, end + 2.0), 0.0, rng.uniform(0.3, 4.0)])
        centre[2] += height(curve, centre[0])
        apart = np.hypot(grid - centre[0], height(curve, grid) - centre[2])
        best = float(apart.min())
        for k in np.flatnonzero((apart[1:-1] <= apart[:-2]) & (apart[1:-1] <= apart[2:]) & (apart[1:-1] < best + 1e-3)):
            found = minimize_scalar(
                lambda x, to=centre: float(np.hypot(x - to[0], height(curve, x) - to[2])),
                bounds=(grid[k], grid[k + 2]), method="bounded", options={"xatol": 1e-12},
            )  # fmt: skip
            best = min(best, float(found.fun))
        solver.set_all({f"f.r[{k + 1}]": centre[k] for k in range(3)})
        solver.assemble()
        assert_allclose(solver.get("touch.gap"), best - 0.1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_a_sphere_over_the_middle_of_a_valley_has_the_nearer_of_its_sides(seed: int) -> None:
    """Both are near spots of one part of the road, between two knots."""
    rng = np.random.default_rng(seed)
    profile = [(-3.0, rng.uniform(0.5, 2.0)), (-1.0, 0.0), (1.0, 0.0), (3.0, rng.uniform(0.5, 2.0))]
    solver, curve = fm.Solver(over_road("Sphere", profile, fm.Press(1e5))), natural(profile)
    x = np.linspace(-6.0, 6.0, 2000001)
    road, sides = height(curve, x), set()
    for _ in range(20):
        centre = rng.uniform([-0.4, 1.0], [0.4, 4.0])
        apart = np.hypot(x - centre[0], road - centre[1])
        near = float(x[np.argmin(apart)])
        sides |= {np.sign(near)} if abs(near) < 1.0 else set()
        solver.set_all({"f.r[1]": centre[0], "f.r[2]": 0.0, "f.r[3]": centre[1]})
        solver.assemble()
        assert_allclose(solver.get("touch.gap"), float(apart.min()) - 0.1, rtol=0, atol=1e-9)
    assert sides


@pytest.mark.parametrize("points", [9, 60, 1000])
def test_all_of_a_round_valley_is_as_far_from_its_middle(points: int) -> None:
    """As near as a spline comes to a circle, and that is found without an end of its search by count."""
    turns = np.linspace(-0.7, 0.7, points)
    profile = [(float(np.sin(a)), 1.0 - float(np.cos(a))) for a in turns]
    solver, curve = fm.Solver(over_road("Sphere", profile, fm.Press(1e5))), natural(profile)
    x = np.linspace(-2.0, 2.0, 400001)
    for middle in (1.0, 1.0 + 1e-9, 0.999, 1.02):
        solver.set_all({"f.r[1]": 0.0, "f.r[2]": 0.0, "f.r[3]": middle})
        solver.assemble()
        least = float(np.hypot(x, height(curve, x) - middle).min())
        assert_allclose(solver.get("touch.gap"), least - 0.1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_a_disc_is_next_to_the_nearest_spot(seed: int) -> None:
    """The least distance of two points, one of the disc's ellipsoid and one of the road."""
    rng = np.random.default_rng(seed)
    profile = rolling_road(rng)
    solver, curve = fm.Solver(over_road("Disc", profile, fm.Press(1e5))), natural(profile)
    half = np.array([0.1, 0.1, 1e-3])
    for _ in range(5):
        q = Rotation.from_euler("zyx", [rng.uniform(0, 6), rng.uniform(-0.4, 0.4), rng.uniform(1.1, 2.0)])
        centre = np.array([rng.uniform(1.0, 6.0), rng.normal(), 0.0])
        centre[2] = float(curve(centre[0])) + rng.uniform(0.16, 0.3)
        solver.set_all({f"f.r[{k + 1}]": centre[k] for k in range(3)})
        solver.set_all({f"f.q[{k + 1}]": value for k, value in enumerate(q.as_quat(scalar_first=True))})
        solver.assemble()
        assert_allclose(solver.get("touch.gap"), least(curve, centre, q.as_matrix() * half), atol=SEARCHED)


def least(curve: CubicSpline, centre: Any, axes: Any) -> float:
    """Between the ellipsoid of points centre + axes e, |e| = 1, and the curve at any y."""

    def distance(v: Any) -> float:
        e = v[:3] / np.linalg.norm(v[:3])
        p = centre + axes @ e
        return float(np.hypot(p[0] - v[3], p[2] - float(curve(v[3]))))

    tries = [[*(-axes.T[:, 2] + 0.01), centre[0] + dx] for dx in (-0.1, 0.0, 0.1)]
    options = {"maxiter": 20000, "maxfev": 20000, "xatol": 1e-12, "fatol": 1e-15}
    return min(float(minimize(distance, v, method="Nelder-Mead", options=options).fun) for v in tries)


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_a_ball_moves_as_by_newton_and_euler(seed: int) -> None:
    rng = np.random.default_rng(seed)
    profile = rolling_road(rng)
    law = Law(2e4, 1.0, 0.3, 0.4, 0.5, 0.2, 2e4, 40.0)
    friction = fm.Coulomb(law.mu, static=law.static, stribeck=law.stribeck, stiffness=law.K, damping=law.D)
    model = over_road("Sphere", profile, fm.Press(law.k, damping=law.c), friction)
    oracle = Bodies(np.array([2.0]), np.full((1, 3), 0.008), np.array([0, 0, -G]), road=natural(profile))
    oracle.contacts = [(0, np.zeros(3), 0.1, None, 0.0, law)]
    r, v = [1.0, 0.0, float(oracle.road(1.0)) + 0.11], [rng.uniform(1, 4), rng.normal(), -0.5]
    solver = fm.Solver(model, scheme="dop853", tolerance=1e-10, starts={"f.r": tuple(r), "f.v": tuple(v)})
    solver.assemble()
    solver.step(0.3)
    places, _, speeds, spins, *_ = oracle.run([r], [[1, 0, 0, 0]], [v], [[0, 0, 0]], 0.3)
    assert_allclose([solver.get(f"f.r[{k}]") for k in (1, 2, 3)], places[0], atol=BESIDE)
    assert_allclose([solver.get(f"f.v[{k}]") for k in (1, 2, 3)], speeds[0], atol=100 * BESIDE)
    assert np.linalg.norm(spins) > 1.0
    goes_on_alike(solver, 0.4, "f.r[1]", "touch.force[3]")


@pytest.mark.parametrize("shape", ["Sphere", "Disc"])
@pytest.mark.parametrize("options", [{}, {"dynamics": "copcod"}, {"scheme": "radau"}])
def test_without_losses_energy_is_kept(shape: str, options: Any) -> None:
    """Of a ball and of an upright wheel that bounce and slide over hills, askew."""
    model = over_road(shape, rolling_road(np.random.default_rng(4)), fm.Press(1e5))
    starts = {"f.r": (0.5, 0.0, 0.15), "f.v": (3.0, 0.2, 0.0), "f.w": (0.0, 0.0, 2.0)}
    if shape == "Disc":
        starts["f.q"] = tuple(Rotation.from_euler("zx", [0.3, 1.4]).as_quat(scalar_first=True))
    result = model.simulate(stop=1.0, interval=5e-3, tolerance=1e-10, starts=starts, **options)
    energy = result["solver.energy"]
    assert np.ptp(energy) < 1e-7 * energy[0]
    assert result["touch.normal"].max() > 100.0 and result["f.r[1]"][-1] > 3.0


def test_on_a_road_in_fmus(tmp_path: Path) -> None:
    profile = rolling_road(np.random.default_rng(5))
    model = over_road("Sphere", profile, fm.Press(2e4, damping=0.3), fm.Coulomb(0.4, stiffness=2e4))
    starts = {"f.r[1]": 1.0, "f.r[3]": 0.2, "f.v[1]": 2.0}
    names = ["f.r[1]", "f.r[3]", "touch.gap", "touch.friction"]
    found = [values for _, _, values in runs(tmp_path, model, names, stop=0.5, interval=0.01, starts=starts)]
    for other in found[1:]:
        for name in names[:3]:
            assert_allclose(other[name], found[0][name], atol=1e-12)


@pytest.mark.parametrize("seed", seeds(10, 100))
def test_nothing_passes_a_crest(seed: int) -> None:
    """A sphere of 1 cm, shot with 50 m/s at a crest or along a slope of it, is never below the road."""
    rng = np.random.default_rng(seed)
    profile = [(0.0, 0.0), (0.9, 0.0), (1.0, 0.1), (1.1, 0.0), (2.0, 0.0)]
    model = fm.Model("crest", gravity=(0, 0, -G))
    body = fm.Body("b", mass=0.004, inertia=(1.6e-7,) * 3)
    model.add(body, fm.Free("f", model.ground.at(), body.at()))
    road = fm.Road(model.ground.at(), profile)
    law, rub = fm.Hertz(1e9, 0.3, 0.01, restitution=0.5, speed=5.0), fm.Coulomb(0.3, stiffness=1e5)
    model.add(fm.Contact("touch", fm.Sphere(body.at(), 0.01), road, law, rub))
    turn, aim = rng.uniform(0.05, 3.0), np.array([rng.uniform(0.9, 1.1), 0.0, rng.uniform(0.0, 0.1)])
    way = np.array([math.cos(turn), 0.0, math.sin(turn)])
    starts = {"f.r": tuple(aim + 0.3 * way), "f.v": tuple(-50.0 * way)}
    result = model.simulate(stop=0.1, interval=1e-3, starts=starts)
    assert result["touch.gap"].min() > -0.003
    assert np.isfinite(result["f.r[1]"][-1])


def test_a_random_road_is_that_of_its_class() -> None:
    """Its mean square is the sum of the density, and it has the bits that it had when this was written."""
    model = fm.Model("road")
    road = fm.Road.iso8608(model.ground.at(), "C", 200.0, step=0.1, seed=7)
    z = np.array(road.profile)[:-1, 1]
    n = np.arange(math.ceil(0.011 * 200), math.floor(2.5 * 200) + 1) / 200
    assert_allclose(np.mean(z**2), np.sum(256e-6 * (n / 0.1) ** -2 / 200), rtol=1e-10)
    spectrum = np.abs(np.fft.rfft(z)) ** 2 * 2 * 200 / len(z) ** 2
    assert_allclose(spectrum[20], 256e-6, rtol=1e-9)
    assert_allclose(road.slopes, natural(road.profile)(np.array(road.profile)[:, 0], 1), atol=1e-13)
    bits = hashlib.sha256(np.array(road.profile).tobytes() + np.array(road.slopes).tobytes()).hexdigest()
    assert bits[:16] == "e71d2372540e4d6f"
    assert road != fm.Road.iso8608(model.ground.at(), "C", 200.0, step=0.1, seed=8)


def test_a_coin_rolls_in_a_circle() -> None:
    """Steady rolling of a thin disc about a resting centre: the rate of its spin by Euler's equations.

    It leans by a from lying flat, its centre rests, and the point of contact runs about with W: W^2 = 4 g/(R sin a).
    """
    R, mass, lean = 0.1, 0.5, 0.7
    W = math.sqrt(4 * G / (R * math.sin(lean)))
    model = fm.Model("coin")
    body = fm.Body("b", mass=mass, inertia=(0.25 * mass * R**2, 0.25 * mass * R**2, 0.5 * mass * R**2))
    model.add(body, fm.Free("f", model.ground.at(), body.at()))
    press = 1e5
    disc = fm.Disc(body.at(), R, thickness=1e-3 * R)
    rub = fm.Coulomb(0.5, stiffness=1e5)
    model.add(fm.Contact("touch", disc, fm.Plane(model.ground.at()), fm.Press(press), rub))
    high = R * math.sin(lean) - mass * G / press
    q = Rotation.from_euler("x", lean)
    turns = W * (np.array([0, 0, 1.0]) - math.cos(lean) * q.as_matrix()[:, 2])  # the lowest point rests
    starts = {"f.r": (0, 0, high), "f.q": tuple(q.as_quat(scalar_first=True)), "f.w": tuple(q.as_matrix().T @ turns)}
    result = model.simulate(stop=0.5, interval=0.01, starts=starts, tolerance=1e-9)
    assert np.abs(result["f.r[3]"] - high).max() < 1e-4 * R
    distance = math.hypot(result["touch.point[1]"][-1], result["touch.point[2]"][-1])
    assert_allclose(distance, R * math.cos(lean), rtol=2e-3)
    angle = np.unwrap(np.arctan2(result["touch.point[2]"], result["touch.point[1]"]))
    assert_allclose((angle[-1] - angle[0]) / 0.5, W, rtol=1e-3)


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (lambda at: fm.Box(at, (0.1,) * 3), "the Box A and the Road B is not known. Give a sphere or a disc"),
        (lambda at: fm.Sphere(at, 5.0), "so it would touch at two spots"),
        (lambda at: fm.Disc(at, 0.1, thickness=0.2), "must not be above the radius"),
    ],
)
def test_what_does_not_fit_is_refused(A: Any, message: str) -> None:
    model = fm.Model("road")
    body = fm.Body("b", mass=1.0, inertia=(1.0,) * 3)
    road = fm.Road(model.ground.at(), [(0, 0), (1, 0.1), (2, 0), (3, 0.1)])

    def touching() -> None:
        fm.Contact("touch", A(body.at()), road, fm.Press(1e5))

    with pytest.raises(fm.ModelError, match=message):
        touching()


def test_what_rolls_is_narrower_than_valleys() -> None:
    """Of a natural spline through (0, 0), (1, -h), (2, 0), whose second derivative in the middle is 3 h."""
    depth = 0.1
    model = fm.Model("road")
    road = fm.Road(model.ground.at(), [(0, 0), (1, -depth), (2, 0)])
    radius, body = 1.0 / (3.0 * depth), fm.Body("b", mass=1.0, inertia=(1.0,) * 3)
    fm.Contact("fits", fm.Sphere(body.at(), 0.999 * radius), road, fm.Press(1e5))
    with pytest.raises(fm.ModelError, match=r"the road's valley at x = 1 m has 3\.33"):
        fm.Contact("wide", fm.Sphere(body.at(), 1.001 * radius), road, fm.Press(1e5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda at: fm.Road(at, [(0, 0)]), "must have at least 2"),
        (lambda at: fm.Road(at, [(0, 0), (0, 1)]), "not beyond the one before"),
        (lambda at: fm.Road.iso8608(at, "Z", 10.0), "Give one of A, B"),
        (lambda at: fm.Road.iso8608(at, "A", 0.1), "Give another step"),
    ],
)
def test_wrong_roads_are_refused(make: Any, message: str) -> None:
    with pytest.raises(fm.ModelError, match=message):
        make(fm.Model("road").ground.at())
