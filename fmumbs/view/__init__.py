"""Pictures of mechanisms in motion: poses of the bodies, and the page that shows them."""

from fmumbs.view.motion import image_of, motion_of
from fmumbs.view.page import View
from fmumbs.view.poses import Poses, poses, start_positions
from fmumbs.view.viewing import view_model, view_result

__all__ = ["Poses", "View", "image_of", "motion_of", "poses", "start_positions", "view_model", "view_result"]
