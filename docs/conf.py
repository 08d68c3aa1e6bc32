"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import manykernels

project = "manykernels"
author = "The manykernels developers"
copyright = author
version = release = manykernels.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "**.ipynb"]
default_role = "code"
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing", "config.cache"]  # links of the repository's own pages to its files

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "manykernels"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "use_edit_page_button": False,
    "header_links_before_dropdown": 4,
    "navbar_persistent": ["search-button"],  # the name of the wide button is not what it shows
    "logo": {"text": f"manykernels {version}"},  # which version these pages are about
    "footer_start": ["copyright", "about"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = ["pages.js"]
html_show_sourcelink = False
# A page that belongs to no section has an empty bar on the left: its place goes to the text.
html_sidebars = {page.stem: [] for page in Path(__file__).parent.glob("*.md")} | {"gallery/index": []}


def _legible(gallery_conf: Any, name: str) -> None:
    """Letters of the pictures that can be read in a thumbnail too."""
    import matplotlib

    matplotlib.rcParams.update({"font.size": 13, "figure.figsize": (6.4, 4.2), "savefig.bbox": "tight"})


sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", _legible),
    "thumbnail_size": (560, 400),
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "copyfile_regex": "",
    "capture_repr": (),  # addresses of figures and of their texts
}

# -- docstrings -----------------------------------------------------------------------------------
# They are written to be read as text: names such as `weights_` and bars |x| are no markup there. Formulas are
# indented lines, and examples stay as they are.
_LITERAL = re.compile(r"(``.*?``|`.*?`|:\w+:`.*?`)")
_MARKUP = re.compile(r"(?<=\w)_(?!\w)|[|*]")


def _plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape what Sphinx would take for references and emphasis, and mark formulas as literal blocks."""
    found: list[str] = []
    example = False
    for line in lines:
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>> "))
        before = [*found[-2:], "", ""][:2]
        if line.startswith("    ") and before[0] and not before[0].startswith(" ") and not before[1]:
            found += ["::", ""]  # a formula
        inside = line.startswith("    ") and "::" in found and not _ended(found)
        literal = example or inside or line.lstrip().startswith((":", ".."))
        found.append(line if literal else _escaped(line))
    if found and what in ("attribute", "property"):  # where napoleon takes words before a colon for a type
        found[0] = re.sub(r"(?<!:):(?= )", " –", found[0])
    lines[:] = found


def _ended(lines: list[str]) -> bool:
    """Whether text has begun again after the last formula."""
    last = len(lines) - lines[::-1].index("::")
    return any(line and not line.startswith(" ") for line in lines[last:])


def _escaped(line: str) -> str:
    parts = _LITERAL.split(line)
    parts[::2] = [_MARKUP.sub(lambda mark: "\\" + mark.group(), part) for part in parts[::2]]
    return "".join(parts)


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn makes and documents for every estimator."""
    made = r"set_\w+_request|get_metadata_routing|score|set_output|fit_transform|set_params|get_params"
    return True if re.fullmatch(made, name) else None


def _included(app: Any, name: str, source: list[str]) -> None:
    """The page of the experiments is a file of another folder: its links start there."""
    if name == "inside/experiments":
        text = (Path(__file__).parents[1] / "experiments" / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"\]\((?=results/)", "](../../experiments/", text)
        source[0] = text.replace("](../docs/", "](../")


def setup(app: Any) -> None:
    app.connect("source-read", _included)
    app.connect("autodoc-process-docstring", _plain, priority=400)  # before napoleon, whose priority is 500
    app.connect("autodoc-skip-member", _skip)
