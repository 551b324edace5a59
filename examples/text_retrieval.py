"""Text retrieval: which help pages are about statistics, if a reader has bookmarked eighty of them?

The library is on every machine that has pulens: the help texts of numpy and scipy. Pages of scipy.stats are
relevant, all others are not; eighty relevant ones are bookmarked, of the rest nobody knows. Twenty bookmarks train the
search, sixty judge it. They lie apart from the library, so this is case-control; the librarian knows to within a fifth
how many pages are relevant.
"""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pulens

# %%
RELEVANT = "scipy.stats"
SHELVES = (RELEVANT, "scipy.signal", "scipy.special", "scipy.linalg", "scipy.optimize", "scipy.ndimage", "numpy")


def help_pages(module):
    """Title and text of every public function and class; only the words, not the module's name."""
    for name in sorted(set(dir(import_module(module)))):
        thing = getattr(import_module(module), name)
        text = inspect.getdoc(thing) or ""
        if not name.startswith("_") and callable(thing) and len(text) > 400:
            yield name, text.replace(module, "").replace("stats", "")


pages = {}
for shelf in SHELVES:
    for title, text in help_pages(shelf):
        pages.setdefault(title, (text, shelf == RELEVANT))
titles = np.array(list(pages))
texts, relevant = zip(*pages.values(), strict=True)
relevant = np.array(relevant)

# %% [markdown]
# ## Bookmarks, and a library of which nobody knows

# %%
rng = np.random.default_rng(5)
held = rng.permutation(np.flatnonzero(relevant))
seed_pages, bookmarks = held[:20], held[20:80]  # twenty to search with, sixty bookmarks to judge with
library = np.setdiff1d(np.arange(titles.size), held[:80])
print(f"{library.size} pages in the library, {bookmarks.size} bookmarks, {seed_pages.size} pages to search with")

words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=2).fit_transform(texts)
learn = np.concatenate([seed_pages, rng.choice(library, 300, replace=False)])
model = LogisticRegression(C=10, class_weight="balanced").fit(words[learn], np.isin(learn, seed_pages))
judged = np.setdiff1d(library, learn)
scores = model.decision_function(words[np.concatenate([bookmarks, judged])])
labels = np.repeat([1, 0], [bookmarks.size, judged.size])

# %% [markdown]
# ## How good is the search?

# %%
truth = relevant[judged]
known = {"class_prior": (truth.mean() * 0.8, truth.mean() * 1.2), "scenario": "case-control"}
evaluation = pulens.evaluate(labels, scores, **known, threshold=-1.5, labelling="random")
print(evaluation)

# %%
evaluation.plot()

# %% [markdown]
# ## The truth, and what to read next

# %%
unseen = scores[labels == 0]
found, plain = evaluation.estimates["precision"], evaluation.uncorrected["precision"]
true_precision = truth[unseen >= -1.5].mean()
print(f"precision: uncorrected {plain.value:.2f}, recovered {found}, truth {true_precision:.2f}")
print("read next:", ", ".join(titles[judged][np.argsort(-unseen)[:8]]))
assert abs(found.value - true_precision) < abs(plain.value - true_precision)
