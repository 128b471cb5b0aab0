"""Static equilibrium: of trees and loops, stable or not, and where there is none."""

import importlib

import numpy as np
import pytest

import fmumbs as fm


def pendulum(q0=0.3, **joint):
    model = fm.Model("pendulum")
    rod = fm.Body.rod("rod", length=1.0, mass=2.0, along="-z")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=q0, **joint))
    return model


def resting(model):
    """A Solver in the equilibrium, whose frequencies are not computed."""
    solver = fm.Solver(model, equilibrium=True)
    solver.assemble()
    return solver


def test_a_pendulum_hangs():
    found = fm.equilibrium(pendulum(0.3))
    assert found.stable
    np.testing.assert_allclose(found.solver.get("A.q"), 0.0, atol=1e-10)
    np.testing.assert_allclose(found.frequencies, np.sqrt(1.5 * 9.81), rtol=1e-6)
    assert "stable" in str(found)


def test_an_equilibrium_near_the_start_is_found_even_if_it_is_unstable():
    found = fm.equilibrium(pendulum(3.1))
    assert not found.stable
    np.testing.assert_allclose(found.solver.get("A.q"), np.pi, atol=1e-9)
    assert f"unstable equilibrium: a displacement of A.q grows as exp({np.sqrt(1.5 * 9.81):.6g} t)" == str(found)


def test_far_from_one_it_descends_to_a_stable_one():
    found = fm.equilibrium(pendulum(np.pi / 2))
    assert found.stable
    assert abs(np.sin(found.solver.get("A.q"))) < 1e-9


def test_a_spring_and_an_input_bear_the_weight():
    found = fm.equilibrium(pendulum(0.2, stiffness=30.0, rest=0.7, tau=1.5))
    q = found.solver.get("A.q")
    np.testing.assert_allclose(30 * (0.7 - q) + 1.5, 2 * 9.81 / 2 * np.sin(q), rtol=1e-9)


def test_the_starts_start_it_at_rest():
    model = pendulum(0.2, stiffness=30.0, rest=0.7)
    found = fm.equilibrium(model)
    run = fm.simulate(fm.compile(model, everything=True, starts=found.starts), stop=1.0, outputs=["A.q"])
    np.testing.assert_allclose(run["A.q"], found.starts["A.q"], atol=1e-9)


def test_without_a_restoring_force_the_free_mode_is_named():
    model = fm.Model("rotor")
    disc = fm.Body("disc", mass=1.0, inertia=(1, 1, 1))
    model.add(disc, fm.Revolute("A", model.ground.at(), disc.at(), axis="z"))
    with pytest.raises(fm.EquilibriumError, match=r"indifferent.*A\.q"):
        fm.equilibrium(model)


def test_a_falling_body_has_no_equilibrium():
    model = fm.Model("falling")
    ball, arm = fm.Body.sphere("ball", radius=0.1, mass=1.0), fm.Body.rod("arm", length=1, mass=1, along="-z")
    model.add(ball, fm.Prismatic("S", model.ground.at(), ball.at(), axis="z"))
    model.add(arm, fm.Revolute("A", model.ground.at(1), arm.base, axis="y"))
    with pytest.raises(fm.EquilibriumError, match=r"no equilibrium.*S\.q"):
        fm.equilibrium(model)


def test_a_loop_stands_where_its_potential_energy_is_least():
    """A four-bar with a spring in its crank, beside the minimum of the energy over the angle of the crank."""
    model = fm.Model("four_bar", gravity=(0, -9.81, 0))
    lengths = (0.4, 1.0, 0.8)
    crank, coupler, rocker = (fm.Body.rod(n, length=x, mass=x) for n, x in zip("abc", lengths, strict=True))
    model.add(crank, coupler, rocker)
    model.add(fm.Revolute("A", model.ground.at(), crank.base, q0=-1.0, stiffness=3.0))
    model.add(fm.Revolute("B", crank.tip, coupler.base, q0=0.8), fm.Revolute("C", coupler.tip, rocker.tip))
    model.add(fm.Revolute("D", model.ground.at(1.0), rocker.base, q0=1.5))
    found = fm.equilibrium(model)
    q = found.solver.get("A.q")

    def energy(angle):
        solver = fm.Solver(model)
        solver.set("A.q", angle)
        solver.assemble()
        return sum(m * 9.81 * solver.get(f"{n}.tip.r")[1] / 2 for n, m in zip("a", lengths, strict=False)) + (
            1.5 * angle**2
            + 9.81 * (solver.get("b.base.r")[1] + solver.get("b.tip.r")[1]) / 2 * lengths[1]
            + 9.81 * solver.get("c.tip.r")[1] / 2 * lengths[2]
        )

    h = 1e-4
    slope, curvature = (energy(q + h) - energy(q - h)) / (2 * h), energy(q + h) - 2 * energy(q) + energy(q - h)
    assert abs(slope) < 1e-6
    assert found.stable == (curvature > 0)


