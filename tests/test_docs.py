"""Every example and command that a reader may copy is run: README, pages, examples, and the build itself."""

from __future__ import annotations

import ast
import doctest
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from tests.built_docs import GENERATED
from tests.links import dead, dead_in_site
from typer.testing import CliRunner

import manykernels
from manykernels.cli.app import app
from manykernels.datasets import MissingDataset, load_survival

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if not set(GENERATED) & set(p.relative_to(DOCS).parts))
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
COMMAND = Path(sys.executable).with_name("manykernels")
FLAGS = (
    doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.DONT_ACCEPT_TRUE_FOR_1
)  # as Sphinx has them


def name(path):
    return str(path.relative_to(ROOT))


def blocks(path, kind):
    """The fenced blocks of one kind."""
    text = path.read_text(encoding="utf-8")
    return [body for said, body in re.findall(r"^```(.*?)\n(.*?)^```$", text, re.S | re.M) if said == kind]


def commands(path):
    """Lines of shell blocks; a block without a kind is one too."""
    lines = "".join(blocks(path, "sh") + blocks(path, "")).splitlines()
    return [line.split(" #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


# -- Python ---------------------------------------------------------------------------------------
TESTED = [page for page in PAGES if blocks(page, "{doctest}")]
LONGER = {"selection.md", "bounds.md", "start.md"}  # pages that take seconds; the slow build runs all of them


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.name in LONGER), id=name(page)) for page in TESTED],
)
def test_the_code_of_a_page_says_what_the_page_says(page):
    text = "\n".join(blocks(page, "{doctest}"))
    assert all(block.endswith("\n\n") for block in blocks(page, "{doctest}")), (
        "a fence would be taken for output"
    )
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    said = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


def test_pages_hold_no_code_that_is_not_run():
    known = {"{doctest}", "{toctree}", "{eval-rst}", "{literalinclude}", "sh", "text"}
    for page in PAGES:
        kinds = re.findall(r"^```(\S*)[^\n]*\n.*?^```$", page.read_text(encoding="utf-8"), re.S | re.M)
        assert {k for k in kinds if not k.startswith("{include}")} <= known, name(page)
    assert len(TESTED) >= 12


@pytest.mark.parametrize("number", range(len(blocks(README, "python"))))
def test_the_examples_of_the_readme_run(number, capsys, tmp_path, monkeypatch):
    """Each block for itself, or after those before it where it uses their names."""
    monkeypatch.chdir(tmp_path)
    code = blocks(README, "python")
    before = code[:number] if "import" not in code[number].splitlines()[0] else []
    namespace = {}
    for block in [*before, code[number]]:
        exec(compile(block, "README.md", "exec"), namespace)
    assert "print(" not in code[number] or capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_examples_load_what_everyone_has(path):
    """What they need is the package, scikit-learn, matplotlib and what comes with Python."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    text = ast.get_docstring(tree) or ""
    assert text.splitlines()[1].startswith("===")
    assert "**What to look at:**" in text and re.search(r"\b(real|made)\b", text)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, "an example fits on a screen"
    tops = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            tops.add((node.module or "").split(".")[0])
            assert not [alias.name for alias in node.names if alias.name.startswith("fetch_")]
    allowed = {"manykernels", "sklearn", "numpy", "scipy", "matplotlib", "pandas"}
    assert tops <= allowed | set(sys.stdlib_module_names)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((DOCS / "tutorials").glob("*.py")), ids=name)
def test_tutorials_run_where_their_data_are(path, tmp_path):
    try:
        load_survival("sksurv_breast_cancer")
    except MissingDataset as reason:
        pytest.skip(str(reason))
    picture = tmp_path / "picture.png"
    done = subprocess.run([sys.executable, path, picture], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0 and picture.stat().st_size > 1000, done.stderr


# -- commands -------------------------------------------------------------------------------------
SHOWN = [(page, line) for page in [README, *PAGES] for line in commands(page)]
RUN = [(page, line) for page, line in SHOWN if line.startswith("manykernels ")]
LONG = r"^manykernels (fit(?!.*--method)|fit (?!.*--no-score)|demo|warm-up)"  # searches, scores in folds
TAKE_LONG = [line for _, line in RUN if re.search(LONG, line)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the files that the pages name: a table, views, sets of columns, kernels, and a model."""
    where = tmp_path_factory.mktemp("commands")
    X, labels = load_iris(return_X_y=True)
    X, y = X[::2], np.where(labels[::2] == 1, "better", "worse")
    frame = pd.DataFrame(X, columns=["age", "weight", "dose", "pressure"]).round(1).assign(outcome=y)
    frame.to_csv(where / "patients.csv", index=False)
    frame.drop(columns="outcome").to_csv(where / "new.csv", index=False)
    months, died = 40.0 / (1.0 + X[:, 2]), np.where(np.arange(len(X)) % 3, "yes", "no")
    frame.drop(columns=["outcome", "dose"]).assign(months=months, died=died).to_csv(
        where / "cohort.csv", index=False
    )
    frame[["age", "weight"]].add_prefix("gene ").to_csv(where / "gene.csv", index=False)
    np.save(where / "image.npy", X[:, 2:])
    (where / "sets.gmt").write_text("BODY\tsize\tage\tweight\nDRUG\tdoses\tweight\tdose\tpressure\n")
    named = frame.assign(patient=[f"P{i}" for i in range(len(frame))])
    named[["patient", "outcome"]].to_csv(where / "outcome.csv", index=False)
    named.drop(columns="outcome")[:0:-1].to_csv(where / "gene-by-patient.csv", index=False)
    named[["patient", "pressure"]][::2].to_csv(where / "image-by-patient.csv", index=False)
    matrices = {f"g{g}": rbf_kernel(X, gamma=g) for g in (0.1, 1.0)}
    np.savez(where / "kernels.npz", y=y, **matrices)
    made = ["fit", "patients.csv", "-t", "outcome", "-m", "sparse", "--no-score", "--model", "outcome.model"]
    made = [str(where / word) if word in ("patients.csv", "outcome.model") else word for word in made]
    assert CliRunner().invoke(app, made).exit_code == 0
    made = ["--time", "months", "--event", "died", "-m", "sparse", "--no-score"]
    files = [str(where / "cohort.csv"), "--model", str(where / "risk.model")]
    assert CliRunner().invoke(app, ["fit", *files, *made]).exit_code == 0
    return where


