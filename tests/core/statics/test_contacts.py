"""Bodies at rest on planes and roads: every shape, its vibrations by closed forms and by fm.linearize, and FMUs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import fmumbs as fm
from support.both_ways import runs
from support.sweeps import first

G, MASS, INERTIA = 9.81, 2.0, (0.01, 0.012, 0.014)
STIFF, BRISTLES, TURNING = 1e5, 2e5, 20.0
FORCE = 1e-9  # relative: of forces at rest
LAST = 1e-9  # lengths: the last correction of a search
RESTS = 1e-9  # m: how far what rests moves in half a second
DEPTH = 2e-3  # relative: a closed form of rigid bodies beside overlaps of a thousandth of the radii
SAME = 1e-4  # relative: squares of two ways by differences
HALF = math.sqrt(0.5)
HOLDS = {"stiffness": BRISTLES, "damping": 1e-3}
FRICTION = {
    "none": None,
    "bristles": fm.Coulomb(0.5, **HOLDS),
    "resists": fm.Coulomb(
        0.5, rolling_arm=2e-3, drilling_arm=1e-3, turning_stiffness=TURNING, turning_damping=1e-6, **HOLDS
    ),
    "creeps": fm.Coulomb(0.5, creep=1e-3),
}
VALLEY = [(-2.0, 0.5), (-1.0, 0.1), (0.0, 0.0), (1.0, 0.1), (2.0, 0.5)]
HULL = [(0.1, 0, -0.1), (-0.1, 0.1, -0.1), (-0.1, -0.1, -0.1), (0, 0, 0.2)]

Shapes = dict[str, tuple[Any, float, Any]]
ON_PLANES: Shapes = {  # shape, height above the ground, attitude
    "sphere": (lambda at: fm.Sphere(at, 0.1), 0.1, (1, 0, 0, 0)),
    "ellipsoid": (lambda at: fm.Ellipsoid(at, (0.2, 0.15, 0.1)), 0.1, (1, 0, 0, 0)),
    "capsule": (lambda at: fm.Capsule(at, 0.1, 0.4), 0.1, (HALF, 0, HALF, 0)),
    "box": (lambda at: fm.Box(at, (0.2, 0.3, 0.2)), 0.1, (1, 0, 0, 0)),
    "disc": (lambda at: fm.Disc(at, 0.2, thickness=0.04), 0.02, (1, 0, 0, 0)),
    "hull": (lambda at: fm.Hull(at, HULL), 0.1, (1, 0, 0, 0)),
}
ON_ROADS: Shapes = {
    "sphere on a road": (lambda at: fm.Sphere(at, 0.1), 0.1, (1, 0, 0, 0)),
    "disc on a road": (lambda at: fm.Disc(at, 0.2), 0.2, (HALF, -HALF, 0, 0)),
}
ALL = ON_PLANES | ON_ROADS


def put(
    name: str, friction: str = "none", above: float = -1e-4, gravity: Any = (0, 0, -G), k: float = STIFF
) -> fm.Model:
    make, height, q = ALL[name]
    model = fm.Model("rest", gravity=gravity)
    body = fm.Body("b", mass=MASS, inertia=INERTIA)
    model.add(body, fm.Free("f", model.ground.at(), body.at(), q0=(0, 0, height + above, *q)))
    ground: Any = fm.Road(model.ground.at(), VALLEY) if name in ON_ROADS else fm.Plane(model.ground.at())
    model.add(fm.Contact("touch", make(body.at()), ground, fm.Press(k), FRICTION[friction]))
    return model


@pytest.mark.parametrize("above", [-1e-4, 0.05])
@pytest.mark.parametrize("friction", FRICTION)
@pytest.mark.parametrize("name", ALL)
def test_a_body_at_rest_is_an_equilibrium(name: str, friction: str, above: float) -> None:
    """Where it starts on the ground, and where it has to come down to it; there it stays, if it cannot fall over."""
    found = fm.equilibrium(put(name, friction, above))
    assert_allclose([found.solver.get(f"touch.force[{k}]") for k in (1, 2, 3)], [0, 0, MASS * G], atol=FORCE * MASS * G)
    returned = friction == "resists" or (friction == "bristles" and name in ("box", "hull"))
    leans = name == "disc on a road" and friction != "resists"
    assert found.verdict == ("stable" if returned else "unstable" if leans else "not decided")
    before = np.array(found.solver.get("f.r"))
    found.solver.step(0.5)
    if not leans:
        assert_allclose(found.solver.get("f.r"), before, rtol=0, atol=RESTS)


@pytest.mark.parametrize("friction", ["none", "bristles", "creeps"])
@pytest.mark.parametrize("seed", first(12, [24, 30, *range(24), *range(25, 30), *range(31, 100)]))
def test_what_is_dropped_in_any_attitude_comes_to_rest(seed: int, friction: str) -> None:
    """A tetrahedron, a hull of twelve corners or a box, from a millimetre to 30 m above the ground, which it enters by
    1e-5 to 1e-2 of its size. Three corners bear its weight at least, and its centre is above the middle of what they
    bear, but for bristles, which push the corners where they overlap, at heights of their own."""
    rng = np.random.default_rng([seed, 47])
    length = 10.0 ** float(rng.uniform(-2.0, 1.0))
    model = fm.Model("rest", gravity=(0, 0, -G))
    body = fm.Body("b", mass=MASS, inertia=tuple(10.0 * length**2 * np.array(INERTIA)))
    q = rng.normal(size=4)
    start = (0, 0, length * float(rng.uniform(0.6, 3.0)), *(q / np.linalg.norm(q)))
    model.add(body, fm.Free("f", model.ground.at(), body.at(), q0=start))
    corners = rng.normal(size=((4, 12)[seed % 2], 3))
    corners *= 0.2 * length / np.linalg.norm(corners, axis=1)[:, None]
    hull = fm.Hull(body.at(), (corners - corners.mean(0)).tolist())
    shape = fm.Box(body.at(), tuple(length * rng.uniform(0.2, 0.5, 3))) if seed % 3 == 2 else hull
    stiff = MASS * G / (4.0 * length * 10.0 ** float(rng.uniform(-5.0, -2.0)))
    rub = fm.Coulomb(0.5, stiffness=stiff, damping=1e-3) if friction == "bristles" else FRICTION[friction]
    model.add(fm.Contact("touch", shape, fm.Plane(model.ground.at()), fm.Press(stiff), rub))
    found = fm.equilibrium(model).solver
    normal = np.array(found.get("touch.normal"))
    points = np.array(found.get("touch.point")).reshape(-1, 3)
    force = [found.get(f"touch.force[{k}]") for k in (1, 2, 3)]
    assert_allclose(force, [0, 0, MASS * G], atol=LAST * length * stiff * len(normal))
    assert np.count_nonzero(normal) >= 3
    off = 1e-2 if friction == "bristles" else 1e-7
    assert_allclose(normal @ points[:, :2] / (MASS * G), found.get("f.r")[:2], atol=off * length)


@pytest.mark.parametrize("friction", ["none", "bristles"])
def test_an_ellipsoid_rocks_as_its_curvature_says(friction: str) -> None:
    """m g (rho - h)/I about its centre without friction, about its foot with it; rho = a^2/h."""
    a, b, h = 0.2, 0.15, 0.1
    squares = np.real(fm.equilibrium(put("ellipsoid", friction, k=1e7)).squares)
    exact = []
    for half, inertia in ((b, INERTIA[0]), (a, INERTIA[1])):
        about = inertia + (MASS * h**2 if friction == "bristles" else 0.0)
        exact.append(MASS * G * (half**2 / h - h) / about)
    slow = np.sort(squares[(squares > 1.0) & (squares < 1e4)])
    assert_allclose(slow, exact, rtol=DEPTH if friction == "none" else 10 * DEPTH)  # bristles give a little


def test_a_ball_that_resists_rolling_vibrates_as_two_springs_say() -> None:
    """m x'' = -K (x - R a), I a'' = K R (x - R a) - C a, R to the middle of the overlap; it turns with C/I."""
    found = np.real(fm.equilibrium(put("sphere", "resists")).squares)
    R = 0.1 - 0.5 * MASS * G / STIFF
    exact = [TURNING / INERTIA[2], STIFF / MASS]
    for inertia in INERTIA[:2]:
        K = BRISTLES * np.array([[1.0, -R], [-R, R**2]]) + np.diag([0.0, TURNING])
        exact += eigh(K, np.diag([MASS, inertia]), eigvals_only=True).tolist()
    assert_allclose(found, np.sort(exact), rtol=1e-6)


@pytest.mark.parametrize("friction", ["none", "bristles", "resists"])
@pytest.mark.parametrize("name", ON_PLANES)
def test_linearized_contacts_are_springs(name: str, friction: str) -> None:
    """The motion's own bristles, which the slip deflects, give the frequencies of points that are held in statics."""
    model = put(name, friction)
    squares = np.real(fm.equilibrium(model).squares)
    linear = fm.linearize(model, "equilibrium")
    rates = np.linalg.eigvals(linear.A).imag
    assert linear.at_rest
    assert_allclose(np.sort(rates[rates > 1.0] ** 2), squares[squares > 1.0], rtol=SAME)
    open_spots = {"box": "at spots 2, 4, 6, 8", "hull": "at spots 4"}
    assert linear.frozen == ((f"contact 'touch' is open {open_spots[name]}",) if name in open_spots else ())


