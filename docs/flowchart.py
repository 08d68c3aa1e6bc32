"""The chart of docs/choose.md, an SVG whose answers are links: `python docs/flowchart.py`.

The chart takes the colours of the theme, so that it is legible in light and dark mode. The keyboard reaches
the links in the order of the questions.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

FILE = Path(__file__).parent / "images" / "choose.svg"
QUESTIONS = [
    (["Do you predict the time", "to an event?"], ["Time to an event", "MKLSurvivalCV"], "survival.html"),
    (["Do samples arrive", "as a stream?"], ["Online learning", "UFOMKLClassifier"], "methods/ufo.html"),
    (["More than 20,000 rows?"], ["Many rows", "approx=Nystroem(100)"], "methods/scale.html"),
    (
        ["Hundreds of targets", "on the same samples?"],
        ["Weights for every target", 'multi_output="own"'],
        "methods/targets.html",
    ),
    (["Several views: which", "one matters?"], ["Weights of views", "dict of tables"], "#which-view-matters"),
    (
        ["Which products of", "features matter?"],
        ["Products of features", "Products(degree=3)"],
        "methods/products.html",
    ),
    (
        ["Do you have kernels", "or matrices already?"],
        ["A norm on the weights", "MKLClassifier"],
        "methods/lp.html",
    ),
    (
        ["A kernel for a learner", "of your own?"],
        ["Alignment", "AlignMKLClassifier"],
        "methods/alignment.html",
    ),
    (
        ["Other weights in", "other regions?"],
        ["Localized learning", "LocalizedMKLClassifier"],
        "methods/localized.html",
    ),
]  # question, answer, page
LAST = (["None of these: search", "MKLClassifierCV, MKLRegressorCV"], "methods/selection.html")
WIDTH, LEFT, RIGHT, BOX, STEP = 540, 225, 240, 58, 86
STYLE = """
.mk-chart { width: 100%; max-width: 620px; height: auto; font: 16px system-ui, sans-serif; }
.mk-chart text { fill: var(--pst-color-text-base, #222832); text-anchor: middle; }
.mk-chart .small { font-size: 14px; }
.mk-chart rect { fill: var(--pst-color-surface, #f3f4f5); stroke: var(--pst-color-text-muted, #48566b); }
.mk-chart path { stroke: var(--pst-color-text-muted, #48566b); fill: none; stroke-width: 1.5; }
.mk-chart a rect { stroke: var(--pst-color-link, #0a7d91); stroke-width: 2; }
.mk-chart a text { fill: var(--pst-color-link, #0a7d91); text-decoration: underline; }
.mk-chart a:hover rect, .mk-chart a:focus rect { stroke-width: 4; }
.mk-chart a:focus { outline: none; }
"""


def box(x: int, y: int, width: int, lines: list[str]) -> str:
    """A rounded box with one or two centred lines; the second line of an answer is smaller."""
    text = [f'<rect x="{x}" y="{y}" width="{width}" height="{BOX}" rx="8"/>']
    for k, line in enumerate(lines):
        height = y + BOX / 2 + 5 + (k - (len(lines) - 1) / 2) * 21
        text.append(f'<text x="{x + width / 2:g}" y="{height:g}">{escape(line)}</text>')
    return "".join(text)


def chart() -> str:
    """The whole SVG."""
    height = STEP * len(QUESTIONS) + BOX + 4
    parts = []
    for k, (question, answer, page) in enumerate(QUESTIONS):
        y, middle = 2 + k * STEP, 2 + k * STEP + BOX // 2
        parts.append(box(2, y, LEFT, question))
        parts.append(f'<path d="M {LEFT + 2} {middle} H {WIDTH - RIGHT - 4}"/>')
        parts.append(f'<text class="small" x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{middle - 7}">yes</text>')
        parts.append(f'<a href="{page}">{box(WIDTH - RIGHT - 2, y, RIGHT, answer)}</a>')
        parts.append(f'<path d="M {LEFT // 2} {y + BOX} V {y + STEP}"/>')
        parts.append(f'<text class="small" x="{LEFT // 2 + 18}" y="{y + BOX + 19}">no</text>')
    lines, page = LAST
    parts.append(f'<a href="{page}">{box(2, 2 + STEP * len(QUESTIONS), 300, lines)}</a>')
    head = (
        f'<svg class="mk-chart" viewBox="0 0 {WIDTH} {height}" role="group" aria-labelledby="mk-chart-title">'
    )
    title = (
        '<title id="mk-chart-title">Which method? Questions from top to bottom. Answers are links.</title>'
    )
    return "\n".join([head, title, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    FILE.write_text(chart(), encoding="utf-8")
