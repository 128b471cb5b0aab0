"""Reads a system structure package (SSP 1.0), by whatever tool, back as a System."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from fmumbs._tables import number
from fmumbs.errors import ExportError
from fmumbs.play.unpacking import open_package, parse_xml
from fmumbs.system.described import Connection
from fmumbs.system.interface import read_interface
from fmumbs.system.package import SSD
from fmumbs.system.ssp import COMMON, FMU_TYPE, OSP, OWN, STRUCTURE, VALUES
from fmumbs.system.system import System

_SPACES = {"ssc": COMMON, "ssd": STRUCTURE, "ssv": VALUES, "osp": OSP, "fmumbs": OWN}
_REFUSED = {
    "ssd:Elements/ssd:System": "a system within the system",
    "ssd:Elements/ssd:SignalDictionaryReference": "a signal dictionary",
    "ssd:Connectors/ssd:Connector": "connectors of the system itself",
    "ssd:ParameterBindings/ssd:ParameterBinding": "parameter bindings of the system itself",
    "ssd:Elements/ssd:Component/ssd:ParameterBindings/ssd:ParameterBinding/ssd:ParameterMapping": "a parameter mapping",
}


@contextmanager
def open_system(path: Path, *, stop: float | None = None, step: float | None = None) -> Iterator[System]:
    """The System in a package, whose FMUs are unpacked as long as the block runs.

    stop, step [s]: other than in the package. Raises ExportError for a file that is not a package, or has what is not
    supported: systems within the system, signal dictionaries, parameter mappings.
    """
    with TemporaryDirectory(prefix="fmumbs") as folder:
        with open_package(path) as archive:
            if SSD not in archive.sizes:
                raise ExportError(f"'{path}' has no {SSD}, so it is not a system structure package. Give one.")
            root = parse_xml(path, SSD, archive.read(SSD))
            archive.unpack(Path(folder))
        try:
            system = _System(path, Path(folder), root).read(stop, step)
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise ExportError(f"'{path}': {SSD} does not follow SSP 1.0 ({error}). Correct it.") from error
        yield system


class _System:
    """Reads the System in an unpacked package."""

    def __init__(self, path: Path, folder: Path, root: Any) -> None:
        self.path, self.folder, self.root = path, folder, root
        stated = root.iterfind("ssd:System/ssd:Annotations/ssc:Annotation/fmumbs:Elements/fmumbs:Element", _SPACES)
        self._stated = {node.get("name"): node for node in stated}

    def read(self, stop: float | None, step: float | None) -> System:
        system = self.root.find("ssd:System", _SPACES)
        if system is None:
            raise ExportError(f"'{self.path}': {SSD} has no system. Write it by a tool that follows SSP.")
        for place, what in _REFUSED.items():
            if system.find(place, _SPACES) is not None:
                raise ExportError(f"'{self.path}' has {what}, which is not supported. Flatten the system.")
        experiment = self.root.find("ssd:DefaultExperiment", _SPACES)
        algorithm = self.root.find(".//osp:FixedStepAlgorithm", _SPACES)
        if stop is None and (experiment is None or experiment.get("stopTime") is None):
            raise ExportError(f"'{self.path}' has no stop time. Give one with --stop.")
        if step is None and algorithm is None:
            raise ExportError(f"'{self.path}' has no communication step. Give one with --step.")
        name = re.sub(r"\W", "_", system.get("name") or "system", flags=re.ASCII)
        made = System(
            name if re.match(r"[A-Za-z_]", name) else f"_{name}",
            stop=number(experiment.get("stopTime")) if stop is None else stop,
            step=number(algorithm.get("baseStepSize")) if step is None else step,
            description=system.get("description") or "",
        )
        for component in system.iterfind("ssd:Elements/ssd:Component", _SPACES):
            self._add(made, component)
        for connection in system.iterfind("ssd:Connections/ssd:Connection", _SPACES):
            _connect(made, connection)
        return made

    def _add(self, system: System, component: Any) -> None:
        name, source = component.get("name"), component.get("source")
        if component.get("type", FMU_TYPE) != FMU_TYPE:
            raise ExportError(f"'{self.path}': '{name}' is of type {component.get('type')}, not an FMU. Replace it.")
        outputs, units = [], {}
        stated = self._stated.get(name)
        for connector in component.iterfind("ssd:Connectors/ssd:Connector", _SPACES):
            real = connector.find("ssc:Real", _SPACES)
            if connector.get("kind") == "output":
                outputs.append(connector.get("name"))
            if real is not None and real.get("unit"):
                units[connector.get("name")] = real.get("unit")
        if stated is not None:
            units |= {node.get("of"): node.get("unit") for node in stated}
        system.add(
            name,
            self.folder / self._inside(source),
            starts=self._starts(component),
            units=self._unknown_units(self.folder / self._inside(source), units),
            outputs=outputs,
            feedthrough=stated is None or stated.get("feedthrough") != "false",
        )

    def _inside(self, source: str) -> str:
        if ".." in PurePosixPath(source).parts or source.startswith("/") or ":" in source:
            raise ExportError(f"'{self.path}' names '{source}', which is not in the package. Pack it.")
        return source

    def _unknown_units(self, fmu: Path, units: Mapping[str, str]) -> dict[str, str]:
        """The units that the FMU does not state itself."""
        if not fmu.is_file():
            return {}  # System.check tells which connection needs it
        known = read_interface(fmu).variables
        return {name: unit for name, unit in units.items() if name in known and not known[name].unit}

    def _starts(self, component: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for binding in component.iterfind("ssd:ParameterBindings/ssd:ParameterBinding", _SPACES):
            source = binding.get("source")
            rows = binding
            if source is not None:
                file = self.folder / self._inside(source)
                if not file.is_file():
                    raise ExportError(
                        f"'{self.path}' has no '{source}', the start values of '{component.get('name')}'. Pack it."
                    )
                rows = parse_xml(self.path, source, file.read_bytes())
            for parameter in rows.iterfind(".//ssv:Parameter", _SPACES):
                (typed,) = parameter
                text = typed.get("value")
                boolean = typed.tag.endswith("}Boolean")
                values[parameter.get("name")] = text in ("true", "1") if boolean else text
        return values


def _connect(system: System, node: Any) -> None:
    ends = [f"{node.get(f'{side}Element')}.{node.get(f'{side}Connector')}" for side in ("start", "end")]
    system.connect(*ends)
    transformation = node.find("ssc:LinearTransformation", _SPACES)
    suppressed = node.get("suppressUnitConversion") in ("true", "1")
    if transformation is None and not suppressed:
        return
    if not suppressed:
        raise ExportError(
            f"the connection '{ends[0]}' -> '{ends[1]}' has a linear transformation besides the conversion of units. "
            "Set suppressUnitConversion, and include the conversion in the transformation."
        )
    factor = 1.0 if transformation is None else number(transformation.get("factor", "1"))
    offset = 0.0 if transformation is None else number(transformation.get("offset", "0"))
    last = system.connections[-1]
    system.connections[-1] = Connection(last.source, last.target, (factor, offset))
