"""LuGre friction: closed forms, other integrations, energy, saved states, and every joint that has it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import simpson

import fmumbs as fm
from support.apart import with_skate
from support.energy import energy_and_power
from support.sweeps import each_value

RUB = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, damping=2.0, viscous=0.05, preload=4.0)
BRAKE = replace(RUB, preload=5.0, stiffness=1e8, damping=600.0)
PASSIVE = replace(RUB, viscous=1.0)  # 1.0 * 0.2 >= 2.0 * (0.3 - 0.2)
ANGLES = {"A": -1.2, "B": 0.692384948, "D": -1.509620317}


def slider(friction: fm.LuGre, **options: float) -> fm.Model:
    """A block of 2 kg on a rail, without gravity."""
    model = fm.Model("slider", gravity=(0, 0, 0))
    block = fm.Body("block", mass=2.0, inertia=(1, 1, 1))
    model.add(block, fm.Prismatic("J", model.ground.at(), block.at(), axis="x", friction=friction, **options))
    return model


def every_joint(friction: fm.LuGre = RUB) -> fm.Model:
    """A chain of every kind of joint that has friction, in space; E points towards the ground."""
    model = fm.Model("every_joint")
    a, b, c, d, e = (fm.Body.rod(n, length=0.5, mass=1.0, radius=0.1) for n in "abcde")
    rolls = replace(friction, radius=0.1)
    model.add(
        *(a, b, c, d, e),
        fm.Revolute("A", model.ground.at(), a.base, axis="y", u0=1.0, friction=friction),
        fm.Cylindrical("B", a.tip, b.base, axis="x", stiffness=(0, 50), friction=rolls, u0=(2.0, 0.3)),
        fm.Universal("C", b.tip, c.base, friction=friction, u0=(0.3, -0.7)),
        fm.Spherical("D", c.tip, d.base, friction=friction, u0=(0.2, 0.4, -1.0)),
        fm.Prismatic("E", e.base, d.tip, axis="x", stiffness=80, friction=friction, u0=-0.2),
    )
    return model


def four_bar(friction: fm.LuGre = replace(RUB, preload=0.5), cut: str = "C", u0: float = 6.0) -> fm.Model:  # noqa: B008
    """A loop with friction in each joint, also in the one that is cut."""
    model = fm.Model("four_bar")
    ground = model.ground
    a, b, c = (fm.Body.rod(n, length=size, mass=1.0) for n, size in (("a", 0.1), ("b", 0.26), ("c", 0.22)))
    ends = {"A": (ground.at(), a.base), "B": (a.tip, b.base), "D": (ground.at(0.25, 0, 0), c.base), "C": (b.tip, c.tip)}
    model.add(a, b, c)
    for name, (F, M) in ends.items():
        start = {} if name == "C" or name == cut else {"q0": ANGLES[name]}
        if name == "A":
            start["u0"] = u0
        model.add(fm.Revolute(name, F, M, axis="y", friction=friction, cut=name == cut, **start))
    return model


def solver_of(model: fm.Model, **options: object) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**options))
    solver.assemble()
    return solver


def frictions_of(joint: str, model: fm.Model) -> list[str]:
    two = isinstance(model[joint], fm.Universal)
    return [f"{joint}.friction[{i + 1}]" for i in range(2)] if two else [f"{joint}.friction"]


def arms_of(joint: str, model: fm.Model) -> np.ndarray:
    return np.array([0.1, 1.0]) if isinstance(model[joint], fm.Cylindrical) else np.ones(1)


def rates_of(joint: str, model: fm.Model) -> str:
    return f"{joint}.w" if isinstance(model[joint], fm.Spherical) else f"{joint}.qd"


def formula(friction: fm.LuGre, v: np.ndarray, z: np.ndarray, load: float) -> tuple[np.ndarray, np.ndarray]:
    """z' and the force that resists, of a sliding velocity and a deflection in any number of directions."""
    speed = float(np.linalg.norm(v))
    mu = friction.kinetic + (friction.static - friction.kinetic) * math.exp(-((speed / friction.stribeck) ** 2))
    rate = v - friction.stiffness * speed / mu * z
    return rate, load * friction.scale * (friction.stiffness * z + friction.damping * rate + friction.viscous * v)


# Closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("velocity", [1e-9, 0.003, -0.05, 0.1, -0.2, 0.7, 3.0, 1e3])
def test_steady_sliding_has_the_force_of_the_stribeck_curve(velocity: float) -> None:
    curve = 0.2 + 0.1 * math.exp(-((velocity / 0.1) ** 2))
    solver = solver_of(slider(RUB, u0=velocity))
    solver.set("J.friction.z", math.copysign(curve / 1e3, velocity))
    assert solver.get("J.friction.slip") == pytest.approx(1.0, rel=1e-15)
    force = -math.copysign(4.0 * curve, velocity) - 4.0 * 0.05 * velocity
    assert solver.get("J.friction.force") == pytest.approx(force, rel=4e-15, abs=1e-13 * abs(velocity))


def test_the_exponential_is_exact_to_the_last_digits() -> None:
    """With next to no kinetic coefficient the slip of |z| = 1 is the stiffness over the static one and exp(-x^2)."""
    solver = solver_of(slider(replace(RUB, static=1e100, kinetic=1e-100)))
    solver.set("J.friction.z", 1.0)
    for x in np.linspace(0.0, 20.0, 200):
        solver.set("J.qd", 0.1 * x)
        at = (solver.get("J.qd") / 0.1) ** 2
        slip = 1e3 / (1e100 * math.exp(-at))
        assert solver.get("J.friction.slip") == pytest.approx(slip, rel=1e-15 * (2 + at / 4), abs=0)


def test_it_swings_on_its_bristles_before_it_slides() -> None:
    """Pre-sliding: m x'' + N (sigma_1 + sigma_2) x' + N sigma_0 x = f for a force far below break-away."""
    f, k, d, m = 1e-6, 4.0 * 1e3, 4.0 * 2.05, 2.0
    solver = solver_of(slider(RUB), tolerance=1e-12)
    solver.set("J.f", f)
    decay = d / (2 * m)
    damped = math.sqrt(k / m - decay**2)
    for t in np.linspace(0.01, 0.3, 30):
        solver.step(t)
        x = f / k * (1 - math.exp(-decay * t) * (math.cos(damped * t) + decay / damped * math.sin(damped * t)))
        assert solver.get("J.q") == pytest.approx(x, abs=1e-5 * f / k)  # slip: z / g is 1e-6


@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
def test_it_breaks_away_at_the_static_coefficient(scheme: str) -> None:
    """Under a force that grows slowly it creeps with the bristles until that exceeds 4 N times 0.3."""
    solver = solver_of(slider(replace(RUB, damping=50.0, stribeck=0.01)), scheme=scheme, tolerance=1e-7)
    broken = None
    for k in range(140):
        solver.set("J.f", k * 1e-2)
        solver.set_input_derivatives("J.f", 1, 1.0)
        solver.step((k + 1) * 1e-2)
        if broken is None and abs(solver.get("J.q")) > 1e-3:
            broken = (k + 1) * 1e-2
    assert broken == pytest.approx(1.22, abs=0.03)


# Motion ------------------------------------------------------------------------------------------------------------


def test_the_schemes_agree_in_every_joint() -> None:
    names = ["A.q", "B.q", "C.q", "D.q", "E.q", "A.friction.z", "B.friction.z", "D.friction.z"]
    runs = {"stop": 0.3, "interval": 0.1, "outputs": names, "tolerance": 1e-9}
    one, other = (fm.simulate(every_joint(), scheme=scheme, **runs) for scheme in ("dop853", "radau"))
    for name in names:
        assert_allclose(other[name], one[name], rtol=0, atol=1e-7 if "z" not in name else 1e-10, err_msg=name)


def spinner(friction: fm.LuGre, **options: float) -> fm.Model:
    """A cylindrical joint of a small radius, about which it spins down to rest."""
    model = fm.Model("spinner", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1e-4, 1e-4, 1e-4))
    rub = replace(friction, radius=0.01)
    model.add(body, fm.Cylindrical("J", model.ground.at(), body.at(), axis="x", friction=rub, u0=(5.0, 0.1)))
    return model


