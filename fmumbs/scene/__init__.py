"""What a mechanism looks like: shapes, joints' symbols and where they are, for every picture of it."""

from fmumbs.scene.described import (
    GROUND,
    BodyLook,
    Centreline,
    CurveLook,
    JointLook,
    LoadLook,
    MeshLook,
    Place,
    PointLook,
    Scene,
    Shape,
    SpringLook,
    Symbol,
)  # fmt: skip
from fmumbs.scene.describing import scene_of

__all__ = [
    "GROUND",
    "BodyLook",
    "Centreline",
    "CurveLook",
    "JointLook",
    "LoadLook",
    "MeshLook",
    "Place",
    "PointLook",
    "Scene",
    "Shape",
    "SpringLook",
    "Symbol",
    "scene_of",
]
