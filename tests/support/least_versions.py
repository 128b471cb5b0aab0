"""Prints the least versions that pyproject.toml allows, as constraints for pip: NAME==VERSION."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOUND = re.compile(r"([\w.-]+)>=([\w.]+)")


def requirements(*extras: str) -> list[str]:
    """What the project needs, with these extras, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]


def least_versions() -> dict[str, str]:
    """By the packages' names."""
    bounds = (BOUND.fullmatch(requirement) for requirement in requirements("plot", "test"))
    return {bound[1]: bound[2] for bound in bounds if bound}


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in least_versions().items()))
