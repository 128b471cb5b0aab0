"""FMUs of inverse dynamics: the numbers of fm.inverse_dynamics(), reactions of the same motion, feed-forward."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.inverse import inverse_image
from fmumbs.errors import ExportError, ModelError
from fmumbs.play.fmu import Fmu
from fmumbs.readers import read_model
from fmumbs.run.hosted import Hosted
from fmumbs.verify import verify_fmu
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


@pytest.mark.parametrize("seed", seeds(8, 80, start=2910))
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
    assert_array_equal(solver.read(out), fm.inverse_dynamics(image, q, u, a))


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
        if all(cause == "input" for cause in variables.causalities(variables.references(name))):
            inverse.set(name, value)
    shared = [name for name in variables.names(variables.outputs()) if name in set(image.variables.names())]
    by_kind: dict[str, list[str]] = {}
    for name in shared:
        by_kind.setdefault(name.partition(".")[2].partition("[")[0], []).append(name)
    for kind in by_kind.keys() - {"tau", "f", "drive"}:
        expected = np.array([plant.get(name) for name in by_kind[kind]])
        found = np.array([inverse.get(name) for name in by_kind[kind]])
        assert_allclose(found, expected, rtol=0, atol=DYNAMICS * max(1.0, np.abs(expected).max()), err_msg=kind)


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
    ("four_bar", {}, "has loops, couplings or programs, for which there is no FMU of inverse dynamics"),
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
