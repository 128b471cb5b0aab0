"""The core as WebAssembly, in wasmtime: the native bits for all models and every scheme, states, refusals, memory.

Only numbers below 1e-300 differ: WebAssembly has no mode that replaces them by zero.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from fmpy import read_model_description
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.names import text_at
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.errors import AssemblyError, ExportError
from fmumbs.export.installed import WEBASSEMBLY
from fmumbs.readers import model_names, read_model
from fmumbs.view.live import CORE
from support import closed, stiff_models
from support.sweeps import each_value
from support.webassembly import Instance, Module

SUBNORMAL = 1e-300
STEPS, STEP = 10, 0.1
Bits = NDArray[np.uint64]


@pytest.fixture(scope="module")
def module() -> Module:
    return Module()


def moved(one: Any, count: int, inputs: Iterable[tuple[int, float]] = (), step: float = STEP) -> NDArray[np.float64]:
    """(STEPS + 1, count) all values of a Solver or an Instance at the start and after each step."""
    references = np.arange(count, dtype=np.uint32)
    for reference, value in inputs:
        one.write(np.array([reference], np.uint32), np.array([value]))
    one.assemble()
    rows = [one.read(references)]
    for i in range(STEPS):
        one.step((i + 1) * step)
        rows.append(one.read(references))
    return np.array(rows)


def assert_same_bits(image: ModelImage, here: NDArray[np.float64], there: NDArray[np.float64]) -> None:
    here, there = np.atleast_2d(here), np.atleast_2d(there)
    different = (here.view(np.uint64) != there.view(np.uint64)) & ~(np.abs(here - there) <= SUBNORMAL)
    names = [image.variables[i].name for i in np.flatnonzero(different.any(0))]
    assert not names, f"{image.name}: {len(names)} of {here.shape[1]} variables differ: {', '.join(names[:5])}"


@pytest.mark.parametrize("name", model_names())
def test_models_compute_the_native_bits(name: str, module: Module) -> None:
    image = compile(read_model(name), everything=True)
    count = len(image.variables)
    instance = Instance(module, image.bytes)
    assert_same_bits(image, moved(fm.Solver(image), count), moved(instance, count))
    instance.close()


def draws() -> Iterable[tuple[str, Callable[[], tuple[fm.Model, dict[str, Any]]]]]:
    for i, kind in enumerate((None, "spherical", "universal")):
        case = closed.space(700 + i, kind, loops=1 + i % 2)
        yield f"closed-{i}", lambda case=case: (case.model, case.inputs)
    for seed in range(3):
        yield f"plane-{seed}", lambda seed=seed: (closed.plane(seed).model, {})
    for seed in range(4):
        yield f"stiff-{seed}", lambda seed=seed: (stiff_models.stiff(seed, 5.0).model, {})


DRAWN = dict(draws())


@each_value
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", DRAWN)
def test_random_mechanisms_compute_the_native_bits(name: str, scheme: str, module: Module) -> None:
    model, inputs = DRAWN[name]()
    image = compile(model, everything=True).with_options(scheme=scheme)
    solver = fm.Solver(image)
    given = [(int(r), float(v)) for key, value in inputs.items() for r, v in _values(solver, key, value)]
    count, instance = len(image.variables), Instance(module, image.bytes)
    assert_same_bits(image, moved(solver, count, given, 0.02), moved(instance, count, given, 0.02))
    instance.close()


def _values(solver: fm.Solver, name: str, value: Any) -> Iterable[tuple[int, float]]:
    references, _ = solver._references(name)
    return zip(references, np.atleast_1d(value), strict=True)


@pytest.fixture(scope="module")
def image() -> ModelImage:
    return compile(read_model("double_pendulum"), everything=True)


def test_a_state_goes_from_the_native_core_to_webassembly_and_back(image: ModelImage, module: Module) -> None:
    solver, instance = fm.Solver(image), Instance(module, image.bytes)
    references = np.arange(len(image.variables), dtype=np.uint32)
    solver.assemble()
    solver.step(0.3)
    instance.state_load(solver.state_save())
    instance.step(0.7)
    again = fm.Solver(image)
    again.state_load(instance.state_save())
    solver.step(0.7)
    assert instance.time == again.time == 0.7
    assert_same_bits(image, solver.read(references), instance.read(references))
    assert_same_bits(image, solver.read(references), again.read(references))
    with pytest.raises(RuntimeError, match="state"):
        instance.state_load(b"damaged" * 100)
    instance.close()


def test_a_step_that_fails_ends_as_the_native_one(image: ModelImage, module: Module) -> None:
    solver, instance = fm.Solver(image), Instance(module, image.bytes)
    references = np.arange(len(image.variables), dtype=np.uint32)
    (torque,) = (i for i in references if image.variables[int(i)].name == "A.tau")
    messages = []
    for one, error in ((solver, fm.SolverError), (instance, RuntimeError)):
        one.assemble()
        one.step(0.2)
        one.write(np.array([torque]), np.array([1e200]))
        with pytest.raises(error) as found:
            one.step(0.4)
        messages.append(str(found.value))
    assert messages[0].startswith(messages[1])
    assert 0.2 <= instance.time == solver.time < 0.4
    assert_same_bits(image, solver.read(references), instance.read(references))
    instance.close()


def test_images_that_are_damaged_are_refused(image: ModelImage, module: Module) -> None:
    for data, what in ((image.bytes[:100], "damaged"), (b"", "not"), (image.bytes[:-9] + b"123456789", "checksum")):
        with pytest.raises(RuntimeError, match=what):
            Instance(module, data)
    with pytest.raises(AssemblyError) as native:
        fm.Solver(broken()).assemble()
    with pytest.raises(RuntimeError) as there:
        Instance(module, compile(broken(), everything=True).bytes).assemble()
    assert str(native.value).startswith(str(there.value))


def broken() -> fm.Model:
    """Its loop cannot be closed."""
    model = fm.Model("m")
    a = fm.Body("a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.add(a, fm.Revolute("J", model.ground.at(0, 0, 0), a.at(0, 0, 0)))
    model.add(fm.Distance("D", model.ground.at(9, 0, 0), a.at(1, 0, 0), length=1.0))
    return model


def test_memory_is_given_back(module: Module) -> None:
    image = compile(read_model("branch_chain", {"bodies": 1000}))
    assert image.sizes["bodies"] == 1000
    Instance(module, image.bytes).close()
    size = module.size
    for _ in range(5):
        Instance(module, image.bytes).close()
    assert module.size == size


def names_of(image: ModelImage) -> list[str]:
    """The bodies in the image's order."""
    text = image.arrays["text"].tobytes()
    return [text_at(text, int(offset)) for offset in image.arrays["body_name"]]


