"""Rigid bodies made flexible: where things act, what is refused, and reactions that become unique."""

import numpy as np
import pytest

import fmumbs as fm

STEEL = fm.Material.steel()


def four_bar(**sizes):
    """A four-bar with a load, a spring, a law and signals on its coupler."""
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
    assert [signal.name for signal in bent.signals] == [signal.name for signal in rigid.signals]


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


def test_a_signal_that_a_link_cannot_have_is_refused():
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
