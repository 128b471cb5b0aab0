"""Scenes: pages of mechanisms that a reader moves, each beside the picture that it takes the place of.

A link leads to each of them; assets/scenes.js opens it in place. What they share is loaded once, from SCRIPT.
"""

from fmumbs.view.page import shared_script

SCRIPT = "scenes/page.js"
FIRST = "double_pendulum"  # on the first page


def pages() -> dict[str, str | bytes]:
    """The script of all scenes."""
    return {SCRIPT: shared_script()}


def moving(address: str) -> str:
    """Markdown of the link that opens a scene."""
    return f"[Move it]({address}#live){{ .md-button .scene }}"


def first(markdown: str) -> str:
    """The first page, with a scene behind its first paragraph."""
    title, opening, rest = markdown.split("\n\n", 2)
    scene = f'<iframe class="scene" src="scenes/{FIRST}.html#live" title="A double pendulum to drag"></iframe>'
    return "\n\n".join((title, opening, scene, rest))
