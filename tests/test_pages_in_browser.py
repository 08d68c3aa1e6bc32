"""Five pages of the documentation in a real browser: wide and narrow, light and dark, and by axe-core.

MANYKERNELS_SITE names a folder of pages that are built already; without it they are built here.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.report.test_browser import browser, wide

__all__ = ["browser"]  # the fixture
PAGES = ("index", "choose", "troubleshooting", "theory", "checks")
WIDTHS = (1280, 420)
# Parts that scroll by themselves (code, tables) may be wider than the page; the page may not.
DIMMED = """() => [...document.querySelectorAll('article img')]
  .filter(image => image.offsetParent && getComputedStyle(image).filter !== 'none').map(image => image.src)"""
BROKEN = """() => [...document.images]
  .filter(image => image.offsetParent && image.loading !== 'lazy' && !image.naturalWidth)
  .map(image => image.src)"""
SMALL = """() => [...document.querySelectorAll('article img')]
  .filter(image => image.offsetParent && image.naturalWidth > 1.6 * image.clientWidth)
  .map(image => image.src)"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(request):
    """The folder of the built pages."""
    if "MANYKERNELS_SITE" in os.environ:
        return Path(os.environ["MANYKERNELS_SITE"])
    if find_spec("pydata_sphinx_theme") is None:
        pytest.skip("the documentation is not built here: make docs sets up its tools")
    return request.getfixturevalue("built_docs")[1]


@pytest.fixture(params=["light", "dark"])
def open_page(request, browser, site):
    """Opens a page of the documentation in one theme."""
    context = browser.new_context(bypass_csp=True, color_scheme=request.param)
    context.set_default_timeout(180_000)  # on a busy machine pages take longer to open than they should

    def open_it(name, width):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((site / f"{name}.html").as_uri())
        page.evaluate("document.fonts.ready")
        assert page.evaluate("document.documentElement.dataset.theme") == request.param
        return page

    yield open_it
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_shows_its_pictures(name, width, open_page):
    page = open_page(name, width)
    assert not wide(page)
    assert page.evaluate(BROKEN) == []
    if name == "index":
        assert page.evaluate(DIMMED) == [] and page.evaluate(SMALL) == []
        assert (
            page.evaluate("[...document.querySelectorAll('article img')].filter(i => i.offsetParent).length")
            == 1
        )
        assert "These pages describe version" in page.inner_text("footer.bd-footer")


@pytest.mark.skipif("MANYKERNELS_AXE" not in os.environ, reason="MANYKERNELS_AXE names no axe.min.js")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation_on_a_page(name, width, open_page):
    page = open_page(name, width)
    page.add_script_tag(path=os.environ["MANYKERNELS_AXE"])
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
