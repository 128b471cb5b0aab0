"""The files of a pythonfmu FMU: the image and variables of the native FMU, stepped through Python.

    modelDescription.xml                        as in the native FMU, with the capabilities that pythonfmu forwards
    model.png                                   the mechanism at its start
    binaries/<platform>/<name>.so               pythonfmu's binary, which runs a slave in the Python of its host
    resources/slavemodule.txt                   the name of the module with the slave: fmumbs_HASH
    resources/fmumbs_HASH.py                    that module
    resources/fmumbs_HASH_core/__init__.py      the slave (slave.py), which forwards the calls to the core library
    resources/fmumbs_HASH_core/<platform>/      the core library: the binary of a native FMU
    resources/model.fmb                         the image
    terminalsAndIcons/terminalsAndIcons.xml     the flanges of its joints, if there are any
    documentation/index.html                    the variables, and the requirements of the host
    documentation/licenses/                     of fmumbs, the headers of FMI and pythonfmu

A process loads a module of a given name, and a library of a given path, only once, even from different FMUs. HASH is
therefore computed from the libraries and the slave's text, which contains the image's GUID: same name, same files.
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fmumbs._naming import STRUCTURED
from fmumbs.errors import ExportError
from fmumbs.export import installed
from fmumbs.export.documentation import Notes, documentation
from fmumbs.export.fmi2 import fmi2_xml
from fmumbs.export.model_description import CO_SIMULATION, Capabilities, model_description, model_identifier
from fmumbs.export.naming import named
from fmumbs.export.picture import icon
from fmumbs.export.terminals import PLACE as TERMINALS
from fmumbs.export.terminals import terminals_xml

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

# Without the functions for which pythonfmu's C++ code returns fmi2Error, and the log categories that it does not have.
CAPABILITIES = Capabilities(
    interpolates_inputs=False,
    output_derivatives=0,
    directional_derivatives=False,
    needs_tool=True,
    log_categories=("logStatusDiscard",),
)

_HOST = """
<ul>
<li>Python 3.8 or newer for the host's platform, with its standard library. No packages are needed, neither fmumbs nor
numpy nor pythonfmu.</li>
<li>The Python library must be loaded before the FMU. A host that runs in Python, such as FMPy, has loaded it. Start any
other Linux host with <code>LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libpython3.11.so</code>, or the path of that library on
the host; on Windows the folder of <code>python3.dll</code> must be in <code>PATH</code>.</li>
<li>If Python is not in the folder that it was built for, <code>PYTHONHOME</code> must name its folder, and
<code>PYTHONPATH</code> the folders of its modules; otherwise the interpreter does not start.</li>
<li>On Linux, a C library and a C++ library as new as those that pythonfmu's binary was linked with: version 0.7.0 needs
glibc 2.32 and GLIBCXX_3.4.30 (GCC 12). The core library itself needs glibc 2.17.</li>
<li>A resource location that begins with <code>file:///</code> and is plain ASCII: pythonfmu decodes only the escape
<code>%20</code>, so unzip to a folder without other special characters.</li>
<li>A process may have many instances, also of different FMUs. In a host that is not Python, unloading the FMU that was
loaded first stops the interpreter: free the instances of all FMUs before unloading any.</li>
<li>pythonfmu 0.7.0 leaks less than a kilobyte for each instance that was created.</li>
</ul>
"""

_LIMITS = """
<ul>
<li>A call that a native FMU refuses with fmi2Error is refused here with fmi2Fatal, the only error status that pythonfmu
has. The state is unchanged, and the instance may be used, reset or freed.</li>
<li>Messages reach the logger only if <code>loggingOn</code> was set. The message of a refused call has no category, so
it is not logged if categories were selected.</li>
<li>The GUID is not compared with the importer's, and fmi2GetStatus returns fmi2Error.</li>
<li>Input derivatives, output derivatives and directional derivatives are not forwarded.</li>
</ul>
"""

# pythonfmu's binary executes this text again for every instance, and never frees a class that is defined in it.
_MODULE = """from {module}_core import Slave, hold

hold(globals())
"""

NOTES = Notes(
    needs="It runs in the Python of its host, through pythonfmu.",
    inputs="Inputs are constant during a communication step.",
    failure="""A step that fails returns fmi2Discard; the instance is then where the step began, and