def check_written(line, folder):
    words = shlex.split(line)
    for option, path in pairwise(words):
        if option in ("--report", "--model", "--out"):
            assert (folder / path).stat().st_size > 100


@pytest.mark.parametrize("line", sorted({line for _, line in RUN} - set(TAKE_LONG)))
def test_commands_run(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, shlex.split(line)[1:])
    assert said.exit_code == 0 and (said.stdout.strip() or "--quiet" in line), said.output
    check_written(line, folder)


@pytest.mark.slow
@pytest.mark.parametrize("line", sorted(set(TAKE_LONG)))
def test_commands_that_take_long_run(line, folder):
    words = [COMMAND, *shlex.split(line)[1:]]
    said = subprocess.run(words, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert said.returncode == 0 and "Traceback" not in said.stderr, said.stderr
    check_written(line, folder)


def test_other_commands_exist():
    """Targets of make, and extras of pip, are those that there are."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    text = "\n".join(page.read_text(encoding="utf-8") for page in [README, *PAGES])
    targets = set(re.findall(r"`make ([\w-]+)[ `]", text)) | {
        line.split()[1] for _, line in SHOWN if line.startswith("make ")
    }
    assert targets and not [t for t in targets if not re.search(rf"^{t}:", makefile, re.M)]
    for asked in re.findall(r"\[([\w,]+)\]'", text):
        assert set(asked.split(",")) <= set(extras)
    known = ("manykernels ", "make ", "pip install ", "git clone ", "cd ", ".venv/bin/manykernels ")
    assert [line for _, line in SHOWN if not line.startswith(known)] == []
    assert RUN


# -- links and the build --------------------------------------------------------------------------
BESIDE = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "experiments" / "README.md"]


@pytest.mark.parametrize("page", [README, *BESIDE, *PAGES], ids=name)
def test_links_lead_somewhere(page):
    assert list(dead(page, ROOT / "examples")) == []


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One & two\n\n[a](#one--two) [b](#three) [c](gone.md) `[d](no.md)`\n", encoding="utf-8")
    assert list(dead(page, tmp_path)) == ["#three (no such heading)", "gone.md"]
    (tmp_path / "a.html").write_text('<a href="b.html#x">x</a><a href="c.html">c</a>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="y"></p><a href="a.html">a</a>', encoding="utf-8")
    assert dead_in_site(tmp_path) == ["a.html: b.html#x", "a.html: c.html"]


def test_the_chart_is_what_its_script_draws():
    script = DOCS / "flowchart.py"
    drawn = runpy.run_path(str(script))["chart"]()
    assert drawn == (DOCS / "images" / "choose.svg").read_text(encoding="utf-8"), f"run {name(script)}"


def test_every_public_part_is_in_the_reference():
    listed = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    missing = [n for n in manykernels.__all__ if f"   manykernels.{n}\n" not in listed and n != "__version__"]
    assert not missing, f"add {missing} to docs/api/index.md"


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning(built_docs):
    done, html = built_docs
    assert done.returncode == 0, done.stderr[-4000:]
    for page in ("index", "start", "gallery/plot_views", "api/generated/manykernels.MKLClassifier"):
        assert (html / f"{page}.html").exists()
    assert dead_in_site(html) == []
