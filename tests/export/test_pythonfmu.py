"""The FMU by way of pythonfmu: the native one's variables and bits, and no capability that pythonfmu lacks."""

import ctypes
import gc
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from ctypes import byref
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fmpy import read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import ExportError
from fmumbs.export import export_fmu, installed
from fmumbs.play.fmu import Fmu
from fmumbs.readers import model_names, read_model
from fmumbs.verify.verifying import verify_fmu
from support.slave import (
    DISCARD,
    ERROR,
    LAST_SUCCESSFUL_TIME,
    OK,
    TERMINATED,
    Slave,
    Unpacked,
    hinged_rod,
    unpacked_fmu,
)

FATAL = 4
IMPOSSIBLE = 1e100  # as gravity: every step fails
SMALL = {"branch_chain": {"bodies": 8}}
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="session", params=model_names())
def fmus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Of each mechanism in turn: the native FMU, and the one by pythonfmu."""
    image, folder = compile(read_model(request.param, SMALL.get(request.param))), tmp_path_factory.mktemp("fmus")
    return export_fmu(image, folder / "n.fmu", kind="cs"), export_fmu(image, folder / "p.fmu", backend="pythonfmu")


@pytest.fixture(scope="session")
def rod(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpacked_fmu(tmp_path_factory.mktemp("fmu") / "rod", hinged_rod(), backend="pythonfmu")


@pytest.fixture(scope="session")
def native_rod(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpacked_fmu(tmp_path_factory.mktemp("fmu") / "rod", hinged_rod())


@pytest.fixture(scope="session")
def longer_rod(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """Another model with the same variables."""
    folder = tmp_path_factory.mktemp("fmu") / "longer_rod"
    return unpacked_fmu(folder, hinged_rod("longer_rod", length=2.0), backend="pythonfmu")


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def section(xml: bytes, name: str) -> bytes:
    return xml[xml.index(b"<" + name.encode()) : xml.index(b"</" + name.encode())]


def solved(steps: int, size: float) -> float:
    """Angle of the rod after some steps."""
    solver = fm.Solver(hinged_rod())
    solver.assemble()
    for i in range(steps):
        solver.step(i * size + size)
    return float(solver.get("A.q"))


# The same as the native FMU --------------------------------------------------------------------------------


def test_every_mechanism_passes(fmus: tuple[Path, Path]) -> None:
    _, fmu = fmus
    assert verify_fmu(fmu) == []


def test_every_mechanism_steps_to_the_bits_of_its_native_fmu(fmus: tuple[Path, Path]) -> None:
    variables = read_model_description(str(fmus[0])).modelVariables
    inputs = [v.name for v in variables if v.causality == "input"]
    pushes = {name: 0.05 * (k % 5 - 2) for k, name in enumerate(inputs)}
    outputs = [v.name for v in variables if v.causality == "output"]
    native, python = (
        simulate_fmu(str(fmu), stop_time=0.2, output_interval=0.01, start_values=pushes, output=outputs) for fmu in fmus
    )
    assert native.dtype == python.dtype
    assert len(native) == len(python) == 21
    for name in native.dtype.names:
        assert native[name].tobytes() == python[name].tobytes(), name


def test_the_variables_are_the_native_ones_to_the_letter(fmus: tuple[Path, Path]) -> None:
    native, python = (contents(fmu)["modelDescription.xml"] for fmu in fmus)
    for name in ("UnitDefinitions", "TypeDefinitions", "ModelVariables", "ModelStructure"):
        assert section(native, name) == section(python, name)
    assert re.findall(rb'guid="[^"]+"', native) == re.findall(rb'guid="[^"]+"', python)


def test_libcosim_steps_it_to_the_solvers_numbers(tmp_path: Path) -> None:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    fmu = export_fmu(hinged_rod(), tmp_path / "rod.fmu", backend="pythonfmu")
    execution = CosimExecution.from_step_size(step_size=10_000_000)
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="rod"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    references = {v.name.decode(): v.reference for v in execution.slave_variables(slave_index=slave)}
    for _ in range(20):
        assert execution.step()
    (angle,) = observer.last_real_values(slave_index=slave, variable_references=[references["A.q"]])
    assert angle == solved(20, 0.01)


# The archive -----------------------------------------------------------------------------------------------


def test_it_holds_pythonfmus_binary_and_the_native_one_as_its_core(fmus: tuple[Path, Path]) -> None:
    from importlib.metadata import distribution

    native, held = contents(fmus[0]), contents(fmus[1])
    module = held["resources/slavemodule.txt"].decode()
    (binary,) = (name for name in native if name.startswith("binaries/linux64/"))
    theirs = "pythonfmu/resources/binaries/linux64/libpythonfmu-export.so"
    assert held[binary] == Path(str(distribution("pythonfmu").locate_file(theirs))).read_bytes()
    assert held[f"resources/{module}_core/linux64/fmumbs.so"] == native[binary]
    assert held["resources/model.fmb"] == native["resources/model.fmb"]
    assert f"resources/{module}.py" in held
    assert b"MIT" in held["documentation/licenses/pythonfmu.txt"]


def test_the_same_image_gives_the_same_bytes_and_another_another_module(tmp_path: Path) -> None:
    image = compile(hinged_rod())
    first, again, other = (
        export_fmu(what, tmp_path / f"{k}.fmu", backend="pythonfmu")
        for k, what in enumerate((image, ModelImage.load(image.bytes), hinged_rod(length=2.0)))
    )
    assert first.read_bytes() == again.read_bytes()
    assert contents(first)["resources/slavemodule.txt"] != contents(other)["resources/slavemodule.txt"]


def test_the_documentation_page_names_the_hosts_requirements(fmus: tuple[Path, Path]) -> None:
    page = contents(fmus[1])["documentation/index.html"].decode()
    for word in ("LD_PRELOAD", "PYTHONHOME", "PYTHONPATH", "libpython", "fmi2Fatal"):
        assert word in page
    assert "neither Python" not in page
    assert "neither Python" in contents(fmus[0])["documentation/index.html"].decode()


def test_without_pythonfmu_the_message_has_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = compile(hinged_rod())
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ExportError, match="pip install pythonfmu"):
        export_fmu(image, tmp_path / "a.fmu", backend="pythonfmu")


def test_a_platform_without_a_binary_of_pythonfmu_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "fmumbs.so"
    library.touch()
    monkeypatch.setattr(installed, "installed_binaries", lambda: {"aarch64-linux": library})
    with pytest.raises(ExportError, match=r"linux64, win64.*aarch64-linux.*'native'"):
        export_fmu(hinged_rod(), tmp_path / "a.fmu", backend="pythonfmu")


def test_the_command_line_exports_and_verifies_it(tmp_path: Path) -> None:
    place = tmp_path / "pendulum.fmu"
    done = CliRunner().invoke(main, ["export", "pendulum", "--backend", "pythonfmu", "-o", str(place), "--verify"])
    assert done.exit_code == 0, done.output
    assert "0 problems" in done.output


# Capabilities -------------------------------------------------------------------------------------------------


def test_capabilities_that_pythonfmu_lacks_are_not_claimed(fmus: tuple[Path, Path]) -> None:
    abilities = read_model_description(str(fmus[1])).coSimulation
    assert not abilities.canInterpolateInputs
    assert not abilities.providesDirectionalDerivative
    assert int(abilities.maxOutputDerivativeOrder or 0) == 0
    assert abilities.needsExecutionTool
    assert abilities.canGetAndSetFMUstate
    assert abilities.canSerializeFMUstate
    assert abilities.canHandleVariableCommunicationStepSize
    assert not abilities.canBeInstantiatedOnlyOncePerProcess


def test_calls_that_are_not_claimed_are_errors(rod: Unpacked) -> None:
    slave = Slave(rod)
    slave.start()
    assert slave.set_derivatives(["A.tau"], [1], [1.0]) == ERROR
    assert slave.output_derivative("A.q")[0] == ERROR
    assert slave.directional("A.qdd", "A.tau")[0] == ERROR
    slave.free()


REFUSED: dict[str, Any] = {
    "unknown reference": lambda s: s.set(10_000, 1.0),
    "reference beyond 2**31": lambda s: s.set(2**32 - 1, 1.0),
    "computed output": lambda s: s.set("A.qdd", 1.0),
    "state while running": lambda s: s.set("A.q", 1.0),
    "fixed parameter while running": lambda s: s.set("solver.step", 1e-3),
    "another type": lambda s: s.set_integer("A.tau", 1),
    "not a number": lambda s: s.set("A.tau", float("nan")),
    "another time": lambda s: s.step(0.7, 0.1),
    "past the stop": lambda s: s.step(0.1, 1.0),
    "negative step": lambda s: s.step(0.1, -0.1),
    "twice initialised": lambda s: s.call("fmi2EnterInitializationMode"),
    "boolean": lambda s: s.call("fmi2SetBoolean", s.references([0]), 1, (ctypes.c_int * 1)(1)),
    "string": lambda s: s.call("fmi2GetString", s.references([0]), 1, (ctypes.c_char_p * 1)()),
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_refused_call_is_fatal_for_pythonfmu_but_changes_nothing(rod: Unpacked, call: str) -> None:
    slave, other = Slave(rod), Slave(rod)
    for one in (slave, other):
        one.start(stop=1.0)
        one.run(0.0, 0.1, 1)
    for _ in range(20):
        assert REFUSED[call](slave) == FATAL
    assert slave.run(0.1, 0.1, 3) == other.run(0.1, 0.1, 3)
    assert slave.call("fmi2Reset") == OK
    slave.start()
    assert slave.run(0.0, 0.1, 1)
    slave.free()
    other.free()


def test_the_reason_is_logged_if_logging_is_on(pendulum: ModelImage, tmp_path: Path) -> None:
    with Fmu(export_fmu(pendulum, tmp_path / "a.fmu", backend="pythonfmu")) as fmu, fmu.started() as one:
        one.step(0.1)
        with pytest.raises(FMICallException):
            one.set({fmu.reference("A.qdd"): 1.0})
        assert "'A.qdd' (value reference" in one.last_message
        assert "computed output" in one.last_message
        one.set({fmu.reference("gravity[3]"): IMPOSSIBLE})
        with pytest.raises(FMICallException):
            one.step(0.1)
        assert one.last_message.startswith("fmi2DoStep: ")
        assert len(one.messages) == 2


def test_a_failed_step_leaves_the_instance_where_the_step_began(rod: Unpacked) -> None:
    slave, untroubled = Slave(rod), Slave(rod)
    for one in (slave, untroubled):
        one.start()
        one.run(0.0, 0.1, 1)
        assert one.set("gravity[3]", IMPOSSIBLE) == OK
    before = slave.get("A.q")
    assert slave.step(0.1, 0.1) == DISCARD
    assert slave.real_status(LAST_SUCCESSFUL_TIME) == (OK, 0.1)
    assert slave.integer_status("fmi2GetBooleanStatus", TERMINATED) == (OK, 1)
    assert slave.get("A.q") == before
    for one in (slave, untroubled):
        assert one.set("gravity[3]", -9.81) == OK
    assert slave.run(0.1, 0.1, 5) == untroubled.run(0.1, 0.1, 5)
    slave.free()
    untroubled.free()


def test_reset_and_states_restore_every_bit(rod: Unpacked, native_rod: Unpacked) -> None:
    slave, native = Slave(rod), Slave(native_rod)
    native.start()
    rows = native.run(0.0, 0.1, 5) + native.run(0.5, 0.1, 5)
    slave.start()
    assert slave.run(0.0, 0.1, 5) == rows[:5]
    state = slave.state()
    assert slave.run(0.5, 0.1, 5) == rows[5:]
    assert slave.call("fmi2SetFMUstate", state) == OK
    assert slave.run(0.5, 0.1, 5) == rows[5:]
    assert slave.call("fmi2FreeFMUstate", byref(state)) == OK
    assert slave.call("fmi2Reset") == OK
    slave.start()
    assert slave.run(0.0, 0.1, 5) + slave.run(0.5, 0.1, 5) == rows
    slave.free()
    native.free()


def test_a_damaged_state_is_refused_when_it_is_set(rod: Unpacked) -> None:
    slave = Slave(rod)
    slave.start()
    data = bytearray(slave.serialized(slave.state()))
    data[len(data) // 2] ^= 0xFF
    for bad in (bytes(data), b"", b"none"):
        status, state = slave.deserialized(bad)
        assert status == OK
        assert slave.call("fmi2SetFMUstate", state) == FATAL
    assert slave.run(0.0, 0.1, 1)
    slave.free()


# In its host --------------------------------------------------------------------------------------------------


def test_two_fmus_and_their_instances_run_in_one_process(
    rod: Unpacked, longer_rod: Unpacked, native_rod: Unpacked
) -> None:
    slaves = [Slave(each) for each in (rod, longer_rod, rod, native_rod)]
    for slave in slaves:
        assert slave.component, slave.say
        slave.start()
    slaves[2].set("A.tau", 1.0)
    rows = [[slave.run(i * 0.1, 0.1, 1) for slave in slaves] for i in range(5)]
    for row in rows:
        assert row[0] == row[3]
        assert row[0] != row[1]
        assert row[0] != row[2]
    for slave in slaves:
        slave.free()


def test_hosts_that_share_all_symbols_do_not_mix_them(rod: Unpacked, longer_rod: Unpacked) -> None:
    code = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from support.slave import OK, Slave, Unpacked
angles = []
for k in (2, 5):
    folder, library, reference = sys.argv[k:k+3]
    fmu = Unpacked(Path(folder), Path(library), "", {"A.q": int(reference)})
    slave = Slave(fmu, library=fmu.load(ctypes.RTLD_GLOBAL))
    slave.start()
    assert slave.step(0.0, 0.5) == OK
    angles.append(slave.get("A.q"))
assert angles[0] != angles[1]
"""
    arguments = [str(part) for each in (rod, longer_rod) for part in (each.folder, each.library, each.reference["A.q"])]
    subprocess.run([sys.executable, "-c", code, str(ROOT / "tests"), *arguments], check=True)