def test_linear_models_name_contacts_that_are_open_or_slip() -> None:
    model = put("sphere", "bristles")
    other = fm.Body("o", mass=1.0, inertia=(1, 1, 1))
    model.add(other, fm.Free("g", model.ground.at(0, 0, 5.0), other.at()))
    model.add(fm.Contact("apart", fm.Sphere(other.at(), 0.1), fm.Sphere(model["b"].at(), 0.1), fm.Press(1e3)))
    solver = fm.Solver(model, starts={"f.v": (1.0, 0.0, 0.0)})
    solver.assemble()
    solver.step(0.01)
    assert set(fm.linearize(solver).frozen) == {"contact 'touch' slips", "contact 'apart' is open"}


@pytest.mark.parametrize("name", ["sphere", "capsule"])
def test_what_rolls_does_not_rest_on_a_slope(name: str) -> None:
    """Bristles hold points of both bodies, not a place; where rolling is resisted, a ball rests."""
    slope = {"gravity": (0.1, 0.1, -G)}
    with pytest.raises(fm.EquilibriumError):
        fm.equilibrium(put(name, "bristles", **slope))
    found = fm.equilibrium(put("sphere", "resists", gravity=(0.05, 0, -G))).solver
    assert_allclose(found.get("touch.force[1]"), -0.05 * MASS, rtol=1e-6)
    before = found.get("f.r[1]")
    found.step(0.5)
    assert_allclose(found.get("f.r[1]"), before, atol=RESTS)


