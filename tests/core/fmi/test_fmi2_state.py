"""States of the FMU: a run continues from them bit for bit, also in another process; invalid states are refused."""

import subprocess
import sys
from ctypes import byref, c_size_t, c_void_p, create_string_buffer
from pathlib import Path

import pytest

from support.slave import ERROR, OK, Slave, Unpacked

TESTS = Path(__file__).parents[2]

ELSEWHERE = """
import sys
from pathlib import Path
from support.slave import OK, Slave, Unpacked

folder, library, guid, data, tau = sys.argv[1:]
references = {"A.q": int(tau.split()[0]), "A.qd": int(tau.split()[1])}
slave = Slave(Unpacked(Path(folder), Path(library), guid, references))
status, state = slave.deserialized(bytes.fromhex(data))
assert status == OK, slave.say
assert slave.call("fmi2SetFMUstate", state) == OK, slave.say
print(repr(slave.run(0.5, 0.1, 10)))
slave.free()
"""


def test_a_run_continues_bit_for_bit_from_a_state(slave: Slave) -> None:
    slave.start()
    slave.run(0.0, 0.1, 5)
    slave.set("A.tau", 0.5)
    slave.set_derivatives(["A.tau"], [1], [0.3])  # part of the state, until the next step
    state = slave.state()
    there = slave.run(0.5, 0.1, 10)
    for _ in range(2):
        assert slave.call("fmi2SetFMUstate", state) == OK
        assert slave.get("A.tau") == 0.5
        assert slave.run(0.5, 0.1, 10) == there
    assert slave.call("fmi2FreeFMUstate", byref(state)) == OK
    assert not state


def test_a_state_restores_the_phase_of_the_run(slave: Slave) -> None:
    before = slave.state()
    slave.start(stop=0.2)
    stepping = slave.state()
    slave.run(0.0, 0.1, 2)
    assert slave.call("fmi2Terminate") == OK
    assert slave.call("fmi2SetFMUstate", stepping) == OK
    assert slave.step(0.0, 0.3) == ERROR  # past the stop time
    assert slave.step(0.0, 0.2) == OK
    assert slave.call("fmi2SetFMUstate", before) == OK
    slave.start(begin=1.0)
    assert slave.step(1.0, 0.3) == OK


def test_a_serialised_state_continues_in_another_process(fmu: Unpacked, slave: Slave) -> None:
    slave.start()
    slave.run(0.0, 0.1, 5)
    data = slave.serialized(slave.state())
    references = f"{fmu.reference['A.q']} {fmu.reference['A.qd']}"
    arguments = [str(fmu.folder), str(fmu.library), fmu.guid, data.hex(), references]
    command = [sys.executable, "-c", ELSEWHERE, *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=TESTS, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == repr(slave.run(0.5, 0.1, 10))


def test_an_existing_state_is_overwritten(slave: Slave) -> None:
    slave.start()
    state = slave.state()
    address = state.value
    slave.step(0.0, 0.1)
    assert slave.call("fmi2GetFMUstate", byref(state)) == OK
    assert state.value == address
    data = slave.serialized(state)
    assert slave.call("fmi2DeSerializeFMUstate", data, len(data), byref(state)) == OK
    assert state.value == address
    assert slave.call("fmi2SetFMUstate", state) == OK
    assert slave.real_status() == (OK, 0.1)


def test_a_foreign_state_is_refused(fmu: Unpacked, slave: Slave) -> None:
    other = Slave(fmu)
    slave.start()
    foreign, freed, made_up = other.state(), slave.state(), c_void_p(12345)
    address = c_void_p(freed.value)
    assert slave.call("fmi2FreeFMUstate", byref(freed)) == OK
    for state in (foreign, address, made_up):
        assert slave.call("fmi2SetFMUstate", state) == ERROR
        assert "state" in slave.say
        assert slave.call("fmi2GetFMUstate", byref(state)) == ERROR
        assert slave.call("fmi2FreeFMUstate", byref(state)) == ERROR
        assert slave.call("fmi2SerializedFMUstateSize", state, byref(c_size_t())) == ERROR
    assert slave.step(0.0, 0.1) == OK
    other.free()


def test_a_buffer_that_is_too_small_is_refused(slave: Slave) -> None:
    state = slave.state()
    size = len(slave.serialized(state))
    buffer = create_string_buffer(size)
    assert slave.call("fmi2SerializeFMUstate", state, buffer, size - 1) == ERROR
    assert buffer.raw == bytes(size)
    assert slave.call("fmi2SerializeFMUstate", state, None, size) == ERROR


def test_bytes_that_were_changed_are_refused(slave: Slave) -> None:
    slave.start()
    data = slave.serialized(slave.state())
    for place in {0, 8, 16, 40, len(data) // 2, len(data) - 1}:
        changed = bytearray(data)
        changed[place] ^= 1
        assert slave.deserialized(bytes(changed))[0] == ERROR, place
        assert slave.say.startswith("fmi2DeSerializeFMUstate: ")
    for wrong in (b"", data[:-1], data + b"\0", b"\0" * len(data)):
        assert slave.deserialized(wrong)[0] == ERROR
    assert slave.deserialized(data)[0] == OK
    assert slave.step(0.0, 0.1) == OK


def test_a_state_of_another_model_is_refused(other_fmu: Unpacked, slave: Slave) -> None:
    """As many bytes, and whole; but they carry the hash of another image."""
    other = Slave(other_fmu)
    other.start()
    slave.start()
    status, state = slave.deserialized(other.serialized(other.state()))
    if status == OK:
        assert slave.call("fmi2SetFMUstate", state) == ERROR
    assert slave.run(0.0, 0.1, 1)
    other.free()


@pytest.mark.parametrize("steps", [1, 7])
def test_saving_a_state_does_not_change_the_run(fmu: Unpacked, slave: Slave, steps: int) -> None:
    undisturbed = Slave(fmu)
    undisturbed.start()
    slave.start()
    for i in range(steps):
        slave.state()
        assert slave.run(i * 0.1, 0.1, 1) == undisturbed.run(i * 0.1, 0.1, 1)
    undisturbed.free()
