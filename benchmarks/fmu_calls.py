"""Times an importer's calls of a native FMU: load and instantiate, and the overhead of doStep."""

import ctypes
import statistics
import tempfile
import zipfile
from pathlib import Path

from common import HERE, build_library, processor_seconds, wall_seconds
from lxml import etree

FMI_HEADERS = HERE.parent / "fmumbs" / "core" / "fmi"

RK4_STEP = 1e-3  # s, of the FMU's own integration
LONG = 100  # integration steps in one long communication step
COUNT = 2000  # integration steps in one measurement
ROUNDS = 21


class Fmu:
    """A native FMU, unpacked, whose instances are driven from C."""

    def __init__(self, path: Path) -> None:
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(root)
        description = etree.parse(root / "modelDescription.xml").getroot()
        identifier = description.find("CoSimulation").get("modelIdentifier")
        self._arguments = [
            str(root / "binaries" / "linux64" / f"{identifier}.so").encode(),
            str(description.get("guid")).encode(),
            (root / "resources").as_uri().encode(),
        ]
        self._c = _driver()
        self._instance: int | None = None

    def load(self) -> None:
        """Loads the library and makes an instance, on which the other calls work."""
        self._instance = self._c.fmu_load(*self._arguments)
        if self._instance is None:
            raise RuntimeError(f"cannot instantiate {self._arguments[0].decode()}")

    def start(self) -> None:
        self._check(self._c.fmu_start(self._instance), "initialisation")

    def do_steps(self, step: float, count: int) -> None:
        self._check(self._c.fmu_do_steps(self._instance, step, count), f"doStep({step} s)")

    def free(self) -> None:
        self._c.fmu_free(self._instance)
        self._instance = None

    @staticmethod
    def _check(status: int, what: str) -> None:
        if status:
            raise RuntimeError(f"{what} answers status {status}")


def load_seconds(fmu: Fmu) -> float:
    """Median time [s] to load the library and make one instance; it is unloaded in between."""
    samples = []
    for _ in range(ROUNDS):
        samples.append(wall_seconds(fmu.load))
        fmu.free()
    return statistics.median(samples)


def do_step_overhead(fmu: Fmu) -> float:
    """Processor time [s] of one doStep without its integration.

    From the same fixed integration steps, once with a doStep for each, once with a doStep for a hundred of them. The
    FMU must integrate by RK4 at RK4_STEP.
    """
    fmu.load()
    fmu.start()
    long_calls = COUNT // LONG
    differences = []
    for _ in range(ROUNDS):
        short = processor_seconds(lambda: fmu.do_steps(RK4_STEP, COUNT))
        long = processor_seconds(lambda: fmu.do_steps(LONG * RK4_STEP, long_calls))
        differences.append((short - long) / (COUNT - long_calls))
    fmu.free()
    return statistics.median(differences)


def _driver() -> ctypes.CDLL:
    library = build_library(HERE / "fmu_calls.c", ["cc", "-std=c99", "-O2", f"-I{FMI_HEADERS}"], ["-ldl"])
    driver = ctypes.CDLL(str(library))
    driver.fmu_load.argtypes, driver.fmu_load.restype = (ctypes.c_char_p,) * 3, ctypes.c_void_p
    driver.fmu_start.argtypes, driver.fmu_start.restype = (ctypes.c_void_p,), ctypes.c_int
    driver.fmu_do_steps.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_int)
    driver.fmu_free.argtypes, driver.fmu_free.restype = (ctypes.c_void_p,), None
    return driver
