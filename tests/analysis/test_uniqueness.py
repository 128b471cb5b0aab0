"""Which reactions are unique: published counts, brute force, and what a mechanism's description does not change."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import fmumbs as fm
from fmumbs.analysis.uniqueness import Uniqueness, _words
from fmumbs.analysis.uniqueness import uniqueness as verdict
from fmumbs.readers import read_model
from fmumbs.run.reactions import place
from oracle import State
from oracle.brute import brute
from support.closed import coupled, plane, space, state_of, tree_state
from support.platforms import platforms
from support.sweeps import each_value, examples, first, seeds

# rows, rank, mobility, and the indeterminate dimension of each joint
TABLE = {
    "planar 4R": ("four_bar", {}, 20, 17, 1, [3] * 4),
    "Bricard 6R": ("bricard", {}, 30, 29, 1, [1] * 6),
    "Bennett 4R": ("bennett", {}, 20, 17, 1, [3] * 4),
    "2 cranks": ("parallel_cranks", {"cranks": "RR RR"}, 20, 17, 1, [3] * 4),
    "3 cranks": ("parallel_cranks", {"cranks": "RR RR RR"}, 30, 23, 1, [4] * 6),
    "4 cranks": ("parallel_cranks", {"cranks": "RR RR RR RR"}, 40, 29, 1, [4] * 8),
    "3 cranks on balls": ("parallel_cranks", {"cranks": "RS RS RS"}, 24, 23, 1, [1] * 6),
    "2 cranks and 2 rods": ("parallel_cranks", {"cranks": "RR RR SS SS"}, 32, 27, 3, [4, 4, 1, 1] * 2),
    "a tree": ("arm6", {}, 30, 30, 6, [0] * 6),
}


def dimensions(found: Uniqueness) -> list[int]:
    return [joint.indeterminate_dimension for joint in found.joints]


@pytest.mark.parametrize("case", TABLE)
def test_rows_rank_mobility_and_dimension_of_every_joint(case: str) -> None:
    name, parameters, rows, rank, mobility, expected = TABLE[case]
    found = fm.uniqueness(read_model(name, parameters))
    assert (found.rows, found.rank, found.mobility) == (rows, rank, mobility)
    assert found.redundant == rows - rank
    assert found.gruebler == mobility - found.redundant
    assert dimensions(found) == expected
    assert [joint.unique for joint in found.joints] == [dimension == 0 for dimension in expected]
    assert not found.singular


def test_with_a_ball_in_a_planar_four_bar_one_direction_stays_indeterminate() -> None:
    found = fm.uniqueness(four_bar(fm.Spherical))
    assert (found.rows, found.rank, found.mobility) == (18, 17, 1)
    assert dimensions(found) == [1] * 4


def four_bar(kind: Any, turned: float = 0.0) -> fm.Model:
    near = read_model("four_bar")
    model = fm.Model("four_bar")
    R = fm.Rotation.rpy(turned, 0.4 * turned, -turned)
    for element in (*near.bodies, *near.joints):
        if element.name in "AD" and turned:
            element = replace(element, F=model.ground.at(*(R @ element.F.X_BP.translation), rotation=R))
        model.add(kind("C", element.F, element.M) if element.name == "C" else element)
    return model


@pytest.mark.parametrize("turned", [0.0, 0.8])
def test_in_a_planar_four_bar_the_forces_in_the_plane_are_unique(turned: float) -> None:
    """The plane is x-z of every F: f.x, f.z and the torque about the pin, which is zero."""
    found = fm.uniqueness(four_bar(lambda *a: fm.Revolute(*a, axis="y"), turned))
    for joint in found.joints:
        assert joint.components_unique == (True, False, True, False, True, False)
        assert not joint.unique


# Against brute force ----------------------------------------------------------------------------------------


def compare(model: fm.Model, length: float = 1.0, state: State | None = None) -> None:
    solver = fm.Solver(model)
    solver.assemble()
    found = fm.uniqueness(model, solver)
    full = brute(model, state or state_of(solver, model), length)
    if full.gap < 1e5 or found.singular:
        return
    assert (found.rows, found.rank) == (full.rows, full.rank)
    for joint in found.joints:
        assert joint.indeterminate_dimension == full.dimension[joint.joint], joint.joint
        assert joint.unique == full.by_ranks[joint.joint]
        assert joint.components_unique == full.components[joint.joint], joint.joint


@each_value
@pytest.mark.parametrize(("loops", "seed"), [*product((1, 2, 3), range(12)), (3, 43)])  # the last: nearly along an axis
def test_random_loops_in_a_plane(seed: int, loops: int) -> None:
    compare(plane(500 + seed, loops).model)


@each_value
@pytest.mark.parametrize("seed", seeds(12, 60))
@pytest.mark.parametrize("loops", [1, 3])
def test_random_loops_in_space(seed: int, loops: int) -> None:
    compare(space(600 + seed, loops=loops).model)


@examples(8, 20, st.integers(0, 10_000), st.integers(2, 4))
def test_screws_on_one_axis_share_their_load(seed: int, count: int) -> None:
    """Their loops share a joint and are of any sizes: all but the first screw forbid what that forbids."""
    rng = np.random.default_rng(seed)
    along = fm.Rotation.rpy(*rng.uniform(-2, 2, 3))
    pitch = float(rng.choice((-1, 1)) * 10 ** rng.uniform(-2, 0))
    nut = fm.Body.box("nut", size=(0.3, 0.4, 0.5), mass=1.0)
    model = fm.Model("screws")
    model.add(nut)
    base, foot = rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3)
    for k in range(count):
        away = along.matrix @ (0, 0, 10 ** rng.uniform(-1, 1))
        ends = [model.ground.at(*(base + away), rotation=along), nut.at(*(foot + away), rotation=along)]
        if rng.random() < 0.5:
            ends.reverse()
        model.add(fm.Screw(f"S{k}", *ends, axis="z", pitch=pitch))
    found = fm.uniqueness(model)
    assert (found.rank, found.redundant, found.mobility) == (5, 5 * (count - 1), 1)
    assert not any(joint.unique for joint in found.joints)


@examples(12, 40, platforms())
def test_random_platforms_of_any_size(case: tuple[fm.Model, float]) -> None:
    model, size = case
    try:
        fm.Solver(model).assemble()
    except (fm.AssemblyError, fm.ModelError):
        return  # a start that is singular, or a rod that nothing turns
    compare(model, size)


# What does not depend on how a mechanism is described -----------------------------------------------------------


@examples(10, 25, st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_the_verdict_does_not_depend_on_the_order_of_the_joints(seed: int, loops: int, flat: bool) -> None:
    model = (plane if flat else space)(seed, loops).model if flat else space(seed, loops=loops).model
    solver = fm.Solver(model)
    solver.assemble()
    there = place(model, solver)
    order = np.random.default_rng(seed).permutation(len(there.joints))
    other = there.ordered(there.bodies, [there.joints[k] for k in order])
    one, two = verdict(there), verdict(other)
    assert one.rank == two.rank
    again = {joint.joint: joint for joint in two.joints}
    for joint in one.joints:
        assert joint.indeterminate_dimension == again[joint.joint].indeterminate_dimension
        assert joint.components_unique == again[joint.joint].components_unique


# Fixes, sets, singular positions ------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [name for name, row in TABLE.items() if row[2] > row[3]])
def test_with_the_fixes_everything_is_unique_and_moves_as_before(case: str) -> None:
    found = fm.uniqueness(read_model(*TABLE[case][:2]))
    fixed = verdict(found.fixed())
    assert sum(fix.directions.shape[1] for fix in found.fixes) == found.redundant
    assert (fixed.redundant, fixed.mobility) == (0, found.mobility)


def test_only_bodies_with_unique_reactions_may_stay_rigid() -> None:
    found = fm.uniqueness(read_model("parallelogram_pendulum"))
    assert set(found.flexible) == {"body1", "body2", "body3", "body4", "body7"}
    assert set(found.rigid) == {"body5", "body6", "body8", "body9", "body10"}


def test_a_set_is_unique_in_total_where_the_rest_of_its_body_does_not_share_its_load() -> None:
    found = fm.uniqueness(read_model("four_bar"))
    assert found.set_of(["A", "D"]).unique  # all that the ground carries
    assert not found.set_of(["A", "D"]).components_unique
    assert not found.set_of(["A"]).unique
    with pytest.raises(fm.ModelError, match="nearest name is 'A'"):
        found.set_of(["a"])


@pytest.mark.parametrize("seed", range(4))
def test_a_set_is_compared_with_the_other_joints_of_its_common_body(seed: int) -> None:
    """Of the ground before others; a twin of the set's joints between other bodies is none of them."""
    rng = np.random.default_rng(seed)
    model = fm.Model("doors")
    carriers: list[Any] = [model.ground]
    for k in range(3):  # each on two hinges of the one before
        door = fm.Body.box(f"door{k}", size=(1, 1, 1), mass=1.0)
        lean = fm.Rotation.rpy(*rng.uniform(-2, 2, 3))
        model.add(door)
        for end in "ab":
            away = lean.matrix @ (0, 0, 0.7 * (end == "b"))
            ends = [(carriers[-1].at(*away, rotation=lean)), door.at(*away, rotation=lean)]
            model.add(fm.Revolute(f"{end}{k}", *(ends if rng.random() < 0.5 else ends[::-1]), axis="z"))
        carriers.append(door)
    found = fm.uniqueness(model)
    for names, body in ((["a0", "b0"], "ground"), (["a0"], "ground"), (["a1", "b1"], "door0"), (["a1", "b2"], "door1")):
        assert found.set_of(names).among == body
    assert found.set_of(["a0", "b0"]).unique
    assert not found.set_of(["a0"]).unique
    assert found.set_of(["a1", "b1"]).unique  # beside the hinges of door0 on the ground
    assert not found.set_of(["a1", "b2"]).unique
    assert found.set_of(["a0", "a2"]).among == "all"


