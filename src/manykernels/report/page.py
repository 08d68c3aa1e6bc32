"""The report as one file that needs nothing else: no network, no fonts, no other files."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from typing import Any

from .._files import is_report, require_replaceable, write_atomically
from .markdown import markdown

SCRIPTS = ("base", "document", "data", "quality", "columns", "kernels", "samples", "made", "compared", "main")


def render(data: dict[str, Any]) -> str:
    """Make an HTML page of the data of a report, with styles, script and data inside.

    Parameters
    ----------
    data : dict
        The result of :func:`report_data`.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import render, report_data
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> page = render(report_data(model, X, y, title="Iris", fit_path=False))
    >>> "<title>Iris" in page
    True
    """
    parts = {"css": _resource("page.css"), "js": _script()}
    parts["data"] = _inert(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    page = _resource("page.html")
    for name, text in parts.items():
        page = page.replace(f"/*{name}*/", text)
    return page.replace("<!--title-->", _escaped(str(data["title"])))


def write_report(data: dict[str, Any], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the data of a report to a file, whole or not at all.

    Parameters
    ----------
    data : dict
        The result of :func:`report_data`.
    path : str or path
        The file to write. A path that ends in ``.md`` gets Markdown, any other an HTML page.
    overwrite : bool, default=False
        Whether a file that is not a report is replaced.

    Raises
    ------
    FileExistsError
        If the file exists and is not a report, unless ``overwrite=True``.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import report_data, write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "report.md")
    >>> write_report(report_data(model, X, y, title="Iris", fit_path=False), path)
    >>> os.path.exists(path)
    True
    """
    require_report(path, overwrite)
    is_text = os.fspath(path).lower().endswith(".md")
    write_atomically(path, (markdown(data) if is_text else render(data)).encode())


def require_report(path: str | os.PathLike[str], overwrite: bool) -> None:
    """An error where a report would destroy a file of another kind."""
    require_replaceable(path, is_report, "a report that this package wrote", overwrite)


def _script() -> str:
    """The files of the script, in this order, in a scope of their own."""
    return '"use strict";\n(() => {\n' + "\n".join(_resource(f"page/{name}.js") for name in SCRIPTS) + "})();"


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _inert(text: str) -> str:
    """JSON that cannot end the script element which holds it, nor start another: names come from users."""
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
