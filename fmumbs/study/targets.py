"""What a sweep runs, opened in the process that runs it: a mechanism with the Solver, or an FMU with FMPy.

Both keep to what `fmumbs run` does, so that a run of a sweep has the numbers of a single run.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import SolverError
from fmumbs.play import Options
from fmumbs.play.simulation import READ, Series, communication_points, failures, moments, not_followed, settings_of
from fmumbs.readers import build_model, build_parameters, find_model, read_model

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage, Structure
    from fmumbs.compiler.names import Names
    from fmumbs.play.fmu import Instance

Array = NDArray[np.float64]
Values = Mapping[str, Any]

_KEPT = 8  # compiled mechanisms that a process keeps for the next runs


@dataclass(frozen=True)
class Recorded:
    """One run. times: (n,) [s]; series: (n, names) of what was recorded; outputs, ends: names and last values of the
    outputs; remark: a warning, or "".
    """

    times: Array
    series: Array
    outputs: Sequence[str]
    ends: Array
    remark: str


class Target(Protocol):
    """A model or an FMU that is ready to run, again and again.

    name: for titles; outputs: names of what has an end value.
    """

    name: str
    outputs: list[str]

    def components(self, name: str) -> list[str]:
        """The variables of a name, of one or of a vector. Raises SolverError, with the nearest name, for another."""

    def unit(self, name: str) -> str:
        """The unit of a variable, or of a parameter of build(), which has none."""

    def check(self, name: str, values: Sequence[Any]) -> Hashable:
        """Raises SolverError for a name that cannot be varied, or that cannot take one of these values.

        Returns what the name stands for, the same for two names of one variable.
        """

    def count(self, options: Options) -> int:
        """Number of the times of the results."""

    def run(self, values: Values, record: Sequence[str], options: Options, series: Series) -> Recorded:
        """One run with these values. Raises FmumbsError if it fails."""

    def close(self) -> None:
        """Removes what is on the disk."""


@dataclass(frozen=True)
class ModelSource:
    """A mechanism: the name or path of its file, a function build(), or a compiled image."""

    origin: str | Callable[..., Any] | ModelImage
    fingerprint: str

    def open(self) -> ModelTarget:
        return ModelTarget(self)


@dataclass(frozen=True)
class FmuSource:
    """An FMU: its file's name and bytes, which go to the workers."""

    name: str
    data: bytes

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def open(self) -> FmuTarget:
        return FmuTarget(self)


