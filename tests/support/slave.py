"""An unpacked FMU and its functions through ctypes, with statuses and messages as they come."""

import ctypes
import zipfile
from collections.abc import Iterable, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fmpy
from fmpy.fmi2 import (
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    fmi2StepFinishedTYPE,
)

import fmumbs as fm
from fmumbs.export import export_fmu

OK, WARNING, DISCARD, ERROR = range(4)
DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED = range(4)
MODEL_EXCHANGE, CO_SIMULATION = 0, 1

_REFERENCES, _REALS, _INTEGERS = POINTER(c_uint), POINTER(c_double), POINTER(c_int)
# fmt: off
_ARGUMENTS: dict[str, list[Any]] = {
    "fmi2SetDebugLogging": [c_void_p, c_int, c_size_t, POINTER(c_char_p)],
    "fmi2FreeInstance": [c_void_p],
    "fmi2SetupExperiment": [c_void_p, c_int, c_double, c_double, c_int, c_double],
    "fmi2EnterInitializationMode": [c_void_p],
    "fmi2ExitInitializationMode": [c_void_p],
    "fmi2Terminate": [c_void_p],
    "fmi2Reset": [c_void_p],
    "fmi2GetReal": [c_void_p, _REFERENCES, c_size_t, _REALS],
    "fmi2GetInteger": [c_void_p, _REFERENCES, c_size_t, _INTEGERS],
    "fmi2GetBoolean": [c_void_p, _REFERENCES, c_size_t, _INTEGERS],
    "fmi2GetString": [c_void_p, _REFERENCES, c_size_t, POINTER(c_char_p)],
    "fmi2SetReal": [c_void_p, _REFERENCES, c_size_t, _REALS],
    "fmi2SetInteger": [c_void_p, _REFERENCES, c_size_t, _INTEGERS],
    "fmi2SetBoolean": [c_void_p, _REFERENCES, c_size_t, _INTEGERS],
    "fmi2SetString": [c_void_p, _REFERENCES, c_size_t, POINTER(c_char_p)],
    "fmi2GetFMUstate": [c_void_p, POINTER(c_void_p)],
    "fmi2SetFMUstate": [c_void_p, c_void_p],
    "fmi2FreeFMUstate": [c_void_p, POINTER(c_void_p)],
    "fmi2SerializedFMUstateSize": [c_void_p, c_void_p, POINTER(c_size_t)],
    "fmi2SerializeFMUstate": [c_void_p, c_void_p, c_char_p, c_size_t],
    "fmi2DeSerializeFMUstate": [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)],
    "fmi2GetDirectionalDerivative": [
        c_void_p, _REFERENCES, c_size_t, _REFERENCES, c_size_t, _REALS, _REALS,
    ],
    "fmi2SetRealInputDerivatives": [c_void_p, _REFERENCES, c_size_t, _INTEGERS, _REALS],
    "fmi2GetRealOutputDerivatives": [c_void_p, _REFERENCES, c_size_t, _INTEGERS, _REALS],
    "fmi2EnterEventMode": [c_void_p],
    "fmi2NewDiscreteStates": [c_void_p, c_void_p],
    "fmi2EnterContinuousTimeMode": [c_void_p],
    "fmi2CompletedIntegratorStep": [c_void_p, c_int, _INTEGERS, _INTEGERS],
    "fmi2SetTime": [c_void_p, c_double],
    "fmi2SetContinuousStates": [c_void_p, _REALS, c_size_t],
    "fmi2GetDerivatives": [c_void_p, _REALS, c_size_t],
    "fmi2GetEventIndicators": [c_void_p, _REALS, c_size_t],
    "fmi2GetContinuousStates": [c_void_p, _REALS, c_size_t],
    "fmi2GetNominalsOfContinuousStates": [c_void_p, _REALS, c_size_t],
    "fmi2DoStep": [c_void_p, c_double, c_double, c_int],
    "fmi2CancelStep": [c_void_p],
    "fmi2GetStatus": [c_void_p, c_int, _INTEGERS],
    "fmi2GetRealStatus": [c_void_p, c_int, _REALS],
    "fmi2GetIntegerStatus": [c_void_p, c_int, _INTEGERS],
    "fmi2GetBooleanStatus": [c_void_p, c_int, _INTEGERS],
    "fmi2GetStringStatus": [c_void_p, c_int, POINTER(c_char_p)],
}
# fmt: on


