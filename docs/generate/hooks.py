"""What mkdocs calls: adds the generated pages, and turns links into the repository into links within the site."""

import posixpath
import re
from pathlib import Path
from typing import Any

import gallery
import notebooks
import reference
import scenes
import scripts
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {  # Markdown outside docs/, by its path in the repository
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
}
FOLDERS = {
    "models": "gallery.md",
    "examples": "examples/index.md",
    "benchmarks": "benchmarks.md",
    "fmumbs/__init__.py": "reference.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds every page and picture that is made from sources."""
    made: dict[str, str | bytes] = {page: (ROOT / source).read_text() for source, page in PAGES.items()}
    for generator in (scripts, notebooks, gallery, reference, scenes):
        made |= generator.pages()
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Fills in the output of examples, and rewrites links to files of the repository."""
    uri = page.file.src_uri
    source = next((source for source, made in PAGES.items() if made == uri), f"docs/{uri}")
    text = scripts.with_outputs(markdown, uri)
    text = scenes.first(text) if uri == "index.md" else text
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)  # code is left alone
    if page.file.generated_by and source.startswith("docs/"):
        return text  # its links are the site's own
    return "".join(p if p.startswith("```") else LINK.sub(lambda m: _link(m, source, uri, files), p) for p in parts)


def _link(match: re.Match[str], source: str, uri: str, files: Files) -> str:
    """A link of the file `source` of the repository, on the page `uri`; its text alone, if there is no such page."""
    image, text, target, anchor = match[1], match[2], match[3], match[4] or ""
    if not target or re.match(r"\w+:", target):
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if not (ROOT / path).exists() and not files.get_file_from_path(path.removeprefix("docs/")):
        return match[0]  # strict mode reports it
    found = PAGES.get(path) or FOLDERS.get(path) or _page_of(path)
    if not files.get_file_from_path(found):
        return text
    return f"{image}[{text}]({posixpath.relpath(found, posixpath.dirname(uri) or '.')}{anchor})"


def _page_of(path: str) -> str:
    """The page or picture of a file of the repository."""
    for folder in ("docs/", "examples/"):
        if path.startswith(folder):
            stem = path.removeprefix("docs/")
            return re.sub(r"\.(py|ipynb)$", ".md", stem)
    return "gallery.md" if path.startswith("models/") else path