@pytest.mark.parametrize("make", [slider, spinner, four_bar, every_joint])
def test_the_implicit_scheme_condenses_stiff_bristles(make) -> None:
    """Bristles a hundred thousand times as stiff take it twice the evaluations at most."""
    soft = replace(RUB, preload=0.5)
    stiff = replace(soft, stiffness=1e8, damping=600.0)
    options = {} if make is every_joint else {"u0": 1.0}
    run = {"stop": 0.3, "interval": 0.3, "scheme": "radau", "outputs": ["solver.evaluations"]}
    found = [fm.simulate(make(rub, **options), **run)["solver.evaluations"][-1] for rub in (soft, stiff)]
    assert found[1] < 2.0 * found[0]


def braked(joint: str, cut: str, own: bool) -> fm.Model:
    """The four-bar with bristles of 1e8 in one joint alone, in which it comes to rest, or with own=True is held."""
    rub = replace(BRAKE, own=True, radius=0.005) if own else BRAKE
    whole, model = four_bar(rub, cut=cut, u0=0.0 if own else 1.0), fm.Model("braked")
    model.add(*whole.bodies, *(j if j.name == joint else replace(j, friction=None) for j in whole.joints))
    spring = fm.Spring("S", whole["b"].at(0.1, 0, 0.1), model.ground.at(0.1, 0, 0.3), stiffness=20.0, damping=0.1)
    model.add(spring)
    return model


def braked_crank(joint: str, cut: str, own: bool) -> fm.Model:
    """The loop in space, in the same way."""
    whole, model = crank(cut), fm.Model("braked_crank")
    model.add(*whole.bodies)
    for j in whole.joints:
        radius = 0.0 if isinstance(j, fm.Prismatic) else 0.005
        rub = replace(BRAKE, own=True, radius=radius) if own else BRAKE
        start = {"u0": 0.0 if own else 1.0} if j.name == "A" else {}
        model.add(replace(j, friction=rub if j.name == joint else None, **start))
    return model


def evaluations(model: fm.Model, dynamics: str) -> float:
    """In stages that are found one after the other."""
    run = {"stop": 0.3, "interval": 0.3, "scheme": "radau", "dynamics": dynamics, "outputs": ["solver.evaluations"]}
    return fm.simulate(with_skate(model), **run)["solver.evaluations"][-1]


@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    ("make", "joint", "twin"),
    [(braked, "C", "B"), (braked, "B", "C"), (braked_crank, "B", "C"), (braked_crank, "D", "B")],
)
def test_bristles_that_stick_cost_as_much_in_a_cut_joint_as_in_the_tree(make, joint, twin, own, dynamics) -> None:
    assert evaluations(make(joint, joint, own), dynamics) < 2.0 * evaluations(make(joint, twin, own), dynamics)


@pytest.mark.parametrize(("cut", "planar"), [("B", True), ("D", True), ("B", False)])
def test_it_does_not_matter_which_joint_of_a_loop_is_cut(cut: str, planar: bool) -> None:
    found = []
    for one in ("C", cut):
        solver = solver_of(four_bar(cut=one), tolerance=1e-10, scheme="radau")
        solver.use_planar(planar or one == "C")
        solver.step(0.1)
        found.append([solver.get(name) for name in ("A.q", "C.friction.z", "B.friction.z", "D.friction.force")])
    assert_allclose(found[1], found[0], rtol=0, atol=1e-7)


def crank(cut: str) -> fm.Model:
    """A loop in space with a revolute, a universal, a spherical and a prismatic joint, of which one is cut."""
    model = fm.Model("crank")
    a, b, c = (fm.Body.rod(n, length=size, mass=1.0, radius=0.02) for n, size in (("a", 0.1), ("b", 0.4), ("c", 0.1)))
    rub = replace(RUB, preload=2.0)
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", u0=8.0, friction=rub, cut=cut == "A"))
    model.add(fm.Universal("B", a.tip, b.base, axes=("y", "z"), friction=rub, cut=cut == "B"))
    model.add(fm.Spherical("C", b.tip, c.base, friction=rub, cut=cut == "C"))
    model.add(fm.Prismatic("D", model.ground.at(0.3, 0, 0), c.base, axis="x", friction=rub, cut=cut == "D"))
    return model


