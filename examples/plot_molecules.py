"""
Chemistry: boiling points from formulas
=======================================

A molecule can be written as a line of text (SMILES): ``CCO`` is ethanol. Three kernels compare such lines by
the pieces that they share. Which of them predicts boiling points, and where does it fail? The data are real:
72 boiling points (°C at 1 atm) as handbooks list them, typed in so that nothing must be downloaded. For your
own molecules read a table, ``table = pd.read_csv("molecules.csv")``, and take ``molecules =
table["smiles"].to_numpy()`` and ``boiling = table["boiling"].to_numpy()``.

**What to look at:** points near the line are predicted well. The picture names the four largest errors:
the short formulas (``C``, ``CO``, ``C=O``) share few pieces with others, and only one other molecule of the
table has two OH groups like ``OCCCO``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_val_predict

from manykernels import MKLRegressorCV
from manykernels.kernels import Cosine, Linear, Tanimoto

words = """C -161 CC -89 CCC -42 CCCC -1 CCCCC 36 CCCCCC 69 CCCCCCC 98 CCCCCCCC 126 CCCCCCCCC 151 CCCCCCCCCC
174 CC(C)C -12 CC(C)(C)C 10 CC(C)CC 28 CC(C)CCC 60 C=C -104 CC=C -48 CCC=C -6 CCCCC=C 63 C1CCCC1
49 C1CCCCC1 81 CO 65 CCO 78 CCCO 97 CCCCO 118 CCCCCO 138 CCCCCCO 157 CC(C)O 83 CC(C)CO 108
CC(C)(C)O 82 OCCO 197 OCCCO 214 C=O -19 CC=O 20 CCC=O 48 CCCC=O 75 CC(=O)C 56 CCC(=O)C 80
CCC(=O)CC 102 C1CCCCC1=O 156 CC(=O)CC(C)C 117 C(=O)O 101 CC(=O)O 118 CCC(=O)O 141 CCCC(=O)O 164
CCCCC(=O)O 186 COC -24 CCOCC 35 COCC 7 C1CCOC1 66 C(=O)OC 32 CC(=O)OC 57 CC(=O)OCC 77 CC(=O)OCCC
102 CC(=O)OCCCC 126 CCC(=O)OCC 99 CN -6 CCN 17 CCCN 48 CCCCN 78 CNC 7 CN(C)C 3 CCNCC 55 CCN(CC)CC
89 CCl -24 CCCl 12 CCCCl 47 CCCCCl 78 ClCCl 40 ClC(Cl)Cl 61 ClC(Cl)(Cl)Cl 77 CBr 4 CCBr 38""".split()
molecules, boiling = np.array(words[::2]), np.array(words[1::2], dtype=float)

# %%
# Pieces are runs of one to four letters. ``Linear`` is the inner product of their counts (the spectrum
# kernel), ``Cosine`` divides it by the lengths, and ``Tanimoto`` by the pieces of both molecules together.
letters = CountVectorizer(analyzer="char", ngram_range=(1, 4), lowercase=False)
pieces = letters.fit_transform(molecules).toarray().astype(float)
kernels = {"spectrum": Linear(), "cosine": Cosine(), "Tanimoto": Tanimoto()}
folds = KFold(10, shuffle=True, random_state=0)
for name, given in [*((name, [kernel]) for name, kernel in kernels.items()), ("learned", kernels)]:
    search = MKLRegressorCV(given, strategy="finite", norms=[1.0])
    predicted = cross_val_predict(search, pieces, boiling, cv=folds)
    print(f"{name:<9} mean error {np.abs(predicted - boiling).mean():.0f} °C")

# %%
fig, ax = plt.subplots(figsize=(6, 5))
ax.axline((0, 0), slope=1, color="grey", lw=1)
ax.scatter(boiling, predicted)
for k in np.argsort(-np.abs(predicted - boiling))[:4]:
    away = (0, 8 if predicted[k] > boiling[k] else -18)  # points: above or below the dot, away from the line
    ax.annotate(molecules[k], (boiling[k], predicted[k]), away, textcoords="offset points", ha="center")
ax.set(xlabel="measured boiling point (°C)", ylabel="predicted, held out (°C)", xlim=(-190, 250))
fig.tight_layout()
