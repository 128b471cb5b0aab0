"""A pytest plugin: only the chosen test functions, in their order; and limits of processor time.

FAULTS_CHOSEN names a file with what each of them costs without a fault [s], all together at most, and where to write
which runs. A test that takes ten times as long as it should, and at least 20 s more, ends the process: it hangs.
"""

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

SLOWER, LEAST = 10, 20  # [1], [s]

chosen: dict[str, Any] = json.loads(Path(os.environ["FAULTS_CHOSEN"]).read_text())
order = {test: i for i, test in enumerate(chosen["tests"])}
ran: list[str] = []
begun: list[float] = []  # when each test began, the first after all imports


def function(item: pytest.Item) -> str:
    """As it was chosen: by its own name, or by that of all its cases."""
    return item.nodeid if item.nodeid in order else item.nodeid.split("[")[0]


def spent() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = sorted((item for item in items if function(item) in order), key=lambda item: order[function(item)])


def pytest_runtest_setup(item: pytest.Item) -> None:
    begun.append(spent())
    left = chosen["most"] - (begun[-1] - begun[0])
    if left < 0.0:
        item.session.shouldstop = "no more time"
    if left < (chosen["tests"][function(item)] if ran else 0.0):
        pytest.skip("no more time")
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = LEAST + SLOWER * chosen["tests"][function(item)]
    limit = int(used.ru_utime + used.ru_stime + allowed) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    ran.append(item.nodeid)
    Path(chosen["now"]).write_text(json.dumps(ran))
