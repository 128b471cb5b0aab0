"""The slave of a pythonfmu FMU: forwards every call to the core library in the FMU's resources.

The exporter copies this file into the FMU, as a package with a unique name next to the library. It runs in the Python
of the host and imports the standard library only. The core library is the binary of a native FMU, so checks, messages
and results are the same in both. Value references are those of modelDescription.xml.

pythonfmu reports only success, a discarded step, and an exception, which becomes fmi2Fatal. Its binary (0.7.0) also
decrements reference counts that it never incremented, which would free objects still in use; hold() increments them
beforehand:
  - for every instance, that of the dictionary of the module named in slavemodule.txt;
  - after an exception, those of the class, the instance and its messages.
"""

from __future__ import annotations

import ctypes
import os
import sys
from array import array
from ctypes import c_char_p, c_double, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

GUID = ""  # the exporter writes it here

OK, WARNING, DISCARD = range(3)
CO_SIMULATION = 1
LIBRARIES = {
    "linux": "linux64/fmumbs.so",
    "win32": "win64/fmumbs.dll",
    "darwin": "darwin64/fmumbs.dylib",
}

_ARRAYS = (c_void_p, c_size_t, c_void_p)  # value references, their number, values
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "fmi2FreeInstance": (),
    "fmi2SetupExperiment": (c_int, c_double, c_double, c_int, c_double),
    "fmi2EnterInitializationMode": (),
    "fmi2ExitInitializationMode": (),
    "fmi2Terminate": (),
    "fmi2DoStep": (c_double, c_double, c_int),
    "fmi2GetFMUstate": (c_void_p,),
    "fmi2SetFMUstate": (c_void_p,),
    "fmi2SerializedFMUstateSize": (c_void_p, c_void_p),
    "fmi2SerializeFMUstate": (c_void_p, c_char_p, c_size_t),
    "fmi2DeSerializeFMUstate": (c_char_p, c_size_t, c_void_p),
    **{f"fmi2{verb}{kind}": _ARRAYS for verb in ("Get", "Set") for kind in ("Real", "Integer", "Boolean", "String")},
}
_LOGGER = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)


def hold(*objects: object) -> None:
    """Increments the reference count of each object, as pythonfmu will decrement it."""
    for one in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))


class Refused(Exception):
    """A call that the core refused, with the core's message; the state is unchanged."""


class Message(NamedTuple):
    """A message with the fields that pythonfmu's binary reads."""

    status: int
    category: str
    msg: str


class _Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions: the logger, and four pointers that stay NULL."""

    _fields_ = (("logger", _LOGGER), ("others", c_void_p * 4))


class Fmi2Slave:
    """Base class whose name pythonfmu's binary looks for."""


