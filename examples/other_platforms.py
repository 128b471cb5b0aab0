"""One FMU for every desk: which platforms it runs on, and what is in it.

A linear axis is modelled on Linux. The controls engineer runs Windows, the test bench is an ARM computer, a colleague
has a Mac. An FMU carries a binary for each platform that this installation has; `fmumbs export` says which are missing,
and a wheel of fmumbs has all of them. Besides, it carries its C sources, for any other platform with a C99 compiler.
All binaries compute the same bits. `platforms=` selects some, where a small file is wanted.

Here the FMU is opened as what it is, a zip archive: each binary's first bytes tell for which machine it was built. Then
it runs in FMPy, and gives the same bits as the model in Python. SI units, angles in rad.
"""

import struct
import zipfile

import matplotlib.pyplot as plt
import numpy as np
from fmpy import simulate_fmu

import fmumbs as fm

MACHINES = {0x3E: "x86-64", 0x03: "x86", 0xB7: "ARM 64", 0x8664: "x86-64", 0x14C: "x86", 0xAA64: "ARM 64"}


def axis() -> fm.Model:
    """A carriage on a screw: a motor of its own inertia, and the guide's viscous friction."""
    model = fm.Model("axis", gravity=(0, 0, 0))
    carriage = fm.Body.box("carriage", size=(0.3, 0.2, 0.1), mass=40.0)
    screw = fm.Screw("screw", model.ground.at(), carriage.at(), axis="x", pitch=0.01 / (2 * np.pi), rotor_inertia=4e-4)
    model.add(carriage, screw, fm.Law.polynomial("guide", screw, [[0.0, -2e-3]]))
    model.input("torque", to="screw.tau", start=0.2)
    model.output("angle", of="screw.q")
    model.experiment(stop=1.0, interval=0.01)
    return model


def machine(binary: bytes) -> str:
    """Format and machine, from the header of a library: ELF of Linux, PE of Windows, Mach-O of macOS."""
    if binary[:4] == b"\x7fELF":
        return f"ELF, {MACHINES[struct.unpack_from('<H', binary, 18)[0]]}"
    if binary[:2] == b"MZ":
        return f"PE, {MACHINES[struct.unpack_from('<H', binary, struct.unpack_from('<I', binary, 60)[0] + 4)[0]]}"
    return "Mach-O, x86-64 and ARM 64" if binary[:4] == b"\xca\xfe\xba\xbe" else "Mach-O"


path = fm.export_fmu(axis(), "axis.fmu")
with zipfile.ZipFile(path) as fmu:
    sizes = {entry.filename: entry.compress_size / 1e3 for entry in fmu.infolist()}
    for name in (name for name in sizes if name.startswith("binaries/")):
        print(f"{name}: {machine(fmu.read(name))}, {sizes[name]:.0f} kB compressed")
print(f"C sources: {sum(name.endswith(('.c', '.h')) for name in sizes)} files")
here, there = fm.simulate(axis())["angle"], simulate_fmu(path, stop_time=1.0, output_interval=0.01)["angle"]
print(f"in Python and in FMPy the same bits: {np.array_equal(here, there)}")
assert np.array_equal(here, there)
folders = ("binaries", "sources", "resources", "documentation")
plt.figure(figsize=(6, 2.5), layout="constrained")
plt.barh(folders, [sum(size for name, size in sizes.items() if name.startswith(folder)) for folder in folders])
plt.xlabel("compressed size in the FMU [kB]")
plt.savefig("other_platforms.png", dpi=100)
