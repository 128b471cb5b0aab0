"""FMUs of inverse dynamics: the numbers of fm.inverse_dynamics(), reactions of the same motion, feed-forward."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from hypothesis import assume
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.inverse import inverse_image
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import ExportError, ModelError
from fmumbs.play.fmu import Fmu
from fmumbs.readers import read_model
from fmumbs.run.hosted import Hosted
from fmumbs.verify import verify_fmu
from support.actuation import actuators, drawn_with_inverse
from support.drawing.mechanism import Refused, draw
from support.strategies import EVERY, Case, trees
from support.sweeps import examples, seeds

ROUND_OFF = 1e-12  # of the largest value of a kind
DYNAMICS = 1e-8  # of the same: accelerations of the forward dynamics, which the condition of M multiplies
DIFFERENCES = 1e-9  # of the largest entry of M

Row = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(image: ModelImage, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    sizes = [image.sizes[name] for name in ("positions", "speeds", "speeds")]
    q, u, a = (rng.uniform(-1.0, 1.0, size) for size in sizes)
    return q, u, a


def give(solver: fm.Solver, q: np.ndarray, u: np.ndarray, a: np.ndarray) -> None:
    variables = solver.image.variables
    for references, values in zip(
        (variables.positions(), variables.speeds(), variables.accelerations()), (q, u, a), strict=True
    ):
        assert len(references) == len(values)
        solver.write(references, values)


def forces(inverse: ModelImage, image: ModelImage) -> np.ndarray:
    """(speeds,) value references of what the motion takes, in the order of the velocities."""
    names = dict.fromkeys(inverse.variables.names())
    found = []
    for speed in image.variables.names(image.variables.speeds()):
        owner, _, rest = speed.rpartition(".")
        suffix, _, part = rest.partition("[")
        kinds = {"qd": ("tau", "f"), "u": ("tau",), "w": ("tau",), "v": ("f",), "kappa": ("drive",)}[suffix]
        name = next(one for kind in kinds if (one := f"{owner}.{kind}{'[' if part else ''}{part}") in names)
        found.append(inverse.variables.references(name)[0])
    return np.array(found, np.uint32)


def mechanism(seed: int) -> ModelImage:
    """The image of the first tree that is drawn from the whole API from this seed on."""
    for one in range(100 * seed, 100 * seed + 100):
        try:
            image = compile(draw(one).model, everything=True)
            inverse_image(image)
        except (Refused, ModelError):
            continue
        return image
    raise AssertionError("no tree in a hundred draws")


@examples(15, 150, trees(max_bodies=5, kinds=EVERY))
def test_trees_take_the_forces_of_inverse_dynamics_bit_for_bit(case: Case) -> None:
    image = compile(case.model, everything=True)
    inverse = inverse_image(image)
    solver = fm.Solver(inverse)
    out = forces(inverse, image)
    for seed in range(3):
        q, u, a = drawn(image, seed)
        give(solver, q, u, a)
        assert_array_equal(solver.read(out), fm.inverse_dynamics(image, q, u, a))


@pytest.mark.parametrize("seed", seeds(4, 80, start=2910))
def test_drawn_mechanisms_take_them_too(seed: int) -> None:
    """Laws, friction, flexible bodies, springs on cut joints, paths."""
    image = mechanism(seed)
    inverse = inverse_image(image)
    solver = fm.Solver(inverse)
    out = forces(inverse, image)
    q, u, a = drawn(image, seed)
    give(solver, q, u, a)
    solver.assemble()
    solver.step(0.1)
    without = fm.Solver(image)
    own = np.flatnonzero([kinds()[k].place == lib.FM_AT_TAU for k in image.arrays["variable_kind"]]).astype(np.uint32)
    own = own[image.arrays["joint_first"][image.arrays["variable_object"][own]] >= 0]
    without.write(own, np.zeros(len(own)))  # which are outputs here
    assert_array_equal(solver.read(out), fm.inverse_dynamics(without, q, u, a))


@examples(15, 150, trees(max_bodies=5, kinds=EVERY))
def test_outputs_are_those_of_the_motion_that_is_given(case: Case) -> None:
    """Reactions, motions of bodies and energies of the mechanism in motion, whose motion is given to the other."""
    plant = fm.Solver(compile(case.model, everything=True))
    for name, value in case.inputs.items():
        plant.set(name, value)
    plant.assemble()
    hosted = Hosted(plant)
    a = hosted.speeds_of(hosted.rates())
    image = plant.image
    names = image.variables.names(image.variables.accelerations())
    assume(len(names) == len(a))  # else accelerations of excited modes are inputs
    inverse = fm.Solver(inverse_image(image))
    give(inverse, plant.positions, plant.read(image.variables.speeds()), a)
    variables = inverse.image.variables
    for name, value in case.inputs.items():  # of loads and friction; joints' are outputs here
        known = variables.references(name)  # none of a mode whose motion is given
        if known and all(cause == "input" for cause in variables.causalities(known)):
            inverse.set(name, value)
    shared = [name for name in variables.names(variables.outputs()) if name in set(image.variables.names())]
    by_kind: dict[str, list[str]] = {}
    for name in shared:
        by_kind.setdefault(name.partition(".")[2].partition("[")[0], []).append(name)
    for kind in by_kind.keys() - {"tau", "f", "drive"}:
        expected = np.array([plant.get(name) for name in by_kind[kind]])
        found = np.array([inverse.get(name) for name in by_kind[kind]])
        assert_allclose(found, expected, rtol=0, atol=DYNAMICS * max(1.0, np.abs(expected).max()), err_msg=kind)


def test_the_input_of_a_mode_whose_motion_is_given_is_named_as_such() -> None:
    model = fm.Model("tree")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    shaken = fm.Turn("x", role="excited", input="eta", cutoff=10.0)
    model.add(body, fm.Joint("j", model.ground.at(), body.at(), modes=(shaken,)))
    inverse = fm.Solver(inverse_image(compile(model, everything=True)))
    with pytest.raises(fm.SolverError, match=r"no variable 'j\.eta_in', as .* is given .* nearest name is 'j\.eta'"):
        inverse.set("j.eta_in", 1.0)


# As an FMU -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm() -> ModelImage:
    return compile(read_model("arm6"), everything=True)


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inverse") / "arm.fmu"
    return Path(fm.export_fmu(read_model("arm6"), path, inverse=True, platforms=["linux64"]))


def motion(fmu: Fmu, q: np.ndarray, u: np.ndarray, a: np.ndarray) -> dict[int, float]:
    parts = zip(("q", "qd", "qdd"), (q, u, a), strict=True)
    return {fmu.find(f"J{k + 1}.{suffix}").valueReference: v for suffix, row in parts for k, v in enumerate(row)}


def test_the_fmu_has_the_bits_of_inverse_dynamics_and_keeps_its_state(fmu: Path, arm: ModelImage) -> None:
    first, second = drawn(arm, 1), drawn(arm, 2)
    with Fmu(fmu) as opened, opened.started(motion(opened, *first)) as one:
        out = [opened.find(f"J{k}.tau").valueReference for k in range(1, 7)]
        one.step(0.01)
        assert_array_equal(one.reals(out), fm.inverse_dynamics(arm, *first))
        state = one.slave.getFMUstate()
        saved = one.slave.serializeFMUstate(state)
        one.set(motion(opened, *second))
        assert_array_equal(one.reals(out), fm.inverse_dynamics(arm, *second))
        one.slave.setFMUstate(one.slave.deSerializeFMUstate(saved))
        assert_array_equal(one.reals(out), fm.inverse_dynamics(arm, *first))


def test_derivatives_by_accelerations_are_the_mass_matrix(fmu: Path, arm: ModelImage) -> None:
    q, u, a = drawn(arm, 3)
    M = fm.mass_matrix(arm, q)
    with Fmu(fmu) as opened, opened.started(motion(opened, q, u, a)) as one:
        out = [opened.find(f"J{k}.tau").valueReference for k in range(1, 7)]
        known = [opened.find(f"J{k}.qdd").valueReference for k in range(1, 7)]
        found = [one.slave.getDirectionalDerivative(out, [reference], [1.0]) for reference in known]
    assert_allclose(found, M, rtol=0, atol=DIFFERENCES * np.abs(M).max())


def test_the_fmu_says_what_it_is(fmu: Path) -> None:
    with Fmu(fmu) as opened:
        description = opened.description
        assert description.modelExchange is None
        abilities = description.coSimulation
        assert not abilities.canInterpolateInputs and not abilities.maxOutputDerivativeOrder
        assert abilities.providesDirectionalDerivative and abilities.canGetAndSetFMUstate
        units = {v.name: (v.causality, v.unit) for v in description.modelVariables}
        assert [units[f"J1.{name}"] for name in ("q", "qd", "qdd", "tau")] == [
            ("input", "rad"), ("input", "rad/s"), ("input", "rad/s2"), ("output", "N.m"),
        ]  # fmt: skip
        assert not description.derivatives
        depends = {one.variable.name: {known.name for known in one.dependencies or ()} for one in description.outputs}
        assert depends["link6.r[1]"] == {f"J{k}.q" for k in range(1, 7)}
        assert depends["link6.v[1]"] == {f"J{k}.{of}" for k in range(1, 7) for of in ("q", "qd")}
        assert opened.is_inverse
        assert not {name for name in units if re.match(r"solver\.(steps|rejected|evaluations)", name)}


@pytest.mark.parametrize("name", ["arm6", "heavy_top", "cantilever", "gantry"])
def test_verify_finds_nothing(name: str, tmp_path: Path) -> None:
    path = fm.export_fmu(read_model(name), tmp_path / "inverse.fmu", inverse=True, platforms=["linux64"])
    assert [str(one) for one in verify_fmu(path)] == []


@pytest.mark.parametrize(("model", "options", "words"), [
    ("four_bar", {}, "has loops or couplings, in which the forces of a motion depend on who exerts them"),
    ("four_bar", {"actuated": ["A.q"]}, "'A.q' is not the input of a force"),
    ("four_bar", {"actuated": ["A.tua"]}, "has no variable 'A.tua'"),
    ("four_bar", {"actuated": ["A.tau", "A.tau"]}, "'A.tau' is twice among 2 actuators"),
    ("four_bar", {"actuated": ["A.tau", "C.tau"]}, "of 2 actuators that of 'C' moves nothing"),
    ("four_bar", {"actuated": []}, "cannot make this motion: along '[ABD]' a force of"),
    ("arm6", {"actuated": ["J1.tau"]}, "cannot make this motion: along 'J2' a force of"),
    ("rpsup", {"actuated": ["J.tau"]}, "has programs, whose drives exert the forces"),
    ("arm6", {"kind": "me"}, "no states to integrate, and no kind 'me'"),
    ("arm6", {"kind": "cs\\+me"}, "no kind 'cs\\+me'"),
    ("arm6", {"backend": "pythonfmu"}, "for the backend 'native'"),
    ("arm6", {"scene": True}, "has no scene"),
    ("arm6", {"scheme": "rk4", "step": 1e-3}, "scheme, step cannot be given with inverse=True"),
])  # fmt: skip
def test_what_is_refused(model: str, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    options = {name: value.replace("\\", "") if isinstance(value, str) else value for name, value in options.items()}
    with pytest.raises((ExportError, ModelError), match=words):
        fm.export_fmu(read_model(model), tmp_path / "no.fmu", inverse=True, **options)
    assert not (tmp_path / "no.fmu").exists()


def test_own_friction_is_refused(tmp_path: Path) -> None:
    model, b = fm.Model("m"), fm.Body.rod("b", length=1.0, mass=1.0)
    pads = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, own=True, radius=0.02)
    model.add(b, fm.Revolute("A", model.ground.at(), b.base, axis="y", friction=pads))
    with pytest.raises(ModelError, match="friction that the reaction of its own joint loads"):
        fm.export_fmu(model, tmp_path / "no.fmu", inverse=True)


def test_a_quaternion_of_length_zero_is_refused() -> None:
    solver = fm.Solver(inverse_image(compile(read_model("heavy_top"), everything=True)))
    solver.set("A.q", (0.0, 0.0, 0.0, 0.0))
    with pytest.raises(fm.SolverError, match="joint 'A': its quaternion is zero"):
        solver.get("A.tau[1]")
    solver.set("A.q", (2.0, 0.0, 0.0, 0.0))
    assert_array_equal(solver.get("A.q"), (2.0, 0.0, 0.0, 0.0))
    assert np.isfinite(solver.get("A.tau")).all()


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "arm.fmu"
    main(["export", "arm6", "--inverse", "-o", str(path), "--platform", "linux64"], standalone_mode=False)
    with Fmu(path) as opened:
        assert opened.is_inverse


# Loops, and actuators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actuator", ["A.tau", "C.tau"])
def test_a_loop_has_the_bits_of_inverse_dynamics_and_the_reactions_of_the_motion(actuator: str, tmp_path: Path) -> None:
    """A four-bar in motion, whose crank or the joint that closes the loop exerts what made it; open, it is refused."""
    plant = fm.Solver(compile(read_model("four_bar"), everything=True))
    plant.set(actuator, 0.3)
    plant.assemble()
    plant.step(0.2)
    hosted = Hosted(plant)
    image, row = plant.image, (plant.positions, plant.read(plant.image.variables.speeds()))
    a = hosted.speeds_of(hosted.rates())
    path = fm.export_fmu(
        read_model("four_bar"), tmp_path / "loop.fmu", inverse=True, actuated=[actuator], platforms=["linux64"]
    )
    names = [name for name in image.variables.names(image.variables.outputs()) if ".wrench." in name or ".a" in name]
    names += [name.replace("wrench", "reaction") for name in names if ".wrench." in name]
    with Fmu(path) as opened, opened.started() as one:
        given = {
            opened.find(f"{joint}.{suffix}").valueReference: value
            for suffix, values in zip(("q", "qd", "qdd"), (*row, a), strict=True)
            for joint, value in zip("ABD", values, strict=True)
        }
        one.set(given)
        out = opened.find(actuator).valueReference
        one.step(0.01)
        assert_array_equal(one.reals([out]), fm.inverse_dynamics(image, *row, a, actuated=[actuator]))
        assert_allclose(one.reals([out]), 0.3, rtol=1e-9)
        found = one.reals([opened.find(name).valueReference for name in names])
        expected = np.array([plant.get(name) for name in names])
        assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        before = one.reals(opened.outputs)
        crank = opened.find("A.q").valueReference
        one.set({crank: given[crank] + 1e-3})
        with pytest.raises(FMICallException):
            one.step(0.01)
        assert "these positions leave a gap of 0.0001" in one.last_message
        one.set({crank: given[crank]})
        one.step(0.01)
        assert_array_equal(one.reals(opened.outputs), before)


def test_a_vector_with_one_actuator_keeps_its_order() -> None:
    """A ball joint under one torque: the whole vector by name, two inputs and an output, in the order of its axes."""
    model, b = fm.Model("m", gravity=(0, 0, 0)), fm.Body.box("b", size=(0.1, 0.2, 0.3), mass=2.0)
    model.add(b, fm.Spherical("S", model.ground.at(), b.at()))
    image = inverse_image(compile(model, everything=True), ["S.tau[2]"])
    solver = fm.Solver(image)
    J = np.diag(fm.mass_matrix(model, [1.0, 0.0, 0.0, 0.0]))
    solver.set("S.alpha", (0.0, 3.0, 0.0))
    with pytest.raises(fm.SolverError, match=r"S\.tau"):
        solver.set("S.tau", (0.1, 0.2, 0.3))
    assert_allclose(solver.get("S.tau"), (0.0, 3.0 * J[1], 0.0), rtol=1e-14)
    solver.set("S.tau[1]", 0.1), solver.set("S.alpha", (0.1 / J[0], 3.0, 0.0))
    assert_allclose(solver.get("S.tau"), (0.1, 3.0 * J[1], 0.0), rtol=1e-14)


@pytest.mark.parametrize("seed", seeds(10, 100, start=291000))
def test_outputs_of_drawn_loops_are_those_of_their_motion(seed: int) -> None:
    """Reactions, wrenches, forces and accelerations of the mechanism in motion, whose motion is given to the other."""
    plant = drawn_with_inverse(seed)
    image = plant.image
    speeds = plant.read(image.variables.speeds())
    if not image.sizes["rows"]:
        pytest.skip("no loop")
    names = actuators(plant, seed)
    if names is None:
        pytest.skip("its inputs do not determine its motion")
    references = [image.variables.references(one)[0] for one in names]
    plant.write(np.array(references, np.uint32), np.random.default_rng(seed).uniform(-1.0, 1.0, len(names)))
    hosted = Hosted(plant)
    inverse = fm.Solver(inverse_image(image, names))
    give(inverse, plant.positions, speeds, hosted.speeds_of(hosted.rates()))
    inverse.assemble(plant.time)
    variables = inverse.image.variables
    state = inverse.state_save()
    inverse.read(variables.outputs())
    assert inverse.state_save() == state  # forces that were found are no part of it
    known = set(image.variables.names())
    by_kind: dict[str, list[str]] = {}
    for name in variables.names(variables.outputs()):
        if name in known:
            by_kind.setdefault(name.partition(".")[2].partition("[")[0], []).append(name)
    forces = {"f", "t", "force", "drive", "tau"}
    most = {"force": 1.0, "other": 1.0}
    for kind, listed in by_kind.items():
        group = "force" if kind.rpartition(".")[2] in forces else "other"
        most[group] = max(most[group], *(abs(plant.get(name)) for name in listed))
    for kind, listed in by_kind.items():
        group = "force" if kind.rpartition(".")[2] in forces else "other"
        expected, found = (np.array([one.get(name) for name in listed]) for one in (plant, inverse))
        assert_allclose(found, expected, rtol=0, atol=DYNAMICS * most[group], err_msg=kind)


# Feed-forward --------------------------------------------------------------------------------------------------------


def reference() -> fm.Model:
    """Two joints that follow paths: the motion that the mechanism is to make."""
    model = fm.Model("reference")
    for name, angle in (("A", 0.8), ("B", -0.5)):
        body = fm.Body.box(f"{name}_body", size=(0.1, 0.1, 0.1), mass=1.0)
        path = fm.Path.quintic([0.0, 1.0], [0.0, angle])
        model.add(body, fm.Joint(name, model.ground.at(), body.at(), modes=[fm.Turn("z", role="excited", path=path)]))
    return model


def arm_of_two() -> fm.Model:
    model = fm.Model("arm")
    parent: Any = model.ground.at()
    for name in "AB":
        body = fm.Body.box(f"{name}_body", size=(0.4, 0.05, 0.05), mass=2.0)
        model.add(body, fm.Revolute(name, parent, body.at(-0.2), axis="z", damping=0.3))
        parent = body.at(0.2)
    return model


def test_feed_forward_in_libcosim_tracks_with_the_order_of_the_coupling(tmp_path: Path) -> None:
    """Held inputs: an error of order 1 in the communication step, which halves with it."""
    pytest.importorskip("libcosimpy")
    fmus = {
        "wanted": fm.export_fmu(reference(), tmp_path / "reference.fmu", kind="cs", platforms=["linux64"]),
        "inverse": fm.export_fmu(arm_of_two(), tmp_path / "inverse.fmu", inverse=True, platforms=["linux64"]),
        "plant": fm.export_fmu(arm_of_two(), tmp_path / "plant.fmu", kind="cs", platforms=["linux64"]),
    }
    errors = []
    for step in (0.01, 0.005, 0.0025):
        system = fm.System("feed_forward", stop=1.0, step=step)
        outputs = {"wanted": ["A.eta", "B.eta"], "inverse": [], "plant": ["A.q", "B.q"]}
        for name, path in fmus.items():
            system.add(name, path, outputs=outputs[name])
        for joint in "AB":
            for source, target in (("eta", "q"), ("kappa", "qd"), ("kappa_dot", "qdd")):
                system.connect(f"wanted.{joint}.{source}", f"inverse.{joint}.{target}")
            system.connect(f"inverse.{joint}.tau", f"plant.{joint}.tau")
        result = system.run("libcosim")
        errors.append(max(np.abs(result[f"plant.{j}.q"] - result[f"wanted.{j}.eta"]).max() for j in "AB"))
    assert errors[-1] < 0.01
    assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 2.0, atol=0.1)


def crank_on_a_path() -> fm.Model:
    """The four-bar with its crank on a path: the motion that the other is to make."""
    model = read_model("four_bar")
    path = fm.Path.quintic([0.0, 1.0], [-1.2, 0.3])
    crank, joint = model["crank"], model["A"]
    driven = fm.Joint("A", joint.F, joint.M, modes=[fm.Turn("y", role="excited", path=path)])
    reference = fm.Model("reference", gravity=model.gravity)
    reference.add(crank, model["coupler"], model["rocker"], driven, model["B"], model["D"], model["C"])
    return reference


def test_feed_forward_of_a_loop_tracks_with_the_order_of_the_coupling(tmp_path: Path) -> None:
    pytest.importorskip("libcosimpy")
    plant = read_model("four_bar")
    wanted = fm.export_fmu(crank_on_a_path(), tmp_path / "reference.fmu", kind="cs", platforms=["linux64"])
    inverse = fm.export_fmu(plant, tmp_path / "i.fmu", inverse=True, actuated=["A.tau"], platforms=["linux64"])
    starts = {"A.q": -1.2, "A.qd": 0.0}
    driven = fm.export_fmu(plant, tmp_path / "plant.fmu", kind="cs", starts=starts, platforms=["linux64"])
    errors = []
    for step in (0.01, 0.005, 0.0025):
        system = fm.System("feed_forward", stop=1.0, step=step)
        system.add("wanted", wanted, outputs=["A.eta"])
        system.add("inverse", inverse, outputs=[])
        system.add("plant", driven, outputs=["A.q"])
        motions = {"A": ("eta", "kappa", "kappa_dot"), "B": ("q", "qd", "qdd"), "D": ("q", "qd", "qdd")}
        for joint, motion in motions.items():
            for source, target in zip(motion, ("q", "qd", "qdd"), strict=True):
                system.connect(f"wanted.{joint}.{source}", f"inverse.{joint}.{target}")
        system.connect("inverse.A.tau", "plant.A.tau")
        result = system.run("libcosim")
        errors.append(np.abs(result["plant.A.q"] - result["wanted.A.eta"]).max())
    assert errors[-1] < 0.02
    assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 2.0, atol=0.15)