def folded(by: float) -> fm.Model:
    """A parallelogram whose cranks are turned by that much from where all its bars lie on one line."""
    model = fm.Model("folded")
    ground = model.ground
    lengths = {"a": 1.0, "b": 2.0, "c": 1.0}
    bodies = [fm.Body.rod(name, length=length, mass=1.0, radius=0.01) for name, length in lengths.items()]
    model.add(*bodies, fm.Revolute("A", ground.at(), bodies[0].base, axis="y", q0=by))
    model.add(fm.Revolute("B", bodies[0].tip, bodies[1].base, axis="y", q0=-by))
    model.add(fm.Revolute("D", ground.at(2, 0, 0), bodies[2].base, axis="y", q0=by))
    model.add(fm.Revolute("C", bodies[1].tip, bodies[2].tip, axis="y"))
    return model


def test_a_singular_start_is_reported() -> None:
    """Where all bars lie on one line the branches of its motion meet."""
    found = fm.uniqueness(folded(0.0))
    assert found.singular
    assert found.rank == 16
    assert set(found.nearby) == {17}


@pytest.mark.parametrize(("by", "singular"), [(1e-6, True), (1e-4, True), (0.3, False)])
def test_a_start_near_a_singular_position_is_reported(by: float, singular: bool) -> None:
    found = fm.uniqueness(folded(by))
    assert found.rank == 17
    assert found.singular == singular


