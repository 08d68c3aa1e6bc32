"""
Text: words or letters?
=======================

Kernels need no table of numbers. Here the samples are strings: the first sentence of the documentation of
every public function and class in four modules of scikit-learn. Which module does a sentence come from? One
kernel compares words, others compare runs of three, four and five letters. The sentences are real.

**What to look at:** words and letters share the weight, so neither is enough. The second picture shows
what each kernel adds to one decision.
"""

# %%
# The sentences are on every machine that has scikit-learn.
import inspect
from importlib import import_module

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import train_test_split

from manykernels import MKLClassifier
from manykernels.kernels import FeatureMap, Spectrum
from manykernels.plots import ContributionDisplay, WeightsDisplay

texts, labels = [], []
for module in ("metrics", "datasets", "linear_model", "preprocessing"):
    found = import_module(f"sklearn.{module}")
    for name in found.__all__:
        sentence = (inspect.getdoc(getattr(found, name)) or "").split("\n\n")[0]
        if sentence:
            texts.append(" ".join(sentence.lower().split()))
            labels.append(module)
texts, labels = np.array(texts, dtype=object), np.array(labels)
print(len(texts), "sentences, such as", repr(texts[0]))

# %%
# A map from samples to features is a kernel; scikit-learn's vectorisers are such maps. Cosine normalisation
# makes long and short sentences comparable.
kernels = {
    "words": FeatureMap(HashingVectorizer(stop_words="english", n_features=4096)),
    "3 letters": Spectrum(3),
    "4 letters": Spectrum(4),
    "5 letters": Spectrum(5),
}
train, test = train_test_split(np.arange(len(texts)), stratify=labels, random_state=0)
model = MKLClassifier(kernels, norm=1.5, C=10.0, normalize="cosine", loss="squared")
model.fit(list(texts[train]), labels[train])
print(f"accuracy {model.score(list(texts[test]), labels[test]):.2f}, {len(set(labels))} modules")
WeightsDisplay.from_estimator(model)

# %%
# The picture shows the part of each kernel in the decision about one sentence.
predicted = model.predict(list(texts[test]))
chosen = test[np.flatnonzero(predicted == labels[test])[0]]
print(repr(str(texts[chosen])), "is from", labels[chosen])
ContributionDisplay.from_estimator(model, [str(texts[chosen])], output=labels[chosen])
