"""The files of a pythonfmu FMU: the same image and variables as the native one, stepped through Python.

    modelDescription.xml                        as the native FMU's, with the flags of what pythonfmu forwards
    model.png                                   the icon
    binaries/<platform>/<name>.so               pythonfmu's, which runs a slave in the Python of its host
    resources/slavemodule.txt                   the name of the module with the slave: fmumbs_HASH
    resources/fmumbs_HASH.py                    that module
    resources/fmumbs_HASH_core/__init__.py      the slave (slave.py), which hands the calls on to the core library
    resources/fmumbs_HASH_core/<platform>/      the core library: the binary of a native FMU
    resources/model.fmb                         the image
    documentation/index.html                    the variables, and what the host must have
    documentation/licenses/                     ours and pythonfmu's

A process keeps one module of a name and one library of a path, whatever FMU they come from. So HASH is that of
the slave's text, which carries the image's GUID, and of the libraries: an equal name means equal files.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fmumbs.errors import ExportError
from fmumbs.export import installed
from fmumbs.export.documentation import Notes, documentation
from fmumbs.export.model_description import Capabilities, model_description, model_identifier
from fmumbs.export.picture import icon

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

# What pythonfmu's C++ side answers fmi2Error to is not claimed, nor is a log category that it cannot serve.
CAPABILITIES = Capabilities(
    interpolates_inputs=False,
    output_derivatives=0,
    directional_derivatives=False,
    needs_tool=True,
    log_categories=("logStatusDiscard",),
)

_HOST = """
<ul>
<li>Python 3.8 or newer, built for the host's own platform, with its standard library. Neither fmumbs nor numpy nor
pythonfmu nor anything else from PyPI is needed.</li>
<li>The Python library must be loaded when the FMU is. A host that runs in Python, as FMPy does, has it. Any other
Linux host is started with <code>LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libpython3.11.so</code> or wherever that lies;
on Windows the folder of <code>python3.dll</code> must be in <code>PATH</code>.</li>
<li>Where Python does not lie in the place that it was built for, <code>PYTHONHOME</code> must name its folder, and
<code>PYTHONPATH</code> the folders of its modules, or the interpreter stops while it starts.</li>
<li>On Linux, a C library and a C++ library as pythonfmu's binary was linked with: version 0.7.0 asks for glibc 2.32
and GLIBCXX_3.4.30 (GCC 12). The core library itself asks for glibc 2.17.</li>
<li>A resource location that begins with <code>file:///</code> and is plain ASCII: of all escapes pythonfmu
knows <code>%20</code> alone, so unzip to a folder without other special characters.</li>
<li>Many instances may live in one process, also of different FMUs. In a host that is not Python, the FMU that was
loaded first takes the interpreter with it: free the instances of all of them before any is unloaded.</li>
<li>An instance that is freed is gone; but for each one that was made pythonfmu 0.7.0 keeps a list and some texts, in
all less than a kilobyte.</li>
</ul>
"""

_LIMITS = """
<ul>
<li>A call that a native FMU refuses with fmi2Error is refused here with fmi2Fatal, as pythonfmu knows nothing
milder. Still nothing was changed, and the instance may be used, reset or freed.</li>
<li>Messages reach the logger only where <code>loggingOn</code> was given. A refusal carries no category, so it is
not told where categories were chosen.</li>
<li>The GUID is not compared with the master's, and fmi2GetStatus answers fmi2Error.</li>
<li>Input derivatives, output derivatives and directional derivatives are not forwarded.</li>
</ul>
"""

# pythonfmu's binary executes this text anew for every instance, and never frees a class that it finds defined there.
_MODULE = """from {module}_core import Slave, hold

hold(globals())
"""

NOTES = Notes(
    needs="It runs in the Python of its host, by way of pythonfmu.",
    inputs="Inputs are held over a communication step.",
    failure="""A step that fails answers fmi2Discard; the instance then stands where the step began, and
fmi2Terminated is true.""",
    sections=(("What its host must have", _HOST), ("What pythonfmu does not pass on", _LIMITS)),
)


def pythonfmu_entries(image: "ModelImage") -> Iterator[tuple[str, bytes]]:
    """The files of a pythonfmu FMU: name in the archive, contents.

    Raises ExportError where pythonfmu is not installed, or has no binary for the platform of ours.
    """
    name, variables = model_identifier(image.name), image.variables[:]
    tool = f"{installed.tool()} with {installed.tool('pythonfmu')}"
    libraries = _libraries()
    slave = _slave(image.guid)
    module = f"fmumbs_{_hash(slave, *(core for _, _, core in libraries.values()))}"
    yield (
        "modelDescription.xml",
        model_description(
            image, variables, capabilities=CAPABILITIES, tool=tool, licence=f"{installed.LICENCE} AND MIT"
        ),
    )
    yield "model.png", icon()
    for platform, (suffix, wrapper, core) in libraries.items():
        yield f"binaries/{platform}/{name}{suffix}", wrapper
        yield f"resources/{module}_core/{platform}/fmumbs{suffix}", core
    yield "resources/slavemodule.txt", module.encode()
    yield f"resources/{module}.py", _MODULE.format(module=module).encode()
    yield f"resources/{module}_core/__init__.py", slave
    yield "resources/model.fmb", image.bytes
    yield "documentation/index.html", documentation(image, variables, tool=tool, notes=NOTES)
    yield "documentation/licenses/license.txt", installed.licence()
    yield from _licences()


def _libraries() -> dict[str, tuple[str, bytes, bytes]]:
    """Suffix, pythonfmu's binary and the core library, for each platform that has both."""
    places = (Path(entry) / "pythonfmu" / "resources" / "binaries" for entry in sys.path)
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        raise ExportError(
            "pythonfmu is not installed here. Install it (pip install pythonfmu), or export with the back end 'native'."
        )
    theirs = {(path.parent.name, path.suffix): path for path in sorted(folder.glob("*/*pythonfmu-export*"))}
    found = {
        platform: (suffix, theirs[platform, suffix].read_bytes(), core)
        for platform, (suffix, core) in installed.binaries().items()
        if (platform, suffix) in theirs
    }
    if not found:
        raise ExportError(
            f"pythonfmu has binaries for {', '.join(sorted(platform for platform, _ in theirs))}, this installation "
            f"of fmumbs for {', '.join(installed.binaries())}. Export with the back end 'native'."
        )
    return found


def _slave(guid: str) -> bytes:
    """The slave's text, which names the image that it is for."""
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