@pytest.mark.parametrize("name", ["double_pendulum", "governor", "flexible_four_bar", "parallelogram_pendulum"])
def test_poses_are_those_of_the_bodies(name: str, module: Module) -> None:
    model = read_model(name)
    image = compile(model, everything=True)
    instance, solver = Instance(module, image.bytes), fm.Solver(image)
    for one in (instance, solver):
        one.assemble()
        one.step(0.4)
    named = {body.name: body for body in model.bodies}
    poses, bodies = instance.poses(), [named[name] for name in names_of(image)]
    modal = [solver.get(f"{body.name}.q") for body in bodies if isinstance(body, fm.ModalBody)]
    assert np.array_equal(poses[12 * len(bodies) :], np.concatenate([np.atleast_1d(q) for q in [*modal, np.zeros(0)]]))
    for body, pose in zip(bodies, poses[: 12 * len(bodies)].reshape(-1, 12), strict=True):
        assert np.array_equal(pose[:3], solver.get(f"{body.name}.r")), body.name
        R = fm.Rotation.quaternion(*solver.get(f"{body.name}.quat")).matrix
        assert np.abs(pose[3:].reshape(3, 3) - R).max() < 1e-14, body.name
    instance.close()


# As the binary of an FMU --------------------------------------------------------------------------------------


def test_an_fmu_carries_it_on_request_only(image: ModelImage, tmp_path: Path) -> None:
    if not CORE.is_file():
        pytest.skip("no binary for wasm32-wasi: make platforms")
    names = {}
    for key, platforms in (("all", None), ("both", ["linux64", WEBASSEMBLY])):
        with ZipFile(fm.export_fmu(image, tmp_path / f"{key}.fmu", platforms=platforms)) as archive:
            names[key] = {name for name in archive.namelist() if name.startswith("binaries/")}
    assert "binaries/wasm32-wasi/double_pendulum.wasm" in names["both"]
    assert not any(name.endswith(".wasm") for name in names["all"])


def test_a_platform_that_is_not_built_is_named(image: ModelImage, tmp_path: Path, monkeypatch: Any) -> None:
    from fmumbs.export import installed

    native = {name: file for name, file in installed.installed_binaries().items() if name != WEBASSEMBLY}
    monkeypatch.setattr(installed, "installed_binaries", lambda: native)
    with pytest.raises(ExportError, match=r"'wasm32-wasi': this installation has .*make platforms"):
        fm.export_fmu(image, tmp_path / "m.fmu", platforms=[WEBASSEMBLY])


def test_fmi_functions(image: ModelImage, tmp_path: Path) -> None:
    fmu = fm.export_fmu(image, tmp_path / "m.fmu")
    with ZipFile(fmu) as archive:
        archive.extract("resources/model.fmb", tmp_path)
    guid = read_model_description(str(fmu)).guid
    module, messages = Module(tmp_path), list[str]()
    assert {"malloc", "free", "memory", "fmi2GetVersion"} <= module.names
    text = lambda value: module.put(value.encode() + b"\0")  # noqa: E731
    logger = module.logger(messages)

    def instantiate(resources: str) -> int:
        return int(module.call("fmi2Instantiate", text("one"), 1, text(guid), text(resources), logger, 0, 0))

    assert not instantiate("file:///absent")
    assert "absent" in messages.pop()
    c = instantiate("file:///resources")
    assert c, messages
    assert module.call("fmi2SetupExperiment", c, 0, 0.0, 0.0, 0, 0.0) == 0
    assert module.call("fmi2EnterInitializationMode", c) == 0
    assert module.call("fmi2ExitInitializationMode", c) == 0
    assert module.call("fmi2DoStep", c, 0.0, 1.0, 0) == 0
    n = len(image.variables)
    references, values = module.put(np.arange(n, dtype="<u4").tobytes()), module.allocate(8 * n)
    real = [i for i, v in enumerate(image.variables) if v.name.startswith(("upper", "lower"))]
    module.call("free", references)
    references = module.put(np.array(real, "<u4").tobytes())
    assert module.call("fmi2GetReal", c, references, len(real), values) == 0
    solver = fm.Solver(image)
    solver.assemble()
    solver.step(1.0)
    found = np.frombuffer(module.read(values, 8 * len(real)), "<f8")
    assert np.array_equal(found, solver.read(np.array(real, np.uint32)))
    assert module.call("fmi2DoStep", c, 1.0, -1.0, 0) > 1
    assert messages, "a refused step is explained"
    module.call("fmi2FreeInstance", c)
