"""Balls that point towards the ground in closed loops: the correction of velocities is seen by the constraints."""

import numpy as np
import pytest

import fmumbs as fm

Q0 = np.array([0.9, 0.2, -0.3, 0.1]) / np.linalg.norm([0.9, 0.2, -0.3, 0.1])


def swing(backwards: bool) -> fm.Model:
    """A plate on a ball, whose end a rod of fixed length holds."""
    model = fm.Model("swing")
    plate = fm.Body("plate", mass=2.0, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.15))
    end = plate.at(1.0, 0.2, 0.0)
    F, M = (plate.at(), model.ground.at()) if backwards else (model.ground.at(), plate.at())
    q0 = Q0 * (1, -1, -1, -1) if backwards else Q0
    model.add(plate, fm.Spherical("B", F, M, q0=tuple(q0)))
    model.add(fm.Distance("rod", model.ground.at(0.5, 0.0, 1.0), end, length=1.3))
    return model


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
def test_velocities_are_corrected_where_a_ball_points_backwards(scheme: str, dynamics: str) -> None:
    places = []
    for backwards in (False, True):
        image = fm.compile(swing(backwards), everything=True)
        solver = fm.Solver(image.with_options(scheme=scheme, dynamics=dynamics, tolerance=1e-6))
        solver.assemble()
        for t in np.linspace(0.0, 2.0, 21)[1:]:
            solver.step(float(t))
            assert solver.get("solver.velocity_violation") < 1e-10
        places.append(np.array(solver.get("plate.r")))
    assert np.abs(places[1] - places[0]).max() < 1e-3
