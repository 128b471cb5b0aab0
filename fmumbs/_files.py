"""Writing a file so that nobody finds half of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Where to write what `target` shall hold: a file beside it, which takes its place when all is written.

    A link stays one, to the new file. What is there and no plain file, such as /dev/stdout or a pipe, is itself
    written to. Raises whatever OSError the writing meets; then `target` is as it was.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    place = Path(os.path.realpath(target))
    draft = place.with_name(f".{os.getpid()}.{place.name}")
    try:
        yield draft
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)