def test_it_does_not_matter_which_joint_of_a_loop_in_space_is_cut() -> None:
    names = ["A.qd", "A.friction.z", "B.friction[1].z", "B.friction[2].z", "D.friction.z", "D.friction.force"]
    found = []
    for cut in "CBD":
        solver = solver_of(crank(cut), tolerance=1e-10)
        solver.step(0.05)
        found.append(np.concatenate([np.atleast_1d(solver.get(name)) for name in names]))
    assert_allclose(found[1], found[0], rtol=0, atol=1e-6)
    assert_allclose(found[2], found[0], rtol=0, atol=1e-6)


def test_results_do_not_depend_on_the_communication_step() -> None:
    names = ["A.q", "D.q", "E.friction.z"]
    run = {"stop": 0.2, "outputs": names, "tolerance": 1e-9}
    ends = [fm.simulate(every_joint(), interval=interval, **run) for interval in (0.002, 0.2)]
    for name in names:
        assert_allclose(ends[1][name][-1], ends[0][name][-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("scheme", ["dopri5", "radau", "dop853", "rk4"])
def test_a_saved_state_continues_bit_for_bit(scheme: str) -> None:
    options = {"scheme": scheme, "step": 1e-4}
    model = every_joint(replace(RUB, pressed=True, scaled=True))
    solver, other = solver_of(model, **options), fm.Solver(fm.compile(model).with_options(**options))
    solver.set("B.friction.normal", 2.0)
    solver.step(0.0203)
    other.state_load(solver.state_save())
    for one in (solver, other):
        one.set("A.friction.scale_in", 1.5)
        one.step(0.05)
    for name in ("A.q", "D.friction.z", "B.friction.force", "C.friction[2].slip", "A.friction.load"):
        assert np.array_equal(solver.get(name), other.get(name)), name


@pytest.mark.parametrize("seed", range(3))
def test_passive_friction_only_takes_energy(seed: int) -> None:
    """The energy of the mechanism and of its bristles, N sigma_0 z^2 / 2, never grows."""
    rng = np.random.default_rng(seed)
    model = every_joint(PASSIVE)
    solver = solver_of(model, tolerance=1e-9, scheme="radau")
    for joint in model.joints:
        u = rng.normal(size=joint.velocities) * 10.0 ** rng.uniform(-3, 0.5)
        solver.set(rates_of(joint.name, model), u if len(u) > 1 else u[0])
    solver.assemble()
    names = [f"{name}.z" for joint in model.joints for name in frictions_of(joint.name, model)]
    stored = []
    for k in range(40):
        bristles = sum(2e3 * float(np.sum(np.square(solver.get(name)))) for name in names)
        stored.append(solver.get("solver.energy") + bristles)
        solver.step(0.005 * (k + 1))
    assert np.diff(stored).max() <= 1e-7
    assert stored[0] - stored[-1] > 0.01


def bristles(model: fm.Model, solver: fm.Solver, rub: fm.LuGre) -> np.ndarray:
    """Of all joints: the energy in the bristles [J], what friction takes [W], and what it turns into heat [W]."""
    found = np.zeros(3)
    for joint in model.joints:
        names, arms = frictions_of(joint.name, model), arms_of(joint.name, model)
        v = np.atleast_1d(solver.get(rates_of(joint.name, model))).reshape(len(names), -1)
        for name, rate in zip(names, v, strict=True):
            z, force, load = (np.atleast_1d(solver.get(f"{name}.{what}")) for what in ("z", "force", "load"))
            zdot, _ = formula(rub, arms * rate, z, float(load[0]))
            resists = rub.damping * zdot + rub.viscous * arms * rate
            heat = rub.stiffness * z @ (arms * rate - zdot) + resists @ (arms * rate)
            found += load[0] * rub.stiffness * z @ z / 2, -force @ rate, load[0] * heat
    return found


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", range(4))
def test_energy_is_lost_to_the_bristles_and_to_heat(seed: int, dynamics: str) -> None:
    """What friction takes the mechanism loses; it is stored as N sigma_0 z^2 / 2 or becomes heat, passive or not."""
    rng = np.random.default_rng(seed)
    kinetic, static = sorted(rng.uniform(0.1, 1.0, 2).tolist())
    rub = fm.LuGre(static, kinetic, stribeck=rng.uniform(0.05, 0.5), stiffness=rng.uniform(5, 50),
                   damping=rng.uniform(0, 3), viscous=rng.uniform(0, 0.3), preload=rng.uniform(0.1, 1))  # fmt: skip
    model = four_bar(rub, "CB"[seed // 2]) if seed % 2 else every_joint(rub)
    solver = solver_of(model, tolerance=1e-10, scheme="dop853", dynamics=dynamics)
    before = bristles(model, solver, rub)[0]
    heat: list[float] = []

    def power() -> float:
        _, taken, lost = bristles(model, solver, rub)
        heat.append(lost)
        return float(taken)

    fell, taken = energy_and_power(solver, power, 1e-4, 400)
    assert_allclose(taken, fell, rtol=1e-6)  # Simpson's rule, at kinks where a velocity turns round
    stored = bristles(model, solver, rub)[0] - before
    assert_allclose(stored + simpson(heat, dx=1e-4), fell, rtol=1e-6)
    assert stored > 0.0


@pytest.mark.parametrize(("viscous", "grows"), [(0.0, True), (2.0, True), (45.0, False)])
def test_friction_that_is_not_passive_gives_more_than_its_bristles_hold(viscous: float, grows: bool) -> None:
    """Bristles at break-away that slide fast relax; sigma_1 times that rate pushes. 45 * 0.1 >= 5 * (0.9 - 0.1)."""
    rub = fm.LuGre(0.9, 0.1, stribeck=0.01, stiffness=1e3, damping=5.0, viscous=viscous, preload=4.0)
    model = slider(rub)
    solver = solver_of(model, tolerance=1e-9, scheme="dop853")
    solver.set("J.qd", 1.0)
    solver.set("J.friction.z", 0.9 / 1e3)
    solver.assemble()
    assert (solver.get("J.friction.force") > 0.0) == grows
    before = solver.get("solver.energy") + bristles(model, solver, rub)[0]
    solver.step(1e-5)
    assert (solver.get("solver.energy") + bristles(model, solver, rub)[0] > before) == grows


# Every joint against the formula -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_forces_are_those_of_the_formula(seed: int) -> None:
    """Twins: one with friction, one with the formula's forces as inputs; a chain, and loops cut at each joint."""
    rng = np.random.default_rng(seed)
    kinetic, static = sorted(rng.uniform(0.1, 1.0, 2).tolist())
    numbers = ("damping", "viscous", "preload", "scale")
    given = dict(zip(numbers, rng.uniform([0, 0, 0.1, 0.5], [5, 1, 3, 2]).tolist(), strict=True))
    given |= {"stribeck": 10.0 ** rng.uniform(-3, 0), "stiffness": 10.0 ** rng.uniform(1, 4)}
    rub = fm.LuGre(static, kinetic, pressed=True, scaled=True, **given)
    model = four_bar(rub, "CBD"[seed % 9 // 3]) if seed % 3 == 2 else every_joint(rub)
    plain = fm.Model(model.name)
    plain.add(*model.bodies, *(replace(joint, friction=None) for joint in model.joints))
    one, twin = solver_of(model), solver_of(plain)
    for joint in model.joints[:1] if seed % 3 == 2 else model.joints:
        u = rng.normal(size=joint.velocities) * 10.0 ** rng.uniform(-3, 0.5)
        for solver in (one, twin):
            solver.set(rates_of(joint.name, model), u if len(u) > 1 else u[0])
            solver.assemble()
    for joint in (joint.name for joint in model.joints):
        taus: list[float] = []
        rates = np.atleast_1d(one.get(rates_of(joint, model)))
        for name in frictions_of(joint, model):
            size = len(rates) // len(frictions_of(joint, model))
            z = rng.normal(size=size) * static / rub.stiffness
            normal, scaled = rng.uniform(-rub.preload, 3), rng.uniform(0.2, 2)
            one.set(f"{name}.z", z if size > 1 else z[0])
            one.set(f"{name}.normal", normal)
            one.set(f"{name}.scale_in", scaled)
            arms = arms_of(joint, model)
            force = (
                -scaled * arms * formula(rub, arms * rates[len(taus) : len(taus) + size], z, rub.preload + normal)[1]
            )
            assert_allclose(one.get(f"{name}.force"), force if size > 1 else force[0], rtol=1e-10, atol=1e-11)
            assert one.get(f"{name}.load") == pytest.approx(rub.preload + normal)
            taus += force.tolist()
        twin.set(f"{joint}.f" if joint == "E" else f"{joint}.tau", taus if len(taus) > 1 else taus[0])
    bodies = [f"{body.name}.{what}" for body in model.bodies for what in ("a", "alpha")]
    wrenches = [f"{joint.name}.{what}" for joint in model.joints for what in ("wrench.f", "wrench.t", "reaction.t")]
    for name in bodies + wrenches:
        expected = twin.get(name)
        assert_allclose(one.get(name), expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()), err_msg=name)


@pytest.mark.parametrize("model", [every_joint(), four_bar()], ids=["chain", "loop"])
def test_the_bristles_move_as_the_formula_says(model: fm.Model) -> None:
    solver = solver_of(model, tolerance=1e-12)
    solver.step(0.02)
    for joint in model.joints:
        at = 0
        for name in frictions_of(joint.name, model):
            z = np.atleast_1d(solver.get(f"{name}.z"))
            v = np.atleast_1d(solver.get(rates_of(joint.name, model)))[at : at + len(z)]
            at += len(z)
            rate = formula(joint.friction, v * arms_of(joint.name, model), z, 1.0)[0]
            found = np.atleast_1d(solver.output_derivative(f"{name}.z"))
            assert_allclose(found, rate, rtol=1e-6, atol=1e-7 * np.abs(v).max(), err_msg=name)


@pytest.mark.parametrize("make", [every_joint, four_bar], ids=["chain", "loop"])
def test_directional_derivatives_by_normal_force_and_scale(make) -> None:
    """Accelerations and forces are linear in them: one difference is exact."""
    model = make(replace(RUB, pressed=True, scaled=True, scale=1.7))
    solver = solver_of(model)
    solver.step(0.02)
    for joint in model.joints:  # below zero, but not together with the preload
        for name in frictions_of(joint.name, model):
            solver.set(f"{name}.normal", -1.0)
    names = [name for joint in model.joints for name in frictions_of(joint.name, model)]
    outputs = ["a.alpha[2]", "b.a[1]", "c.a[3]", *(f"{name}.load" for name in names)]
    outputs += [f"{joint.name}.wrench.f[1]" for joint in model.joints]
    for name in names:
        for what, width in (("normal", 1.0), ("scale_in", 0.5)):
            found = solver.directional_derivative(outputs, [f"{name}.{what}"], [1.0])
            before = np.array([solver.get(output) for output in outputs])
            at = solver.get(f"{name}.{what}")
            solver.set(f"{name}.{what}", at + width)
            after = np.array([solver.get(output) for output in outputs])
            solver.set(f"{name}.{what}", at)
            size = 1e-9 * (1 + np.abs(before).max())
            assert_allclose(found, (after - before) / width, rtol=1e-7, atol=size, err_msg=name)
            assert np.abs(found).max() > 1e-4


def test_friction_drops_out_of_an_equilibrium() -> None:
    model = fm.Model("swing")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(rod, fm.Revolute("J", model.ground.at(), rod.base, axis="y", friction=RUB))
    for what in (model, fm.compile(model, everything=True)):
        found = fm.equilibrium(what)
        assert math.sin(found.starts["J.q"]) == pytest.approx(1.0, abs=1e-9)
        assert found.frequencies[0] == pytest.approx(math.sqrt(1.5 * 9.81), rel=1e-4)


def test_the_solver_sets_the_states_of_the_joints() -> None:
    solver = solver_of(slider(RUB))
    solver.set("J.friction.z", 1e-4)
    solver.set_state([0.5], [0.25])
    assert (solver.get("J.q"), solver.get("J.qd"), solver.get("J.friction.z")) == (0.5, 0.25, 1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"static": 0.1}, "below kinetic"),
        ({"stiffness": 0.0}, "stiffness"),
        ({"stribeck": -1.0}, "stribeck"),
        ({"damping": math.nan}, "damping"),
    ],
)
def test_numbers_out_of_range_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(fm.ModelError, match=message):
        replace(RUB, **change)


def test_a_normal_force_must_be_given_even_if_it_is_zero() -> None:
    """As the parameter may be set to: the brake is open."""
    with pytest.raises(fm.ModelError, match="no normal force"):
        fm.LuGre(0.5, 0.3, stribeck=0.1, stiffness=1e3)
    assert fm.LuGre(0.5, 0.3, stribeck=0.1, stiffness=1e3, preload=0.0).preload == 0.0


def test_other_joints_and_what_is_no_friction_are_refused() -> None:
    model = fm.Model("refused")
    body = fm.Body("body", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(fm.ModelError, match="Weld joint has none"):
        fm.Weld("W", model.ground.at(), body.at(), friction=RUB)
    with pytest.raises(fm.ModelError, match=r"Give an fm\.LuGre"):
        fm.Revolute("J", model.ground.at(), body.at(), friction=0.3)
    with pytest.raises(fm.ModelError, match="radius"):
        fm.Cylindrical("J", model.ground.at(), body.at(), friction=RUB)


@pytest.mark.parametrize(("name", "value"), [("static", 0.0), ("stiffness", -1.0), ("preload", -1.0), ("scale", -0.1)])
def test_parameters_out_of_range_are_refused_in_the_solver(name: str, value: float) -> None:
    solver = solver_of(slider(RUB))
    with pytest.raises(fm.SolverError, match=f"J.friction.{name}"):
        solver.set(f"J.friction.{name}", value)


def test_a_normal_force_below_zero_counts_as_zero() -> None:
    solver = solver_of(slider(replace(RUB, pressed=True), u0=1.0))
    solver.set("J.friction.normal", -5.0)
    assert (solver.get("J.friction.load"), solver.get("J.friction.force"), solver.get("J.qdd")) == (0.0, 0.0, 0.0)
    assert solver.directional_derivative(["J.friction.force"], ["J.friction.normal"], [1.0]) == [0.0]


def test_derivatives_of_a_normal_force_are_for_one_step_alone() -> None:
    """Also where another input has one in the next step."""
    one, other = (solver_of(slider(replace(RUB, pressed=True), u0=1.0)) for _ in range(2))
    for solver in (one, other):
        solver.set_input_derivatives("J.friction.normal", 1, 50.0)
        solver.step(0.1)
        solver.set_input_derivatives("J.f", 1, 1.0)
    other.set_input_derivatives("J.friction.normal", 1, 0.0)
    for solver in (one, other):
        solver.step(0.2)
    assert one.get("J.qd") == other.get("J.qd") > 0.0


def test_a_scale_starts_at_one_and_below_zero_counts_as_zero() -> None:
    solver = solver_of(slider(replace(RUB, scaled=True), u0=1.0))
    plain = solver_of(slider(RUB, u0=1.0))
    assert solver.get("J.friction.scale_in") == 1.0
    assert solver.get("J.friction.force") == plain.get("J.friction.force") != 0.0
    solver.set("J.friction.scale_in", -1.0)
    assert (solver.get("J.friction.force"), solver.get("J.qdd")) == (0.0, 0.0)
    solver.reset()
    solver.assemble()
    assert solver.get("J.friction.scale_in") == 1.0


def test_units_of_friction_follow_its_joint_and_its_parameters_are_tunable() -> None:
    """By N [N] or [N.m] and x [m] or [rad]: the force is N (stiffness x + damping x' + viscous x')."""
    variables = fm.compile(every_joint(replace(RUB, pressed=True, scaled=True))).variables
    normal = {"A": "N.m", "B": "N", "C": "N.m", "D": "N.m", "E": "N"}
    for joint, load in normal.items():
        suffix = "[1]" if joint == "C" else ""
        x = "m" if load == "N" else "rad"
        per = dict.fromkeys(("static", "kinetic", "scale", "scale_in", "slip"), "")
        per |= {"stiffness": f"1/{x}", "damping": f"s/{x}", "viscous": f"s/{x}", "stribeck": f"{x}/s", "preload": load}
        per |= {"normal": load, "load": load}
        for what, unit in per.items():
            variable = variables.find(f"{joint}.friction{suffix}.{what}")
            assert variable.unit == unit, variable.name
            assert (variable.causality != "parameter") or (variable.variability == "tunable"), variable.name
    for name, unit in (("B.friction.z[1]", "m"), ("B.friction.force[1]", "N.m"), ("B.friction.force[2]", "N")):
        assert variables.find(name).unit == unit
    assert variables.states(variables.references("D.friction.z")).all()
