"""What a mechanism looks like: shapes, joints' symbols and where they are, for every picture of it."""

from fmumbs.scene.described import (
    GROUND,
    BodyLook,
    Centreline,
    CouplingLook,
    CurveLook,
    JointLook,
    LoadLook,
    MeshLook,
    Place,
    PointLook,
    Scene,
    Shape,
    SpringLook,
    StopLook,
    Symbol,
    TermLook,
)  # fmt: skip
from fmumbs.scene.describing import scene_of

__all__ = [
    "GROUND",
    "BodyLook",
    "Centreline",
    "CouplingLook",
    "CurveLook",
    "JointLook",
    "LoadLook",
    "MeshLook",
    "Place",
    "PointLook",
    "Scene",
    "Shape",
    "SpringLook",
    "StopLook",
    "Symbol",
    "TermLook",
    "scene_of",
]
