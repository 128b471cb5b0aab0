"""Runs a system in two engines, writes the package and both results, and tells how far they differ."""

from pathlib import Path

import numpy as np

import fmumbs as fm

ENGINES = ("libcosim", "fmpy")


def in_both_engines(system: fm.System, folder: Path) -> dict[str, fm.Result]:
    """The result of each engine, by name."""
    print(f"wrote {system.save(folder / f'{system.name}.ssp')}")
    results = {engine: system.run(engine) for engine in ENGINES}
    for engine, result in results.items():
        print(f"wrote {result.save_csv(folder / f'{system.name}_{engine}.csv')}")
    print(f"{system.name}: the engines differ by at most {difference(results):.1e}")
    return results


def difference(results: dict[str, fm.Result]) -> float:
    """The largest difference of any variable at any time."""
    first, second = results.values()
    return max(float(np.abs(first[name] - second[name]).max()) for name in first)