@dataclass(frozen=True)
class Unpacked:
    """An FMU in a folder: its binary, and its variables from modelDescription.xml."""

    folder: Path
    library: Path
    guid: str
    reference: dict[str, int]

    @property
    def resources(self) -> str:
        return (self.folder / "resources").as_uri()

    def load(self, mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL:
        """The binary, with the signatures of its functions."""
        library = ctypes.CDLL(str(self.library), mode=mode)
        library.fmi2GetVersion.restype = library.fmi2GetTypesPlatform.restype = c_char_p
        library.fmi2Instantiate.restype = c_void_p
        library.fmi2Instantiate.argtypes = [c_char_p, c_int, c_char_p, c_char_p, c_void_p, c_int, c_int]
        for name, arguments in _ARGUMENTS.items():
            if hasattr(library, name):  # pythonfmu's binary has no functions of Model Exchange
                getattr(library, name).argtypes = arguments
        library.fmi2FreeInstance.restype = None
        return library


def unpacked_fmu(folder: Path, model: Any, **options: Any) -> Unpacked:
    """Exports `model` and unzips the FMU into `folder`."""
    archive = Path(export_fmu(model, folder.parent / f"{folder.name}.fmu", **options))
    with zipfile.ZipFile(archive) as entries:
        entries.extractall(folder)
    description = fmpy.read_model_description(str(archive), validate=False)
    name = description.coSimulation.modelIdentifier
    suffix = fmpy.sharedLibraryExtension
    return Unpacked(
        folder,
        folder / "binaries" / fmpy.platform / f"{name}{suffix}",
        description.guid,
        {variable.name: variable.valueReference for variable in description.modelVariables},
    )


@dataclass
class Callbacks:
    """The master's side: keeps every message, and counts memory that was taken and given back."""

    messages: list[tuple[int, str, str]] = field(default_factory=list)
    held: dict[int, Any] = field(default_factory=dict)
    allocations: int = 0

    def __post_init__(self) -> None:
        self.struct = fmi2CallbackFunctions(
            fmi2CallbackLoggerTYPE(self._log),
            fmi2CallbackAllocateMemoryTYPE(self._allocate),
            fmi2CallbackFreeMemoryTYPE(self._free),
            fmi2StepFinishedTYPE(),
            None,
        )

    def _log(self, _: Any, __: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append((status, category.decode(), message.decode()))

    def _allocate(self, count: int, size: int) -> int:
        memory = ctypes.create_string_buffer(b"\xa5" * (count * size), count * size)  # not zeroed on purpose
        self.held[ctypes.addressof(memory)] = memory
        self.allocations += 1
        return ctypes.addressof(memory)

    def _free(self, address: int) -> None:
        del self.held[address]


class Slave:
    """One instance. Every function returns the status of its call; `say` is the last message."""

    def __init__(self, fmu: Unpacked, *, library: ctypes.CDLL | None = None, logging: bool = False, **changes: Any):
        self.fmu = fmu
        self.library = library or fmu.load()
        self.callbacks = Callbacks()
        arguments: dict[str, Any] = {
            "name": b"instance",
            "type": CO_SIMULATION,
            "guid": fmu.guid.encode(),
            "resources": fmu.resources.encode(),
            "callbacks": byref(self.callbacks.struct),
        } | changes
        self.component = self.library.fmi2Instantiate(*arguments.values(), 0, int(logging))

    @property
    def say(self) -> str:
        return self.callbacks.messages[-1][2] if self.callbacks.messages else ""

    def call(self, name: str, *arguments: Any) -> int:
        """Any function of this instance."""
        status: int = getattr(self.library, name)(self.component, *arguments)
        return status

    def free(self) -> None:
        self.library.fmi2FreeInstance(self.component)
        self.component = None

    def references(self, names: Iterable[str | int]) -> Any:
        """The value references of names; numbers stay."""
        numbers = [self.fmu.reference[name] if isinstance(name, str) else name for name in names]
        return (c_uint * len(numbers))(*numbers)

    def initialize(self, begin: float = 0.0, stop: float | None = None) -> None:
        """From instantiated to initialization mode."""
        assert self.call("fmi2SetupExperiment", 0, 0.0, begin, int(stop is not None), stop or 0.0) == OK
        assert self.call("fmi2EnterInitializationMode") == OK

    def start(self, *, begin: float = 0.0, stop: float | None = None, **values: float) -> None:
        """From instantiated to the first step. `values`: with _ for the point of a name."""
        self.initialize(begin, stop)
        for name, value in values.items():
            assert self.set(name.replace("_", ".", 1), value) == OK
        assert self.call("fmi2ExitInitializationMode") == OK, self.say

    def step(self, at: float, size: float) -> int:
        return self.call("fmi2DoStep", at, size, 0)

    def run(self, at: float, size: float, steps: int) -> list[list[float]]:
        """Several steps, with q and qd behind each."""
        rows = []
        for i in range(steps):
            assert self.step(at + i * size, size) == OK, self.say
            rows.append([self.get("A.q"), self.get("A.qd")])
        return rows

    def get(self, name: str | int) -> float:
        value = (c_double * 1)()
        assert self.call("fmi2GetReal", self.references([name]), 1, value) == OK, self.say
        return value[0]

    def get_many(self, names: Sequence[str]) -> list[float]:
        values = (c_double * len(names))()
        assert self.call("fmi2GetReal", self.references(names), len(names), values) == OK, self.say
        return list(values)

    def get_integer(self, name: str) -> int:
        value = (c_int * 1)()
        assert self.call("fmi2GetInteger", self.references([name]), 1, value) == OK, self.say
        return value[0]

    def set(self, name: str | int, value: float) -> int:
        return self.call("fmi2SetReal", self.references([name]), 1, (c_double * 1)(value))

    def set_integer(self, name: str | int, value: int) -> int:
        return self.call("fmi2SetInteger", self.references([name]), 1, (c_int * 1)(value))

    def set_derivatives(self, names: Sequence[str], orders: Sequence[int], values: Sequence[float]) -> int:
        count = len(names)
        return self.call(
            "fmi2SetRealInputDerivatives",
            self.references(names),
            count,
            (c_int * count)(*orders),
            (c_double * count)(*values),
        )

    def output_derivative(self, name: str, order: int = 1) -> tuple[int, float]:
        value = (c_double * 1)()
        references, orders = self.references([name]), (c_int * 1)(order)
        return self.call("fmi2GetRealOutputDerivatives", references, 1, orders, value), value[0]

    def directional(self, unknown: str, known: str, seed: float = 1.0) -> tuple[int, float]:
        value = (c_double * 1)()
        unknowns, knowns = self.references([unknown]), self.references([known])
        status = self.call("fmi2GetDirectionalDerivative", unknowns, 1, knowns, 1, (c_double * 1)(seed), value)
        return status, value[0]

    def real_status(self, kind: int = LAST_SUCCESSFUL_TIME) -> tuple[int, float]:
        value = c_double()
        return self.call("fmi2GetRealStatus", kind, byref(value)), value.value

    def integer_status(self, name: str, kind: int) -> tuple[int, int]:
        value = c_int()
        return self.call(name, kind, byref(value)), value.value

    def state(self) -> c_void_p:
        pointer = c_void_p()
        assert self.call("fmi2GetFMUstate", byref(pointer)) == OK, self.say
        return pointer

    def serialized(self, state: c_void_p) -> bytes:
        size = c_size_t()
        assert self.call("fmi2SerializedFMUstateSize", state, byref(size)) == OK, self.say
        buffer = ctypes.create_string_buffer(size.value)
        assert self.call("fmi2SerializeFMUstate", state, buffer, size) == OK, self.say
        return buffer.raw

    def deserialized(self, data: bytes) -> tuple[int, c_void_p]:
        pointer = c_void_p()
        return self.call("fmi2DeSerializeFMUstate", data, len(data), byref(pointer)), pointer


def hinged_rod(name: str = "hinged_rod", length: float = 1.0) -> fm.Model:
    """A rod of 3 kg; with a length of 1 m its moment of inertia about the hinge is 1 kg.m2."""
    model = fm.Model(name)
    rod = fm.Body.rod("rod", length=length, mass=3.0)
    model.add(rod, fm.Revolute("A", model.ground.at(0, 0, 0), rod.base, axis="y", q0=0.5))
    return model
