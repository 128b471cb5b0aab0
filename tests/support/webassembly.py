"""The core as WebAssembly in wasmtime: a host that shares no code with the pages' (fmumbs/view/live.js)."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fmumbs.view.live import CORE

Array = NDArray[np.float64]


class Module:
    """The binary, instantiated. folder: one on the host that it may read, as "/"; None: no files at all."""

    def __init__(self, folder: Path | None = None) -> None:
        wasmtime = pytest.importorskip("wasmtime", reason="no wasmtime: pip install wasmtime")
        if not CORE.is_file():
            pytest.skip("no binary for wasm32-wasi: make platforms")
        self.store = wasmtime.Store()
        module = wasmtime.Module.from_file(self.store.engine, str(CORE))
        linker = wasmtime.Linker(self.store.engine)
        if folder is None:
            for needed in module.imports:
                linker.define(self.store, needed.module, needed.name, wasmtime.Func(self.store, needed.type, _refuse))
        else:
            linker.define_wasi()
            wasi = wasmtime.WasiConfig()
            wasi.preopen_dir(str(folder), "/")
            self.store.set_wasi(wasi)
        self._exports = linker.instantiate(self.store, module).exports(self.store)
        self.call("_initialize")

    def call(self, name: str, *arguments: Any) -> Any:
        return self._exports[name](self.store, *arguments)

    @property
    def names(self) -> set[str]:
        return set(self._exports.keys())

    @property
    def size(self) -> int:
        """Of the memory [bytes]."""
        return int(self._exports["memory"].data_len(self.store))

    def allocate(self, size: int) -> int:
        at = int(self.call("malloc", max(size, 8))) & 0xFFFFFFFF
        assert at, f"no memory for {size} bytes"
        return at

    def put(self, data: bytes) -> int:
        """The address of a copy, which the caller frees."""
        at = self.allocate(len(data))
        self._exports["memory"].write(self.store, data, at)
        return at

    def read(self, at: int, size: int) -> bytes:
        return bytes(self._exports["memory"].read(self.store, at, at + size))

    def text(self, at: int) -> str:
        at &= 0xFFFFFFFF
        return self.read(at, min(4096, self.size - at)).split(b"\0")[0].decode()

    def logger(self, to: list[str]) -> int:
        """The address of fmi2CallbackFunctions with a logger that appends each message."""
        import wasmtime

        table = self._exports["__indirect_function_table"]
        log = wasmtime.Func(
            self.store,
            wasmtime.FuncType([wasmtime.ValType.i32()] * 6, []),  # the last: of the arguments that C counts as "..."
            lambda _environment, _name, _status, _category, message, _others: to.append(self.text(message)),
        )
        return self.put(struct.pack("<5I", table.grow(self.store, 1, log), 0, 0, 0, 0))


class Instance:
    """An instance of the core in a module: the same calls as fmumbs.Solver's. Raises RuntimeError with its message."""

    def __init__(self, module: Module, image: bytes) -> None:
        self._module = module
        copy, out = module.put(image), module.allocate(4 + 4096)
        status = module.call("fm_open", copy, len(image), out, out + 4, 4096)
        (self._handle,) = struct.unpack("<I", module.read(out, 4))
        why = module.text(out + 4) if status else ""
        module.call("free", copy)
        module.call("free", out)
        if status:
            raise RuntimeError(why)

    def _check(self, status: int) -> None:
        if status:
            raise RuntimeError(self._module.text(self._module.call("fm_message", self._handle)))

    @property
    def time(self) -> float:
        return float(self._module.call("fm_time", self._handle))

    def assemble(self, t: float = 0.0) -> None:
        self._check(self._module.call("fm_assemble", self._handle, t))

    def step(self, end: float) -> None:
        self._check(self._module.call("fm_step", self._handle, end))

    def _pass(self, call: str, references: Sequence[int] | NDArray[Any], values: Array) -> Array:
        at = self._module.put(np.asarray(references, "<u4").tobytes())
        data = self._module.put(values.astype("<f8").tobytes())
        status = self._module.call(call, self._handle, at, len(references), data)
        out = np.frombuffer(self._module.read(data, values.nbytes), "<f8")
        self._module.call("free", at)
        self._module.call("free", data)
        self._check(status)
        return out

    def read(self, references: Sequence[int] | NDArray[Any]) -> Array:
        return self._pass("fm_get", references, np.zeros(len(references)))

    def write(self, references: Sequence[int] | NDArray[Any], values: Any) -> None:
        self._pass("fm_set", references, np.asarray(values, float))

    def poses(self) -> Array:
        count = self._module.call("fm_poses", self._handle, 0, 0)
        at = self._module.allocate(8 * count)
        assert self._module.call("fm_poses", self._handle, at, count) == count
        out = np.frombuffer(self._module.read(at, 8 * count), "<f8")
        self._module.call("free", at)
        return out

    def state_save(self) -> bytes:
        size = self._module.call("fm_state_size", self._handle)
        at = self._module.allocate(size)
        self._check(self._module.call("fm_state_save", self._handle, at, size))
        state = self._module.read(at, size)
        self._module.call("free", at)
        return state

    def state_load(self, state: bytes) -> None:
        at = self._module.put(state)
        status = self._module.call("fm_state_load", self._handle, at, len(state))
        self._module.call("free", at)
        self._check(status)

    def close(self) -> None:
        self._module.call("fm_close", self._handle)


def _refuse(*_: Any) -> int:
    """Every file: EBADF."""
    return 8