def test_friction_drops_out_and_drives_stand_still():
    model = fm.Model("driven")
    arm, rod = fm.Body.rod("arm", length=1.0, mass=1.0), fm.Body.rod("rod", length=1.0, mass=2.0, along="-z")
    turning = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.4, 3.0))
    drive = fm.Joint("D", model.ground.at(), arm.base, modes=(turning,))
    hinge = fm.Revolute("A", arm.tip, rod.base, axis="y", q0=0.1)
    model.add(arm, rod, drive, hinge, fm.Law.brake("brake", hinge, 50.0))
    np.testing.assert_allclose(fm.equilibrium(model).solver.get("A.q"), -0.4, atol=1e-9)


def sledge(**joint):
    """On ice that slopes down along x; the blade keeps it from sliding aside."""
    model = fm.Model("skate", gravity=(2.0, 0.5, -9.0))
    runner = fm.Body("sledge", mass=1.0, com=(0.2, 0.1, 0.1), inertia=(1, 1, 1))
    model.add(runner, fm.Skate("K", model.ground.at(), runner.at(), q0=(0.3, -0.2, 0.5), **joint))
    return model


def test_a_sledge_stands_where_the_forces_along_its_blade_and_about_it_vanish():
    """Beside moments and forces: across the blade they need not balance."""
    k = np.array((20.0, 30.0, 10.0))
    found = fm.equilibrium(sledge(stiffness=k))
    x, y, angle = found.solver.get("K.q")
    c, s = np.cos(angle), np.sin(angle)
    force = np.array((2.0, 0.5)) - k[:2] * (x, y)
    np.testing.assert_allclose(force @ (c, s), 0.0, atol=1e-8)
    assert abs(force @ (-s, c)) > 0.1
    arm = np.array((0.2 * c - 0.1 * s, 0.2 * s + 0.1 * c))
    np.testing.assert_allclose(arm[0] * 0.5 - arm[1] * 2.0 - k[2] * angle, 0.0, atol=1e-8)
    assert found.stable
    run = fm.simulate(fm.compile(sledge(stiffness=k), everything=True, starts=found.starts), stop=1.0, outputs=["K.q"])
    np.testing.assert_allclose(run["K.q[1]"], x, atol=1e-8)


def test_a_free_mode_of_a_nonholonomic_joint_is_one_of_its_allowed_velocities():
    with pytest.raises(fm.EquilibriumError, match=r"no equilibrium.*K\.u\[1\]"):
        fm.equilibrium(sledge())
    flat = fm.Model("flat")
    runner = fm.Body("sledge", mass=1.0, inertia=(1, 1, 1))
    flat.add(runner, fm.Skate("K", flat.ground.at(), runner.at(), stiffness=(10.0, 10.0, 0.0)))
    with pytest.raises(fm.EquilibriumError, match=r"indifferent.*K\.u\[2\]"):
        fm.equilibrium(flat)


def test_random_chains_of_balls_and_springs_hang_still():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model, end = fm.Model("chain", gravity=rng.uniform(-8, 8, 3)), None
        for i in range(3):
            rod = fm.Body.cylinder(f"b{i}", length=rng.uniform(0.3, 1), radius=0.05, mass=rng.uniform(0.5, 2))
            inner = model.ground.at() if end is None else end
            model.add(rod, fm.Spherical(f"S{i}", inner, rod.base, stiffness=rng.uniform(5, 30)))
            end = rod.tip
        found = fm.equilibrium(model)
        run = fm.simulate(fm.compile(model, everything=True, starts=found.starts), stop=0.5, outputs=["b2.tip.r"])
        np.testing.assert_allclose(run["b2.tip.r"][-1], run["b2.tip.r"][0], atol=1e-7)
        assert found.stable


def test_an_image_without_all_coordinates_is_refused():
    model = pendulum(0.3)
    model.output("tip", of="rod.tip.r")
    assert fm.equilibrium(model).stable
    with pytest.raises(fm.EquilibriumError, match=r"declares variables.*everything=True"):
        fm.equilibrium(fm.compile(model))
    fm.Solver(fm.compile(model), equilibrium=True).assemble()


# Large mechanisms ---------------------------------------------------------------------------------------------------


