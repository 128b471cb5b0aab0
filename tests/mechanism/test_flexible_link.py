"""Flexible links of rigid finite elements against the theory of beams."""

import numpy as np
import pytest

import fmumbs as fm
from support.energy import energy_and_power

LENGTH, MASS, EIY, EIZ, GJ, EA, AXIAL = 2.0, 1.5, 10.0, 25.0, 8.0, 400.0, 2e-3
CLAMPED_FREE = np.array([1.8751040687, 4.6940911330, 7.8547574382])  # roots of cos b cosh b = -1
SMALL = 1e-4  # [N] or [N.m]: a load whose deflections are in proportion to it


def cantilever(elements, force=(0, 0, 0), torque=(0, 0, 0), gravity=(0, 0, 0), **link):
    """A link that is clamped at its base, with a load at its tip."""
    model = fm.Model("cantilever", gravity=gravity)
    given = {"length": LENGTH, "EIy": EIY, "EIz": EIZ, "GJ": GJ, "EA": EA, "mass": MASS, "axial_inertia": AXIAL}
    beam = fm.FlexibleLink("beam", elements=elements, **(given | link))
    model.add(beam, fm.Weld("wall", model.ground.at(), beam.base))
    model.add(fm.Load("load", beam.tip, force=force, torque=torque))
    return model


def orders(errors):
    """Of convergence, from errors at doubled numbers of elements."""
    e = np.abs(errors)
    return np.log2(e[:-1] / e[1:])


@pytest.mark.parametrize(
    ("force", "torque", "index", "exact"),
    [
        ((0, SMALL, 0), (0, 0, 0), 1, SMALL * LENGTH**3 / (3 * EIZ)),
        ((0, 0, SMALL), (0, 0, 0), 2, SMALL * LENGTH**3 / (3 * EIY)),
        ((0, 0, 0), (0, 0, SMALL), 1, SMALL * LENGTH**2 / (2 * EIZ)),
    ],
    ids=["bending about z", "bending about y", "moment"],
)
def test_deflection_converges_with_second_order(force, torque, index, exact):
    tips = [fm.equilibrium(cantilever(n, force, torque)).solver.get("beam_tip.q")[index] for n in (3, 6, 12)]
    errors = np.array(tips) - exact
    if np.abs(errors).max() > 1e-9 * exact:  # a constant moment has no error at all
        np.testing.assert_allclose(orders(errors), 2.0, atol=0.02)
        assert abs(errors[-1]) < 0.002 * exact


@pytest.mark.parametrize(
    ("load", "index", "exact"),
    [
        ({"force": (SMALL, 0, 0)}, 0, SMALL * LENGTH / EA),
        ({"torque": (SMALL, 0, 0)}, 4, SMALL * LENGTH / GJ),
        ({"torque": (0, SMALL, 0)}, 3, SMALL * LENGTH / EIY),
        ({"torque": (0, 0, SMALL)}, 5, SMALL * LENGTH / EIZ),
    ],
    ids=["stretch", "torsion", "turn about y", "turn about z"],
)
@pytest.mark.parametrize("along", ["x", "y", "z", "-x"])
def test_what_no_moment_varies_along_is_exact(load, index, exact, along):
    k = "xyz".index(along[-1])
    turned = {what: np.roll(value, k) for what, value in load.items()}
    sign = -1.0 if along[0] == "-" and index == 0 else 1.0  # the axis of the turns is the frame's
    tip = fm.equilibrium(cantilever(5, along=along, stretch=True, **turned)).solver.get("beam_tip.q")
    place = (index + k) % 3 if index < 3 else index
    np.testing.assert_allclose(tip[place], exact, rtol=1e-6)
    assert sign * tip[place] != 0.0


def bending_frequencies(EI):
    return CLAMPED_FREE**2 * np.sqrt(EI / (MASS * LENGTH**3))


def axial_frequencies(stiffness, inertia):
    """Of torsion or stretch, clamped and free; inertia: of all of it."""
    return (np.arange(3) + 0.5) * np.pi * np.sqrt(stiffness / (inertia * LENGTH))