def test_a_braked_wheel_is_held_and_a_free_one_is_not() -> None:
    for stiffness in (0.0, 1e4):
        model = fm.Model("cart", gravity=(1.0, 0, -G))
        cart, wheel = fm.Body("cart", mass=10.0), fm.Body("wheel", mass=5.0, inertia=(0.1, 0.2, 0.1))
        rides = fm.Joint("rides", model.ground.at(0, 0, 0.299), cart.at(), modes=[fm.Slide("x"), fm.Slide("z")])
        model.add(cart, wheel, rides, fm.Revolute("hub", cart.at(), wheel.at(), axis="y", stiffness=stiffness))
        disc = fm.Disc(wheel.at(rotation=fm.Rotation.about("x", -0.5 * math.pi)), 0.3)
        tread = {"mu": 0.9, "slip_stiffness": (8e4, 6e4), "relaxation": (0.15, 0.3)}
        model.add(fm.Tyre("tyre", disc, fm.Plane(model.ground.at()), fm.Press(2e5), **tread))
        if not stiffness:
            with pytest.raises(fm.EquilibriumError, match=r"rides|hub"):
                fm.equilibrium(model)
            continue
        found = fm.equilibrium(model)
        assert found.stable
        assert_allclose(found.solver.get("tyre.force[1]"), -15.0, rtol=FORCE)
        radius = 0.3 - 0.5 * 15.0 * G / 2e5
        assert_allclose(found.solver.get("hub.q"), 15.0 * radius / stiffness, rtol=1e-6)


def test_an_open_contact_does_not_make_an_indifferent_equilibrium_one() -> None:
    model = put("sphere", above=1.0)
    model.add(fm.Spring("hung", model.ground.at(0, 0, 3.0), model["b"].at(), stiffness=100.0, free_length=0.5))
    with pytest.raises(fm.EquilibriumError, match="indifferent"):
        fm.equilibrium(model)


def test_fmus_start_at_rest_on_the_ground(tmp_path: Path) -> None:
    for name in ("sphere", "box"):
        model = put(name, "bristles", 0.01)
        names = ["f.r[3]", "touch.force[3]"]
        options: Any = {"stop": 0.2, "interval": 0.1, "equilibrium": True, "tolerance": 1e-9}
        for what, _, found in runs(tmp_path, model, names, **options):
            assert_allclose(found["touch.force[3]"], MASS * G, rtol=1e-6, err_msg=what)
            assert np.ptp(found["f.r[3]"]) < RESTS, what