def bent(elements, **load):
    model = fm.Model("bent", gravity=(0, 0, -1))
    link = fm.FlexibleLink("l", length=1.0, EIy=1.0, EIz=2.0, GJ=1.0, mass=1.0, axial_inertia=1e-3, elements=elements)
    model.add(link, fm.Weld("w", model.ground.at(), link.base), fm.Load("L", link.tip, **load))
    return model


def ring(elements):
    """A closed loop: two flexible links and a rod on pins, which sag."""
    model = fm.Model("ring", gravity=(0, -9.81, 0))
    given = {"EIy": 20.0, "EIz": 20.0, "GJ": 1.0, "axial_inertia": 1e-3, "plane": "xy", "elements": elements}
    a, b = (fm.FlexibleLink(name, length=1.0, mass=1.0, **given) for name in "ab")
    model.add(a, b, fm.Weld("A", model.ground.at(), a.base), fm.Revolute("B", a.tip, b.base, q0=-1.0))
    model.add(fm.Revolute("C", b.tip, model.ground.at(1 + np.cos(1.0), -np.sin(1.0))))
    return model


def held_up(elements):
    """By a stiff spring at its tip."""
    model = bent(elements, force=(0, 1.0, 0))
    model.add(fm.Spring("s", model["l"].tip, model.ground.at(1, 0, 1), stiffness=300.0, free_length=0.9))
    return model


def swung(elements):
    """Dampers everywhere, a drive in the middle, a slide at its root."""
    model = fm.Model("swung", gravity=(0, 0, -1))
    given = {"length": 0.5, "EIy": 20.0, "EIz": 20.0, "GJ": 3.0, "mass": 0.5, "axial_inertia": 1e-3, "damping": 0.2}
    a, b = (fm.FlexibleLink(name, elements=elements, **given) for name in "ab")
    model.add(a, b, fm.Prismatic("A", model.ground.at(), a.base, axis="z", stiffness=30.0, damping=5.0))
    mode = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.4))
    model.add(fm.Joint("D", a.tip, b.base, modes=(mode,)))
    model.add(fm.Spring("s", b.tip, model.ground.at(1, 1, 0.5), stiffness=300.0, free_length=0.9))
    return model


@pytest.mark.parametrize(
    "model",
    [bent(15), bent(15, force=(0, 6.0, 2.0)), bent(15, torque=(0, 0, 3.0)), ring(21), held_up(15), swung(8)],
    ids=lambda m: m.name,
)
def test_corrections_without_a_matrix_give_what_those_with_one_give(model, monkeypatch):
    module = importlib.import_module("fmumbs.run.vibrations")
    monkeypatch.setattr(module, "MOST", 0)
    large = fm.equilibrium(model)
    monkeypatch.setattr(module, "LARGE", 10**9)
    small = fm.equilibrium(model)
    assert (len(large.squares) == 4) == (np.imag(large.squares) == 0).all()
    np.testing.assert_allclose(large.squares, small.squares[: len(large.squares)], rtol=1e-5)
    for name, value in small.starts.items():
        np.testing.assert_allclose(large.starts[name], value, rtol=0, atol=1e-8, err_msg=name)


def test_a_large_mechanism_with_one_degree_of_freedom_has_one_frequency():
    """Cranks in parallel between couplers, a spring in each: that of one crank with its share of the couplers."""
    model, count, below = fm.Model("cranks", gravity=(0, 0, 0)), 25, None
    for i in range(count):
        crank = fm.Body.rod(f"a{i}", length=1.0, mass=1.0, along="y")
        model.add(crank, fm.Revolute(f"A{i}", model.ground.at(i), crank.base, stiffness=50.0))
        if below is not None:
            rod = fm.Body.rod(f"c{i}", length=1.0, mass=1.0)
            model.add(rod, fm.Revolute(f"C{i}", below, rod.base), fm.Revolute(f"D{i}", rod.tip, crank.tip))
        below = crank.tip
    found = fm.equilibrium(model)
    assert found.solver.image.sizes["speeds"] > 40
    inertia = count / 3 + (count - 1)
    np.testing.assert_allclose(found.squares, [50.0 * count / inertia], rtol=1e-6)


def test_from_an_equilibrium_it_is_found_where_it_is():
    found = fm.equilibrium(ring(21))
    again = resting(fm.compile(ring(21), everything=True, starts=found.starts))
    assert again.equilibrium_found[0] == "newton"
    for name, value in found.starts.items():
        np.testing.assert_allclose(again.get(name), value, rtol=0, atol=1e-9, err_msg=name)


def test_the_number_of_evaluations_does_not_grow_with_that_of_elements():
    few, many = (resting(bent(elements, force=(0, 3.0, 0))).equilibrium_found[1] for elements in (20, 80))
    assert many < 1.3 * few