@pytest.mark.parametrize("what", ["y", "z", "torsion", "stretch"])
def test_the_first_three_frequencies_converge_with_second_order(what):
    exact = {
        "y": bending_frequencies(EIY),
        "z": bending_frequencies(EIZ),
        "torsion": axial_frequencies(GJ, AXIAL),
        "stretch": axial_frequencies(EA, MASS),
    }[what]
    found = []
    for n in (8, 16, 32) if what in "yz" else (8, 16):
        plane = {"y": "xz", "z": "xy", "stretch": "xy"}.get(what)
        others = {"torsion": {"EIy": 1e7, "EIz": 1e7}, "stretch": {"EIz": 1e7}}.get(what, {})  # far above these
        model = cantilever(n, plane=plane, stretch=what == "stretch", **others)
        all_of_them = fm.equilibrium(model).frequencies
        found.append([all_of_them[np.argmin(np.abs(all_of_them - w))] for w in exact])
    errors = np.array(found) - exact
    np.testing.assert_allclose(orders(errors)[-1], 2.0, atol=0.1)
    np.testing.assert_allclose(found[-1], exact, rtol=0.011)  # (5 pi / (2 n))^2 / 24 of a chain of n discs


def test_an_end_moment_rolls_it_up_into_a_circle():
    solver = fm.equilibrium(cantilever(12, torque=(0, 0, 2 * np.pi * EIZ / LENGTH), plane="xy")).solver
    np.testing.assert_allclose(solver.get("beam_tip.q")[:3], [-LENGTH, 0, 0], atol=1e-8)
    angles = [solver.get(name["z"]) for name in cantilever(12, plane="xy")["beam"].angles]
    np.testing.assert_allclose(angles, 2 * np.pi / 12, rtol=1e-8)


def test_a_large_deflection_in_the_plane_is_that_of_the_elastica():
    """Tip of a cantilever under F L^2 / EI = 2 across: Mattiasson's elliptic integrals, 0.49346 and 0.16064 L."""
    force = 2 * EIZ / LENGTH**2
    tips = [fm.equilibrium(cantilever(n, (0, force, 0), plane="xy")).solver.get("beam_tip.q") for n in (8, 16, 32)]
    errors = np.array([tip[:2] / LENGTH for tip in tips]) - (-0.16064, 0.49346)
    assert np.abs(errors[-1]).max() < 3e-4
    extrapolated = errors[-1] + (errors[-1] - errors[-2]) / 3
    np.testing.assert_allclose(extrapolated, 0.0, atol=1e-5)


