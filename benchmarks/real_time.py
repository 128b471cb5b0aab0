"""The worst integration step of FMUs for real time over the mean, of all models that ship: basic blocks that run.

    python benchmarks/real_time.py [MODEL ...]

Each model is exported with realtime=True and the longest of the steps 1e-3, 1e-4, 1e-5 s that its default experiment
takes, and runs 1000 steps, or its experiment if that is shorter. Needs GCC, which counts blocks by -fsanitize-coverage.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fmumbs as fm
from fmumbs.errors import FmumbsError
from fmumbs.export.one_file import core_source
from fmumbs.export.realtime import check_bounded, counts_of
from fmumbs.readers import read_model

CORE = Path(fm.__file__).parent / "core" / "fmi"
ROOT = Path(__file__).parents[1]
HOST, MODELS = ROOT / "tests" / "export" / "realtime_host.c", ROOT / "models"
HEAD = """\
#define FMI2_FUNCTION_PREFIX unit_
#define FMI3_FUNCTION_PREFIX unit_
#define FM_EMBEDDED_IMAGE 1
extern const unsigned long fm_embedded_image_size;
extern const unsigned char fm_embedded_image[];
"""
STEPS, CANDIDATES = 1000, (1e-3, 1e-4, 1e-5)


def compiled(folder: Path, name: str, text: bytes, *flags: str) -> Path:
    (folder / f"{name}.c").write_bytes(text)
    subprocess.run(["gcc", "-c", *flags, f"{name}.c", "-o", f"{name}.o"], cwd=folder, check=True)
    return folder / f"{name}.o"


def image_at(name: str, step: float) -> "fm.ModelImage | None":
    """The image with this step, None if it is too long."""
    image = fm.compile(read_model(name), scheme="rk4", step=step)
    check_bounded(image)
    try:
        counts_of(image)
    except FmumbsError as error:
        if "too long" not in str(error):
            raise
        return None
    return image


def measure(name: str, folder: Path, core: Path) -> str:
    step, image = next(((h, one) for h in CANDIDATES if (one := image_at(name, h)) is not None), (0.0, None))
    if image is None:
        return f"needs steps below {CANDIDATES[-1]:g} s"
    numbers = ",".join(map(str, image.bytes))
    text = f"const unsigned long fm_embedded_image_size = {len(image.bytes)}UL;"
    made = compiled(folder, "image", f"{text}\nconst unsigned char fm_embedded_image[] = {{{numbers}}};".encode())
    host = ["gcc", "-std=c99", "-DNAME=unit", "-I", str(CORE), str(HOST), str(core), str(made), "-lm", "-o", "host"]
    subprocess.run(host, cwd=folder, check=True)
    stop = image.default_experiment.stop or 1.0
    count = max(1, min(STEPS, round(stop / step)))
    run = [str(folder / "host"), image.guid, str(count), repr(step)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"fails: {done.stderr.strip()[-100:]}"
    blocks = np.array([line.split()[0] for line in done.stdout.splitlines()[2:]], int)
    return f"{step:<8g} {blocks.mean():12.0f} {blocks.max():12d} {blocks.max() / blocks.mean():8.3f}"


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in MODELS.glob("[!_]*.py"))
    print(f"{'model':24} {'step [s]':8} {'mean':>12} {'worst':>12} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        flags = ["-std=c99", "-O0", "-fsanitize-coverage=trace-pc"]
        own = [f"-D{name}=host_{name}" for name in ("malloc", "calloc", "realloc", "free")]
        core = compiled(folder, "core", HEAD.encode() + core_source(), *flags, *own)
        for name in names:
            try:
                found = measure(name, folder, core)
            except FmumbsError as error:
                found = f"refused: {error}"[:100]
            print(f"{name:24} {found}", flush=True)


if __name__ == "__main__":
    main()