def file_hash(file: Path) -> str:
    """SHA-256 of a model's file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


# Mechanisms -----------------------------------------------------------------------------------------------------


class ModelTarget:
    """A mechanism with the Solver. A value is a parameter of build(), or else a variable of the model."""

    def __init__(self, source: ModelSource) -> None:
        self._origin, self._hash = source.origin, source.fingerprint
        self._file = find_model(source.origin) if isinstance(source.origin, str) else None
        self._seen: tuple[int, int, int] | None = None  # of the file as it was read last
        self._solvers: OrderedDict[Any, Any] = OrderedDict()
        self._first: Any = None
        self._units: dict[str, str] = {}
        self._structure: Structure | None = None  # of the last mechanism that was compiled
        self._latest: tuple[Names, Any, list[str]] | None = None

    def use(self, values: Values, options: Options) -> None:
        """Compiles the mechanism with these values, whose outputs and units are those of the sweep."""
        self._first = self._solver(self._split(values)[0], (), options)
        self.name: str = self._first.image.name
        variables = self._first.image.variables
        self.outputs = variables.names(variables.outputs())
        self._units = dict(zip(self.outputs, variables.units(variables.outputs()), strict=True))

    @property
    def fingerprint(self) -> str:
        """Of the mechanism with the first values: what a file imports is part of it."""
        return str(self._first.image.hash)

    def components(self, name: str) -> list[str]:
        names: list[str] = self._first.image.variables.names(_references(self._first.image, name))
        return names

    def unit(self, name: str) -> str:
        if self._is_argument(name):
            return ""
        if name not in self._units:
            variables = self._first.image.variables
            self._units[name] = variables.units(variables.references(name))[0]
        return self._units[name]

    def check(self, name: str, values: Sequence[Any]) -> Hashable:
        if self._is_argument(name):
            return name
        variables = self._first.image.variables
        if "." not in name and not variables.references(name) and get_close_matches(name, self._parameters[0], 1, 0.5):
            raise SolverError(
                f"'{self.name}' has neither a parameter of build() nor a variable '{name}'. "
                f"{_checks.nearest(name, self._parameters[0])}"
            )
        if any(isinstance(value, str) for value in values):
            text = next(value for value in values if isinstance(value, str))
            _references(self._first.image, name)
            raise SolverError(f"sweep: '{name}' takes the value {text!r}. {advice(self.unit(name))}")
        if not variables.is_scalar(name):
            parts = self.components(name)
            raise SolverError(f"sweep: '{name}' is a vector. Vary its components, such as '{parts[0]}'.")
        self._first.reset()
        self._first.set(name, self._first.get(name))  # refused for what is computed
        return int(_references(self._first.image, name)[0])

    def count(self, options: Options) -> int:
        from fmumbs.run.simulate import experiment_times

        return len(experiment_times(self._first.image, options.stop, options.interval))

    def run(self, values: Values, record: Sequence[str], options: Options, series: Series) -> Recorded:
        from fmumbs.run.moments import Moments
        from fmumbs.run.simulate import experiment_times
        from fmumbs.run.start import start_warnings

        arguments, settings = self._split(values)
        solver = self._solver(arguments, record, options)
        image = solver.image
        wanted = np.array([i for name in record for i in _references(image, name)], np.uint32)
        times = experiment_times(image, options.stop, options.interval)
        rows = np.empty((len(times), len(wanted)))
        solver.reset()
        moments = Moments(solver, times, {**settings, **series})
        moments.begin()
        remarks = start_warnings(image.name, solver.start_changes, solver.departure)  # before the first step
        rows[0] = solver.read(wanted)
        moments.record(wanted, rows[1:])
        remarks += filter(None, [solver.deformation, solver.cavitation, solver.missed_contact])
        references, names = self._outputs(image)
        return Recorded(times, rows, names, solver.read(references), " ".join(remarks))

    def _outputs(self, image: ModelImage) -> tuple[Any, list[str]]:
        """References and names of the outputs; those of the last structure are kept."""
        if self._latest is None or self._latest[0] is not image.variables.structured:
            references = image.variables.outputs()
            self._latest = image.variables.structured, references, image.variables.names(references)
        return self._latest[1:]

    def close(self) -> None:
        self._solvers.clear()

    def _is_argument(self, name: str) -> bool:
        """Whether it is a parameter of build(); one that takes any keywords takes all names of one word."""
        known, any_keyword = self._parameters
        return name in known or (any_keyword and name.isidentifier())

    @cached_property
    def _parameters(self) -> tuple[list[str], bool]:
        if isinstance(self._origin, str) or callable(self._origin):
            return build_parameters(self._origin)
        return [], False

    def _split(self, values: Values) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters of build(), and values of variables."""
        arguments = {name: value for name, value in values.items() if self._is_argument(name)}
        return arguments, {name: value for name, value in values.items() if name not in arguments}

    def _solver(self, arguments: Values, record: Sequence[str], options: Options) -> Any:
        """A Solver of the mechanism with these parameters; those of the last few are kept."""
        from fmumbs.run import Solver

        key = tuple((name, type(value), value) for name, value in sorted(arguments.items()))
        if key in self._solvers:
            self._solvers.move_to_end(key)
            return self._solvers[key]
        self._solvers[key] = solver = Solver(self._image(arguments, record, options))
        if len(self._solvers) > _KEPT:
            self._solvers.popitem(last=False)
        return solver

    def _image(self, arguments: Values, record: Sequence[str], options: Options) -> ModelImage:
        """An image for a run; where its structure is that of the last one, only the numbers are new."""
        from fmumbs.compiler import ModelImage, Structure, image_of

        origin = self._origin
        if isinstance(origin, ModelImage):
            return origin.with_options(**options.run)
        if self._file is not None:
            self._check_unchanged(self._file)
        model = build_model(origin, arguments) if callable(origin) else read_model(self._file or origin, arguments)
        if self._structure is not None and (image := self._structure.patched(model, record, options.run)) is not None:
            return image
        image = image_of(model, **options.run)
        self._structure = Structure(model, image)
        return image

    def _check_unchanged(self, file: Path) -> None:
        """Raises SolverError if the model's file is another one than as the sweep began; it is read when it may be."""
        stamp = _stamp(file)
        if stamp != self._seen and file_hash(file) != self._hash:
            raise SolverError(f"'{file}' was changed during the sweep. Begin it again.")
        self._seen = stamp


def _stamp(file: Path) -> tuple[int, int, int]:
    """What changes with a file, as the system tells without reading it."""
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _references(image: ModelImage, name: str) -> list[int]:
    found = image.variables.references(name)
    if not found:
        raise SolverError(f"'{image.name}' {image.variables.unknown(name)}")
    return found