def rod_tip(force, torque, EIy, EIz, GJ, points=400):
    """The tip of a Kirchhoff rod by another road: shooting for the moment at the base, RK4 along the arc."""
    from scipy.optimize import fsolve

    force, torque = np.array(force, float), np.array(torque, float)

    def rate(y):
        R, moment = y[3:12].reshape(3, 3), y[12:]
        curvature = (R.T @ moment) / (GJ, EIy, EIz)
        a, b, c = curvature
        skew = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        return np.concatenate([R[:, 0], (R @ skew).ravel(), -np.cross(R[:, 0], force)])

    def along(moment):
        y, h = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment]), LENGTH / points
        for _ in range(points):
            k1 = rate(y)
            k2 = rate(y + h / 2 * k1)
            k3 = rate(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
        return y

    base = fsolve(lambda moment: along(moment)[12:] - torque, torque + np.cross((LENGTH, 0, 0), force), xtol=1e-12)
    return along(base)[:3]


def test_a_large_deflection_out_of_the_plane_converges_with_second_order():
    """Both curvatures and torsion at once, which no order of rotations gets right to second order by itself."""
    force, torque = (0, 9.0, -6.0), (2.0, 0, 0)
    exact = rod_tip(force, torque, EIY, EIZ, GJ) - (LENGTH, 0, 0)
    assert np.linalg.norm(exact) > 0.4 * LENGTH
    tips = [fm.equilibrium(cantilever(n, force, torque)).solver.get("beam_tip.q")[:3] for n in (6, 12, 24)]
    errors = np.linalg.norm(np.array(tips) - exact, axis=1)
    assert (orders(errors) > 1.85).all()
    assert errors[-1] < 2e-3 * LENGTH


def rate_of_bend(q, qd):
    """The rate of the rotation vector of turns about x, y, z, by a difference."""
    from scipy.spatial.transform import Rotation

    ahead, back = (Rotation.from_euler("XYZ", q + h * qd).as_rotvec() for h in (1e-6, -1e-6))
    return (ahead - back) / 2e-6


def test_energy_is_lost_by_the_power_of_the_dampers():
    model = cantilever(4, force=(0, 0, 0), gravity=(0, -3, -9.81), damping=0.01)
    beam = model["beam"]
    solver = fm.Solver(fm.compile(model, everything=True).with_options(tolerance=1e-10))
    solver.assemble()
    names = [f"beam_e{i + 1}" for i in range(4)]
    d = np.concatenate([joint.law("damping") for joint in beam.joints])

    def power():
        rates = [rate_of_bend(solver.get(f"{name}.q"), solver.get(f"{name}.qd")) for name in names]
        return float(np.sum(d * np.concatenate(rates) ** 2))

    fell, lost = energy_and_power(solver, power, 1e-3, 200)
    assert lost > 0.01
    np.testing.assert_allclose(fell, lost, rtol=1e-5)


def test_a_vibration_decays_by_the_retardation_time():
    """Of a Kelvin-Voigt material: the damping ratio is tau w / 2, so that the energy falls by exp(-tau w^2 t)."""
    tau, model = 0.02, cantilever(6, force=(0, 0.05, 0), plane="xy", damping=0.02)
    still = fm.equilibrium(model)
    w = still.frequencies[0]
    image = fm.compile(model, everything=True, starts=still.starts).with_options(scheme="radau", tolerance=1e-8)
    solver = fm.Solver(image)
    solver.set("load.force", (0, 0, 0))
    solver.assemble()
    energies = []
    for periods in (1, 4):  # after one only the first mode is left
        solver.step(periods * 2 * np.pi / w)
        energies.append(solver.get("solver.energy"))
    np.testing.assert_allclose(np.log(energies[0] / energies[1]), tau * w**2 * 6 * np.pi / w, rtol=2e-3)


def test_it_has_the_mass_and_the_inertia_of_the_rod_that_it_replaces():
    section, material = fm.Section.circle(0.03), fm.Material.steel()
    link = fm.FlexibleLink("link", length=1.2, section=section, material=material, elements=7, along="-z")
    rod = fm.Body.rod("rod", length=1.2, radius=0.03, density=material.density, along="-z")
    total = fm.SpatialInertia(0.0)
    offset = 0.0
    for body, start in zip(link.bodies, link._starts(), strict=True):
        offset = start
        total = total + body.spatial_inertia.shifted((0, 0, -offset))
    np.testing.assert_allclose(total.mass, rod.mass, rtol=1e-12)
    np.testing.assert_allclose(total.com, rod.com, atol=1e-12)
    np.testing.assert_allclose(total.inertia, rod.inertia, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("along", ["x", "y", "z", "-x", "-y"])
def test_a_flat_link_has_the_mass_and_the_inertia_of_the_box_that_it_replaces(along):
    k = "xyz".index(along[-1])
    size, material = np.array((0.1, 0.04, 0.3)), fm.Material.aluminium()
    size[[k, 2]] = size[[2, k]]
    section = fm.Section.rectangle(size[(k + 1) % 3], size[(k + 2) % 3])
    link = fm.FlexibleLink("link", length=size[k], section=section, material=material, elements=3, along=along)
    box = fm.Body.box("box", size=size, density=2700.0, along=along)
    total = fm.SpatialInertia(0.0)
    for body, start in zip(link.bodies, link._starts(), strict=True):
        total = total + body.spatial_inertia.shifted(start * np.array(link.axis))
    stiff = (70e9 * section.area, 70e9 * section.Iy, 70e9 * section.Iz, 70e9 / 2.66 * section.J)
    np.testing.assert_allclose([link.stiffness(what) for what in ("EA", "EIy", "EIz", "GJ")], stiff)
    np.testing.assert_allclose(total.mass, box.mass, rtol=1e-12)
    np.testing.assert_allclose(total.com, box.com, atol=1e-12)
    np.testing.assert_allclose(total.inertia, box.inertia, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("along", ["x", "-y", "z"])
def test_the_rotation_of_the_tip_is_about_y_then_the_axis_then_z_of_the_section(along):
    rng, k = np.random.default_rng(2), "xyz".index(along[-1])
    link = fm.FlexibleLink("link", length=1.0, EIy=1, EIz=1, GJ=1, mass=1, axial_inertia=1, elements=3, along=along)
    model = fm.Model("bent")
    model.add(link, fm.Weld("wall", model.ground.at(rotation=fm.Rotation.rpy(0.3, -0.5, 1.0)), link.base))
    solver = fm.Solver(model)
    for joint in link.joints:
        solver.set(f"{joint.name}.q", rng.uniform(-0.3, 0.3, 3))
    solver.assemble()
    base, tip = (fm.Rotation.quaternion(*solver.get(f"{link.bodies[i].name}.quat")) for i in (0, -1))
    a, b, c = solver.get("link_tip.q")[3:]
    turned = [fm.Rotation.about("xyz"[(k + i) % 3], angle) for i, angle in ((1, a), (0, b), (2, c))]
    expected = turned[0] @ turned[1] @ turned[2]
    np.testing.assert_allclose((base.inverse() @ tip).matrix, expected.matrix, atol=1e-12)


def test_damping_that_is_given_is_taken_in_place_of_the_materials():
    given = {"length": 1.0, "section": fm.Section.circle(0.01), "material": fm.Material.steel(damping=0.01)}
    for damping, expected in ((None, 0.01), (0.03, 0.03), (0.0, 0.0)):
        joint = fm.FlexibleLink("link", damping=damping, **given).joints[0]
        np.testing.assert_allclose(np.divide(joint.damping, joint.stiffness), expected)


def test_points_stand_where_they_stand_on_a_rod():
    rng = np.random.default_rng(5)
    for along in ("x", "y", "-z"):
        link = fm.FlexibleLink("link", length=1.5, EIy=1, EIz=1, GJ=1, mass=1, axial_inertia=1, elements=3, along=along)
        model = fm.Model("points")
        turned = fm.Rotation.rpy(*rng.uniform(-1, 1, 3))
        places = [np.array(link.axis) * s + np.roll((0, *rng.uniform(-0.1, 0.1, 2)), "xyz".index(along[-1]))
                  for s in (0.0, 0.2, 0.25, 0.4, 0.6, 1.1, 1.4, 1.5)]  # fmt: skip
        ends = [link.at(*place, name=f"P{i}") for i, place in enumerate(places)]
        model.add(link, fm.Weld("wall", model.ground.at(0.1, 0.2, 0.3, rotation=turned), link.base))
        model.add(*(fm.Load(f"L{i}", end) for i, end in enumerate(ends)))
        solver = fm.Solver(model)
        solver.assemble()
        for end, place in zip(ends, places, strict=True):
            np.testing.assert_allclose(solver.get(f"{end!r}.r"), turned @ place + (0.1, 0.2, 0.3), atol=1e-12)
            own = np.dot(link.axis, end.X_BP.offset)  # from where its element begins; its centre is in the middle
            assert -1e-12 <= own <= 2 * np.dot(link.axis, end.body.com) + 1e-12


GOOD = {"length": 1.0, "EIy": 1.0, "EIz": 1.0, "GJ": 1.0, "mass": 1.0, "axial_inertia": 1e-3}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"length": -1}, "length"),
        ({"elements": 0}, "elements"),
        ({"GJ": None}, "GJ is not given"),
        ({"mass": None}, "mass is not given"),
        ({"axial_inertia": None}, "axial_inertia is zero, but the link twists"),
        ({"plane": "yz"}, "Give one of 'xy', 'xz'"),
        ({"stretch": True}, "EA is not given"),
        ({"section": fm.Section.circle(0.1)}, "given without a material"),
        ({"section": fm.Section.circle(0.1), "material": fm.Material.steel()}, "beside section and material"),
        ({"points": {"mid": (2, 0, 0)}}, "2 m along the link, which is 1 m long"),
        ({"points": {"tip": (1, 0, 0)}}, "exists on every link"),
    ],
)
def test_bad_links_are_refused(change, told):
    with pytest.raises(fm.ModelError, match=told):
        fm.FlexibleLink("link", **(GOOD | change))


