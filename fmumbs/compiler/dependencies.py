"""What a variable follows: the inputs that act on it at once, and the variable whose time derivative it is.

Positions and velocities are states, and follow no input at once; accelerations and forces follow all inputs of
their tree. Trees that hang on the ground by themselves do not act on one another, but for springs between them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.kinds import BODY, JOINT, LOAD, POINT, kinds, kinds_called
from fmumbs.compiler.layout import Arrays

References = NDArray[np.int64]
