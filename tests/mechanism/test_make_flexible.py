"""Rigid bodies made flexible: where things act, what is refused, and reactions that become unique."""

import numpy as np
import pytest

import fmumbs as fm
from support.sweeps import seeds

STEEL = fm.Material.steel()


def four_bar(**sizes):
    """A four-bar with a load, a spring, a law and declared variables on its coupler."""
    model = fm.Model("four_bar", gravity=(0, -9.81, 0))
    crank = fm.Body.cylinder("crank", length=0.3, radius=0.01, density=7850)
    coupler = fm.Body.box("coupler", size=(1.0, 0.02, 0.03), density=7850)
    rocker = fm.Body.rod("rocker", length=0.8, mass=1.0, along="-y")
    A = fm.Revolute("A", model.ground.at(), crank.base, q0=1.0, u0=2.0)
    model.add(crank, coupler, rocker, A, fm.Revolute("B", crank.tip, coupler.base, q0=-0.7))
    model.add(fm.Revolute("C", coupler.tip, rocker.tip), fm.Revolute("D", model.ground.at(1.0, 0.5), rocker.base))
    model.add(fm.Load("push", coupler.at(0.4, 0.01, name="middle"), force=(0, 1, 0)))
    model.add(fm.Spring("spring", coupler.at(0.7), model.ground.at(0.5, 1.0), stiffness=10.0))
    model.add(fm.Law.polynomial("law", A, [0.0, -1.0]))
    model.output("height", of="coupler.middle.r")
    model.output("tip", of="coupler.tip.r[2]")
    model.output("frame", of="coupler.r")
    model.input("drive", to="A.tau", start=0.3)
    return model


def test_a_stiff_link_moves_as_the_rigid_body_did():
    rigid = four_bar()
    bent = fm.make_flexible(rigid, ["crank", "coupler"], material=STEEL, elements=2)
    one, other = (fm.Solver(model) for model in (rigid, bent))
    for solver in (one, other):
        solver.assemble()
    for name in ("height", "tip", "frame", "A.q", "A.qd"):
        np.testing.assert_allclose(other.get(name), one.get(name), atol=1e-9, err_msg=name)
    total = sum(body.mass for body in bent.bodies)
    np.testing.assert_allclose(total, sum(body.mass for body in rigid.bodies), rtol=1e-12)
    still = [fm.equilibrium(model) for model in (rigid, bent)]
    np.testing.assert_allclose(still[1].solver.get("A.q"), still[0].solver.get("A.q"), rtol=1e-3)
    assert [one.name for one in bent.declared] == [one.name for one in rigid.declared]


def test_the_rest_of_the_model_is_kept():
    rigid = four_bar()
    rigid.experiment(stop=3.0, interval=0.02)
    rigid.parameter("weight", of="rocker.mass")
    bent = fm.make_flexible(rigid, "coupler", material=STEEL)
    assert (bent.name, bent.gravity, bent.description) == (rigid.name, rigid.gravity, rigid.description)
    assert bent.default_experiment == rigid.default_experiment
    assert [(one.name, one.causality, one.start) for one in bent.declared] == [
        (one.name, one.causality, one.start) for one in rigid.declared
    ]
    assert "middle" in {point.name for point in bent.named_points}


@pytest.mark.parametrize("along", ["x", "-y", "z"])
def test_what_is_given_reaches_the_link(along):
    model = fm.Model("one")
    body = fm.Body.cylinder("body", length=1.0, radius=0.01, mass=2.0, along=along)
    model.add(body, fm.Revolute("A", model.ground.at(), body.base, axis="x"))
    plane, tube = {"x": "xz", "y": "xy", "z": "yz"}[along[-1]], fm.Section.tube(0.02, 0.001)
    given = {"elements": 4, "plane": plane, "stretch": True}
    link = fm.make_flexible(model, "body", material={"body": STEEL}, sections={"body": tube}, **given)["body"]
    assert (link.along, link.plane, link.stretch, link.elements) == (along, plane, True, 4)
    assert (link.section, link.material, link.total_mass, link.length) == (tube, STEEL, 2.0, 1.0)