def advice(unit: str) -> str:
    """What to give instead of a text."""
    return f"Give numbers in {unit}, without the unit." if unit else "Give numbers."


# FMUs -----------------------------------------------------------------------------------------------------------


class FmuTarget:
    """An FMU with FMPy, unpacked once. One instance is reset for each run if the FMU is one of fmumbs; of others, whose
    reset may leave something behind, each run has a new instance.
    """

    def __init__(self, source: FmuSource) -> None:
        from fmumbs.play.fmu import Fmu

        self._fmu: Fmu = Fmu(Path(source.name), source.data)
        self._one: Instance | None = None
        self.name: str = self._fmu.description.modelName
        self._variables = self._fmu.variables
        self._splits: dict[tuple[str, ...], tuple[list[int], list[int], list[int]]] = {}
        self.outputs = [n for n, v in self._variables.items() if v.causality == "output" and v.type in READ]

    def components(self, name: str) -> list[str]:
        if name not in self._variables:
            known = dict.fromkeys([*self._variables, *(n.rpartition("[")[0] for n in self._variables if n[-1] == "]")])
            parts = [n for k in range(1, len(self._variables) + 1) if (n := f"{name}[{k}]") in self._variables]
            if not parts:
                raise SolverError(f"'{self.name}' has no variable '{name}'. {_checks.nearest(name, known)}")
            return parts
        if self._variables[name].type not in READ:
            raise SolverError(f"'{name}' is of type {self._variables[name].type}. Keep a Real or an Integer variable.")
        return [name]

    def unit(self, name: str) -> str:
        return str(self._variables[name].unit or "")

    def check(self, name: str, values: Sequence[Any]) -> Hashable:
        parts = self.components(name)
        if parts != [name]:
            raise SolverError(f"sweep: '{name}' is a vector. Vary its components, such as '{parts[0]}'.")
        variable = self._variables[name]
        if variable.causality not in ("input", "parameter") and variable.initial not in ("exact", "approx"):
            raise SolverError(f"sweep: '{name}' is computed by the FMU. Vary an input, a parameter or a start value.")
        for value in values:
            if isinstance(value, str):
                raise SolverError(f"sweep: '{name}' takes the value {value!r}. {advice(self.unit(name))}")
            if variable.type == "Integer" and value != int(value):
                raise SolverError(f"sweep: '{name}' is an integer, but takes the value {value:g}. Give whole numbers.")
        return variable.type, variable.valueReference

    def count(self, options: Options) -> int:
        return len(communication_points(self._fmu, options))

    def run(self, values: Values, record: Sequence[str], options: Options, series: Series) -> Recorded:
        settings = {**values, **settings_of(options)}
        times = communication_points(self._fmu, options)
        real, whole, order = self._split(tuple(record))
        rows = np.empty((len(times), len(record)))
        with self._instance() as one, failures(self._fmu, one):
            read = one.reader(real, whole)
            for i in moments(self._fmu, one, times, settings, series):
                rows[i] = read()
            remark = " ".join(dict.fromkeys([*one.messages, *filter(None, [not_followed(self._fmu, series)])]))
            real, whole, places = self._split(tuple(self.outputs))
            ends = one.read(real, whole)[places]
        return Recorded(times, rows[:, order], self.outputs, ends, remark)

    def close(self) -> None:
        if self._one is not None:
            self._one.free()
        self._fmu.__exit__(None, None, None)

    def _split(self, names: tuple[str, ...]) -> tuple[list[int], list[int], list[int]]:
        """References of the real and of the integer variables, and where each name is in what is read of them."""
        if names in self._splits:
            return self._splits[names]
        kinds = {kind: [n for n in names if self._variables[n].type == kind] for kind in READ}
        place = {name: k for k, name in enumerate([*kinds["Real"], *kinds["Integer"]])}
        real, whole = ([self._variables[n].valueReference for n in kinds[kind]] for kind in READ)
        self._splits[names] = real, whole, [place[name] for name in names]
        return self._splits[names]

    @contextmanager
    def _instance(self) -> Iterator[Instance]:
        """A new instance, or one that is reset; after a failure it is not used again."""
        one, self._one = self._one, None
        if one is None:
            from fmumbs.play.fmu import Instance

            one = Instance(self._fmu)
        else:
            one.slave.reset()
            one.time, one.messages[:] = 0.0, []
        try:
            yield one
        except BaseException:
            one.free()
            raise
        if self._fmu.has_image and not self._fmu.abilities.needsExecutionTool:
            self._one = one
        else:
            one.free()
