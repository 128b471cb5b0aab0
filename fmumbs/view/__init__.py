"""Pictures of mechanisms in motion: poses of the bodies, and the page that shows them."""

from fmumbs.view.poses import Poses, poses, start_positions

__all__ = ["Poses", "poses", "start_positions"]
