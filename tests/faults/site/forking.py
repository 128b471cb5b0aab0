"""Runs pytest in forks of a process that has imported what no fault changes: that is most of what a start costs.

Asked by a line of JSON on its input (the arguments, variables, and limit of processor time), it answers with the number
of the fork and, when that has ended, with its status and processor time [s]. What the fork prints goes to a file.
"""

import json
import os
import resource
import sys
import threading

import fmpy
import hypothesis
import lxml.etree
import numpy
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import xdist.plugin  # type: ignore[import-untyped]

IMPORTED = (
    fmpy, hypothesis, lxml.etree, numpy, xdist.plugin,
    scipy.integrate, scipy.linalg, scipy.optimize, scipy.sparse.linalg,
)  # fmt: skip
REWRITTEN = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is imported cannot be: none of it is a test


def become(asked: dict[str, object]) -> int:
    os.setsid()
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]  # matplotlib compares it
    output = os.open(str(asked["output"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for to in (1, 2):
        os.dup2(output, to)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(asked["variables"])  # type: ignore[call-overload]
    seconds = asked["seconds"]
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))  # type: ignore
    return int(pytest.main([*REWRITTEN, *asked["arguments"]]))  # type: ignore[misc]


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.exit(become(json.loads(line)))
    print(child, flush=True)
    _, status, used = os.wait4(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]), flush=True)
