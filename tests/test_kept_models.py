"""Files that earlier versions wrote are read, and answer as they did."""

import json
import re

import numpy as np
import pytest
from sklearn.base import clone
from tests.kept_models import ASKED, CHANGELOG, KEPT, file_of, said, versions
from tests.model_files import members, sealed

import manykernels
from manykernels import load
from manykernels.persistence import FORMAT, ModelFileError

FILES = [
    (folder, name)
    for folder in versions()
    for name in json.loads((folder / "answers.json").read_text(encoding="utf-8"))
]
BROKEN = (
    "A model that version {version} saved is not read any more. If the version is released, users have such "
    "files: give what they lack a default where it is read, or raise FORMAT. If it is not, write its files "
    "anew by `python -m tests.kept_models` and commit them."
)


@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{f.name}-{name}" for f, name in FILES])
def test_a_kept_model_answers_as_it_did(folder, name):
    from tests.fitted_models import frame, new, strings

    data = {"views of a frame": frame, "strings": lambda: strings}.get(name, lambda: new)()[:ASKED]
    expected = json.loads((folder / "answers.json").read_text(encoding="utf-8"))[name]
    try:
        found = said(load(file_of(folder, name)), data)
    except (ModelFileError, AttributeError) as error:
        raise AssertionError(BROKEN.format(version=folder.name)) from error
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("folder", versions(), ids=lambda folder: folder.name)
def test_a_kept_model_has_the_parameters_that_came_later(folder):
    for file in folder.glob("*.model"):
        model = load(file)
        if hasattr(model, "get_params"):
            assert model.get_params() and clone(model).get_params(deep=False) and repr(model)


def test_every_released_version_has_its_files():
    text = CHANGELOG.read_text(encoding="utf-8")
    listed = re.findall(r"^## (\d+\.\d+\.\d+)", text, flags=re.MULTILINE)
    assert listed and set(listed) == {folder.name for folder in versions()}
    assert sum(file.stat().st_size for file in KEPT.rglob("*")) < 1_000_000 * len(listed)


def test_a_newer_file_says_so_in_one_sentence(tmp_path):
    parts = members(file_of(versions()[-1], "classifier").read_bytes())
    for about in ({"version": "9.1.0"}, {"version": "9.1.0", "format": FORMAT + 1, "shape": [1]}):
        path = tmp_path / "newer"
        path.write_bytes(sealed(parts, **about))
        with pytest.raises(ModelFileError) as caught:
            load(path)
        told = str(caught.value).removeprefix(f"{path} was written by manykernels 9.1.0 (format ")
        here = f"and this is {manykernels.__version__} (format {FORMAT})"
        assert re.fullmatch(rf"\d+\), {re.escape(here)}\. Install that version, or a newer one\.", told)