@pytest.mark.parametrize("force", [(0, 6.0, 2.0), (0, 200.0, 0)])
def test_far_from_the_start_it_bears_the_whole_load(force):
    found = fm.equilibrium(bent(4, force=force))
    assert found.method == "descent"
    np.testing.assert_array_equal(found.solver.get("L.force"), force)
    assert np.abs(found.solver.read(found.solver.image.variables.accelerations())).max() < 1e-3  # 1e7 1/s2 to 1e-10


def test_how_weak_a_spring_may_be():
    """Beside gravity 1e-7 of it is nothing; without gravity a spring holds by 1e-10 of the inertia over 1 s2."""

    def door(gravity, stiffness):
        model = fm.Model("door", gravity=(0, 0, -gravity))
        rod = fm.Body.rod("rod", length=1.0, mass=1.0)
        model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="z", stiffness=stiffness, q0=0.1))
        return model

    for gravity, stiffness in ((0.0, 1e-8), (9.81, 1e-5)):
        frequency = fm.equilibrium(door(gravity, stiffness)).frequencies[0]
        np.testing.assert_allclose(frequency, np.sqrt(3 * stiffness), rtol=1e-3)
    for gravity, stiffness in ((0.0, 1e-11), (9.81, 1e-8)):
        with pytest.raises(fm.EquilibriumError, match="indifferent"):
            fm.equilibrium(door(gravity, stiffness))


def test_a_column_that_buckles_is_unstable():
    """Beside Euler's load of a clamped column, pi^2 EI / (2 L)^2."""
    euler = np.pi**2 / 4
    for share, stable in ((0.9, True), (1.1, False)):
        model = fm.Model("column", gravity=(0, 0, 0))
        link = fm.FlexibleLink("l", length=1.0, EIy=1.0, EIz=2.0, GJ=1.0, mass=1.0, axial_inertia=1e-3, elements=20)
        model.add(link, fm.Weld("w", model.ground.at(), link.base))
        model.add(fm.Load("L", link.tip, force=(-share * euler, 0, 0)))
        found = fm.equilibrium(model)
        assert found.stable == stable
        assert ".q[2]" in found.softest


def test_a_large_mechanism_without_a_restoring_force_names_its_free_mode():
    model = fm.Model("spinning", gravity=(0, 0, 0))
    link = fm.FlexibleLink("l", length=1.0, EIy=1.0, EIz=2.0, GJ=1.0, mass=1.0, axial_inertia=1e-3, elements=20)
    model.add(link, fm.Revolute("A", model.ground.at(), link.base, axis="z"))
    with pytest.raises(fm.EquilibriumError, match=r"indifferent.*A\.q"):
        fm.equilibrium(model)


def test_rods_that_spin_between_balls_are_named():
    """A platform on four rods, far from its equilibrium: found, and the spin of a rod told to be free."""
    model, plate = fm.Model("table"), fm.Body("plate", mass=5.0, inertia=(1.0, 1.0, 2.0))
    model.add(plate)
    turned = fm.Rotation.about("x", 0.3)
    for name, place in zip("abc", ((-1, -1), (1, -1), (0, 1)), strict=True):
        rod = fm.Body.cylinder(name, length=2.0, radius=0.05, mass=1.0, along="-z")
        foot = np.array((place[0], place[1] - 2 * np.sin(0.3), 2 * np.cos(0.3)))
        model.add(rod, fm.Spherical(f"F{name}", model.ground.at(*foot), rod.base, q0=turned.inverse().as_quaternion()))
        model.add(fm.Spherical(f"P{name}", rod.tip, plate.at(*place), q0=turned.as_quaternion()))
    with pytest.raises(fm.EquilibriumError, match=r"indifferent.*\.w\["):
        fm.equilibrium(model)


def test_an_fmu_starts_in_equilibrium(tmp_path):
    path = fm.export_fmu(bent(4, force=(0, 3.0, 0)), tmp_path / "bent.fmu", equilibrium=True)
    from fmumbs.play import Options, run_fmu

    run = run_fmu(path, Options(stop=0.2, interval=0.05))
    np.testing.assert_allclose(run["l_tip.q[2]"], run["l_tip.q[2]"][0], atol=1e-8)
    assert abs(run["l_tip.q[2]"][0]) > 0.1


def test_a_search_that_fails_says_how_many_evaluations_it_took():
    model, body = fm.Model("falls"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(body, fm.Prismatic("P", model.ground.at(), body.at(), axis="z"))
    solver = fm.Solver(model)
    solver.set("solver.equilibrium", 1)
    with pytest.raises(fm.FmumbsError):
        solver.assemble()
    method, evaluations = solver.equilibrium_found
    assert (method, evaluations > 0) == ("none", True)
