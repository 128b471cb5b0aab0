"""A system of FMUs as what a sweep runs: each run is one of an engine, with other start values."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fmumbs import _checks
from fmumbs._folders import temporary_folder
from fmumbs.errors import SolverError
from fmumbs.play import Options
from fmumbs.play.simulation import Series
from fmumbs.study.targets import Recorded, advice
from fmumbs.system import engines
from fmumbs.system.interface import INTEGERS, Variable
from fmumbs.system.plan import Part, Plan
from fmumbs.system.reading import open_system


@dataclass(frozen=True)
class SystemSource:
    """A system's package: its file's name and bytes, and the engine that runs it."""

    name: str
    data: bytes
    engine: str

    @property
    def fingerprint(self) -> str:
        return f"{hashlib.sha256(self.data).hexdigest()} {self.engine}"

    def open(self) -> SystemTarget:
        return SystemTarget(self)


class SystemTarget:
    """A system, unpacked once. What is varied are parameters, start values and inputs that nothing feeds, as
    ELEMENT.VARIABLE; what is kept are the outputs that the system records.
    """

    def __init__(self, source: SystemSource) -> None:
        self._stack = ExitStack()
        self._path = Path(self._stack.enter_context(temporary_folder())) / source.name
        self._path.write_bytes(source.data)
        self._engine = source.engine
        self._plan: Plan | None = None

    def use(self, options: Options) -> Plan:
        """The checked system. stop, interval of the options: of the system's communication."""
        if self._plan is None:
            fitting = Options(stop=options.stop, interval=options.interval)
            other = [f.name for f in fields(Options) if getattr(options, f.name) != getattr(fitting, f.name)]
            other = [*options.run] or other
            if other:
                raise SolverError(
                    f"sweep: a system has no option '{other[0]}'. Set the parameters of its FMUs, such as "
                    "plant.solver.tolerance."
                )
            system = self._stack.enter_context(open_system(self._path, stop=options.stop, step=options.interval))
            self._plan = system.check()
            self.name = self._plan.name
            self.outputs = list(self._plan.recorded())
        return self._plan

    def components(self, name: str) -> list[str]:
        if name in self.outputs:
            return [name]
        parts = [f"{name}[{k}]" for k in range(1, len(self.outputs) + 1) if f"{name}[{k}]" in self.outputs]
        if not parts:
            what = f"the system '{self.name}' records no output '{name}'"
            raise SolverError(f"sweep: {what}. {_checks.nearest(name, self.outputs)}")
        return parts

    def unit(self, name: str) -> str:
        return self._variable(name)[1].unit

    def check(self, name: str, values: Sequence[Any]) -> Hashable:
        part, variable = self._variable(name)
        if variable in part.inputs:
            raise SolverError(f"sweep: '{name}' is an input that another element feeds. Vary one that nothing feeds.")
        if variable.causality not in ("input", "parameter") and variable.start is None:
            raise SolverError(f"sweep: '{name}' is computed by its FMU. Vary a parameter, a start value or an input.")
        for value in values:
            if variable.kind == "String":
                continue
            if isinstance(value, str):
                raise SolverError(f"sweep: '{name}' takes the value {value!r}. {advice(variable.unit)}")
            if variable.kind in INTEGERS and value != int(value):
                raise SolverError(f"sweep: '{name}' is an integer, but takes the value {value:g}. Give whole numbers.")
        return name

    def count(self, options: Options) -> int:
        return self.use(options).count + 1

    def run(self, values: Mapping[str, Any], record: Sequence[str], options: Options, series: Series) -> Recorded:
        plan = self.use(options)
        parts = {part.name: part for part in plan.parts}
        for name, value in values.items():
            part, variable = self._variable(name)
            kind = int if variable.kind in INTEGERS else _KINDS.get(variable.kind, float)
            starts = {**parts[part.name].starts, variable.name: kind(value)}
            parts[part.name] = replace(parts[part.name], starts=starts)
        result = engines.run(replace(plan, parts=tuple(parts.values())), self._engine, None)
        rows = np.stack([result[name] for name in record], axis=1) if record else np.empty((len(result.time), 0))
        return Recorded(result.time, rows, self.outputs, np.array([result[n][-1] for n in self.outputs]), "")

    def close(self) -> None:
        self._stack.close()

    def _variable(self, name: str) -> tuple[Part, Variable]:
        """The element and the variable of a name. Raises FmumbsError, with the nearest name, for an unknown one."""
        assert self._plan is not None
        element, _, variable = name.partition(".")
        parts = {part.name: part for part in self._plan.parts}
        if element not in parts:
            what = f"the system '{self.name}' has no element '{element}'"
            raise SolverError(f"sweep: {what}, as '{name}' says. {_checks.nearest(element, parts)}")
        return parts[element], parts[element].interface.variable(element, variable)


_KINDS: Mapping[str, type] = {"Boolean": bool, "String": str}
