"""Equilibria under a growing load beside closed forms, published critical loads, and an arc-length code of its own."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipk

import fmumbs as fm
from core.forces.test_follower_loads import BECK, column
from fmumbs.errors import EquilibriumError, ModelError
from oracle.trusses import Truss
from support.sweeps import seeds

ROUND_OFF = 1e-11  # of forces that cancel, over the slope of what they balance
DIFFERENCES = 1e-9  # of eigenvalues of a stiffness by differences
DOWN = {"P.force": (0.0, 0.0, -1.0)}
LENGTH = 0.005  # of the other code's steps
HEIGHT, SPAN, BAR = 0.3, 1.0, 100.0


def two_bars(unit: float = 1.0, **joint: Any) -> fm.Model:
    """The truss of von Mises: a node on a vertical slide, two bars down to the ground. unit: lengths are multiplied."""
    h, a = HEIGHT * unit, SPAN * unit
    model, free = fm.Model("truss", gravity=(0, 0, 0)), float(np.hypot(a, h))
    node = fm.Body("node", mass=1.0, inertia=(0.1 * unit**2,) * 3)
    model.add(node, fm.Prismatic("s", model.ground.at(0, 0, h), node.at(), axis="z", **joint))
    for name, side in (("left", -a), ("right", a)):
        model.add(fm.Spring(name, model.ground.at(side), node.at(), stiffness=BAR / unit, free_length=free))
    model.add(fm.Load("P", node.at()))
    return model


def of_two_bars(z: Any) -> Any:
    """The load at the height z."""
    free, length = np.hypot(SPAN, HEIGHT), np.hypot(SPAN, z)
    return -2 * BAR * (length - free) * z / length


def test_two_bars_snap_through_at_their_closed_form() -> None:
    path = fm.load_path(two_bars(), DOWN, to=3.0)
    peak = 2 * BAR * (np.hypot(SPAN, HEIGHT) ** (2 / 3) - SPAN ** (2 / 3)) ** 1.5
    assert_allclose(path.factors, of_two_bars(HEIGHT + path["s.q"]), atol=ROUND_OFF)
    assert [one.kind for one in path.critical] == ["limit", "limit"]
    assert_allclose([one.factor for one in path.critical], [peak, -peak], rtol=ROUND_OFF)
    assert_allclose(path.critical_factor, peak, rtol=ROUND_OFF)
    z = HEIGHT + path["s.q"]
    top = np.sqrt(np.hypot(SPAN, HEIGHT) ** (2 / 3) - 1.0)  # height of the limit points
    assert (path.stable == (abs(z) > top)).all() and not path.stable.all()
    assert path.factors[-1] == pytest.approx(3.0, abs=ROUND_OFF) and path.ended == "at the factor 3"
    assert path.units["s.q"] == "m" and "limit at the factor" in str(path)


def test_the_load_grows_to_what_is_asked_for_or_to_itself() -> None:
    soft = fm.load_path(two_bars(), {"P.force": (0.0, 0.0, -0.1)})
    assert soft.factors[-1] == pytest.approx(1.0, abs=ROUND_OFF) and soft.ended == "at the factor 1"


def test_units_of_length_change_nothing() -> None:
    metres, millimetres = (fm.load_path(two_bars(unit), DOWN, to=3.0) for unit in (1.0, 1000.0))
    assert_allclose(millimetres.factors, metres.factors, atol=DIFFERENCES)
    assert_allclose(millimetres["s.q"], 1000.0 * metres["s.q"], atol=1000.0 * DIFFERENCES)


def test_a_solver_stands_at_a_point_of_the_path_and_the_result_can_be_seen() -> None:
    path = fm.load_path(two_bars(), DOWN, to=3.0)
    at = path.solver(5)
    assert_allclose(at.get("s.q"), path["s.q"][5], rtol=0, atol=0)
    linear = fm.linearize(at)
    assert linear.at_rest
    k = np.gradient(of_two_bars(HEIGHT + path["s.q"][5] + np.array([-1e-6, 0, 1e-6])), 1e-6)[1]
    assert_allclose(linear.modes.frequencies.max() ** 2, -k, rtol=1e-6)
    assert path.result.view(two_bars()).html


def test_buckling_of_a_rigid_column_and_both_branches() -> None:
    k = 2.0
    model = fm.Model("column", gravity=(0, 0, 0))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="z")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", stiffness=k), fm.Load("P", rod.tip))
    path = fm.load_path(model, DOWN, to=5.0)
    (found,) = path.critical
    assert found.kind == "bifurcation" and found.softest == "A.q"
    assert abs(found.factor - k) <= max(found.error, ROUND_OFF) and found.error < ROUND_OFF
    assert (path.stable == (path.factors < k)).all()
    for along in ({"A.q": 1.0}, {"A.q": -1.0}):
        branch = path.switch(0, along, to=4.0)
        q = branch["A.q"]
        assert np.sign(q[-1]) == along["A.q"] and branch.stable.all() and not branch.critical
        assert_allclose(branch.factors, k * q / np.sin(q), rtol=ROUND_OFF)


def test_all_buckling_loads_of_a_chain_of_rods() -> None:
    """Those of hinged rods: eigenvalues of springs' stiffness over the loads' geometric one, both linear here."""
    n, k = 4, 3.0
    model, at = fm.Model("chain", gravity=(0, 0, 0)), fm.Model("other").ground.at()
    for i in range(n):
        rod = fm.Body.rod(f"b{i}", length=0.25, mass=1.0, along="z")
        model.add(rod, fm.Revolute(f"j{i}", at, rod.base, axis="y", stiffness=k))
        at = rod.tip
    model.add(fm.Load("P", at))
    path = fm.load_path(model, DOWN, to=197.0)
    D = np.eye(n) - np.eye(n, k=-1)  # bends from absolute angles
    expected = np.linalg.eigvalsh(k * D.T @ D) / 0.25
    assert_allclose([one.factor for one in path.critical], expected, rtol=DIFFERENCES)
    assert (path.departing == (path.factors[:, None] > expected).sum(axis=1)).all()


def test_the_elastica_and_its_branch() -> None:
    """P = K(sin(tip / 2))^2 EI / L^2; the errors of elements are of order two."""
    errors, loads = [], []
    for elements in (10, 20):
        path = fm.load_path(column(elements, 0.0, "world"), {"thrust.force": (-1, 0, 0)}, to=4.0)
        loads.append(path.critical[0].factor)
        branch = path.switch(0)
        tip = sum(branch[f"c_e{i + 1}.q"] for i in range(elements))
        errors.append(np.abs(branch.factors / ellipk(np.sin(0.5 * tip) ** 2) ** 2 - 1.0).max())
        assert branch.stable.all()
    euler = np.pi**2 / 4
    assert 3.8 < (euler - loads[0]) / (euler - loads[1]) < 4.2
    assert errors[1] < 6e-4 and 3.5 < errors[0] / errors[1] < 4.5


def test_a_round_column_buckles_to_any_side() -> None:
    model = fm.Model("round", gravity=(0, 0, 0))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="z")
    modes = [fm.Turn("x"), fm.Turn("y")]
    model.add(rod, fm.Joint("A", model.ground.at(), rod.base, modes=modes, stiffness=(2.0, 2.0)), fm.Load("P", rod.tip))
    path = fm.load_path(model, DOWN, to=3.0)
    assert len(path.critical) == 1 and len(path.critical[0].motions) == 2
    assert_allclose(path.critical_factor, 2.0, rtol=DIFFERENCES)
    branch = path.switch(0, {"A.q[2]": -1.0})
    assert branch["A.q[2]"][-1] < -0.5
    assert_allclose(branch["A.q[1]"], 0.0, atol=1e-6)


def test_a_follower_load_flutters_where_the_core_says() -> None:
    """Beck's column; Ziegler's pendulum flutters at (3.5 - sqrt 2) k / L and never buckles."""
    loads = [fm.load_path(column(n, 0.0), {"thrust.force": (-1, 0, 0)}, to=30.0).critical for n in (8, 16)]
    assert all([one.kind for one in critical] == ["flutter"] for critical in loads)
    coarse, fine = (critical[0].factor for critical in loads)
    assert 3.5 < (BECK - coarse) / (BECK - fine) < 4.5
    assert_allclose(fine + (fine - coarse) / 3, BECK, rtol=2e-4)
    model, at = fm.Model("ziegler", gravity=(0, 0, 0)), fm.Model("other").ground.at()
    for i, mass in enumerate((2.0, 1.0)):
        rod = fm.Body(f"b{i}", mass=mass, com=(1, 0, 0))
        model.add(rod, fm.Revolute(f"j{i}", at, rod.at(), axis="y", stiffness=1.0))
        at = rod.at(1.0)
    model.add(fm.Load("P", at, axes="point"))
    path = fm.load_path(model, {"P.force": (-1, 0, 0)}, to=3.0)
    assert [one.kind for one in path.critical] == ["flutter"]
    assert_allclose(path.critical_factor, 3.5 - np.sqrt(2.0), rtol=1e-8)


def arch(elements: int) -> fm.Model:
    """Clamped on the left, hinged on the right, of 215 degrees and unit radius: straight links of unit stiffness."""
    model, angle = fm.Model("arch", gravity=(0, 0, 0)), np.deg2rad(215.0)
    turns = np.linspace(-angle / 2, angle / 2, elements + 1)
    points = np.stack([np.sin(turns), 0 * turns, np.cos(turns)], axis=1)
    at, before = model.ground.at(*points[0]), 0.0
    for i, chord in enumerate(np.diff(points, axis=0)):
        slope, length = -float(np.arctan2(chord[2], chord[0])), float(np.linalg.norm(chord))
        stiffness = length * elements / angle  # as of the arc
        link = fm.FlexibleLink(f"b{i}", length=length, mass=length, elements=1, plane="xz", EIy=stiffness)
        begin = link.base.body.at(*link.base.X_BP.offset, rotation=fm.Rotation.about("y", before - slope))
        model.add(link, fm.Weld(f"w{i}", at, begin))
        at, before = link.tip, slope
        if 2 * (i + 1) == elements:
            model.add(fm.Load("P", at))
    model.add(fm.Revolute("hinge", model.ground.at(*points[-1]), at, axis="y"))
    return model


def test_the_clamped_hinged_arch_snaps_where_dadeppo_and_schmidt_say() -> None:
    """8.97 EI / R^2: D. A. DaDeppo and R. Schmidt, J. Appl. Mech. 42 (1975) 896; errors of chords are of order two."""
    coarse, fine = (fm.load_path(arch(n), DOWN, to=12.0, steps=18).critical_factor for n in (20, 40))
    assert_allclose(fine + (fine - coarse) / 3, 8.97, rtol=2e-3)


def frame(elements: int) -> fm.Model:
    """Lee's frame: two hinged legs of 120 cm at a right angle, A = 6 cm2, I = 2 cm4, E = 720 kN/cm2."""
    EI, EA, length = 1440.0, 4320.0, 120.0
    model, up = fm.Model("frame", gravity=(0, 0, 0)), fm.Rotation.about("y", -np.pi / 2)

    def link(name: str, share: float) -> fm.FlexibleLink:
        own = {"length": length * share, "elements": int(elements * share), "EIy": EI, "EA": EA}
        return fm.FlexibleLink(name, mass=1.0, plane="xz", stretch=True, **own)

    post, near, far = link("post", 1.0), link("near", 0.2), link("far", 0.8)
    corner = near.base.body.at(*near.base.X_BP.offset, rotation=up)
    model.add(post, near, far, fm.Revolute("foot", model.ground.at(rotation=up), post.base, axis="y"))
    model.add(fm.Weld("corner", post.tip, corner), fm.Weld("middle", near.tip, far.base))
    model.add(fm.Revolute("end", model.ground.at(length, 0, length), far.tip, axis="y"), fm.Load("P", near.tip))
    return model


