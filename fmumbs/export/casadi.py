"""C functions of a mechanism for CasADi, and for what compiles CasADi's functions, such as acados.

    x_dot = f(x, u, p)      y = g(x, u, p)      x_next = one step of rk4 (x, u, p, h)

with forward (fwd1_), reverse (adj1_) and Jacobian functions (jac_) of each, and their sparsities. One C file has the
model image, the core (one_file.py), what the model gives, and casadi_functions.inc. In it only functions that CasADi
looks for are visible; their names begin with that of the model. Where modes follow paths, the last argument is the
time t.

A library is compiled by the C compiler that there is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._files import whole
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.continuous import continuous
from fmumbs.compiler.independent import STATES, with_independent_states
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import ffi, lib, open_instance
from fmumbs.errors import ExportError
from fmumbs.export import installed
from fmumbs.export.model_description import model_identifier
from fmumbs.export.sources import image_source
from fmumbs.export.structure import Unknown, structure_of

if TYPE_CHECKING:
    from fmumbs.mechanism import Model

COMPILERS = ("cc", "gcc", "clang", "tcc")
"""Those that are looked for if the environment variable CC names none; then zig of the package ziglang."""
FLAGS = ("-std=c99", "-O1", "-shared", "-fPIC")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""Of a library on this system."""
STEP = "x_next"

Array = NDArray[np.float64]
Pattern = NDArray[np.bool_]

_HEAD = """\
/* {name}.c: functions of the mechanism '{title}' for CasADi's external(), in strict C99: what the model gives, and the
 * core of fmumbs.
 *
 *     cc -std=c99 -O2 -shared -fPIC {name}.c -o {name}.so -lm
 *
 * Functions, SI units and radians:
{functions}
 *
{names} */
#ifndef casadi_real
#define casadi_real double
#endif
#ifndef casadi_int
#define casadi_int long long int
#endif
#ifndef CASADI_SYMBOL_EXPORT
#if defined(_WIN32)
#define CASADI_SYMBOL_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
#else
#define CASADI_SYMBOL_EXPORT
#endif
#endif
#if defined(__GNUC__)
#define FMI2_Export static __attribute__((unused)) /* those of FMI are hidden */
#define FMI3_Export static __attribute__((unused))
#else
#define FMI2_Export static
#define FMI3_Export static
#endif
#define FM_EMBEDDED_IMAGE 1

"""


@dataclass(frozen=True, eq=False)
class CasadiFunctions:
    """What export_casadi() wrote: functions whose names begin with `name`, and what their arguments are.

    source: the C file; library: what was compiled from it, None if nothing was. x, u, p, y: names of the states,
    inputs, parameters and outputs, in order; x0, u0, p0: start values.
    casadi.external(f"{name}_x_dot", str(library)) is a function of CasADi.
    """

    source: Path
    library: Path | None
    name: str
    x: tuple[str, ...]
    u: tuple[str, ...]
    p: tuple[str, ...]
    y: tuple[str, ...]
    x0: Array
    u0: Array
    p0: Array


def export_casadi(
    model: Model | ModelImage,
    path: str | os.PathLike[str] = "",
    *,
    starts: Mapping[str, float | Sequence[float]] | None = None,
    states: str = "independent",
    library: bool = True,
) -> CasadiFunctions:
    """Writes C functions x_dot, y and x_next of `model` for CasADi and acados, and compiles them into a library.

    path: the C file, NAME.c; or a folder, if it ends with a separator or is one, for files named after the model.
    starts: as in export_fmu().
    states: of loops, "independent", as many positions and velocities as there are degrees of freedom, or "tree", those
        of all joints of the tree, whose rates contain a pull to the constraints; see export_fmu().
    library: compiles the file with the compiler in the environment variable CC, or cc, gcc, clang, tcc or zig.

    x are the states of the FMU for Model Exchange, u its inputs, p its real tunable parameters and y its real outputs,
    but those of the solver: declare variables for a small interface. NAME_x_dot(x, u, p) are the rates of x,
    NAME_y(x, u, p) the outputs, NAME_x_next(x, u, p, h) the states after one step of rk4 of h [s], and NAME_start() the
    start values of x, u and p. Where modes follow paths, the time t [s] is the last argument.

    Forward and reverse derivatives are exact for models that Solver.adjoint() covers. For others both come from
    differences, of relative errors of 1e-9 and less, and a reverse derivative costs one direction for each state, input
    or parameter that is asked for. Values depend on the arguments alone, and threads may call the functions at once.

    Raises ModelError for a model that cannot be compiled or has no independent states, ExportError for one without
    states, if there is no compiler, or if a file cannot be written.
    """
    if not isinstance(states, str) or states not in STATES:
        raise ExportError(f"states '{states}' is unknown. Choose one of: {', '.join(STATES)}.")
    if isinstance(model, ModelImage) and starts:
        raise ExportError("starts cannot be given with a ModelImage, which has its own. Give its Model.")
    library = _checks.flag(library, "library")
    image = image_of(model, starts=starts)
    if states == "independent":
        image = with_independent_states(image)
    command = compiler() if library else ()
    functions = _Functions(image)
    target = _target(path, functions.name)
    _write(target, functions.source())
    made = _compile(command, target) if library else None
    x0, u0, p0 = functions.start
    x, u, p, y = (tuple(some) for some in (functions.x, functions.u, functions.p, functions.y))
    return CasadiFunctions(target, made, functions.name, x, u, p, y, x0, u0, p0)


