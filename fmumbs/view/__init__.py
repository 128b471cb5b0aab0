"""Pictures of mechanisms in motion: poses of the bodies, the page that shows them, pictures and films."""

from fmumbs.view.motion import image_of, motion_of
from fmumbs.view.notebook import model_html, result_html
from fmumbs.view.page import View
from fmumbs.view.picture import animate, picture
from fmumbs.view.poses import Poses, poses, start_positions
from fmumbs.view.vibration import view_linear, view_modes, view_vibrations
from fmumbs.view.viewing import view_model, view_result

__all__ = [
    "Poses",
    "View",
    "animate",
    "image_of",
    "model_html",
    "motion_of",
    "picture",
    "poses",
    "result_html",
    "start_positions",
    "view_linear",
    "view_model",
    "view_modes",
    "view_result",
    "view_vibrations",
]
