"""Every whole number of an image has a range, whatever the mechanism: the core refuses an image with another one."""

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.layout import Arrays, counted, open_instance, pack
from support.every_kind import KINDS

FLAGS = {"mode_linear", "joint_reversed", "piece_stop", "friction_linear", "friction_on_M"}  # any number but 0 is a yes
COUNTS = {"p": "np", "u": "nu", "mode": "modes", "excitation": "excited", "coupled": "couplings"}  # from the first on
FAR = 10**6


def accepted(arrays: Arrays) -> bool:
    try:
        open_instance(pack(counted(arrays), arrays))
    except fm.ModelError:
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_number_far_out_of_its_range_is_refused(kind: str) -> None:
    arrays = compile(KINDS[kind](1)).arrays
    assert accepted(arrays)
    columns = {name for name, one in arrays.items() if one.dtype.kind == "i" and one.size} - FLAGS
    assert len(columns) >= 40
    for name in sorted(columns):
        count = COUNTS.get(name.removeprefix("joint_")) if name.startswith("joint_") else None
        places = np.flatnonzero(arrays[f"joint_{count}"]) if count else np.arange(arrays[name].size)
        for place in {*places[:1], *places[len(places) // 2 :][:1], *places[-1:]}:
            for value in (-FAR, FAR):
                damaged = arrays | {name: arrays[name].copy()}
                damaged[name].flat[place] = value
                assert not accepted(damaged), f"{name}[{place}] = {value}"