def compiler() -> tuple[str, ...]:
    """The command of a C compiler. Raises ExportError if there is none."""
    given = tuple(shlex.split(os.environ.get("CC", "")))
    if given and shutil.which(given[0]):
        return given
    if given:
        raise ExportError(f"there is no compiler '{given[0]}', which CC names. Set CC to one, or unset it.")
    for name in COMPILERS:
        if shutil.which(name):
            return (name,)
    if find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "cc")
    raise ExportError(
        "there is no C compiler for the library. Install one, such as gcc, or `pip install ziglang`, or write the C "
        "file alone with library=False (--source-only)."
    )


def _target(path: str | os.PathLike[str], name: str) -> Path:
    """The C file. Raises ExportError for another suffix."""
    place = os.fspath(path)
    _checks.path(place or ".", "path")
    if not place or place.endswith(os.sep) or os.path.isdir(place):
        return Path(place, f"{name}.c")
    if not place.endswith(".c"):
        raise ExportError(f"'{place}' is not a C file. Give a name that ends with .c, or a folder.")
    return Path(place)


def _write(target: Path, data: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole(target) as file:
            file.write(data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ExportError(f"'{target}' could not be written: {reason}. Choose another path, or free space.") from error


def _compile(command: Sequence[str], source: Path) -> Path:
    """The library of a C file, beside it. Raises ExportError with what the compiler says."""
    target = source.with_suffix(SUFFIX)
    handle, draft = tempfile.mkstemp(SUFFIX, dir=target.parent)  # a library that is loaded is not written over
    os.close(handle)
    try:
        done = subprocess.run(
            [*command, *FLAGS, str(source), "-o", draft, "-lm"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
            raise ExportError(f"'{command[0]}' did not compile '{source}': {said}. Set CC to another compiler.")
        os.chmod(draft, 0o755)
        os.replace(draft, target)
    finally:
        Path(draft).unlink(missing_ok=True)
    return target


class _Functions:
    """The functions of an image: their arguments, patterns and C."""

    def __init__(self, image: ModelImage) -> None:
        self.image, self.name = image, model_identifier(image.name)
        variables, solver = image.variables[:], {kind.suffix for kind in kinds() if kind.of_solver}
        hosted = continuous(image)
        if not hosted.states:
            raise ExportError(f"'{image.name}' has no states: nothing moves that is not given. Export an FMU instead.")
        self.timed = bool(image.sizes["paths"])
        own = [v for v in variables if v.type == "real" and v.kind not in solver]
        beyond = {v.index: v.name for v in hosted.beyond}
        self.states, self.rates = hosted.states, hosted.rates
        self.inputs = [v.index for v in own if v.causality == "input"]
        self.parameters = [v.index for v in own if v.variability == "tunable"]
        self.outputs = [v.index for v in own if v.causality == "output"]
        self.x = [beyond[i] if i in beyond else variables[i].name for i in hosted.states]
        named = (self.inputs, self.parameters, self.outputs)
        self.u, self.p, self.y = ([variables[i].name for i in some] for some in named)
        self.known = [*self.states, *self.inputs, *self.parameters]
        time = [hosted.time.index] if self.timed else []
        structure = structure_of(variables, image.equilibrium, hosted)
        if time:
            structure = structure.following(time[0])
        structure = structure.listing(variables, hosted.states, time, np.inf)
        columns = {reference: j for j, reference in enumerate([*self.known, *time])}
        by_rate = {one.reference: one for one in structure.derivatives}
        by_output = {one.reference: one for one in structure.outputs}
        self.of_rates = _pattern([by_rate[i] for i in self.rates], columns)
        self.of_outputs = _pattern([by_output[i] for i in self.outputs], columns)
        self.start = self._start()

    def _start(self) -> tuple[Array, Array, Array]:
        instance = open_instance(self.image.bytes)
        events, fine = ffi.new("fm_events *"), lib.FM_OK
        if lib.fm_assemble(instance, 0.0) != fine or lib.fm_update_events(instance, events) != fine:
            raise ExportError(f"Model '{self.image.name}': {ffi.string(lib.fm_message(instance)).decode()}.")
        values = np.zeros(len(self.known))
        count = len(self.states)
        lib.fm_get_continuous(instance, ffi.from_buffer("double[]", values))
        rest = np.array(self.known[count:], np.uint32)
        lib.fm_get(
            instance, ffi.from_buffer("uint32_t[]", rest), len(rest), ffi.from_buffer("double[]", values[count:])
        )
        ends = [count, count + len(self.inputs)]
        x, u, p = np.split(values, ends)
        return x, u, p

    @property
    def widths(self) -> dict[str, int]:
        """Sizes of the arguments of x_dot."""
        found = {"x": len(self.x), "u": len(self.u), "p": len(self.p)}
        return found | ({"t": 1} if self.timed else {})

    def source(self) -> bytes:
        """The C file."""
        pieces = [self._head(), image_source(self.image.bytes), installed.core(), b"\n", self._data().encode()]
        pieces += [installed.casadi_functions(), self._exports().encode()]
        return b"".join(pieces)

    def _head(self) -> bytes:
        arguments = ", ".join(("x", "u", "p"))
        t = ", t" if self.timed else ""
        lines = [
            f" *     {self.name}_x_dot({arguments}{t}): rates of the states",
            *([f" *     {self.name}_y({arguments}{t}): outputs"] if self.y else []),
            f" *     {self.name}_{STEP}({arguments}, h{t}): the states after one step of rk4 of h",
            f" *     {self.name}_start(): start values of x, u and p",
        ]
        table = []
        for what, names in (("x", self.x), ("u", self.u), ("p", self.p), ("y", self.y)):
            table += [f" * {what}[{i}] {name}\n" for i, name in enumerate(names)]
        text = _HEAD.format(
            name=self.name, title=_comment(self.image.name), functions="\n".join(lines), names=_comment("".join(table))
        )
        return text.encode()

    def _data(self) -> str:
        """Sizes, references, start values."""
        sizes = {
            "X": len(self.x), "U": len(self.u), "P": len(self.p), "Y": len(self.y), "T": int(self.timed),
            "LOOPS": int(self.image.sizes["dependent_u"] > 0),
            "SWITCHES": int(self.image.sizes["laws"] > 0 or self.timed),
        }  # fmt: skip
        lines = [f"#define FMC_{name} {value}" for name, value in sizes.items()]
        for name, references in (("known", self.known), ("rate", self.rates), ("output", self.outputs)):
            lines.append(f"static const uint32_t fmc_{name}[] = {{{_list(references)}}};")
        for name, values in zip("xup", self.start, strict=True):
            lines.append(f"static const double fmc_start_{name}[] = {{{_list(map(float.hex, values.tolist()))}}};")
        return "\n".join(lines) + "\n\n"

    def _exports(self) -> str:
        """Each function with its arguments, patterns and names."""
        writer, widths = _Writer(self.name), self.widths
        stepped = {"x": widths["x"], "u": widths["u"], "p": widths["p"], "h": 1} | ({"t": 1} if self.timed else {})
        writer.family("x_dot", widths, len(self.x), _blocks(self.of_rates, widths), "rates")
        if self.y:
            writer.family("y", widths, len(self.y), _blocks(self.of_outputs, widths), "outputs")
        writer.family(STEP, stepped, len(self.x), _blocks(self._of_step(), stepped), None)
        writer.function(f"{self.name}_start", {}, dict(list(widths.items())[:3]), "fmc_start")
        return writer.text()

    def _of_step(self) -> Pattern:
        """The pattern of x_next by x, u, p, h and t."""
        n = len(self.x)
        through = np.eye(n, dtype=bool) | self.of_rates[:, :n]
        others = self.of_rates[:, n:]
        for _ in range(3):
            others = _product(through, others)
        by_x = _product(through, through)
        by_x = _product(by_x, by_x)
        count = len(self.u) + len(self.p)
        return np.hstack([by_x, others[:, :count], np.ones((n, 1), bool), others[:, count:]])


class _Writer:
    """C of functions; equal patterns are written once."""

    def __init__(self, name: str) -> None:
        self.name, self.patterns = name, dict[str, str]()
        self.lines = list[str]()

    def pattern(self, pattern: Pattern) -> str:
        """The name of a pattern in CasADi's compressed columns."""
        rows, columns = pattern.shape
        first = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
        text = _list([rows, columns, *first.tolist(), *np.nonzero(pattern.T)[1].tolist()])
        if text not in self.patterns:
            self.patterns[text] = f"fmc_pattern_{len(self.patterns)}"
            self.lines.append(f"static const casadi_int {self.patterns[text]}[] = {{{text}}};")
        return self.patterns[text]

    def array(self, name: str, kind: str, entries: Sequence[str]) -> str:
        self.lines.append(f"static {kind}{name}[] = {{{_list(entries)}}};")
        return name

    def function(self, symbol: str, given: Mapping[str, Any], result: Mapping[str, Any], run: str) -> None:
        """A function of `given` arguments with some results: widths of columns, or patterns, by name."""
        sizes = []
        for place, some in (("in", given), ("out", result)):
            shapes = [np.ones((one, 1), bool) if isinstance(one, int) else one for one in some.values()]
            names = self.array(f"fmc_{symbol}_{place}", "const char *const ", [f'"{name}"' for name in some])
            patterns = [self.pattern(shape) for shape in shapes]
            kind = "const casadi_int *const "
            sizes.append((len(some), names, self.array(f"fmc_{symbol}_{place}_patterns", kind, patterns)))
        (n_in, in_names, in_patterns), (n_out, out_names, out_patterns) = sizes
        self.lines.append(
            f"static const fmc_function fmc_{symbol} = {{{n_in}, {n_out}, {in_names}, {out_names}, {in_patterns}, "
            f"{out_patterns}, {run}}};\nFMC_FUNCTION({symbol}, fmc_{symbol})\n"
        )

    def family(
        self, which: str, given: dict[str, int], rows: int, blocks: Mapping[str, Pattern], unknowns: str | None
    ) -> None:
        """A function with its derivatives."""
        symbol, result = f"{self.name}_{which}", {which: rows}
        whole_in = {**given, f"out_{which}": rows}
        of = {f"jac_{which}_{name}": pattern for name, pattern in blocks.items()}
        self.lines.append(f"/* {which} */")
        patterns = [self.pattern(one) for one in of.values()]
        self.array(f"fmc_{which}_blocks", "const casadi_int *const ", patterns)
        forms: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
            "": (given, result),
            "fwd1_": (whole_in | {f"fwd_{name}": width for name, width in given.items()}, {f"fwd_{which}": rows}),
            "adj1_": (whole_in | {f"adj_{which}": rows}, {f"adj_{name}": width for name, width in given.items()}),
            "jac_": (whole_in, of),
        }
        back_in, back_out = forms["adj1_"]
        second = back_in | {f"out_{name}": width for name, width in back_out.items()}
        second |= {f"fwd_{name}": width for name, width in back_in.items()}
        forms["fwd1_adj1_"] = (second, {f"fwd_{name}": width for name, width in back_out.items()})
        step = "step_" if unknowns is None else ""
        of_unknowns = "" if unknowns is None else f", &fmc_{unknowns}"
        calls = {
            "": f"fmc_{'step' if step else 'evaluate'}(m, arg, res{of_unknowns})",
            "fwd1_": f"fmc_{step}forward(m, arg, res{of_unknowns})",
            "adj1_": f"fmc_{step}reverse(m, arg, res{of_unknowns})",
            "jac_": f"fmc_{step}jacobian(m, arg, res{of_unknowns}, fmc_{which}_blocks)",
            "fwd1_adj1_": f"fmc_reverse_along(m, arg, res, fmc_run_adj1_{which}, {int(bool(step))}, {rows})",
        }
        for prefix, (arguments, results) in forms.items():
            call = calls[prefix]
            self.lines.append(
                f"static int fmc_run_{prefix}{which}(fmc_memory *m, const double **arg, double **res)\n"
                f"{{\n    return {call};\n}}"
            )
            self.function(f"{prefix}{symbol}", arguments, results, f"fmc_run_{prefix}{which}")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _pattern(unknowns: Sequence[Unknown], columns: Mapping[int, int]) -> Pattern:
    """(unknowns, columns) on which each depends."""
    found = np.zeros((len(unknowns), len(columns)), bool)
    for i, one in enumerate(unknowns):
        if one.dependencies is None:
            found[i] = True
        else:
            found[i, [columns[known] for known in one.dependencies if known in columns]] = True
    return found


def _blocks(pattern: Pattern, widths: Mapping[str, int]) -> dict[str, Pattern]:
    """The columns of each argument."""
    ends = np.cumsum(list(widths.values()))[:-1].tolist()
    return dict(zip(widths, np.split(pattern, ends, axis=1), strict=True))


def _product(one: Pattern, other: Pattern) -> Pattern:
    return np.asarray(one.astype(np.float32) @ other.astype(np.float32) > 0.0)


def _list(entries: Iterable[object]) -> str:
    """Entries of an array in lines; one of an empty array is 0."""
    texts = [str(one) for one in entries] or ["0"]
    lines = [", ".join(texts[i : i + 16]) for i in range(0, len(texts), 16)]
    return ",\n    ".join(lines)


def _comment(text: str) -> str:
    """Text that does not end a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")