def test_lees_frame() -> None:
    """18.55 of E = 7200: S.-L. Lee et al., J. Eng. Mech. Div. 94 (1968) 521, and 18.53 to 18.55 in many codes since."""
    coarse, fine = (fm.load_path(frame(n), DOWN, to=3.0, steps=20).critical_factor for n in (10, 20))
    assert_allclose(fine + (fine - coarse) / 3, 1.855, rtol=2e-3)


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_random_trusses_beside_an_arc_length_code_of_its_own(seed: int) -> None:
    rng = np.random.default_rng([seed, 29])
    free = int(rng.integers(1, 5))
    x = np.linspace(-1.0, 1.0, free + 2)
    z = 0.35 * np.cos(0.5 * np.pi * x) + 0.04 * rng.normal(size=free + 2)
    nodes = np.stack([x, z], axis=1)[[*range(1, free + 1), 0, free + 1]]
    nodes = np.vstack([nodes, nodes[:free] + rng.uniform((-0.6, -1.2), (0.6, -0.8), size=(free, 2))])
    chain = [free, *range(free), free + 1]
    pairs = [(a, b, 10.0) for a, b in pairwise(chain)]
    pairs += [(i, free + 2 + i, float(rng.uniform(0.05, 0.4))) for i in range(free)]
    bars = [(a, b, k, float(np.linalg.norm(nodes[b] - nodes[a]))) for a, b, k in pairs]
    load = np.stack([0.1 * rng.normal(size=free), -rng.uniform(0.5, 1.0, size=free)], axis=1)
    model, bodies = fm.Model("truss", gravity=(0, 0, 0)), []
    for i in range(free):
        body = fm.Body(f"n{i}", mass=float(rng.uniform(0.5, 2.0)), inertia=(1, 1, 1))
        modes = [fm.Slide("x"), fm.Slide("z")]
        model.add(body, fm.Joint(f"j{i}", model.ground.at(nodes[i, 0], 0, nodes[i, 1]), body.at(), modes=modes))
        bodies.append(body)
    ends = [body.at() for body in bodies] + [model.ground.at(p[0], 0, p[1]) for p in nodes[free:]]
    for i, (a, b, k, l0) in enumerate(bars):
        model.add(fm.Spring(f"s{i}", ends[a], ends[b], stiffness=k, free_length=l0))
    for i, body in enumerate(bodies):
        model.add(fm.Load(f"P{i}", body.at()))
    given = {f"P{i}.force": (float(load[i, 0]), 0.0, float(load[i, 1])) for i in range(free)}
    rows, limits = Truss(nodes, free, bars, load).follow(400, LENGTH)
    path = fm.load_path(model, given, to=100.0, steps=40, longest=0.04)
    own = np.column_stack([path[f"j{i}.q[{k + 1}]"] for i in range(free) for k in range(2)])
    own = np.column_stack([own + nodes[:free].ravel(), path.factors])
    near = [int(np.argmin(np.linalg.norm(rows - one, axis=1))) for one in own]
    passed = [k for k, row in enumerate(near) if 0 < row < len(rows) - 1]
    assert len(passed) > 5
    truss = Truss(nodes, free, bars, load)
    for k in passed:
        R, K = truss.forces(own[k, :-1])
        assert_allclose(R, own[k, -1] * load.ravel(), atol=1e-10)
        assert np.linalg.norm(rows[near[k]] - own[k]) < LENGTH  # of the same path: within half of its steps
        values = np.linalg.eigvalsh(K)
        assert np.abs(values).min() < 1e-3 or path.departing[k] == (values < 0.0).sum()
    known = [one.factor for one in path.critical if one.kind == "limit" and one.step < passed[-1]]
    assert_allclose(known, limits[: len(known)], atol=1e-9)
    assert len(known) >= sum(row > 0 for row in np.flatnonzero(np.diff(np.sign(np.diff(rows[: near[passed[-1]], -1])))))


