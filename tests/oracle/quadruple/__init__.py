"""The core in numbers of 113 bits: what its values and derivatives are where nothing is rounded.

It is the core as one file, compiled with another `double` (quadruple.h). Its formulas are the core's: what it judges is
round-off, iterations that end too early, and derivatives, which it takes by differences of values to 20 digits.
"""

import fcntl
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.layout import ffi as core_ffi
from fmumbs.compiler.layout import lib
from fmumbs.export.one_file import core_source
from fmumbs.run.coordinates import pointer
from support.host import by_reference

Array = NDArray[np.float64]

HERE = Path(__file__).parent
BUILT = HERE.parents[2] / "build" / "quadruple"

ffi = FFI()
ffi.cdef("""
    void *quadruple_open(const void *image, char *message, size_t capacity);
    void quadruple_close(void *instance);
    const char *quadruple_message(void *instance);
    int quadruple_assemble(void *instance, const double *t, const uint32_t *reference, size_t count,
                           const double *value);
    int quadruple_derivatives(void *instance, const double *t, const double *x, size_t n, const uint32_t *unknown,
                              size_t unknowns, const uint32_t *known, size_t knowns, const double *size,
                              double *value, double *out);
""")


def _source() -> str:
    """The core without FMI, its own trigonometry and rows of vectors, which no compiler has of such numbers."""
    first, *rest = re.split(r"^/\* (\w+/\w+\.[ch]|\w+\.h) \*/\n", core_source().decode(), flags=re.MULTILINE)
    texts = dict(zip(rest[::2], rest[1::2], strict=True))
    texts["maths/rows.h"] = texts["maths/rows.h"].replace("defined(__GNUC__)", "0")
    kept = [text for name, text in texts.items() if not name.startswith(("fmi/", "maths/trigonometry."))]
    return "".join([(HERE / "quadruple.h").read_text(), first, *kept, (HERE / "derivatives.c").read_text()])


@cache
def _library() -> Any:
    """Built once for all processes; one that is stopped meanwhile leaves none."""
    source = _source()
    library = BUILT / f"{sha256(source.encode()).hexdigest()[:16]}.so"
    BUILT.mkdir(parents=True, exist_ok=True)
    with open(BUILT / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not library.exists():
            for old in BUILT.glob("*.so"):
                old.unlink()
            new = library.with_suffix(".new")
            flags = ["-std=gnu99", "-O0", "-w", "-fPIC", "-shared", "-fvisibility=hidden"]
            subprocess.run(["gcc", *flags, "-x", "c", "-", "-o", new, "-lm"], input=source, text=True, check=True)
            new.rename(library)
    return ffi.dlopen(str(library))


def _numbers(of: Array) -> Any:
    return ffi.cast("double *", of.ctypes.data)


def _references(of: NDArray[np.uint32]) -> Any:
    return ffi.cast("uint32_t *", of.ctypes.data)


@dataclass
class Point:
    """A Solver whose host integrates: what it is asked for, and where it is."""

    solver: fm.Solver

    def __post_init__(self) -> None:
        self.solver.call(lib.fm_update_events, core_ffi.new("fm_events *"))
        instance = self.solver.instance
        self.variables = self.solver.image.variables
        self.x = np.empty(lib.fm_continuous_count(instance))
        lib.fm_get_continuous(instance, pointer(self.x))
        self.nominals = np.empty(len(self.x))
        lib.fm_nominals(instance, pointer(self.nominals))
        first = len(self.variables) + 1
        self.states = list(range(first, first + len(self.x)))
        self.rates = list(range(first + len(self.x), first + 2 * len(self.x)))

    def move_to(self, x: Array) -> None:
        """The states, on the constraints or not, which the event that gives laws their pieces would bring back."""
        now = lib.fm_time(self.solver.instance)
        self.solver.call(lib.fm_set_continuous, now, pointer(x))
        self.solver.call(lib.fm_update_events, core_ffi.new("fm_events *"))
        self.solver.call(lib.fm_set_continuous, now, pointer(x))
        self.x = x

    def name(self, reference: int) -> str:
        """Of a variable, or of a state or rate by its number."""
        place = reference - len(self.variables) - 1
        if place < 0:
            return self.variables[reference].name
        return f"x[{place}]" if place < len(self.x) else f"dx/dt[{place - len(self.x)}]"

    def has_adjoint(self, unknown: int, known: int) -> bool:
        try:
            by_reference(self.solver, lib.fm_adjoint_derivative, [unknown], [known], np.ones(1), 1)
        except fm.SolverError:
            return False
        return True

    def values(self, unknowns: list[int]) -> Array:
        found = np.empty(len(unknowns))
        rows = np.array(unknowns, np.uint32)
        self.solver.call(lib.fm_get, core_ffi.from_buffer("uint32_t[]", rows), len(rows), pointer(found))
        return found

    def sizes(self, knowns: list[int]) -> Array:
        """(knowns,): the nominal values of states, the sizes of others."""
        nominal = dict(zip(self.states, self.nominals, strict=True))
        return np.array([nominal.get(k, abs(v)) or 1.0 for k, v in zip(knowns, self.values(knowns), strict=True)])

    def column(self, unknowns: list[int], known: int) -> Array:
        """Derivatives of unknowns by one known, as the core gives them."""
        return by_reference(self.solver, lib.fm_directional_derivative, unknowns, [known], np.ones(1), len(unknowns))


def values_and_derivatives(
    point: Point, unknowns: list[int], knowns: list[int], x: Array | None = None
) -> tuple[Array, Array]:
    """(unknowns,) and (unknowns, knowns), both by reference, at the point's states or x; NaN by a parameter at a bound.

    Raises fm.SolverError with the core's message.
    """
    library, message = _library(), ffi.new("char[500]")
    instance = library.quadruple_open(point.solver.image.bytes, message, 500)
    if instance == ffi.NULL:
        raise fm.SolverError(ffi.string(message).decode())
    try:
        inputs = np.array([i for i, v in enumerate(point.variables) if v.causality == "input"], np.uint32)
        set_to = point.values(inputs.tolist())
        start, now = np.zeros(1), np.array([lib.fm_time(point.solver.instance)])
        rows = np.array(unknowns, np.uint32)
        states = {reference: i for i, reference in enumerate(point.states)}
        columns = np.array([states[k] if k in states else len(point.x) + k for k in knowns], np.uint32)
        value, out = np.empty(len(rows)), np.empty((len(rows), len(columns)))
        sizes = point.sizes(knowns)
        at = np.ascontiguousarray(point.x if x is None else x)
        if not library.quadruple_assemble(
            instance, _numbers(start), _references(inputs), len(inputs), _numbers(set_to)
        ) or not library.quadruple_derivatives(
            instance, _numbers(now), _numbers(at), len(at), _references(rows), len(rows),
            _references(columns), len(columns), _numbers(sizes), _numbers(value), _numbers(out),
        ):  # fmt: skip
            raise fm.SolverError(ffi.string(library.quadruple_message(instance)).decode())
        return value, out
    finally:
        library.quadruple_close(instance)
