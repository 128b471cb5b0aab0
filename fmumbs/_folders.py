"""Temporary folders that no end of the process leaves behind, except one that lets it do nothing more."""

import weakref
from tempfile import TemporaryDirectory

from fmumbs._signals import held

_open: "weakref.WeakSet[TemporaryDirectory[str]]" = weakref.WeakSet()


def temporary_folder() -> "TemporaryDirectory[str]":
    """A new folder, which is removed when it is closed, at the end of its block, or when the process ends."""
    with held():  # a signal between making it and noting it would leave it
        folder = TemporaryDirectory(prefix="fmumbs", ignore_cleanup_errors=True)
        _open.add(folder)
    return folder


def remove_folders() -> None:
    """Removes those that are open, before os._exit, which ends the process without doing so."""
    for folder in list(_open):
        folder.cleanup()