# Couplings --------------------------------------------------------------------------------------------------


def in_one_piece(seed: int, closed: bool) -> bool:
    """Without products of modes, which the brute-force oracle does not support."""
    return all(type(joint) is not fm.Joint for joint in coupled(seed, closed, couplings=3).model.joints)


CASES = [(seed, closed) for seed in range(700, 720) for closed in (False, True) if in_one_piece(seed, closed)]


@pytest.mark.parametrize(("seed", "closed"), first(12, CASES))
def test_couplings_are_rows_too(seed: int, closed: bool) -> None:
    model = coupled(seed, closed, couplings=3).model
    solver = fm.Solver(model)
    solver.assemble()
    compare(model, state=state_of(solver, model) if closed else tree_state(solver, model))


def test_two_pairs_of_gears_between_two_shafts_share_their_load() -> None:
    """The torques on the shafts are not reactions and are unique; which pair carries them is not."""
    model = fm.Model("gears")
    shafts = [fm.Body.cylinder(name, length=0.2, radius=0.05, mass=1.0, along="z") for name in "ab"]
    A, B = (fm.Revolute(s.name.upper(), model.ground.at(k, 0, 0), s.base, axis="z") for k, s in enumerate(shafts))
    model.add(*shafts, A, B, fm.Coupling.gear("g", A, B, ratio=-2.0), fm.Coupling.gear("h", A, B, ratio=-2.0))
    found = fm.uniqueness(model)
    assert (found.rows, found.rank, found.redundant, found.mobility) == (12, 11, 1, 1)
    assert all(joint.unique for joint in found.joints)
    assert [(fix.joint, fix.text) for fix in found.fixes] == [("h", "")]
    assert verdict(found.fixed()).redundant == 0
    with pytest.raises(fm.ModelError, match="coupling 'g' is not supported"):
        fm.divide_and_conquer(model)


