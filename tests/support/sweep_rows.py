"""The rows of a sweep's output."""

from typing import Any

import fmumbs as fm


def rows(done: fm.Sweep) -> dict[str, list[Any]]:
    """All columns but the times that the runs took."""
    import pyarrow.parquet  # an extra

    table = pyarrow.parquet.read_table(done.path).to_pydict()
    del table["seconds"]
    return dict(table)
