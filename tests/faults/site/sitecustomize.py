"""Leaves the project's own editable install out of the imports, where PYTHONPATH names another copy of the package."""

import atexit
import os
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]

if "FAULTS_TEST" in os.environ:  # a process that a test started: the lines that it executes are that test's
    import coverage

    inner = coverage.Coverage(
        data_file=os.path.join(os.environ["FAULTS_COLLECT"], "lines"), data_suffix=True,
        include=[os.environ["FAULTS_SOURCE"]], context=os.environ["FAULTS_TEST"],
    )  # fmt: skip
    inner.start()
    atexit.register(lambda: (inner.stop(), inner.save()))
