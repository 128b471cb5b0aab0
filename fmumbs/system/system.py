"""System: FMUs, their connections and start values, as a user describes them."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.system.described import Connection, Described, Element
from fmumbs.system.plan import End, Plan

if TYPE_CHECKING:
    from fmumbs.run import Result

ENGINES = ("libcosim", "fmpy", "omsimulator")


def _check_names(given: object, what: str) -> None:
    """Values by name, or None."""
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"{what} is {_checks.shown(given)}. Give values by name, such as {{'k': 1.0}}.")
    for key in given or ():
        if not isinstance(key, str):
            raise ModelError(f"{what} has the name {_checks.shown(key)}. Give a text.")


class System(Described):
    """FMUs that exchange values every `step` [s] until `stop` [s].

        system = fm.System("speed_control", stop=2.0, step=1e-3)
        system.add("plant", "four_bar.fmu", outputs=["A.qd"])
        system.add("pid", "pid.fmu", starts={"kp": 0.5}, units={"measured": "rad/s", "u": "N.m"})
        system.connect("plant.A.qd", "pid.measured", start=6.0)
        system.connect("pid.u", "plant.A.tau")
        system.run("libcosim").plot("plant.A.qd")
        system.save("speed_control.ssp")

    Every FMU is stepped with the inputs of the last communication point; the engine decides what the first step sees:
    libcosim passes the initial outputs on to the inputs, FMPy keeps the inputs' start values.

    name: letters, digits and _. stop, step: [s]. description: a sentence for readers of the package.

    Raises ModelError for a name, a time or a connection that is invalid.
    """

    def __init__(self, name: str, *, stop: float, step: float, description: str = "") -> None:
        super().__init__(
            _checks.name(name, "System"),
            _checks.positive(stop, f"System '{name}': stop"),
            _checks.positive(step, f"System '{name}': step"),
            _checks.text(description, f"System '{name}': description"),
        )

    def __repr__(self) -> str:
        return f"System({self.name!r}, {len(self.elements)} FMUs, {len(self.connections)} connections)"

    def add(
        self,
        name: str,
        fmu: "str | os.PathLike[str]",
        *,
        starts: Mapping[str, Any] | None = None,
        units: Mapping[str, str] | None = None,
        outputs: Sequence[str] | None = None,
        feedthrough: bool = True,
    ) -> None:
        """Adds an FMU under a name. The same file may be added several times.

        name: of the element, letters, digits and _. fmu: path of the file.
        starts: parameters and start values by the FMU's names, in its units.
        units: units of variables for which the FMU states none, such as {"u": "N.m"}.
        outputs: the outputs to record, besides the connected ones; None for all that are Real, Integer or Boolean. In
            results a Boolean is 0 or 1, and NaN at time 0 from libcosim, which does not tell it.
        feedthrough: whether an input acts on the outputs at once where the FMU has no list of dependencies, as FMI
            assumes. False for a controller in discrete time, whose outputs follow from its last step.
        """
        where = f"System '{self.name}'"
        checked = _checks.name(name, where)
        if checked in self.elements:
            raise ModelError(f"{where} already has an element '{name}'. Choose another name.")
        _check_names(starts, f"{where}, '{name}': starts")
        _check_names(units, f"{where}, '{name}': units")
        for key, value in (units or {}).items():
            if not isinstance(value, str):
                raise ModelError(
                    f"{where}, '{name}': units['{key}'] is {_checks.shown(value)}. Give a text such as 'rad/s'."
                )
        if isinstance(outputs, str):
            raise ModelError(f"{where}, '{name}': outputs is '{outputs}'. Give a list, such as ['{outputs}'].")
        chosen = None if outputs is None else tuple(outputs)
        self.elements[checked] = Element(
            checked, Path(fmu), dict(starts or {}), dict(units or {}), chosen, bool(feedthrough)
        )

    def connect(self, source: str, target: str, *, start: float | None = None) -> None:
        """Feeds the input `target` from the output `source`, each ELEMENT.VARIABLE: "plant.A.q", "pid.measured".

        start: start value of the input, in its unit: what the first step sees in an engine that does not pass initial
            outputs on. Units are converted; see check().
        """
        ends = self._end(source), self._end(target)
        if (other := self.connections.get(ends[1])) is not None:
            raise ModelError(f"'{target}' is fed twice: by '{other.source}' and by '{source}'. Leave one of them out.")
        self.connections[ends[1]] = Connection(*ends)
        if start is not None:
            element = self.elements[ends[1].element]
            starts = {**element.starts, ends[1].variable: start}
            self.elements[element.name] = replace(element, starts=starts)

    def _end(self, text: str) -> End:
        name, dot, variable = str(text).partition(".")
        if not dot or not re.fullmatch(r"\w+", name) or not variable:
            raise ModelError(f"'{text}' is not an end of a connection. Write ELEMENT.VARIABLE, as in 'plant.A.q'.")
        if name not in self.elements:
            raise ModelError(
                f"'{text}': system '{self.name}' has no element '{name}'. {_checks.nearest(name, self.elements)}"
            )
        return End(name, variable)

    def check(self) -> Plan:
        """Reads the FMUs and checks names, types, units, start values and algebraic loops.

        Raises ModelError, with both ends, for a connection that cannot be made; ExportError for a file that is not an
        FMU.
        """
        from fmumbs.system.checking import checked

        return checked(self)

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the system as a System Structure and Parameterization package (SSP 1.0); returns the path.

        It contains the FMUs, SystemStructure.ssd, an .ssv for each element with start values, and
        OspSystemStructure.xml for libcosim. The same FMUs and values give the same bytes. Raises as check(), and
        ExportError if the file cannot be written.
        """
        from fmumbs.system.package import save

        return save(self.check(), Path(path))

    def run(self, engine: str = "libcosim", *, progress: Callable[[float], None] | None = None) -> "Result":
        """Runs the system in an engine: "libcosim", "fmpy" or "omsimulator".

        The result has all recorded outputs as ELEMENT.VARIABLE at 0 and at every communication point. progress:
        called with the fraction done, 0 to 1. Raises as check(), and SolverError if the engine is missing, cannot run
        the system, or fails; then the error has the `time` [s] and the `result` so far.
        """
        from fmumbs.system.engines import run

        return run(self.check(), engine, progress)
