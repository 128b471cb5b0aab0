"""Many runs of a model or an FMU, with other values, on Dask."""

from fmumbs.study.result import Sweep
from fmumbs.study.sweeping import sweep

__all__ = ["Sweep", "sweep"]
