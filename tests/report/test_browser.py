"""The page in a real browser: nothing from elsewhere, no errors, names shown, not run, controls that work."""

from __future__ import annotations

import csv
import io
import os
import shutil
from itertools import pairwise

import pytest
from tests.report import reports

from manykernels.report import render, write_report

sync_api = pytest.importorskip("playwright.sync_api")

SWITCHES = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --disable-quic"
).split()


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        message = "no browser here, so nobody has looked at the report: install Debian's package chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens the page of a report; whatever went wrong while it was open fails the test."""
    wrong, pages = [], []

    def open_it(document, **options):
        path = tmp_path / "report.html"
        write_report(document, path)
        page = browser.new_page(**{"viewport": {"width": 980, "height": 900}, **options})
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("#call")
        assert [url for url in asked if url != path.as_uri() and not url.startswith("data:")] == []
        pages.append(page)
        return page

    yield open_it
    for page in pages:
        page.close()
    assert wrong == []


def wide(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


# Text of a chart that leaves it, and texts of a chart that cover each other, by more than a hair.
OUTSIDE = """() => [...document.querySelectorAll('.chart svg')].flatMap(chart => {
  const box = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('text')].filter(text => {
    const own = text.getBoundingClientRect();
    return own.width && (own.left < box.left - 2 || own.right > box.right + 2);
  }).map(text => text.textContent);
})"""
OVERLAPPING = """() => ['contributions', 'path', 'interactions'].flatMap(
  id => [...document.querySelectorAll('#' + id + ' svg')]).flatMap(chart => {
  const all = [...chart.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  const across = (p, q) => Math.min(p.right, q.right) - Math.max(p.left, q.left);
  const down = (p, q) => Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
  return all.flatMap(([a, p], i) => all.slice(i + 1)
    .filter(([, q]) => across(p, q) > 2 && down(p, q) > 4).map(([b]) => a + ' | ' + b));
})"""

KINDS = {
    "held out": reports.held_out,
    "held-out numbers": reports.held_out_numbers,
    "classifier": lambda: reports.document("classifier"),
    "ovr": lambda: reports.document("ovr"),
    "hard": lambda: reports.document("hard"),
    "stack": lambda: reports.document("stack"),
    "strings": lambda: reports.document("strings"),
    "align": lambda: reports.document("align", scores=()),
    "powers": lambda: reports.document("powers"),
    "ufo": lambda: reports.document("ufo"),
    "many targets": reports.many_targets,
    "two outputs": lambda: reports.document("two outputs"),
    "every type": reports.every_type,
    "products": reports.products,
    "many widths": reports.many_widths,
    "one width": reports.one_width,
    "stable": reports.stable,
    "stable views": reports.stable_views,
    "important": reports.important,
    "by chance": reports.by_chance,
    "survival": reports.survival,
    "nasty": reports.nasty,
}


CHAPTERS = "verdict quality columns views kernels samples checks made appendix".split()


def sections(document):
    """The sections that a page of this document has."""
    found = {"data", "weights", "methods", "call"}
    alone = "scores survival similarity convergence path contributions interactions widths gates selection"
    found |= {name for name in alone.split() if document[name]}
    found |= {"left-out"} if document["left_out"] else set()
    found |= {"certificate"} if document["weights"]["gap"] is not None or document["recomputed"] else set()
    found |= {"shares"} if document["weights"]["views"] else set()
    importance, chance = document["importance"] or {}, document["chance"] or {"tests": {}, "stable": {}}
    found |= {"importance"} if importance.get("columns") else set()
    found |= {"importance-views"} if importance.get("views") else set()
    found |= {"effects"} if importance.get("effects") else set()
    found |= {"chance"} if {"kernels"} & (set(chance["tests"]) | set(chance["stable"])) else set()
    found |= {"chance-views"} if {"views"} & (set(chance["tests"]) | set(chance["stable"])) else set()
    quality = document["quality"]
    if quality is not None:
        found |= {"confusion", "curves", "calibration"} if quality["kind"] == "classes" else {"errors"}
    return found | ({"presence"} if "presence" in document["data"] else set())


OFTEN = {
    "held out",
    "classifier",
    "survival",
    "nasty",
}  # the others take as long again


@pytest.mark.parametrize(
    "kind", [kind if kind in OFTEN else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_every_kind_loads_alone_and_fits_a_phone(kind, open_page):
    document = KINDS[kind]()
    page = open_page(document)
    chapters = page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert chapters == [name for name in CHAPTERS if name in chapters]  # in this order
    assert set(page.evaluate("[...document.querySelectorAll('section section')].map(s => s.id)")) == sections(
        document
    )
    assert page.evaluate("[...document.querySelectorAll('.chart')].every(c => c.querySelector('svg *'))")
    assert "NaN" not in page.content() and "undefined" not in page.inner_text("main")
    assert not wide(page)
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(150)
    assert not wide(page)
    assert page.evaluate("[...document.querySelectorAll('.chart svg')].every(s => s.clientWidth <= 360)")
    assert page.evaluate(OUTSIDE) == [] and page.evaluate(OVERLAPPING) == []


def test_importance_names_columns_and_one_kernel_draws_no_charts_of_weights(open_page):
    document = reports.important()
    page = open_page(document)
    told = document["importance"]
    assert page.locator("#importance .chart").count() == page.locator("#importance-views .chart").count() == 1
    assert page.locator("#importance-views circle").count() == 2
    assert page.locator("#importance circle").count() == 20  # the first columns
    page.click("#importance > details > summary")
    assert page.locator("#importance > details tbody tr").count() == 25
    assert told["views"]["names"][0][:8] in page.inner_text(".cards")
    assert page.locator("#weights table, #weights .chart").count() == 0
    assert "has all the weight" in page.inner_text("#weights")


@pytest.mark.slow
def test_a_choice_is_said_to_be_repeated_or_not(open_page):
    document = reports.chosen_again()
    again = document["selection"]["again"]
    assert sum(again["counts"]) == 4
    page = open_page(document)
    several = len(again["names"]) > 1
    assert page.locator("#selection .chart rect").count() == (len(again["names"]) if several else 0)
    assert ("on 4 random halves" if several else "nothing to choose") in page.inner_text("#selection")
    document["selection"]["again"] = None
    assert "was not repeated" in open_page(document).inner_text("#selection")


@pytest.mark.slow
def test_scores_of_one_model_are_told_apart_whichever_is_larger(open_page):
    document = reports.chosen_again()
    place = document["selection"]["strategy"].index(document["selection"]["chosen"])
    scores = reports.document("classifier")["scores"] | {"searched": "anew"}
    document |= {"scores": scores}
    for own, told in ((0.95, "is higher for this reason, or by chance"), (0.85, "no lower than the 0.850")):
        document["selection"]["score"][place] = own
        text = open_page(document).inner_text("#selection")
        assert "Rely on the accuracy at the top, 0.900," in text and told in text
    document["selection"]["std"][place] = None
    page = open_page(document)
    assert page.locator("#selection tbody tr").nth(place).locator("td").nth(5).inner_text() == "–"
    assert "did not learn from, the search repeated in each fold" in page.inner_text(".cards")


def test_a_model_of_noise_is_called_so_first(open_page):
    """The sentence stands above everything else, and a gap of zero does not look like quality."""
    constant = {"name": "chance", "folds": [0.9, 0.95]}
    page = open_page(reports.document("classifier", scores=[*reports.SCORES, constant]))
    first = page.inner_text("#verdict")
    assert "No better than guessing (always the largest class): accuracy 0.900" in first
    assert page.locator("#verdict li.bad").count() == 1
    assert "this one is no better than guessing" in page.inner_text("#certificate")
    assert "these weights describe noise" in page.inner_text("#weights")
    assert "guessing (a constant)" in page.inner_text("#scores")
    constant = {"name": "chance", "folds": [0.1, 0.2]}
    page = open_page(reports.document("classifier", scores=[*reports.SCORES, constant]))
    assert page.locator("#verdict li.bad").count() == 0 and "noise" not in page.inner_text("#weights")
    assert "Better than guessing" in page.inner_text("#verdict li.good")
    scores = [{"name": "learned", "folds": [0.85, 0.87]}, {"name": "lasso", "folds": [0.95, 0.97]}, constant]
    page = open_page(reports.document("classifier", scores=scores))
    told = " ".join(page.locator("#verdict li.bad").all_inner_texts())
    assert "lasso (−0.100" in told and "use it" in told


@pytest.mark.slow
def test_what_could_not_be_computed_says_why_and_is_not_compared(open_page):
    """A rival with a score in one fold of two: it would be the best by far."""
    failed = {"name": "rival", "mean": None, "std": None, "folds": [0.999, None]}
    failed["error"] = "failed in 1 of 2 folds: there is no kernel <b>x</b>."
    page = open_page(reports.document("classifier", scores=[*reports.SCORES, failed]))
    assert "rival is not compared: failed in 1 of 2 folds: there is no kernel <b>x</b>." in page.inner_text(
        "#scores"
    )
    assert "rival" not in page.inner_text(".cards") and "plain sum" in page.inner_text(".cards")
    assert page.evaluate("document.querySelectorAll('#scores svg circle').length") == 6
    own = {**failed, "name": "learned"}
    page = open_page(reports.document("align", scores=[own, reports.SCORES[1]]))
    assert "the model is not compared" in page.inner_text("#scores")
    assert page.locator(".cards").count() == 0 and "failed in 1 of 2 folds" in page.inner_text("#verdict")
    assert "AlignMKLClassifier has no parameter C to vary." in page.inner_text("#left-out")
    page = open_page(reports.document("classifier", scores=[own]))
    assert "the model is not compared" in page.inner_text("#scores")
    assert "undefined" not in page.inner_text("main") and "NaN" not in page.content()


@pytest.mark.slow
def test_every_type_of_column_is_listed(open_page):
    document = reports.every_type()
    page = open_page(document)
    page.click("#data > details > summary")
    rows = page.locator("#data tbody tr")
    said = dict(zip(rows.locator("td.name").all_inner_texts(), rows.all_inner_texts(), strict=True))
    assert list(said) == [column["name"] for column in document["data"]["columns"]]
    assert "from 0 to 1" in said["bool"] and "from 0 to 1" in said["boolean"]
    assert said["no numbers"].endswith("it has no values") and said["nothing"].endswith("it has no values")
    assert "date" in said["date"] and said["date"].endswith("from 2024-01-01 to 2024-02-09")


def test_a_section_that_cannot_be_drawn_leaves_the_others(browser, tmp_path):
    document = reports.document("classifier")
    document["scores"]["rows"] = document["similarity"]["names"] = 7
    write_report(document, tmp_path / "report.html")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    sections = page.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
    told = page.locator("p.failed").all_inner_texts()
    page.close()
    assert {"data", "weights", "path", "call"} <= set(sections) and "scores" not in sections
    assert any(text.startswith("Scores could not be drawn: ") for text in told)


def test_names_are_shown_and_not_run(open_page):
    page = open_page(reports.nasty())
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == reports.NASTY[0] == page.title()
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    shown = page.inner_text("#weights")
    assert reports.NASTY[2] in shown
    page.click("#data > details > summary")
    assert reports.NASTY[1] in page.inner_text("#data table")


def test_the_page_cannot_be_broken_out_of():
    page = render(reports.nasty())
    assert page.count("</script>") == 2 and "<script>window.hacked" not in page and "<img" not in page
    for elsewhere in ("http://", "https://", "//cdn", "@import", "url("):
        assert elsewhere not in page.replace("http://www.w3.org/2000/svg", "")


# -- controls -------------------------------------------------------------------------------------
def first_kernels(page):
    return page.evaluate("[...document.querySelectorAll('#weights td.name')].map(c => c.textContent)")


def test_weights_can_be_sorted_found_and_completed(open_page):
    document = reports.stable()
    page = open_page(document)
    used = first_kernels(page)
    weights = dict(zip(document["weights"]["names"], document["weights"]["values"][0], strict=True))
    assert len(used) == sum(w != 0 for w in weights.values())
    assert [weights[name] for name in used] == sorted((w for w in weights.values() if w), reverse=True)
    assert page.inner_text("#zeros").startswith("Show")
    page.click("#zeros")
    assert len(first_kernels(page)) == len(weights) and page.inner_text("#zeros").startswith("Hide")
    page.click("#weights th button >> text=kernel")
    assert first_kernels(page) == page.evaluate(
        "names => names.sort((a, b) => b.localeCompare(a))", list(weights)
    )
    page.click("#weights th button >> text=nonzero in")
    frequency = dict(zip(weights, document["weights"]["stability"]["frequency"], strict=True))
    assert [frequency[name] for name in first_kernels(page)] == sorted(frequency.values(), reverse=True)
    page.fill("#filter", "POLYNOMIAL(degree=3)")
    found = first_kernels(page)
    assert found and all("Polynomial(degree=3)" in name for name in found)


@pytest.mark.slow
def test_tables_that_scroll_say_so(open_page):
    page = open_page(reports.stable())
    page.click("#zeros")
    assert "scroll in the table" in page.inner_text("#weights .more")
    page.fill("#filter", "no such kernel")
    assert page.is_hidden("#weights .more")


@pytest.mark.slow
def test_names_that_begin_alike_are_cut_to_tell_them_apart(open_page):
    names = [f"a name that is shared by all of them: column {c}: Gaussian(width=1)" for c in "abc"]
    document = reports.document("classifier")
    document["similarity"]["names"] = names
    page = open_page(document, viewport={"width": 390, "height": 800})
    shown = "[...document.querySelectorAll('#similarity text:has(title)')].map(t => t.firstChild.textContent)"
    labels = page.evaluate(shown)
    assert len(set(labels)) == 3 and all(label.startswith("…") for label in labels)
    whole = "[...document.querySelectorAll('#similarity text title')].map(t => t.textContent)"
    assert page.evaluate(whole) == names


def test_a_gap_that_was_not_closed_is_no_proof(open_page):
    page = open_page(reports.document("ufo"))
    assert "not converged" in page.inner_text("#certificate") and "certified" not in page.inner_text("main")
    assert "The fit stopped before it was done" in page.inner_text("#verdict")
    assert "objective of the model" in page.inner_text("#convergence .chart")


@pytest.mark.slow
def test_the_smallest_cost_is_named_beside_the_axis(open_page):
    document = reports.document("classifier")
    document["path"]["chosen"] = document["path"]["C"][0]
    assert open_page(document).evaluate(OVERLAPPING) == []


@pytest.mark.slow
def test_a_narrow_axis_has_ticks_enough_to_read_it(open_page):
    document = reports.one_width()
    document["widths"].update(names=["g"], values=[[0.2144]], weights=[1.0], stability=None)
    page = open_page(document)
    ticks = page.evaluate("[...document.querySelectorAll('#widths text[text-anchor=middle]')].length")
    assert ticks >= 4  # with the title of the axis


@pytest.mark.slow
def test_columns_that_are_not_listed_are_counted(open_page):
    document = reports.document("classifier")
    document["data"]["features"] = 2000
    page = open_page(document)
    assert "of 2000 columns" in page.inner_text("#data > details > summary")


@pytest.mark.slow
def test_another_sample_is_another_picture(open_page):
    page = open_page(reports.document("classifier"))
    before = page.inner_html("#contributions .chart")
    page.select_option("#sample", "2")
    assert page.inner_html("#contributions .chart") != before


@pytest.mark.slow
def test_convergence_against_steps(open_page):
    page = open_page(reports.document("parts"))
    page.click("#convergence button >> text=against steps")
    assert "step" in page.inner_text("#convergence .chart")
    buttons = page.locator("#convergence .controls button")
    assert [buttons.nth(k).get_attribute("aria-pressed") for k in range(2)] == ["false", "true"]


@pytest.mark.slow
def test_hovering_says_what_is_there(open_page):
    page = open_page(reports.document("classifier"))
    assert page.is_hidden("#tip")
    page.hover("#similarity rect >> nth=1")
    assert page.is_visible("#tip") and "alignment" in page.inner_text("#tip")
    page.mouse.move(2, 2)
    assert page.is_hidden("#tip")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_and_paper(scheme, open_page):
    page = open_page(reports.document("classifier"), color_scheme=scheme)

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, colour.strip("rgb()").split(","))) / 3

    assert (brightness() > 128) == (scheme == "light")
    page.click("#theme")
    assert (brightness() > 128) == (scheme == "dark")
    page.emulate_media(media="print")
    assert brightness() == 255
    assert page.is_hidden("#theme") and page.is_hidden("#filter") and page.is_hidden(".tools")
    assert len(page.pdf()) > 10_000


def test_paper_cuts_no_table_and_folds_long_ones(open_page):
    """Nobody can scroll on paper: titles of columns break, and tables that would fill pages stay folded."""
    document = reports.held_out()
    document["data"]["columns"] *= 30
    page = open_page(document, viewport={"width": 680, "height": 900})
    assert page.inner_text("#confusion thead tr >> nth=0").split() == ["predicted", "class"]
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide_ones = "[...document.querySelectorAll('.scroll')].filter(b => b.scrollWidth > b.clientWidth + 1)"
    assert page.evaluate(f"{wide_ones}.map(b => b.getAttribute('aria-label'))") == []
    assert not page.evaluate("document.querySelector('#data > details').open")
    assert page.evaluate("getComputedStyle(document.querySelector('.answer h3')).breakAfter") == "auto"
    # Chromium leaves buttons out of the headings of tables that it repeats on the next page.
    assert page.evaluate("getComputedStyle(document.querySelector('th button')).display") == "contents"


@pytest.mark.slow
def test_names_around_many_interactions_do_not_cover_each_other(open_page):
    document = reports.products()
    names = [f"a column with a name {i}" for i in range(21)]
    edges = [{"between": [a, b], "weight": 1.0} for a, b in pairwise(names)]
    document["interactions"] |= {"nodes": [{"name": name, "weight": 1.0} for name in names], "edges": edges}
    page = open_page(document)
    for width in (980, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(150)
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(OVERLAPPING) == []


@pytest.mark.slow
def test_chapters_promise_what_they_have(open_page):
    """No chapter asks which columns matter, or which views are related to the target, and does not say."""
    document = reports.stable_views()
    page = open_page(document)
    assert document["importance"] is None and page.inner_text("#columns h2") == "The data"
    document = reports.by_chance()
    assert open_page(document).inner_text("#chance-views h3") == "Which views are related to the target?"
    document["chance"]["tests"] = {}
    assert open_page(document).inner_text("#chance-views h3") == "How often each view is selected"
    document = reports.important()
    document["importance"]["effects"] = [
        {"name": document["importance"]["columns"]["names"][k], "values": [0.0, 1.0], "outputs": [""]}
        | {key: [[0.0, 1.0]] for key in ("mean", "low", "high")}
        for k in (0, 2)
    ]
    left_out = " ".join(document["importance"]["columns"]["names"][1].split())
    assert f"there is none for {left_out}." in " ".join(open_page(document).inner_text("#effects").split())


def test_the_command_can_be_copied(open_page):
    page = open_page(reports.document("classifier", call="manykernels fit 'a b.csv'"))
    assert page.inner_text("#command") == "manykernels fit 'a b.csv'"
    page.click("#call button >> nth=0")
    # asked by the driver: to wait inside the page takes eval, which the page's own policy refuses
    sync_api.expect(page.locator("#call button").first).not_to_have_text("Copy")


# -- files, keyboard and screen readers -----------------------------------------------------------
def saved(page, button):
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, download.value.path().read_text(encoding="utf-8")


def test_charts_are_saved_as_svg_and_their_numbers_as_csv(open_page):
    document = reports.document("classifier", title="A report")
    page = open_page(document, color_scheme="dark")
    name, picture = saved(page, page.locator("#scores figure button >> text=SVG"))
    assert name == "a-report-scores.svg" and picture.startswith("<svg") and "plain sum" in picture
    assert "var(" not in picture and "rgb(35, 103, 184)" in picture  # which are the light colours
    assert page.evaluate("document.documentElement.dataset.theme") is None
    name, table = saved(page, page.locator("#scores figure button >> text=CSV"))
    rows = list(csv.reader(io.StringIO(table)))
    assert rows[0][:3] == ["method", "mean", "standard deviation"] and rows[1] == [
        "the model",
        "0.9",
        "0.0707107",
        "0.85",
        "0.95",
    ]
    assert len(rows) == 3
    document["similarity"]["names"][0] = '=1+2, a "trap"'
    page = open_page(document)
    _, table = saved(page, page.locator("#similarity button >> text=CSV"))
    assert list(csv.reader(io.StringIO(table)))[1][0] == '\'=1+2, a "trap"'


def test_the_table_of_classes_is_saved_as_a_picture(open_page):
    document = reports.held_out()
    page = open_page(document)
    name, picture = saved(page, page.locator("#confusion button >> text=SVG"))
    assert name.endswith("-classes.svg") and picture.startswith("<svg") and "var(" not in picture
    counts = [count for row in document["quality"]["counts"] for count in row]
    assert all(f">{count}</text>" in picture for count in counts) and "predicted class" in picture
    assert page.locator(".aside").count() == 0  # nothing of it stays in the page


def test_codes_in_the_verdict_lead_to_what_to_do(open_page):
    document = reports.document("classifier", fit_path=False)
    check = {"code": "MK502", "title": "A title", "message": "A sentence.", "advice": "Do this.", "page": "x"}
    document["checks"] = [check]
    document["verdict"].append({"about": "care", "tone": "care", "text": "Look: a title (MK502)."})
    page = open_page(document)
    page.click("#verdict a >> text=MK502")
    assert page.url.endswith("#MK502") and "What to do. Do this." in page.inner_text("#MK502")


def test_charts_have_tables_that_say_the_same(open_page):
    document = reports.important()
    page = open_page(document)
    page.click("#importance figure summary")
    sync_api.expect(page.locator("#importance figure tbody tr")).to_have_count(25)
    first = page.locator("#importance figure tbody tr").first.locator("td").first
    assert first.inner_text().split() == document["importance"]["columns"]["names"][0].split()
    assert page.evaluate("[...document.querySelectorAll('figure')].every(f => f.getAttribute('aria-label'))")


def test_a_chart_is_one_stop_and_arrows_lead_through_it(open_page):
    page = open_page(reports.document("classifier"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    stops = page.locator("#scores .chart [tabindex='0']")
    assert stops.count() == 1
    page.focus("#scores .chart [tabindex='0']")
    assert page.is_visible("#tip") and "the model" in page.inner_text("#tip")
    page.keyboard.press("ArrowDown")
    assert "plain sum" in page.inner_text("#tip") and stops.count() == 1
    assert (
        page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        or page.evaluate("parseFloat(getComputedStyle(document.activeElement).strokeWidth)") > 0
    )
    page.keyboard.press("Escape")
    assert page.is_hidden("#tip")
    assert page.evaluate("[...document.querySelectorAll('h1')].length") == 1
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))")
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.slow
@pytest.mark.skipif("MANYKERNELS_AXE" not in os.environ, reason="MANYKERNELS_AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(scheme, browser, tmp_path):
    """MANYKERNELS_AXE is the path of axe.min.js, which npm has as axe-core."""
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    context.set_default_timeout(180_000)  # on a busy machine a page takes longer to open than it should
    for kind in KINDS:
        write_report(KINDS[kind](), tmp_path / "report.html")
        page = context.new_page()
        page.goto((tmp_path / "report.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.add_script_tag(path=os.environ["MANYKERNELS_AXE"])
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], kind
        page.close()
    context.close()
