"""Do two builds compute the same bits? Writes a digest for every run, or compares with what another build wrote.

    python benchmarks/same_bits.py --write before.json [--random 240]    # on one build
    python benchmarks/same_bits.py --against before.json                 # on the other

A run is one of the models that ship, with a scheme and a formulation, a random model of every kind (tests/support), or
the FMU of a model by dopri5: its files but for binaries and sources, and its run by FMPy. A digest is of the values of
all variables at times up to 0.06 s; where a run fails, of the message. --against prints a table and names what differs.
"""

import argparse
import hashlib
import json
import multiprocessing
import re
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.readers import model_names, read_model

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.every_kind import every_kind

OPTIONS = [
    {"scheme": scheme, "dynamics": dynamics, **({"step": 1e-3} if scheme == "rk4" else {})}
    for scheme in ("dopri5", "dop853", "radau", "auto", "rk4")
    for dynamics in ("riccati", "copcod")
]
SOURCES = re.compile(rb"\s*<File name=.*?/>")  # a description lists them
TIMES = (0.0, 1e-3, 0.02, 0.025, 0.06)
MOST = 300  # FMPy takes long for thousands


def digest_of(image: ModelImage) -> str:
    """Of the values of all variables."""
    found = hashlib.sha256()
    try:
        solver = fm.Solver(image)
        references = np.arange(len(image.variables), dtype=np.uint32)
        for time in TIMES:
            if time == 0.0:
                solver.assemble()
            else:
                solver.step(time)
            found.update(solver.read(references).tobytes())
    except fm.FmumbsError as error:
        found.update(str(error).encode())
    return found.hexdigest()[:16]


def digests_of_fmu(model: fm.Model) -> tuple[str, str]:
    """Of an FMU's files but for its binaries, and of what FMPy reads from it."""
    files, values = hashlib.sha256(), hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fmu"
        try:
            fm.export_fmu(model, path, scheme="dopri5")
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if not name.startswith(("binaries/", "sources/")):
                        files.update(name.encode() + SOURCES.sub(b"", archive.read(name)))
            values.update(fmpy_values(path).tobytes())
        except fm.FmumbsError as error:
            values.update(str(error).replace(folder, "").encode())
    return files.hexdigest()[:16], values.hexdigest()[:16]


def fmpy_values(path: Path) -> np.ndarray:
    """The first MOST outputs of the FMU up to 0.06 s."""
    import fmpy

    description = fmpy.read_model_description(str(path))
    outputs = [v.name for v in description.modelVariables if v.causality == "output"][:MOST]
    return fmpy.simulate_fmu(str(path), stop_time=0.06, output_interval=0.01, output=outputs)


def shipped_runs(name: str) -> list[tuple[str, str, str]]:
    """Group, name and digest of each run of a model that ships."""
    model = read_model(name)
    image = compile(model)
    found = []
    for options in OPTIONS:
        group = f"models, {options['scheme']}, {options['dynamics']}"
        found.append((group, name, digest_of(image.with_options(**options))))
    files, values = digests_of_fmu(model)
    return [*found, ("FMUs, files", name, files), ("FMUs, runs", name, values)]


def random_runs(which: tuple[int, int]) -> list[tuple[str, str, str]]:
    seed, count = which
    return [("random models", name, digest_of(image)) for name, image in islice(every_kind(seed), count)]


def run(job: tuple[str, Any]) -> list[tuple[str, str, str]]:
    warnings.simplefilter("ignore")
    kind, what = job
    return shipped_runs(what) if kind == "shipped" else random_runs(what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the digests of this build")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with the digests of another build")
    parser.add_argument("--random", type=int, default=504, help="random models (%(default)s)")
    options = parser.parse_args()
    names = model_names()
    batches = [(number, min(12, options.random - number)) for number in range(0, options.random, 12)]
    jobs = [("shipped", name) for name in names] + [("random", batch) for batch in batches]
    digests: dict[str, dict[str, str]] = {}
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for rows in pool.imap(run, jobs):
            for group, name, digest in rows:
                digests.setdefault(group, {})[name] = digest
    if options.write:
        options.write.write_text(json.dumps(digests, indent=1))
    if options.against:
        compare(json.loads(options.against.read_text()), digests)


def compare(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> None:
    """Prints a table, a row for each group, and the names of what differs; exits with 1 if anything does."""
    different = {(g, n) for g, runs in after.items() for n in runs if before.get(g, {}).get(n) != runs[n]}
    missing = {(g, n) for g, runs in before.items() for n in runs if n not in after.get(g, {})}
    counts = Counter(group for group, _ in different | missing)
    for group, runs in after.items():
        print(f"{group:<32} {len(runs):5} runs, {counts[group]:4} differ")
    for group, name in sorted(different | missing):
        print(f"differs: {group}: {name}")
    sys.exit(bool(different | missing))


if __name__ == "__main__":
    main()