def instances() -> int:
    """The number of slaves in this process, freed or not."""
    gc.collect()
    modules = [module for name, module in sys.modules.items() if re.fullmatch(r"fmumbs_\w+_core", name)]
    return sum(isinstance(one, tuple(module.Slave for module in modules)) for one in gc.get_objects())


def test_freed_instances_leave_nothing_behind(rod: Unpacked) -> None:
    slave = Slave(rod)
    path, modules, alive = list(sys.path), set(sys.modules), instances() - 1
    slave.free()
    for _ in range(100):
        slave = Slave(rod)
        slave.start()
        assert slave.set("A.qdd", 1.0) == FATAL
        slave.free()
    assert sys.path == path
    files = (getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - modules)  # others import, too
    assert not [file for file in files if file and Path(file).is_relative_to(rod.folder)]
    assert instances() == alive


def test_a_folder_may_have_spaces(rod: Unpacked, tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    shutil.copytree(rod.folder, folder)
    slave = Slave(rod, resources=(folder / "resources").as_uri().encode())
    assert slave.component
    slave.free()


BARE = """
import ctypes, sys
from ctypes import c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
library, resources, reference = sys.argv[1:]
fmu = ctypes.CDLL(library)
fmu.fmi2Instantiate.restype = c_void_p
one = c_void_p(fmu.fmi2Instantiate(b"one", 1, b"", resources.encode(), (c_void_p * 5)(), 0, 0))
assert fmu.fmi2SetupExperiment(one, 0, c_double(0), c_double(0), 0, c_double(0)) == 0
assert fmu.fmi2EnterInitializationMode(one) == 0
assert fmu.fmi2ExitInitializationMode(one) == 0
for i in range(10):
    assert fmu.fmi2DoStep(one, c_double(i * 0.1), c_double(0.1), 1) == 0
value = (c_double * 1)()
assert fmu.fmi2GetReal(one, (c_uint * 1)(int(reference)), c_size_t(1), value) == 0
fmu.fmi2FreeInstance(one)
foreign = {"fmumbs", "numpy", "cffi", "pythonfmu", "site"} & set(sys.modules)
assert not foreign, foreign
print(value[0].hex())
"""


def test_its_host_needs_only_the_standard_library(rod: Unpacked) -> None:
    arguments = [str(rod.library), rod.resources, str(rod.reference["A.q"])]
    # -I and -S: no site-packages, no PYTHONPATH
    command = [sys.executable, "-I", "-S", "-c", BARE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float.fromhex(done.stdout) == solved(10, 0.1)


HOST = r"""
#include "fmi/fmi2Functions.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define CALL(name) ((name##TYPE *)dlsym(fmu, #name))

int main(int count, char **argument)
{
    static const fmi2CallbackFunctions none;
    void *fmu = dlopen(argument[1], RTLD_NOW);
    fmi2ValueReference reference = (fmi2ValueReference)atoi(argument[3]);
    fmi2Component one;
    double value;
    int i;
    if (count < 4 || !fmu) return fprintf(stderr, "%s\n", dlerror()), 1;
    one = CALL(fmi2Instantiate)("one", fmi2CoSimulation, "", argument[2], &none, 0, 0);
    if (!one || CALL(fmi2SetupExperiment)(one, 0, 0.0, 0.0, 0, 0.0)) return 2;
    if (CALL(fmi2EnterInitializationMode)(one) || CALL(fmi2ExitInitializationMode)(one)) return 3;
    for (i = 0; i < 10; i++)
        if (CALL(fmi2DoStep)(one, i * 0.1, 0.1, 1)) return 4;
    if (CALL(fmi2GetReal)(one, &reference, 1, &value)) return 5;
    CALL(fmi2FreeInstance)(one);
    dlclose(fmu);
    printf("%a\n", value);
    return 0;
}
"""


def test_a_host_in_c_runs_it_with_libpython_loaded(rod: Unpacked, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    libpython = Path(sysconfig.get_config_var("LIBDIR")) / str(sysconfig.get_config_var("INSTSONAME"))
    if compiler is None or libpython.suffix == ".a" or not libpython.is_file():
        pytest.skip("needs a C compiler and a shared libpython")
    (tmp_path / "host.c").write_text(HOST)
    host, core = str(tmp_path / "host"), str(ROOT / "fmumbs" / "core")
    subprocess.run([compiler, "-I", core, "-o", host, str(tmp_path / "host.c"), "-ldl"], check=True)
    command = [host, str(rod.library), rod.resources, str(rod.reference["A.q"])]
    environment = {"LD_PRELOAD": str(libpython), "PYTHONHOME": sys.base_prefix}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert float.fromhex(done.stdout) == solved(10, 0.1)