fmi2Terminated is true.""",
    sections=(("Requirements of the host", _HOST), ("Limits of pythonfmu", _LIMITS)),
)


def pythonfmu_entries(
    image: "ModelImage",
    platforms: Sequence[str] | None = None,
    naming: str = STRUCTURED,
    scene: bool = False,
    kind: str = CO_SIMULATION,
    fmi: int = 2,
    arrays: bool = False,
    sections: tuple[tuple[str, str], ...] = (),
) -> Iterator[tuple[str, bytes]]:
    """The files of a pythonfmu FMU, of FMI 2.0: name in the archive, contents. scene: links to its page; there are no
    arrays, and no sections for real time.

    Raises ExportError for a kind with Model Exchange, which pythonfmu does not forward, and if pythonfmu is not
    installed, or has no binary for a platform of this installation.
    """
    if kind != CO_SIMULATION:
        raise ExportError(
            "the backend 'pythonfmu' makes FMUs for Co-Simulation only. Export with kind='cs' (--kind cs), or with the "
            "backend 'native'."
        )
    name, variables = model_identifier(image.name), named(image.variables[:], naming)
    tool = f"{installed.tool()} with {installed.tool('pythonfmu')}"
    libraries = _libraries(platforms)
    slave = _slave(image.guid)
    module = f"fmumbs_{_hash(slave, *(core for _, _, core in libraries.values()))}"
    description = model_description(
        image, variables, naming=naming, capabilities=CAPABILITIES, tool=tool, licence=f"{installed.LICENCE} AND MIT"
    )
    yield "modelDescription.xml", fmi2_xml(description)
    yield "model.png", icon(image)
    if description.terminals:
        yield TERMINALS, terminals_xml(description.terminals)
    for platform, (suffix, wrapper, core) in libraries.items():
        yield f"binaries/{platform}/{name}{suffix}", wrapper
        yield f"resources/{module}_core/{platform}/fmumbs{suffix}", core
    yield "resources/slavemodule.txt", module.encode()
    yield f"resources/{module}.py", _MODULE.format(module=module).encode()
    yield f"resources/{module}_core/__init__.py", slave
    yield "resources/model.fmb", image.bytes
    yield "documentation/index.html", documentation(image, variables, tool=tool, notes=NOTES, scene=scene)
    yield from installed.licences().items()
    yield from _licences()


def _libraries(platforms: Sequence[str] | None) -> dict[str, tuple[str, bytes, bytes]]:
    """For each platform with both: suffix, pythonfmu's binary and the core library."""
    places = (Path(entry) / "pythonfmu" / "resources" / "binaries" for entry in sys.path)
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        raise ExportError(
            "pythonfmu is not installed. Install it (pip install pythonfmu), or export with the backend 'native'."
        )
    theirs = {(path.parent.name, path.suffix): path for path in sorted(folder.glob("*/*pythonfmu-export*"))}
    ours = installed.binaries(platforms)
    found = {
        platform: (suffix, theirs[platform, suffix].read_bytes(), core)
        for platform, (suffix, core) in ours.items()
        if (platform, suffix) in theirs
    }
    if found and platforms and len(found) < len(ours):
        raise ExportError(
            f"pythonfmu has no binary for '{min(ours.keys() - found.keys())}'. Leave that platform out, or export with "
            "the backend 'native'."
        )
    if not found:
        raise ExportError(
            f"pythonfmu has binaries for {', '.join(sorted(platform for platform, _ in theirs))}, this installation "
            f"of fmumbs for {', '.join(installed.installed_binaries())}. Export with the backend 'native'."
        )
    return found


def _slave(guid: str) -> bytes:
    """The slave's text, with the image's GUID."""
    text = Path(__file__).with_name("slave.py").read_text(encoding="utf-8")
    return text.replace('GUID = ""', f'GUID = "{guid}"', 1).encode()


def _licences() -> Iterator[tuple[str, bytes]]:
    folder = installed.metadata("pythonfmu")
    for path in sorted(folder.rglob("LICEN[CS]E*")) if folder else ():
        yield "documentation/licenses/pythonfmu.txt", path.read_bytes()
        return


def _hash(*contents: bytes) -> str:
    total = hashlib.sha256()
    for content in contents:
        total.update(content)
    return total.hexdigest()[:16]
