"""Writing files atomically."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole(target: Path) -> Iterator[BinaryIO]:
    """An open file that replaces `target` when the block ends without an error.

    Each call writes to a new file in the folder of `target`, so concurrent writers do not interfere: the last to finish
    wins. On Linux that file has no name until it is complete, and vanishes if the process dies. If `target` is a link,
    the file it points to is replaced. If it is not a regular file, such as /dev/stdout or a pipe, it is written to
    directly. Raises OSError if writing fails; `target` is then unchanged.
    """
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    place = Path(os.path.realpath(target))
    draft = place.with_name(f".{os.urandom(12).hex()}.part")  # short, as the name of `target` may have maximal length
    nameless = _nameless(place.parent)
    try:
        with draft.open("xb") if nameless is None else os.fdopen(nameless, "wb") as file:
            yield file
            file.flush()
            if nameless is not None:  # os.link follows the link in /proc only if src_dir_fd is given
                os.link(f"/proc/self/fd/{nameless}", draft, src_dir_fd=nameless, follow_symlinks=True)
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


def _nameless(folder: Path) -> int | None:
    """Descriptor of a new unnamed file in `folder`; None if the system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError:
        return None
