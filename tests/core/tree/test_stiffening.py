"""Beams that shorten as they bend: closed forms of rotating and buckling beams, and the displacement that they have."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.legendre import Legendre, leggauss
from numpy.testing import assert_allclose
from scipy.linalg import eigh, expm

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from fmumbs.view.poses import poses
from support.both_ways import goes_on_alike, runs
from support.scripts import load
from support.sweeps import first

MODELS = Path(__file__).parents[3] / "models"
L, MASS, EI, HUB = 1.3, 0.7, 12.0, 1e12
UNIT = np.sqrt(EI / (MASS * L**3))  # of frequencies [rad/s]
LARGE_ENOUGH = 1e-5  # m, of differences: their errors are of its second order, and round-off
WRIGHT = {  # Wright, Smith, Thresher and Wang (1982), table 1: no hub, the first three flap frequencies
    0.0: (3.5160, 22.0345, 61.6972),
    3.0: (4.7973, 23.3203, 62.9850),
    6.0: (7.3604, 26.8091, 66.6839),
    12.0: (13.1702, 37.6031, 79.6145),
}


def build(name: str, **given: Any) -> fm.Model:
    model: fm.Model = load(MODELS / f"{name}.py").build(**given)
    return model


def squares(model: fm.Model, names: tuple[str, ...], **starts: Any) -> Any:
    """Squared frequencies, ascending, of the modal coordinates about the start, at given rates."""
    solver = Solver(compile(model))
    solver.assemble()
    for name, value in starts.items():
        solver.set(name, value)
    begin = {name: np.atleast_1d(solver.get(f"{name}.q")) for name in names}

    def accelerations(name: str, k: int, size: float) -> Any:
        moved = begin[name].copy()
        moved[k] += size
        solver.set(f"{name}.q", moved if len(moved) > 1 else float(moved[0]))
        solver.evaluate()
        found = np.concatenate([np.atleast_1d(solver.get(f"{other}.qdd")) for other in names])
        solver.set(f"{name}.q", begin[name] if len(moved) > 1 else float(begin[name][0]))
        return found

    columns = [
        (accelerations(name, k, LARGE_ENOUGH) - accelerations(name, k, -LARGE_ENOUGH)) / (2 * LARGE_ENOUGH)
        for name in names
        for k in range(len(begin[name]))
    ]
    return np.sort(-np.linalg.eigvals(np.array(columns).T).real)


def by_polynomials(speed: float, hub: float, across: bool, thrust: float = 0.0, count: int = 3) -> Any:
    """The same of m w'' + EI w'''' = (T w')', T of rotation and thrust, by Galerkin's method with 26 polynomials.

    In the plane of rotation less the speed squared.
    """
    s, weights = leggauss(60)
    s, weights = (s + 1) / 2, weights / 2
    tension = MASS / L * speed**2 * (hub * L * (1 - s) + L**2 * (1 - s**2) / 2) - thrust
    shapes = [Legendre.basis(k, [0, 1]) * Legendre.fromroots([0, 0], [0, 1]) for k in range(26)]
    value, slope, bent = (np.array([(f.deriv(k) if k else f)(s) for f in shapes]) for k in range(3))
    K = EI / L**3 * (bent * weights) @ bent.T + (slope * weights * tension / L) @ slope.T
    M = MASS * (value * weights) @ value.T
    found = eigh(K, M, eigvals_only=True)[:count]
    return found if across else found - speed**2


def rotor(modes: int, hub: float, plane: str, **options: Any) -> fm.Model:
    """A beam on a hub, which turns about z and is too heavy to be slowed."""
    model = fm.Model("rotor", gravity=(0, 0, 0))
    body = fm.Body("hub", mass=1.0, inertia=(HUB, HUB, HUB))
    beam = fm.ModalBody.beam(
        "b", length=L, mass=MASS, EI=EI, modes=modes, plane=plane, stiffening=True, **options
    )
    model.add(body, beam, fm.Revolute("j", model.ground.at(), body.at()))
    model.add(fm.Weld("w", body.at(hub, 0, 0), beam.base))
    return model


@pytest.mark.parametrize("plane", ["xy", "xz"])
@pytest.mark.parametrize("hub", [0.0, 0.5])
@pytest.mark.parametrize("speed", first(2, [12.0, 3.0, 0.0, 6.0]))
def test_a_rotating_blade_has_its_frequencies_of_flap_and_lag(speed: float, hub: float, plane: str) -> None:
    found = squares(rotor(10, hub, plane), ("b",), **{"j.qd": speed * UNIT})[:3] / UNIT**2
    expected = by_polynomials(speed * UNIT, hub, plane == "xz") / UNIT**2
    assert_allclose(np.sqrt(found), np.sqrt(expected), rtol=2e-4)
    assert (found > expected - 1e-6 * expected).all()  # from above
    if plane == "xz" and hub == 0.0:
        assert_allclose(np.sqrt(found), WRIGHT[speed], rtol=2e-4)


@pytest.mark.parametrize("plane", ["xy", "xz"])
def test_they_are_those_of_its_own_modes(plane: str) -> None:
    """By Galerkin's method with the same shapes."""
    model = rotor(4, 0.5, plane)
    beam = model["b"]
    s, weights = leggauss(80)
    s, weights = (s + 1) / 2, weights / 2
    slopes = np.array([[mode.shape.derivative(1, x) / L for x in s.tolist()] for mode in beam.bending.modes])
    speed = 8.0 * UNIT
    tension = MASS / L * speed**2 * (0.5 * L * (1 - s) + L**2 * (1 - s**2) / 2)
    M = np.array(beam.modal_mass)
    K = np.array(beam.stiffness) + L * (slopes * weights * tension) @ slopes.T - (plane == "xy") * speed**2 * M
    assert_allclose(squares(model, ("b",), **{"j.qd": speed}), eigh(K, M, eigvals_only=True), rtol=1e-6)


def column(thrust: float, boundary: str = "clamped-free", **options: Any) -> fm.Model:
    model = fm.Model("column", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam(
        "b", length=L, mass=MASS, EI=EI, modes=6, boundary=boundary, stiffening=True, **options
    )
    load = fm.Load("P", beam.tip, force=(-thrust, 0, 0))
    model.add(beam, load)
    if boundary == "clamped-free":
        model.add(fm.Weld("w", model.ground.at(), beam.base))
    else:
        slider = fm.Joint("s", model.ground.at(L, 0, 0), beam.tip, modes=(fm.Slide("x"), fm.Turn("z")))
        model.add(fm.Revolute("j", model.ground.at(), beam.base), slider)
    return model


def test_a_cantilever_buckles_at_euler_s_load() -> None:
    euler = np.pi**2 * EI / (4 * L**2)
    for part in (0.5, 0.995, 1.005):
        found = squares(column(part * euler), ("b",))[0]
        assert_allclose(found, by_polynomials(0.0, 0.0, True, part * euler)[0], atol=5e-3 * UNIT**2)  # of six modes
        assert (found > 0.0) == (part < 1.0)


def test_statics_tells_that_it_buckles() -> None:
    """The displacements of second order do not bound what follows: no bent equilibrium exists beyond the load."""
    euler = np.pi**2 * EI / (4 * L**2)
    assert fm.equilibrium(column(0.99 * euler)).verdict == "stable"
    assert fm.equilibrium(column(1.02 * euler)).verdict == "unstable"


def strip(load: float) -> fm.Model:
    model = fm.Model("strip", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam(
        "b", length=L, mass=MASS, EI=(EI, 1e4 * EI), GJ=5.0, modes=6, twist=6, plane=None, axial_inertia=1e-3,
        stiffening=True,
    )  # fmt: skip
    model.add(beam, fm.Load("P", beam.tip, force=(0, load, 0)), fm.Weld("w", model.ground.at(), beam.base))
    return model


def test_a_strip_buckles_sideways() -> None:
    """At the end load 4.013 sqrt(EI GJ) / L^2: bent about z, which is stiff, it gives way about y and twists."""
    parts = np.array([0.97, 0.99])
    found = [fm.equilibrium(strip(part * 4.013 * np.sqrt(EI * 5.0) / L**2)) for part in parts]
    assert all(one.stable for one in found)
    low = [np.real(one.squares).min() for one in found]
    critical = np.sqrt((low[0] * parts[1] ** 2 - low[1] * parts[0] ** 2) / (low[0] - low[1]))
    assert_allclose(critical, 1.0, atol=0.01)


def frame_by_steps(beam: Any, q: Any, place: float, steps: int = 400) -> Any:
    """Origin and rotation vector of a section: R' = R [kappa], r' = R (1 + strain) e, by small screws."""
    middles = (np.arange(steps) + 0.5) * place / steps
    of, _ = beam.sections(middles)
    h = place * beam.length / steps
    base, _ = beam.sections(np.zeros(1))
    axis, T = np.array(beam.axis), np.eye(4)
    T[:3, :3] = expm(_cross(np.einsum("k,ka->a", q, base.turn[:, 0])))
    for k in range(steps):
        step = np.zeros((4, 4))
        step[:3, :3] = _cross(q @ of.turned[:, k] / beam.length) * h
        step[:3, 3] = (1.0 + q @ of.strain[:, k]) * axis * h
        T = T @ expm(step)
    return T


def _cross(v: Any) -> Any:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _vector(R: Any) -> Any:
    """The rotation vector of a small rotation."""
    half = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    size = np.linalg.norm(half)
    return half * (np.arcsin(size) / size if size > 0.0 else 1.0)


def in_space(**options: Any) -> Any:
    given: dict[str, Any] = {"modes": 2, "twist": 2, "stretch": 1, "boundary": "clamped-free"}
    given |= {"stiffening": True} | options
    return fm.ModalBody.beam(
        "b", length=L, mass=MASS, EI=(EI, 2 * EI), GJ=8.0, EA=3e3, plane=None, axial_inertia=0.02, **given
    )


@pytest.mark.parametrize("boundary", ["clamped-free", "pinned-pinned"])
def test_frames_move_as_the_sections_of_a_beam_of_linear_curvature(boundary: str) -> None:
    """Their second derivatives by each pair of modes, beside those of a beam that is put together from small parts."""
    body = in_space(boundary=boundary, along="y")
    beam, n, h = body.bending, body.modes, 2e-3
    points = [body.at(*(np.array(beam.axis) * L * s)) for s in (0.4, 1.0)]
    seconds = body.seconds(points)
    rng = np.random.default_rng(1)
    for place, rows in zip((0.4, 1.0), seconds.rows, strict=True):
        q = rng.normal(size=n)
        there, back = (frame_by_steps(beam, sign * h * q, place) for sign in (1, -1))
        moved = (there[:3, 3] + back[:3, 3] - 2 * place * L * np.array(beam.axis)) / h**2
        turned = (_vector(there[:3, :3]) + _vector(back[:3, :3])) / h**2
        expected = np.einsum("ajk,j,k,ax->x", seconds.followers, q, q, rows)
        size = np.abs(expected).max()
        assert_allclose(moved, expected[:3], atol=3e-4 * size)  # of the fourth order in h, and of the steps
        assert_allclose(turned, expected[3:], atol=3e-4 * size)


@pytest.mark.parametrize("boundary", ["clamped-free", "pinned-pinned", "free-free"])
def test_first_moments_are_those_of_its_sections(boundary: str) -> None:
    body = in_space(boundary=boundary)
    beam, h = body.bending, 2e-3
    seconds = body.seconds([body.tip])
    q = np.random.default_rng(2).normal(size=body.modes)
    s, weights = leggauss(12)
    s, weights = (s + 1) / 2, weights / 2
    first, moment = np.zeros(3), np.zeros(3)
    for place, weight in zip(s, weights, strict=True):
        ends = [frame_by_steps(beam, sign * h * q, place, 150)[:3, 3] for sign in (1, -1)]
        second = (ends[0] + ends[1] - 2 * place * L * np.array(beam.axis)) / h**2
        first += MASS * weight * second
        moment += MASS * weight * place * L * second
    z = np.einsum("ajk,j,k->a", seconds.followers, q, q)
    assert_allclose(z @ seconds.first, first, atol=2e-3 * np.abs(first).max())
    along = np.einsum("a,axy->xy", z, seconds.moment)[0]
    rolled = np.trace(np.einsum("a,axy->xy", z, seconds.moment)) - along[0]
    assert_allclose(along, moment, atol=2e-3 * np.abs(moment).max())
    values = np.array([[mode.shape.derivative(0, x) for x in s.tolist()] for mode in beam.modes])
    twist = (q * np.array([np.linalg.norm(mode.twist) for mode in beam.modes])) @ values
    assert_allclose(rolled, -2 * (0.02 / 2) * (twist**2 @ weights), rtol=1e-9)  # a section that turns is as large


def chain(seed: int, plane: str | None) -> fm.Model:
    """Two beams, one of which hangs by a point between its ends, and a body between them."""
    rng = np.random.default_rng(seed)
    flat = plane is not None
    sizes = (rng.uniform(0.5, 2.0, 4), rng.uniform(-0.1, 0.1, (2, 6)), rng.uniform(-1, 1, (2, 6)))
    options: list[dict[str, Any]] = [
        {"modes": 3, "boundary": str(rng.choice(["clamped-free", "pinned-pinned", "free-free"]))},
        {"modes": 2, "stretch": 1, "EA": 4e3, "boundary": str(rng.choice(["clamped-free", "pinned-free"]))},
    ]
    if not flat:
        options = [{"modes": 1, "twist": 1, "GJ": 9.0, "axial_inertia": 0.01}, options[1] | {"axial_inertia": 0.02}]
    model = fm.Model("chain", gravity=(0, 0, 0))
    beams = []
    for k, given in enumerate(options):
        count = given["modes"] * (1 if flat else 2) + given.get("twist", 0) + given.get("stretch", 0)
        beams.append(
            fm.ModalBody.beam(
                f"b{k}",
                length=sizes[0][k],
                mass=sizes[0][2 + k],
                EI=15.0 * sizes[0][k] ** 3,
                plane=plane,
                stiffening=True,
                q0=sizes[1][k, :count],
                u0=sizes[2][k, :count],
                **given,
            )
        )
    body = fm.Body("m", mass=0.4, com=(0.1, 0.05, 0.0 if flat else 0.2), inertia=(0.02, 0.03, 0.04))
    joint = fm.Revolute if flat else fm.Spherical
    u0 = 2.0 if flat else (1.0, 2.0, -1.0)
    model.add(*beams, body, joint("j0", model.ground.at(0.2, 0, 0), beams[0].base, u0=u0))
    model.add(joint("j1", beams[0].tip, body.at()))
    model.add(joint("j2", body.at(0.2, 0, 0), beams[1].at(0.3 * sizes[0][1], 0, 0), u0=u0))
    return model


SEEDS = first(3, range(40))


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("seed", SEEDS)
def test_free_motion_keeps_its_energy(seed: int, plane: str | None) -> None:
    result = fm.simulate(chain(seed, plane), stop=1.0, interval=0.1, tolerance=1e-11, deformation=10.0)
    energy = result["solver.energy"]
    assert np.ptp(energy) < 1e-8 * energy.mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernels_of_the_plane_and_of_space_agree(seed: int) -> None:
    solver = Solver(compile(chain(seed, "xy")))
    names = ("j0.qdd", "j1.qdd", "j2.qdd", "b0.qdd", "b1.qdd", "j0.reaction.f", "j2.reaction.f", "m.a", "m.r")
    found = []
    for planar in (True, False):
        solver.assemble()
        assert bool(solver.use_planar(planar)) == planar
        solver.evaluate()
        found.append({name: np.atleast_1d(solver.get(name)) for name in names})
    for name, value in found[0].items():
        assert_allclose(value, found[1][name], atol=1e-9 * max(1.0, float(np.abs(value).max())), err_msg=name)


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("options", [{"dynamics": "copcod"}, {"scheme": "radau"}, {"scheme": "rk4", "step": 2e-5}])
def test_schemes_and_formulations_agree(options: dict[str, Any], plane: str | None) -> None:
    model = chain(0, plane)
    names = ("b0.q", "b1.q", "m.r")
    ends = []
    for given in ({}, options):
        result = fm.simulate(model, stop=0.05, interval=0.05, tolerance=1e-11, deformation=10.0, **given)
        ends.append({name: result[name][-1] for name in names})
    for name in names:
        assert_allclose(ends[0][name], ends[1][name], atol=2e-8, err_msg=name)


def test_a_saved_state_goes_on_alike_and_fmus_run_as_in_python(tmp_path: Path) -> None:
    model = chain(1, None)
    solver = Solver(compile(model))
    solver.assemble()
    solver.step(0.02)
    goes_on_alike(solver, 0.05, "m.r[1]", "b0.q[1]")
    found = list(runs(tmp_path, model, ["m.r[1]", "b0.q[1]", "b1.q[2]"], stop=0.1, interval=0.02, tolerance=1e-9))
    for (_, _, one), (_, _, other) in pairwise(found):
        for name, values in one.items():
            assert_allclose(values, other[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("plane", ["xy", None])
def test_the_view_places_bodies_where_the_core_does(plane: str | None) -> None:
    solver = Solver(compile(chain(2, plane)))
    solver.assemble()
    solver.step(0.05)
    r = poses(solver.image, solver.positions).r[0]
    found = {name: solver.get(f"{name}.r") for name in ("b0", "m", "b1")}
    for name, place in found.items():
        assert np.abs(r - place).max(axis=1).min() < 1e-12, name


def test_many_modes_leave_the_mass_matrix_positive() -> None:
    """Ten modes take up all but 1e-4 of a hinge's inertia: terms of second order by themselves would make it negative,
    which compile() refuses.
    """
    model = fm.Model("free", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam("b", length=L, mass=MASS, EI=EI, modes=10, stiffening=True)
    model.add(beam, fm.Revolute("j", model.ground.at(), beam.base))
    compile(model)


def by_differences(solver: Solver, unknowns: list[str], knowns: list[str], size: float) -> Any:
    """(unknowns, knowns) central differences."""
    columns = []
    for name in knowns:
        base = np.atleast_1d(solver.get(name)).astype(float)
        for k in range(len(base)):
            ends = []
            for sign in (1, -1):
                moved = base.copy()
                moved[k] += sign * size
                solver.set(name, moved if len(moved) > 1 else float(moved[0]))
                solver.evaluate()
                ends.append(np.concatenate([np.atleast_1d(solver.get(unknown)) for unknown in unknowns]))
            columns.append((ends[0] - ends[1]) / (2 * size))
        solver.set(name, base if len(base) > 1 else float(base[0]))
    return np.array(columns).T


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_forward_and_adjoint(seed: int, plane: str | None) -> None:
    solver = Solver(compile(chain(seed, plane)), derivatives=True)
    solver.assemble()
    solver.step(0.01)
    own = "qdd" if plane else "alpha"
    unknowns = [f"j0.{own}", f"j2.{own}", "b0.qdd", "b1.qdd", "m.r", "m.v", "m.a", "j1.reaction.f", "solver.energy"]
    knowns = ["b0.q", "b1.q", "b0.qd", "b1.qd", "j0.tau", "m.mass"]
    rows, columns = (sum(np.size(solver.get(name)) for name in names) for names in (unknowns, knowns))
    forward = np.array([solver.directional_derivative(unknowns, knowns, one) for one in np.eye(columns)]).T
    back = np.array([solver.adjoint(unknowns, knowns, one) for one in np.eye(rows)])
    size = np.abs(forward).max(axis=1, keepdims=True) + 1e-9
    assert np.abs((back - forward) / size).max() < 1e-12
    assert np.abs((by_differences(solver, unknowns, knowns, 1e-6) - forward) / size).max() < 1e-6


def test_stiffening_is_for_beams() -> None:
    beam = fm.ModalBody.beam("b", length=L, mass=MASS, EI=EI)
    with pytest.raises(fm.ModelError, match=r"needs a body made by ModalBody\.beam"):
        fm.ModalBody(
            "x", mass=1.0, inertia=(1, 1, 1), stiffness=beam.stiffness, shape_mass=beam.shape_mass,
            shape_moment=beam.shape_moment, shape_product=beam.shape_product, stiffening=True,
        )  # fmt: skip
    with pytest.raises(fm.ModelError, match="must be True or False"):
        fm.ModalBody.beam("b", length=L, mass=MASS, EI=EI, stiffening="yes")


@pytest.mark.slow
def test_a_spun_up_beam_lags_as_one_of_rigid_elements() -> None:
    """Kane's spin-up: within 1 % of the largest deflection of 40 elements."""
    reference = fm.simulate(build("spin_up_beam", elements=40), outputs=["beam_tip.q"])
    section, material = fm.Section(1e-3, 5e-7, 5e-7, 1e-6), fm.Material(E=2.8e10, density=1200.0)
    model = fm.Model("spin_up", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam(
        "b", length=10.0, mass=12.0, EI=section.Iz * material.E, modes=6, stiffening=True
    )
    path = build("spin_up_beam")["hinge"].modes[0].path
    hinge = fm.Joint("hinge", model.ground.at(), beam.base, modes=(fm.Turn("z", role="excited", path=path),))
    model.add(beam, hinge)
    result = fm.simulate(model, stop=20.0, interval=0.05)
    tip = result["b.q"] @ [mode.shape.derivative(0, 1.0) for mode in beam.bending.modes]
    lag = reference["beam_tip.q"][:, 1]
    assert np.abs(lag).max() > 0.5
    assert_allclose(tip, lag, atol=0.01 * np.abs(lag).max())