def test_couplings_and_ends_before_the_base():
    model = fm.Model("geared")
    arms = [fm.Body.cylinder(name, length=0.5, radius=0.01, mass=1.0) for name in "ab"]
    joints = [fm.Revolute(arm.name.upper(), model.ground.at(0, i), arm.base) for i, arm in enumerate(arms)]
    model.add(*arms, *joints, fm.Coupling("G", [(joints[0], 1.0), (joints[1], 2.0)]))
    bent = fm.make_flexible(model, arms, material=STEEL, elements=1)
    solver = fm.Solver(bent)
    solver.set("A.qd", 1.0)
    solver.assemble()
    np.testing.assert_allclose(solver.get("A.qd") + 2.0 * solver.get("B.qd"), 0.0, atol=1e-12)
    model.add(fm.Spring("S", arms[0].at(-0.1), model.ground.at(1.0), stiffness=1.0))
    with pytest.raises(fm.ModelError, match=r"Spring 'S' acts on 'a' 0\.1 m before its base"):
        fm.make_flexible(model, arms, material=STEEL)


def test_the_given_model_does_not_change():
    model = four_bar()
    before = model.elements
    fm.make_flexible(model, "crank", material=STEEL)
    assert model.elements == before


def column():
    """A rigid body by numbers, held above and beyond its length."""
    model = fm.Model("column")
    arm = fm.Body.cylinder("arm", length=1.0, radius=0.01, density=7850)
    block = fm.Body("block", mass=1.0, inertia=(1, 1, 1))
    model.add(arm, block, fm.Revolute("A", model.ground.at(), arm.base), fm.Revolute("B", arm.at(1.25), block.at()))
    return model


@pytest.mark.parametrize(
    ("model", "bodies", "given", "told"),
    [
        (four_bar, "rocker", {}, "'rocker' is a rod without a radius.*sections="),
        (four_bar, "cuopler", {}, "no body 'cuopler'.*coupler"),
        (four_bar, "crank", {"material": None}, "no material for 'crank'"),
        (column, "block", {}, "'block' has no section.*FlexibleLink"),
        (column, "arm", {}, "Revolute 'B' acts on 'arm' 0.25 m beyond its tip"),
    ],
)
def test_what_cannot_be_made_flexible_is_refused_by_name(model, bodies, given, told):
    with pytest.raises(fm.ModelError, match=told):
        fm.make_flexible(model(), bodies, **({"material": STEEL} | given))


def test_a_declaration_that_a_link_cannot_have_is_refused():
    model = four_bar()
    model.parameter("heavy", of="coupler.mass")
    with pytest.raises(fm.ModelError, match=r"'heavy' is of 'coupler\.mass'"):
        fm.make_flexible(model, "coupler", material=STEEL)


def test_a_link_takes_the_place_of_any_body():
    model = column()
    link = fm.FlexibleLink("any", length=2.0, EIy=1e3, EIz=1e3, GJ=1e3, mass=1.0, axial_inertia=1e-2, elements=3)
    bent = fm.make_flexible(model, {"arm": link})
    solver = fm.Solver(bent)
    solver.assemble()
    np.testing.assert_allclose(solver.get("block.r"), (1.25, 0, 0), atol=1e-12)


AREAS, PLACES = (1e-4, 2e-4, 4e-4), (-1.0, 0.0, 1.5)


