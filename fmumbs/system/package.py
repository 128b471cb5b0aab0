"""Writes a system structure package (SSP 1.0), a zip archive of

SystemStructure.ssd               elements, connections, units, default experiment
resources/NAME.fmu                each FMU once
resources/ELEMENT.ssv             start values of an element
resources/OspSystemStructure.xml  the same system for libcosim
"""

import re
from pathlib import Path

from fmumbs.export.archive import OLDEST, zip_archive
from fmumbs.export.fmu import write
from fmumbs.system.plan import Plan
from fmumbs.system.ssp import osp_structure, sets_of, structure

SSD = "SystemStructure.ssd"
OSP_FILE = "resources/OspSystemStructure.xml"


def save(plan: Plan, path: Path) -> Path:
    """Writes the package; see System.save."""
    files = fmu_files(plan)
    sources = {part.name: f"resources/{files[part.interface.path]}" for part in plan.parts}
    sets = sets_of(plan.parts)
    values = {name: f"resources/{name}.ssv" for name in sets}
    entries = [(SSD, structure(plan, sources, values))]
    entries += [(values[name], text) for name, text in sets.items()]
    entries.append((OSP_FILE, osp_structure(plan, {name: place.partition("/")[2] for name, place in sources.items()})))
    entries += [(f"resources/{name}", fmu.read_bytes()) for fmu, name in files.items()]
    write(path, zip_archive(entries, OLDEST))
    return path


def fmu_files(plan: Plan) -> dict[Path, str]:
    """A file name of its own for each FMU, without characters that need escapes in a URI."""
    names: dict[Path, str] = {}
    for part in plan.parts:
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", part.interface.path.stem)
        name, number = f"{stem}.fmu", 1
        while part.interface.path not in names and name.lower() in {other.lower() for other in names.values()}:
            number += 1
            name = f"{stem}_{number}.fmu"
        names.setdefault(part.interface.path, name)
    return names