@each_value
@pytest.mark.parametrize("backwards", ["", "base1", "base2", "top1 base2", "base1 base2"])
@pytest.mark.parametrize("cranks", ["RR RR", "RR RR RR"])
def test_a_coupling_that_repeats_a_loops_constraint_makes_reactions_indeterminate(
    cranks: str, backwards: str
) -> None:
    """Two cranks of a parallelogram turn alike anyway; a belt between them pulls against the coupler, whichever way
    the joints point.
    """
    near = fm.Model("near")
    for element in (given := read_model("parallel_cranks", {"cranks": cranks})).joints:
        near.add(*(end.body for end in element.ends if end.body in given.bodies and end.body not in near.bodies))
        if element.name in backwards.split():
            element = replace(element, F=element.M, M=element.F, q0=-element.q0)
        near.add(element)
    signs = [-1.0 if name in backwards.split() else 1.0 for name in ("base1", "base2")]
    near.add(fm.Coupling("belt", [(near["base1"], 0.1 * signs[0]), (near["base2"], -0.1 * signs[1])]))
    compare(near)
    found = fm.uniqueness(near)
    assert found.redundant == {"RR RR": 4, "RR RR RR": 8}[cranks]
    in_plane = {joint.joint: joint.components_unique[::2] for joint in found.joints}
    assert not any(all(parts) for parts in in_plane.values())


# Flexible bodies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("modes", "bent"), [(0, 0.0), (1, 0.0), (2, 0.0), (2, 0.01)])
def test_a_flexible_beam_on_three_supports_is_determinate(modes: int, bent: float) -> None:
    """One force too many in the plane in which it bends; the next support needs one more mode."""
    for supports in (2, 3):
        model = fm.Model("beam")
        ground = model.ground
        if modes:
            start = {"q0": [bent] + [0.0] * (modes - 1)}
            beam = fm.ModalBody.beam("beam", length=2.0, EI=50.0, mass=1.0, modes=modes, plane="xz", **start)
        else:
            beam = fm.Body.rod("beam", length=2.0, mass=1.0)
        model.add(beam, fm.Revolute("hinge", ground.at(), beam.base, axis="y"))
        for k in range(supports):
            x = 2.0 - 0.7 * k
            model.add(fm.PointOnPlane(f"S{k}", ground.at(), beam.at(x, 0, 0), normal="z"))
        found = fm.uniqueness(model)
        assert found.redundant == max(supports - 1 - modes, 0)
        assert found.mobility == max(1 + modes - supports, 0)
        assert all(joint.unique for joint in found.joints) == (found.redundant == 0)


# As text ------------------------------------------------------------------------------------------------------


def test_the_verdict_prints_as_a_short_table() -> None:
    found = fm.uniqueness(read_model("four_bar"))
    assert str(found).splitlines() == [
        "20 constraint rows, 17 independent; degree of redundancy 3, mobility 1",
        "joint  f x y z      t x y z      indeterminate directions",
        *(f"{name}      yes no  yes  no  yes no   3" for name in "ABDC"),
        "to make all unique, in each joint's F axes:",
        "  free 'C' of force along y, torque about x, torque about z",
        "or make flexible: crank, coupler, rocker",
    ]
    assert repr(found) == "<Uniqueness: 17 of 20 rows independent, mobility 1, reactions of 0 of 4 joints unique>"


def test_of_a_tree_it_prints_that_all_is_unique() -> None:
    lines = str(fm.uniqueness(read_model("arm6"))).splitlines()
    assert lines[-1] == "the reactions of all 6 joints are unique"
    assert len(lines) == 2


@pytest.mark.parametrize("name", ["rod_loop", "parallelogram_pendulum", "ladder"])
def test_the_verdict_on_a_large_mechanism_fits_one_screen(name: str) -> None:
    for found in (fm.uniqueness(read_model(name)), fm.divide_and_conquer(read_model(name))):
        lines = str(found).splitlines()
        assert len(lines) <= 50
        assert max(map(len, lines)) < 500
        assert "array" not in str(found) + repr(found)
        assert len(repr(found)) < 120


def test_divide_and_conquer_prints_what_it_found() -> None:
    found = fm.divide_and_conquer(read_model("parallelogram_pendulum"))
    names = {verdict: [name for name, unique in found.unique.items() if unique is verdict] for verdict in (True, False)}
    assert str(found).splitlines()[:2] == [
        "divide and conquer with svd: rank 17 of 18 on the ground", f"unique: {', '.join(names[True])}"
    ]  # fmt: skip
    assert f"reactions of {len(names[True])} of {len(found.unique)} joints unique" in repr(found)


def test_directions_are_read_without_a_minus_before_zero() -> None:
    assert _words(np.array([[-1.0, -1.0, 0.0, 0.0, 0.0, 0.0]]).T) == "force along (0.707, 0.707, 0)"