def table(force=1000.0, at=0.4):
    """A rigid beam on three legs in a plane, pinned at both ends, and held from the side: one force too many."""
    model = fm.Model("table", gravity=(0, 0, 0))
    plate = fm.Body("plate", mass=10.0, inertia=(1, 1, 1))
    legs = [fm.Body.box(f"leg{i}", size=(1.0, 1e-2, area / 1e-2), density=1.0) for i, area in enumerate(AREAS)]
    upright = fm.Rotation.about("z", np.pi / 2)
    model.add(plate, *legs)
    for i, (leg, x) in enumerate(zip(legs, PLACES, strict=True)):
        model.add(fm.Revolute(f"foot{i}", model.ground.at(x, 0, 0, rotation=upright), leg.base))
        model.add(fm.Revolute(f"head{i}", leg.tip, plate.at(x, rotation=upright)))
    model.add(fm.Spring("side", model.ground.at(-9, 1, 0), plate.at(-1), stiffness=1e4, free_length=8.0))
    model.add(fm.Load("weight", plate.at(at), force=(0, -force, 0)))
    return model


def split(E, force=1000.0, at=0.4):
    """Forces of a rigid beam on three springs E A / L, by least energy."""
    k = E * np.array(AREAS)
    x = np.array(PLACES)
    A = np.array([[k.sum(), (k * x).sum()], [(k * x).sum(), (k * x**2).sum()]])
    sink, turn = np.linalg.solve(A, (force, force * at))
    return k * (sink + turn * x)


def test_reactions_become_unique_and_split_as_the_stiffnesses():
    """As the legs stiffen in proportion their forces converge to those of a rigid beam on springs E A / L."""
    rigid = table()
    unique = {joint.joint: joint.components_unique[0] for joint in fm.uniqueness(rigid).joints}
    assert not any(unique[f"foot{i}"] for i in range(3))
    assert any(name.startswith("leg") for name in fm.uniqueness(rigid).flexible)
    errors = []
    for E in (1e7, 1e8, 1e9):
        legs, material = ["leg0", "leg1", "leg2"], fm.Material(E=E, density=1.0)
        bent = fm.make_flexible(rigid, legs, material=material, elements=2, plane="xy", stretch=True)
        unique = {joint.joint: joint.components_unique[0] for joint in fm.uniqueness(bent).joints}
        assert all(unique[f"foot{i}"] for i in range(3))
        solver = fm.equilibrium(bent).solver
        found = np.array([-solver.get(f"foot{i}.reaction.f")[0] for i in range(3)])
        errors.append(np.abs(np.abs(found) - split(E)).max())
    assert errors[-1] < 1e-3 * 1000
    assert errors[-1] < errors[0] / 5


