"""Gene sets from files: what is read, what is said of names that do not match, and the kernels of them."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLRegressor
from manykernels.families import gene_sets, views
from manykernels.kernels import Gaussian, Linear

rng = np.random.RandomState(0)
GENES = ["TP53", "ATM", "CDK1", "MYC", "EGFR"]
FRAME = pd.DataFrame(rng.randn(60, 5), columns=GENES)
TEXT = "REPAIR\tdna\tTP53\tATM\tATM\t\nCYCLE\thttp://x\tTP53\tCDK1\tMYC\tEGFR\n\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "sets.gmt"
    file.write_text(TEXT)
    return file


def test_sets_in_the_order_of_the_file_each_gene_once(path):
    expected = {"REPAIR": ["TP53", "ATM"], "CYCLE": ["TP53", "CDK1", "MYC", "EGFR"]}
    zipped = path.with_suffix(".gmt.gz")
    with gzip.open(zipped, "wt") as file:
        file.write(TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (FRAME, GENES, np.array(GENES), FRAME.columns):
            assert gene_sets(path, table) == expected
        assert gene_sets(str(zipped), FRAME) == expected


def test_what_does_not_match_is_said_once(path):
    path.write_text(TEXT + "OTHER\tnone\tA1BG\tA2M\n")
    with pytest.warns(UserWarning) as said:
        found = gene_sets(path, ["TP53", "MYC", "age"])
    assert found == {"REPAIR": ["TP53"], "CYCLE": ["TP53", "MYC"]}
    (only,) = said
    assert "5 genes of" in str(only.message) and "'ATM', 'CDK1', 'EGFR', 'A1BG', 'A2M'." in str(only.message)
    assert "1 set has no gene in the table and is left out: 'OTHER'." in str(only.message)
    assert "1 column is in no set and not used: 'age'." in str(only.message)


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        (TEXT, ["tp53"], "No gene of .* with case"),
        (TEXT, ["ENSG1"], "No gene of .*'TP53', 'ATM'.*'ENSG1'.*identifiers"),
        ("REPAIR dna TP53", GENES, "line 1: .*separated by tabs"),
        ("A\tx\tTP53\nA\tx\tATM\n", GENES, "line 2: there is a set called 'A' already"),
        ("\n", GENES, "holds no sets"),
        (TEXT, FRAME.to_numpy(), "has no names"),
        (TEXT, "TP53", "has no names"),
    ],
)
def test_bad_files_and_tables(path, text, columns, said):
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        gene_sets(path, columns)


def test_kernels_for_all_views_but_those_that_have_their_own(path):
    sets = gene_sets(path, FRAME)
    kernels = views({**sets, "wide": (["MYC"], Gaussian(2.0))}, Linear()).resolve(FRAME)
    assert list(kernels) == ["REPAIR: Linear", "CYCLE: Linear", "wide: Gaussian(width=2)"]
    shared = FRAME[["TP53", "ATM"]].to_numpy()
    np.testing.assert_allclose(kernels["REPAIR: Linear"](FRAME), shared @ shared.T)
    with pytest.raises(ValueError, match="kernels='linear' was given"):
        views(sets, "linear")


def test_sets_that_share_genes_are_the_latent_group_lasso(path):
    """The same weights and predictions as on a table with the shared column copied."""
    y = FRAME["TP53"] + FRAME["MYC"] + 0.1 * rng.randn(60)
    model = MKLRegressor(views(gene_sets(path, FRAME), Linear()), tol=1e-8).fit(FRAME, y)
    copies = np.c_[FRAME[["TP53", "ATM"]], FRAME[["TP53", "CDK1", "MYC", "EGFR"]]]
    again = MKLRegressor(views({"a": [0, 1], "b": [2, 3, 4, 5]}, Linear()), tol=1e-8).fit(copies, y)
    np.testing.assert_allclose(model.weights_, again.weights_, atol=1e-6)
    np.testing.assert_allclose(model.predict(FRAME), again.predict(copies), atol=1e-6)