def four_bar(push: float, weight: float = 9.81) -> fm.Model:
    """A loop with springs, one of them on the joint that closes it."""
    model = fm.Model("four_bar", gravity=(0, 0, -weight))
    a, b, c = (
        fm.Body.rod(name, length=length, mass=1.0, along=along)
        for name, length, along in (("a", 0.4, "z"), ("b", 0.8, "x"), ("c", 0.6, "z"))
    )
    model.add(a, b, c, fm.Load("P", a.tip, force=(push, 0, 0)))
    model.add(fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=0.2, stiffness=20.0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", stiffness=5.0))
    model.add(fm.Revolute("C", model.ground.at(0.7), c.base, axis="y", stiffness=3.0))
    model.add(fm.Revolute("D", b.tip, c.tip, axis="y", cut=True, stiffness=10.0, rest=0.3))
    return model


@pytest.mark.parametrize("load", ["force", "gravity"])
def test_a_loop_ends_in_the_equilibrium_of_the_whole_load(load: str) -> None:
    given, ends = {"P.force": (1, 0, 0)}, four_bar(30.0)
    if load == "gravity":
        given, ends = {"gravity": (0, 0, -1)}, four_bar(0.0, 9.81 + 30.0)
    path = fm.load_path(four_bar(0.0), given, to=30.0)
    for point, found in ((0, fm.equilibrium(four_bar(0.0))), (-1, fm.equilibrium(ends))):
        for name in ("A.q", "B.q", "C.q"):
            assert_allclose(path[name][point], found.starts[name], atol=ROUND_OFF)
        at = fm.linearize(path.solver(point))
        assert at.at_rest
        assert_allclose(at.modes.frequencies.max() ** 2, found.squares[0], rtol=1e-7)
    assert path.stable.all() and path.ended == "at the factor 30"


def test_what_cannot_be_followed_is_named() -> None:
    with pytest.raises(ModelError, match=r"exerts nothing on the motions"):
        fm.load_path(two_bars(), {"P.force": (1.0, 0.0, 0.0)})
    with pytest.raises(ModelError, match=r"'s\.q' is not an input or a parameter"):
        fm.load_path(two_bars(), {"s.q": 1.0})
    with pytest.raises(ModelError, match=r"'P\.force' takes 3 finite numbers, not 1\.0"):
        fm.load_path(two_bars(), {"P.force": 1.0})
    with pytest.raises(ModelError, match=r"to is 0"):
        fm.load_path(two_bars(), DOWN, to=0.0)
    with pytest.raises(ModelError, match=r"steps is 0"):
        fm.load_path(two_bars(), DOWN, steps=0)
    with pytest.raises(ModelError, match=r"load has no values"):
        fm.load_path(two_bars(), {})
    path = fm.load_path(two_bars(), DOWN, to=3.0, steps=3)
    assert path.ended == "after 3 steps"
    with pytest.raises(ModelError, match=r"critical\[0\] of this path is no bifurcation"):
        path.switch(0)
    loose = fm.Model("loose", gravity=(0, 0, 0))
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    loose.add(body, fm.Prismatic("s", loose.ground.at(), body.at()), fm.Load("P", body.at()))
    with pytest.raises(EquilibriumError, match=r"indifferent"):
        fm.load_path(loose, DOWN)
