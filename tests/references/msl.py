"""Bodies as in the Modelica Standard Library.

World gravity is 9.80665 m/s2 in -y; at zero joint positions all bodies are parallel to the world. Shapes
have the density 7700 kg/m3 and reach from their frame's origin by the vector r.
"""

import numpy as np
from numpy.typing import ArrayLike

import fmumbs as fm

GRAVITY = (0.0, -9.80665, 0.0)
_DENSITY = 7700.0


def model(name: str) -> fm.Model:
    return fm.Model(name, gravity=GRAVITY)


def box(name: str, r: ArrayLike, width: float, height: float) -> fm.Body:
    """BodyBox: its width along y, made perpendicular to r, its height along the third axis."""
    mass = _DENSITY * float(np.linalg.norm(r)) * width * height
    length = float(np.linalg.norm(r))
    moments = np.array([width**2 + height**2, length**2 + height**2, length**2 + width**2]) * mass / 12
    return _shape(name, np.asarray(r, dtype=float), mass, moments)


def cylinder(name: str, r: ArrayLike, diameter: float) -> fm.Body:
    """BodyCylinder: full."""
    length = float(np.linalg.norm(r))
    mass = _DENSITY * np.pi * diameter**2 / 4 * length
    across = mass * (length**2 / 12 + diameter**2 / 16)
    return _shape(name, np.asarray(r, dtype=float), mass, np.array([mass * diameter**2 / 8, across, across]))


def _shape(name: str, r: np.ndarray, mass: float, moments: np.ndarray) -> fm.Body:
    """Moments along r, along y (z for an r along y) made perpendicular to r, and along the third axis."""
    x = r / np.linalg.norm(r)
    y = np.array([0.0, 1.0, 0.0] if abs(x[1]) < 0.999 else [0.0, 0.0, 1.0])
    y -= (x @ y) * x
    y /= np.linalg.norm(y)
    axes = np.column_stack([x, y, np.cross(x, y)])
    return fm.Body(name, mass=mass, com=r / 2, inertia=axes @ np.diag(moments) @ axes.T, points={"tip": r})
