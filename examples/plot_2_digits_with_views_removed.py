"""
Digits with views removed
=========================

What do missing views cost? Handwritten digits described six times lose more and more of their descriptions.
"""

import matplotlib.pyplot as plt

from conspectus import APMC, AnchorConsensus, ConcatKMeans
from conspectus.datasets import load_mfeat
from conspectus.metrics import clustering_accuracy
from conspectus.missing import random_subsets, remove, shares

digits = load_mfeat()
every_fourth = slice(0, 2000, 4)
X, y = {name: x[every_fourth] for name, x in digits.X.items()}, digits.y[every_fourth]

# %%
# A share of the digits keeps all six views, the others keep a random non-empty subset.

methods = {"default": AnchorConsensus, "APMC": APMC, "mean filling, k-means": ConcatKMeans}
complete = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
accuracy = {name: [] for name in methods}
for share in complete:
    mask = random_subsets(500, 6, share, seed=0)
    print(f"{shares(mask).missing_entries:.0%} of the entries are missing")
    for name, method in methods.items():
        labels = method(10, random_state=0).fit_predict(remove(X, mask))
        accuracy[name].append(clustering_accuracy(y, labels))

# %%

fig, ax = plt.subplots(figsize=(6, 3.5))
for (name, values), style in zip(accuracy.items(), ("o-", "s--", "^:"), strict=True):
    ax.plot([1 - share for share in complete], values, style, label=name)
ax.set(xlabel="share of incomplete digits", ylabel="accuracy", ylim=(0, 1))
ax.legend(loc="lower left")
fig.tight_layout()
