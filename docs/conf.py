"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import re
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

myst_enable_extensions = ["colon_fence"]
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
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "use_edit_page_button": False}
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "start", "choose", "command-line", "coming-from")}

sphinx_gallery_conf = {
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
}

# -- docstrings -----------------------------------------------------------------------------------
# They are written to be read as text: names such as `weights_` and bars |x| are no markup there, names of
# parameters may take two lines, and a last line may say where the others are told of.
_LITERAL = re.compile(r"(``.*?``|`.*?`|:\w+:`.*?`)")
_MARKUP = re.compile(r"(?<=\w)_(?!\w)|[|*]")
_NAMES = re.compile(r"[\w, ]+,")


def _plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape what Sphinx would take for references and emphasis, and make lists of names whole."""
    found: list[str] = []
    for line in lines:
        if found and _NAMES.fullmatch(found[-1]) and line and not line.startswith(" "):
            line = f"{found.pop()} {line}"
        if line.startswith("Others as for"):
            line = line.replace("Others as", "others : as", 1)
        before = [*found[-2:], "", ""][:2]
        if line.startswith("    ") and before[0] and not before[0].startswith(" ") and not before[1]:
            found += ["::", ""]  # a formula
        inside = line.startswith("    ") and "::" in found and not _ended(found)
        found.append(line if inside or line.lstrip().startswith((":", "..")) else _escaped(line))
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
    """Methods that scikit-learn makes for every estimator are told of there."""
    made = r"set_\w+_request|get_metadata_routing|score|set_output|fit_transform|set_params|get_params"
    return True if re.fullmatch(made, name) else None


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _plain, priority=400)  # before napoleon, whose priority is 500
    app.connect("autodoc-skip-member", _skip)
