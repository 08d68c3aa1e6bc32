"""docs/experiments.md, docs/speed.md, a table of README.md and some paragraphs, computed from the records.

`python -m experiments --claims` writes them; `tests/experiments/test_claims.py` says where a page and the
records differ. A section is a file of this folder; `sections.py` says how a row is added.
"""

from __future__ import annotations

from pathlib import Path

from . import (
    absent,
    alignment,
    localized,
    obscure,
    products,
    ranks,
    selection,
    speed,
    steps,
    survival,
    trust,
    ufo,
    widths,
)
from .figures import Drift
from .paragraphs import PARAGRAPHS
from .sections import Section, lacking, problems

ROOT = Path(__file__).resolve().parents[2]
DOCS, README = ROOT / "docs", ROOT / "README.md"
PAGE, SPEED = DOCS / "experiments.md", DOCS / "speed.md"
SECTIONS: list[Section] = [
    part.section
    for part in (
        products,
        widths,
        ranks,
        ufo,
        obscure,
        localized,
        alignment,
        selection,
        absent,
        survival,
        steps,
    )
]
HEAD = """# Claims and results

Each row has a claim that a paper measured, the result of the same experiment here, and a verdict: **holds**, **in part**, **does not hold**, or why it was not run. [How each experiment was run](inside/experiments.md) is on a page of its own, with what was tried before. [experiments/results](../experiments/results/README.md) has all columns.

How to read the figures:

- Errors are means over random draws of the samples, ± one standard deviation. Where a row says "standard errors", ± is the standard error of the mean. "A less B" is the error of A minus the error of B in the same draws. It is negative where A is better.
- Ranks, iterations and most seconds are medians. Seconds are processor time of one processor.
- Every figure is computed from the record of its experiment. `python -m experiments --claims` writes this page from the files in `experiments/claims`. Change those files, not the page.

[Papers, experiments and code](references.md) has their titles. "The thesis" is Afkanpour 2013 or Rostamizadeh 2010, whichever the section is about. Afkanpour et al. 2013 is the short form of the first: its two figures are Figs 6.2 and 6.3 of the thesis.

The methods:

- **SGD-1s** draws kernels at random, by the size of their gradients, and learns weights and machine at once (one stage). **UCD** draws them uniformly; **RCDM** and **RACDM** draw coordinates by their curvature.
- **GCD-2s** adds one kernel at a time by alignment, before the machine is learned (two stages). **CKL** (also GCD-1s) adds kernels while the machine is learned; **IKL** also corrects all weights after each step ("corrective"). **1D** has one width for all features; **nD** or **ARD** has a width for each.
- **LPMKL** learns weights of norm p over a list of kernels, **alignf** by alignment; **uniform** is the plain sum of the list.
- **NLMKL** learns powers of a sum of kernels, **HMKL** products that come with all their factors (their hull), **CLMKL** weights that differ by region.
- **OBSCURE** and **SILP** are the methods that Orabona & Jie compare UFO-MKL with.
- **Certified**: a bound proves that no kernel of the whole family would change the objective by more than the gap.
- **IDA sets** are the thirteen benchmark sets of Rätsch."""  # noqa: E501

SPEED_HEAD = """# How fast

Each figure on this page compares with a named rival in the same run, or with the limit of the machine. [All benchmarks](benchmarks.md) have their tables on one page, and [what it costs](cost-model.md) predicts time and memory for your own sizes."""  # noqa: E501


def page() -> str:
    """The whole of docs/experiments.md, from the records."""
    return "\n\n".join([HEAD, *(section.markdown() for section in SECTIONS)]) + "\n"


def speeds() -> str:
    """The whole of docs/speed.md, from the records."""
    return f"{SPEED_HEAD}\n\n{speed.section.markdown()}\n"


def readme() -> str:
    """README.md with the table of its section about trust as the records have it."""
    before, head, rest = README.read_text(encoding="utf-8").partition(f"\n## {trust.section.title}\n\n")
    after = rest.partition("\n\n")[2]
    return f"{before}{head}{trust.section.table()}\n\n{after}"


def pages() -> dict[Path, str]:
    """Every page that has figures of records, as the records have them."""
    found = {PAGE: page(), SPEED: speeds(), README: readme()}
    for one in PARAGRAPHS:
        file = DOCS / one.page
        found[file] = one.put_into(found.get(file) or file.read_text(encoding="utf-8"))
    return found


def differences() -> list[str]:
    """Rows and paragraphs that are not what the records give."""
    text, fast, start = (file.read_text(encoding="utf-8") for file in (PAGE, SPEED, README))
    others = [
        f"{one.page}: {one.compute.__name__}: {problem}"
        for one in PARAGRAPHS
        for problem in lacking((DOCS / one.page).read_text(encoding="utf-8").splitlines(), one.compute)
    ]
    tables = [*problems([speed.section], fast), *problems([trust.section], start)]
    return [*problems(SECTIONS, text), *tables, *others]


def unrecorded() -> list[str]:
    """Rows whose figures nothing recomputes."""
    sections = [*SECTIONS, speed.section, trust.section]
    return [
        f"{section.title}: {row.name}" for section in sections for row in section.rows if not row.recomputed
    ]


def write() -> list[str]:
    """Write all pages; what had changed, row by row. A `Drift` names the rows whose words do not hold."""
    changed = differences()
    try:
        made = pages()
    except Exception as reason:  # of a record that has other tables or columns now
        raise Drift("\n".join([f"nothing is written: {reason}", *changed])) from reason
    for file, text in made.items():
        file.write_text(text, encoding="utf-8")
    return changed