def test_a_place_beyond_its_ends_is_refused():
    link = fm.FlexibleLink("link", **GOOD)
    with pytest.raises(fm.ModelError, match="between its ends"):
        link.at(1.1)
    with pytest.raises(fm.ModelError, match=r"has no point 'tp'.*tip"):
        link.point("tp")


def test_sections():
    square = fm.Section.rectangle(0.1, 0.1)
    np.testing.assert_allclose(square.J / 0.1**4, 0.140577, rtol=1e-5)  # Timoshenko and Goodier, table of k1
    np.testing.assert_allclose(fm.Section.rectangle(0.1, 0.2).J / (0.2 * 0.1**3), 0.228682, rtol=1e-5)
    flat = fm.Section.rectangle(0.2, 0.01)
    np.testing.assert_allclose((flat.Iy, flat.Iz), (0.2 * 0.01**3 / 12, 0.01 * 0.2**3 / 12))
    tube, full, bore = fm.Section.tube(0.05, 0.01), fm.Section.circle(0.05), fm.Section.circle(0.04)
    for what in ("area", "Iy", "Iz", "J"):
        np.testing.assert_allclose(getattr(tube, what), getattr(full, what) - getattr(bore, what))
    steel, aluminium = fm.Material.steel(), fm.Material.aluminium()
    found = (steel.G, steel.density, aluminium.G, aluminium.density)
    np.testing.assert_allclose(found, (80.77e9, 7850, 26.3e9, 2700), rtol=1e-3)
    with pytest.raises(fm.ModelError, match="wall"):
        fm.Section.tube(0.05, 0.05)
    with pytest.raises(fm.ModelError, match="Iy \\+ Iz"):
        fm.Section(1e-4, 1e-9, 1e-9, 1e-8)