def random_table(rng):
    """Legs of any number, length, area and place under a beam, in any plane; and its forces as of springs E A / L."""
    count = int(rng.integers(3, 6))
    places = np.sort(rng.permutation(np.arange(-4, 5))[:count]) * 0.5 + rng.uniform(-0.1, 0.1, count)
    areas, lengths = 1e-4 * rng.uniform(1, 5, count), rng.uniform(0.4, 1.5, count)
    force, at = rng.uniform(20, 90), rng.uniform(-1, 1)  # [N], far below that at which a leg buckles
    turned = fm.Rotation.rpy(*rng.uniform(-3, 3, 3))
    model = fm.Model("random_table", gravity=(0, 0, 0))
    plate = fm.Body("plate", mass=10.0, inertia=(1, 1, 1))
    model.add(plate)
    upright = fm.Rotation.about("z", np.pi / 2)
    for i, (x, area, length) in enumerate(zip(places, areas, lengths, strict=True)):
        along = str(rng.choice(("x", "-x")))
        size = (length, 0.1, area / 0.1)
        leg = fm.Body.box(f"leg{i}", size=size, density=1.0, along=along)
        foot = model.ground.at(*(turned @ (x, -length, 0)), rotation=turned @ upright)
        head = plate.at(x, rotation=upright)
        low, high = (leg.base, leg.tip) if along == "x" else (leg.tip, leg.base)
        model.add(leg, fm.Revolute(f"foot{i}", foot, low))
        model.add(fm.Revolute(f"head{i}", high, head) if rng.random() < 0.5 else fm.Revolute(f"head{i}", head, high))
    far = turned @ (places[0] - 8, 0, 0)
    model.add(fm.Spring("side", model.ground.at(*far), plate.at(places[0]), stiffness=1e4, free_length=8.0))
    model.add(fm.Load("weight", plate.at(at), force=turned @ (0, -force, 0)))

    def split(E):
        k = E * areas / lengths
        A = np.array([[k.sum(), (k * places).sum()], [(k * places).sum(), (k * places**2).sum()]])
        sink, turn = np.linalg.solve(A, (force, force * at))
        return k * (sink + turn * places)

    return model, split, force


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_any_table_stands_as_on_springs_with_the_bodies_that_uniqueness_names(seed):
    """The forces converge to those of a rigid beam on springs as E grows, with the bodies named and no others."""
    rigid, split, force = random_table(np.random.default_rng(seed))
    legs = [name for name in fm.uniqueness(rigid).flexible if name.startswith("leg")]
    errors = []
    for E in (1e9, 1e10, 1e11):
        material = fm.Material(E=E, density=1.0)
        every = [body.name for body in rigid.bodies if body.name.startswith("leg")]
        bent = fm.make_flexible(rigid, every, material=material, elements=2, plane="xy", stretch=True)
        solver = fm.equilibrium(bent).solver
        found = np.array([-solver.get(f"foot{i}.reaction.f")[0] for i in range(len(every))])
        errors.append(np.abs(np.abs(found) - np.abs(split(E))).max())
    assert legs
    assert errors[-1] < 1e-4 * force
    assert errors[-1] < errors[0] / 5 or errors[0] < 1e-6 * force
    named = fm.make_flexible(rigid, legs, material=material, elements=2, plane="xy", stretch=True)
    assert all(joint.components_unique[0] for joint in fm.uniqueness(named).joints if joint.joint.startswith("foot"))


START = {  # from rest, where the bars are at the start: assembly then deforms nothing
    "z": fm.Path.polynomial(-np.sin(0.4) - 0.8 * np.sin(1.1), 0.0, 0.5),
    "x": fm.Path.polynomial(0.5 + np.cos(0.7), 0.0, -0.5),
}


def arm(program):
    """Two bars, one with friction in its pin, and a program."""
    model = fm.Model("arm", gravity=(0, 0, -9.81))
    bars = [fm.Body.cylinder(name, length=1.0, radius=0.02, density=7850) for name in ("upper", "lower")]
    friction = fm.LuGre(0.6, 0.4, stribeck=0.1, stiffness=100.0, damping=5.0, preload=1.0)
    model.add(*bars, fm.Revolute("A", model.ground.at(), bars[0].base, axis="y", q0=0.4, friction=friction))
    model.add(fm.Revolute("B", bars[0].tip, bars[1].base, axis="y", q0=0.7))
    model.add(program(model))
    return model


@pytest.mark.parametrize(
    "program",
    [
        lambda m: fm.ProgrammedPoint("P", m["lower"].at(0.8), directions="z", path=START["z"]),
        lambda m: fm.ProgrammedPoint("P", m["lower"].tip, frame=m["upper"].at(0.5), directions="x", path=START["x"]),
        lambda m: fm.ProgrammedJoint("P", m["B"], path=fm.Path.polynomial(0.7, 0.0, 0.2)),
    ],
)
def test_programs_and_friction_come_with_the_bodies(program):
    rigid = arm(program)
    stiff = fm.Material(E=1e14, density=1.0)
    bent = fm.make_flexible(rigid, ["upper", "lower"], material=stiff, elements=2, plane="xz")
    found = []
    for model in (rigid, bent):
        solver = fm.Solver(fm.compile(model, everything=True).with_options(scheme="radau", tolerance=1e-7))
        solver.assemble()
        solver.step(0.2)
        found.append([solver.get(name) for name in ("A.q", "B.q", "P.eta", "A.friction.z")])
        np.testing.assert_allclose(solver.get("P.violation"), 0.0, atol=1e-9)
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
