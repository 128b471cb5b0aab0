"""Instances: where their resources are, which GUID they have, that they are many and give everything back."""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from ctypes import byref
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fmpy
import pytest
from fmpy.fmi2 import fmi2CallbackAllocateMemoryTYPE as ALLOCATE
from fmpy.fmi2 import fmi2CallbackFreeMemoryTYPE as FREE

import support
from support.slave import OK, Callbacks, Slave, Unpacked

# --- resources -----------------------------------------------------------------------------------------

SPELLINGS: dict[str, Callable[[str], str]] = {
    "file:///": lambda path: "file://" + quote(path),
    "file:/": lambda path: "file:" + quote(path),
    "file://localhost/": lambda path: "file://localhost" + quote(path),
    "FILE:///": lambda path: "FILE://" + quote(path),
    "final slash": lambda path: "file://" + quote(path) + "/",
    "lower-case escapes": lambda path: "file://" + quote(path).replace("%C3%BC", "%c3%bc"),
    "UTF-8 that is not encoded": lambda path: "file://" + path,
    "plain path": lambda path: path,
    "plain path, final slash": lambda path: path + "/",
    "plain path, encoded": quote,
}


@pytest.fixture(scope="module")
def awkward(fmu: Unpacked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The resources in a folder whose name has to be encoded."""
    folder = tmp_path_factory.mktemp("awkward") / "Müller 50% #2 ü+%zz" / "resources"
    shutil.copytree(fmu.folder / "resources", folder)
    return folder


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_resources_are_found_by_every_spelling_of_their_location(fmu: Unpacked, awkward: Path, spelling: str) -> None:
    slave = Slave(fmu, resources=SPELLINGS[spelling](str(awkward)).encode())
    assert slave.component, slave.say
    slave.start()
    slave.free()


@pytest.mark.parametrize("place", [b"file:///nowhere/at%20all", b"/nowhere/100%", b"http://x", b"file:", b"", None])
def test_missing_resources_are_reported(fmu: Unpacked, place: bytes | None) -> None:
    slave = Slave(fmu, resources=place)
    assert slave.component is None
    assert slave.say.startswith("fmi2Instantiate: ")
    assert "resources" in slave.say


def test_a_missing_location_says_which_binary_needs_none(fmu: Unpacked) -> None:
    slave = Slave(fmu, resources=None)
    assert not slave.component
    assert "the location of 'resources' was not given" in slave.say and "compiled from 'sources'" in slave.say


def test_format_characters_in_messages_are_escaped(fmu: Unpacked) -> None:
    """Loggers read '%' and '#' in a message, so that both are doubled."""
    slave = Slave(fmu, resources=b"/nowhere/%s%n#r1#")
    assert "/nowhere/%%s%%n##r1##" in slave.say


@pytest.mark.parametrize("damage", ["empty", "cut", "other bytes", "other hash"])
def test_a_damaged_image_is_refused(fmu: Unpacked, tmp_path: Path, damage: str) -> None:
    image = (fmu.folder / "resources" / "model.fmb").read_bytes()
    middle = len(image) // 2
    changed = {
        "empty": b"",
        "cut": image[:-1],
        "other hash": image[:40] + bytes([image[40] ^ 1]) + image[41:],
        "other bytes": image[:middle] + bytes([image[middle] ^ 0xFF]) + image[middle + 1 :],
    }
    (tmp_path / "model.fmb").write_bytes(changed[damage])
    slave = Slave(fmu, resources=tmp_path.as_uri().encode())
    assert slave.component is None
    assert slave.say.startswith("fmi2Instantiate: ")
    assert not slave.callbacks.held


# --- arguments -----------------------------------------------------------------------------------------


def test_another_guid_is_refused_with_both_in_the_message(fmu: Unpacked, other_fmu: Unpacked) -> None:
    slave = Slave(fmu, guid=other_fmu.guid.encode())
    assert slave.component is None
    assert fmu.guid in slave.say
    assert other_fmu.guid in slave.say
    assert not slave.callbacks.held


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"type": 2}, "pass fmi2ModelExchange or fmi2CoSimulation"),
        ({"name": b""}, "name"),
        ({"name": None}, "name"),
        ({"guid": None}, "GUID"),
    ],
)
def test_invalid_arguments_of_instantiate_are_reported(fmu: Unpacked, changes: dict[str, object], fact: str) -> None:
    slave = Slave(fmu, **changes)
    assert slave.component is None
    assert fact in slave.say


# --- many ----------------------------------------------------------------------------------------------


def test_instances_of_one_library_are_independent(fmu: Unpacked) -> None:
    library = fmu.load()
    alone, pushed, idle = (Slave(fmu, library=library) for _ in range(3))
    for slave in (alone, pushed):
        slave.start()
    pushed.set("A.tau", 1.0)
    rows = [alone.run(i * 0.1, 0.1, 1) for i in range(5) if pushed.run(i * 0.1, 0.1, 1)]
    idle.start()
    assert idle.run(0.0, 0.1, 5) == [row for (row,) in rows]
    assert pushed.get("A.q") != idle.get("A.q")
    for slave in (alone, pushed, idle):
        slave.free()


def test_two_fmus_with_global_symbols_do_not_mix(fmu: Unpacked, other_fmu: Unpacked) -> None:
    """Some hosts load every library so that its symbols serve the next one too."""
    slaves = [Slave(each, library=each.load(ctypes.RTLD_GLOBAL)) for each in (fmu, other_fmu)]
    for slave in slaves:
        assert slave.component, slave.say
        slave.start()
        assert slave.step(0.0, 0.5) == OK
    assert slaves[0].get("A.q") != slaves[1].get("A.q")
    for slave in slaves:
        slave.free()


ALLOCATORS: dict[str, Callable[[Callbacks], dict[str, Any]]] = {
    "counted": lambda callbacks: {},
    "none": lambda callbacks: {"allocateMemory": ALLOCATE(), "freeMemory": FREE()},
    "no allocateMemory": lambda callbacks: {"allocateMemory": ALLOCATE()},
    "no freeMemory": lambda callbacks: {"freeMemory": FREE()},
    "out of memory": lambda callbacks: {"allocateMemory": ALLOCATE(lambda count, size: None)},
}


@pytest.mark.parametrize("which", ALLOCATORS)
def test_the_masters_memory_functions_are_never_called(fmu: Unpacked, which: str) -> None:
    """That is what canNotUseMemoryManagementFunctions says; so it does not matter what they are."""
    description = fmpy.read_model_description(str(fmu.folder), validate=False)
    assert description.coSimulation.canNotUseMemoryManagementFunctions
    callbacks = Callbacks()
    for name, function in ALLOCATORS[which](callbacks).items():
        setattr(callbacks.struct, name, function)
    slave = Slave(fmu, callbacks=byref(callbacks.struct))
    assert slave.component, callbacks.messages
    slave.start()
    slave.run(0.0, 0.1, 3)
    assert slave.call("fmi2SetFMUstate", slave.state()) == OK
    slave.state()  # never freed
    assert slave.call("fmi2Reset") == OK
    slave.free()
    assert callbacks.allocations == 0
    assert not callbacks.held


ROUNDS = """
import _ctypes, pickle, sys
from pathlib import Path
import support
from support.slave import OK, Slave

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def growth_of_round(loads):
    before = resident()
    for _ in range(loads):
        library = fmu.load()
        slave = Slave(fmu, library=library, callbacks=None)
        slave.start()
        assert slave.step(0.0, 0.01) == OK
        for _ in range(10):
            slave.state()  # never freed
        slave.free()
        _ctypes.dlclose(library._handle)
    return resident() - before

fmu = pickle.load(sys.stdin.buffer)
growth_of_round(200)  # warms up
print(min(growth_of_round(600) for _ in range(3)))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_loading_and_freeing_two_thousand_times_leaks_no_memory(fmu: Unpacked) -> None:
    """In a process of its own, as what other tests have left in this one's memory takes up room now and then."""
    run = subprocess.run(
        [sys.executable, "-c", ROUNDS],
        input=pickle.dumps(fmu),
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(support.__path__[0]).parent)},
    )
    assert int(run.stdout) < 300_000  # 500 bytes a load, of which an instance holds more than 10 kB
