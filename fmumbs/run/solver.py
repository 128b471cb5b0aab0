"""Solver: an instance of the core, with names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import ffi, lib, open_instance
from fmumbs.errors import SolverError
from fmumbs.mechanism import Model

Array = NDArray[np.float64]


class Solver:
    """Steps a mechanism as its FMU does, to the same bits.

    model: a Model, of which every variable is to be had, or a ModelImage with the variables it has.
    Values are numbers, or arrays for vectors such as "A.reaction.f"; units and axes as the variables' table says.
    Raises SolverError for unknown names, values that are refused, and steps that fail.
    """

    def __init__(self, model: Model | ModelImage) -> None:
        self.image = compile(model, everything=True) if isinstance(model, Model) else model
        self._instance = open_instance(self.image.bytes)
        self._known: dict[str, Any] = {}

    # Running ----------------------------------------------------------------------------------------------

    def assemble(self, t: float = 0.0) -> None:
        """A consistent start at time t [s]. AssemblyError's cause is in the message."""
        self._call(lib.fm_assemble(self._instance, t))

    def step(self, t_end: float) -> None:
        """Goes on to t_end [s]; after a SolverError the state is that of `time`."""
        self._call(lib.fm_step(self._instance, t_end))

    def reset(self) -> None:
        """Back to the bits of a new Solver."""
        self._call(lib.fm_reset(self._instance))

    @property
    def time(self) -> float:
        """The present time [s]."""
        return float(lib.fm_time(self._instance))

    def evaluate(self, times: int = 1) -> None:
        """Evaluates the accelerations `times` times at the present state, for those who measure."""
        self._call(lib.fm_evaluate(self._instance, times))

    # Values -------------------------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """A number, or an (n,) array of a vector's components."""
        references, scalar = self._references(name)
        values = self.read(references)
        return float(values[0]) if scalar else values

    def set(self, name: str, value: ArrayLike) -> None:
        """Sets an input, a parameter, or before assemble() a start value; a vector takes n numbers."""
        references, _ = self._references(name)
        values = np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=float)))
        if values.shape != (len(references),):
            raise SolverError(f"'{name}' has {len(references)} components, not {values.shape}. Give as many.")
        self.write(references, values)

    def read(self, references: NDArray[np.uint32]) -> Array:
        """(n,) values by value reference."""
        values = np.empty(len(references))
        args = (_pointer("uint32_t", references), len(references), _pointer("double", values))
        self._call(lib.fm_get(self._instance, *args))
        return values

    def write(self, references: NDArray[np.uint32], values: Array) -> None:
        """Sets (n,) values by value reference."""
        args = (_pointer("uint32_t", references), len(references), _pointer("double", values))
        self._call(lib.fm_set(self._instance, *args))

    def set_state(self, positions: ArrayLike, speeds: ArrayLike) -> None:
        """Positions and velocities of all joints in the image's order, then assembles at the present time.

        A joint's position is q, a quaternion w x y z, or x y z w x y z; its velocity qd, w, or v and w.
        """
        for values, kinds, size in (
            (positions, ("r", "q"), self.image.sizes["positions"]),
            (speeds, ("qd", "v", "w"), self.image.sizes["speeds"]),
        ):
            flat = np.ascontiguousarray(np.asarray(values, dtype=float).reshape(-1))
            references = self._states(kinds)
            if len(flat) != size or len(references) != size:
                raise SolverError(f"the state takes {size} numbers, not {len(flat)}. Give them for every joint.")
            self.write(references, flat)
        self.assemble(self.time)

    def _states(self, suffixes: tuple[str, ...]) -> NDArray[np.uint32]:
        key = f"states {suffixes}"
        if key not in self._known:
            variables, names = self.image.variables, self.joint_names
            found = [r for joint in names for s in suffixes for r in variables.references(f"{joint}.{s}")]
            self._known[key] = np.array(found, dtype=np.uint32)
        found_references: NDArray[np.uint32] = self._known[key]
        return found_references

    @property
    def joint_names(self) -> list[str]:
        """The joints in the image's order: depth first from the ground."""
        text = self.image.arrays["text"].tobytes()
        offsets = self.image.arrays["joint_name"].tolist()
        return [text[i : text.index(b"\0", i)].decode() for i in offsets]

    # Derivatives --------------------------------------------------------------------------------------------

    def set_input_derivatives(self, name: str, order: int, value: float) -> None:
        """The derivative of an input of that order, 1 to 3, at the start of the next step, valid for it alone."""
        references, _ = self._references(name)
        orders = np.full(len(references), order, np.int32)
        values = np.full(len(references), float(value))
        args = (_pointer("uint32_t", references), len(references), _pointer("int32_t", orders))
        self._call(lib.fm_set_input_derivatives(self._instance, *args, _pointer("double", values)))

    def output_derivative(self, name: str) -> Any:
        """The time derivative of an output."""
        references, scalar = self._references(name)
        orders, values = np.ones(len(references), np.int32), np.empty(len(references))
        args = (_pointer("uint32_t", references), len(references), _pointer("int32_t", orders))
        self._call(lib.fm_get_output_derivatives(self._instance, *args, _pointer("double", values)))
        return float(values[0]) if scalar else values

    def directional_derivative(self, unknowns: Sequence[str], knowns: Sequence[str], seed: ArrayLike) -> Array:
        """(unknowns,) of outputs along a seed of inputs at the present time; names of vectors stand for all."""
        z = np.concatenate([self._references(name)[0] for name in unknowns])
        v = np.concatenate([self._references(name)[0] for name in knowns])
        direction = np.ascontiguousarray(np.atleast_1d(np.asarray(seed, dtype=float)))
        if direction.shape != v.shape:
            raise SolverError(f"the seed has {direction.size} numbers for {v.size} inputs. Give one for each.")
        result = np.empty(len(z))
        args = (_pointer("uint32_t", z), len(z), _pointer("uint32_t", v), len(v))
        self._call(
            lib.fm_directional_derivative(
                self._instance, *args, _pointer("double", direction), _pointer("double", result)
            )
        )
        return result

    # State ----------------------------------------------------------------------------------------------------

    def state_save(self) -> bytes:
        """Everything that changes, to be loaded in this or another process."""
        buffer = ffi.new("char[]", lib.fm_state_size(self._instance))
        self._call(lib.fm_state_save(self._instance, buffer, len(buffer)))
        return bytes(ffi.buffer(buffer))

    def state_load(self, state: bytes) -> None:
        """Goes on from a saved state, bit for bit; SolverError for one of another model or a damaged one."""
        self._call(lib.fm_state_load(self._instance, ffi.from_buffer(state), len(state)))

    def use_level(self, level: int) -> None:
        """Chooses the kernels' instruction set: 0 plain, 1 AVX2; the bits do not change."""
        self._call(lib.fm_level_use(self._instance, level))

    def _references(self, name: str) -> tuple[NDArray[np.uint32], bool]:
        if name not in self._known:
            variables = self.image.variables
            found = variables.references(name)
            if not found:
                raise SolverError(
                    f"'{self.image.name}' has no variable '{name}'. {_checks.nearest(name, variables.names())}"
                )
            scalar = len(found) == 1 and variables.name(found[0]) == name
            self._known[name] = np.array(found, dtype=np.uint32), scalar
        references: tuple[NDArray[np.uint32], bool] = self._known[name]
        return references

    def _call(self, status: int) -> None:
        if status != lib.FM_OK:
            raise SolverError(f"{ffi.string(lib.fm_message(self._instance)).decode()}.")


def _pointer(kind: str, values: NDArray[Any]) -> Any:
    return ffi.from_buffer(f"{kind}[]", values)