class Slave(Fmi2Slave):
    """One instance of the FMU: the methods that pythonfmu's binary calls, under its names."""

    _component = None

    def __init__(self, instance_name: str, resources: str, visible: int = 0, **_: object) -> None:
        if resources in sys.path:
            sys.path.remove(resources)  # was needed for the import only
        self._messages: list[Message] = []
        self._callbacks = _Callbacks(_listener(self._messages))
        self._state = c_void_p()  # used within one method at a time
        folder = Path(os.path.abspath(resources))
        self._library = _load(folder)
        self._component = self._library.fmi2Instantiate(
            instance_name.encode(), CO_SIMULATION, GUID.encode(), folder.as_uri().encode(),
            ctypes.byref(self._callbacks), visible, 0,
        )  # fmt: skip
        if not self._component:
            raise self._refusal()

    def __del__(self) -> None:
        if self._component:
            self._library.fmi2FreeInstance(self._component)

    def _get_log_queue(self) -> list[Message]:
        return self._messages

    # Life -------------------------------------------------------------------------------------------------

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        self._call(
            "fmi2SetupExperiment", tolerance is not None, tolerance or 0.0,
            start_time, stop_time is not None, stop_time or 0.0,
        )  # fmt: skip

    def enter_initialization_mode(self) -> None:
        self._call("fmi2EnterInitializationMode")

    def exit_initialization_mode(self) -> None:
        self._call("fmi2ExitInitializationMode")

    def terminate(self) -> None:
        self._call("fmi2Terminate")

    def do_step(self, current_time: float, step_size: float) -> bool:
        """False if the step failed: fmi2Discard.

        pythonfmu then reports the start of the step as the last successful time, so the instance returns to it.
        """
        self._call("fmi2GetFMUstate", ctypes.byref(self._state))
        status = self._library.fmi2DoStep(self._component, current_time, step_size, 1)
        if status == DISCARD:
            self._call("fmi2SetFMUstate", self._state)
            return False
        self._check(status)
        return True

    # Values -----------------------------------------------------------------------------------------------

    def get_real(self, vrs: list[int]) -> list[Any]:
        return self._get("fmi2GetReal", "d", vrs)

    def get_integer(self, vrs: list[int]) -> list[Any]:
        return self._get("fmi2GetInteger", "i", vrs)

    def get_boolean(self, vrs: list[int]) -> list[Any]:
        return self._get("fmi2GetBoolean", "i", vrs)

    def get_string(self, vrs: list[int]) -> list[Any]:
        return self._get("fmi2GetString", "q", vrs)  # there are no strings: refused, or empty

    def set_real(self, vrs: list[int], values: list[float]) -> None:
        self._set("fmi2SetReal", "d", vrs, values)

    def set_integer(self, vrs: list[int], values: list[int]) -> None:
        self._set("fmi2SetInteger", "i", vrs, values)

    def set_boolean(self, vrs: list[int], values: list[bool]) -> None:
        self._set("fmi2SetBoolean", "i", vrs, values)

    def set_string(self, vrs: list[int], values: list[str]) -> None:
        self._set("fmi2SetString", "q", vrs, [0] * len(values))

    def _get(self, function: str, code: str, vrs: list[int]) -> list[Any]:
        references, values = array("i", vrs), array(code, (0,)) * len(vrs)
        self._call(function, references.buffer_info()[0], len(vrs), values.buffer_info()[0])
        return values.tolist()

    def _set(self, function: str, code: str, vrs: list[int], values: list[Any]) -> None:
        references, numbers = array("i", vrs), array(code, values)
        self._call(function, references.buffer_info()[0], len(vrs), numbers.buffer_info()[0])

    # State: its serialised bytes --------------------------------------------------------------------------

    def _get_fmu_state(self) -> bytes:
        size = c_size_t()
        self._call("fmi2GetFMUstate", ctypes.byref(self._state))
        self._call("fmi2SerializedFMUstateSize", self._state, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self._call("fmi2SerializeFMUstate", self._state, data, size.value)
        return data.raw

    def _set_fmu_state(self, state: bytes) -> None:
        self._call("fmi2DeSerializeFMUstate", state, len(state), ctypes.byref(self._state))
        self._call("fmi2SetFMUstate", self._state)

    @staticmethod
    def _fmu_state_to_bytes(state: bytes) -> bytes:
        return state

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> bytes:
        return state  # checked when it is set: an exception in a static method would end the instance

    # The library ------------------------------------------------------------------------------------------

    def _call(self, function: str, *arguments: Any) -> None:
        self._check(getattr(self._library, function)(self._component, *arguments))

    def _check(self, status: int) -> None:
        if status > WARNING:
            hold(type(self), self, self._messages)
            raise self._refusal()

    def _refusal(self) -> Refused:
        """The core's last message. The list is cleared, as logging it would run Python during an exception."""
        sentence = self._messages[-1].msg if self._messages else "the core gave no reason"
        self._messages.clear()
        return Refused(sentence)


def _listener(messages: list[Message]) -> Any:
    """A logger that stores messages for pythonfmu. It refers to the list only: a cycle would outlive the FMU."""

    def listen(_: object, name: bytes, status: int, category: bytes, message: bytes) -> None:
        messages.append(Message(status, category.decode(), message.decode("utf-8", "replace")))

    return _LOGGER(listen)


def _load(resources: Path) -> ctypes.CDLL:
    """The core library of this FMU, in the folder of this package."""
    library = ctypes.CDLL(str(resources / __name__ / LIBRARIES[sys.platform]))
    library.fmi2Instantiate.restype = c_void_p
    library.fmi2Instantiate.argtypes = (c_char_p, c_int, c_char_p, c_char_p, c_void_p, c_int, c_int)
    for name, arguments in _ARGUMENTS.items():
        getattr(library, name).argtypes = (c_void_p, *arguments)
    library.fmi2FreeInstance.restype = None
    return library
