"""FMUs that are not made by fmumbs: by pythonfmu from a Python file, and by a C compiler from C source.

Both take a file of this folder and a folder to write to, and return the path of the FMU.
"""

import os
import subprocess
import zipfile
from pathlib import Path

import fmpy
from fmpy import platform, sharedLibraryExtension
from pythonfmu.builder import FmuBuilder

HERE = Path(__file__).parent
HEADERS = Path(fmpy.__file__).parent / "c-code"  # of the FMI standard


def python_fmu(name: str, folder: Path) -> Path:
    """The FMU of NAME.py, built by pythonfmu."""
    return Path(FmuBuilder.build_FMU(HERE / f"{name}.py", dest=folder / f"{name}.fmu"))


def c_fmu(name: str, folder: Path) -> Path:
    """The FMU of NAME.c, compiled by cc (CC in the environment), and NAME.xml."""
    library = folder / f"{name}{sharedLibraryExtension}"
    options = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{HEADERS}"]
    subprocess.run([os.environ.get("CC", "cc"), *options, str(HERE / f"{name}.c"), "-o", str(library)], check=True)
    with zipfile.ZipFile(folder / f"{name}.fmu", "w", zipfile.ZIP_DEFLATED) as fmu:
        fmu.write(HERE / f"{name}.xml", "modelDescription.xml")
        fmu.write(HERE / f"{name}.c", f"sources/{name}.c")
        fmu.write(library, f"binaries/{platform}/{library.name}")
    library.unlink()
    return folder / f"{name}.fmu"
