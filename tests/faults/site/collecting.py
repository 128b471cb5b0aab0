"""A pytest plugin: the lines of the package that each test executes, and its processor time.

FAULTS_COLLECT names the folder: of each test a number, by which coverage.py's data and what trace.c writes know it.
Processes that a test starts belong to it, as they inherit the environment.
"""

import ctypes
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ["FAULTS_COLLECT"])
tests: dict[str, float] = {}
measured = coverage.Coverage(data_file=FOLDER / "lines", data_suffix=True, include=[os.environ["FAULTS_SOURCE"]])
measured.start()


def traced_libraries() -> set[str]:
    with open("/proc/self/maps") as file:
        return set(re.findall(r" (/\S*\.so)$", file.read(), re.MULTILINE))


def spent() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    name = item.nodeid.split("[")[0]
    os.environ["FAULTS_TEST"] = name
    tests.setdefault(name, 0.0)
    os.environ["FM_TRACE"] = str(FOLDER / f"{os.getpid()}-{list(tests).index(name)}")
    measured.switch_context(name)
    begun = spent()
    try:
        return (yield)
    finally:
        tests[name] = max(tests[name], spent() - begun)
        for path in traced_libraries():
            library = ctypes.CDLL(path) if "fmumbs" in path or "_core" in path else None
            if library is not None and hasattr(library, "fm_trace"):
                library.fm_trace()


def pytest_sessionfinish() -> None:
    measured.stop()
    if not tests:
        return  # the process that gives others their tests
    measured.save()
    (FOLDER / f"{os.getpid()}.json").write_text(json.dumps(tests))
