"""
New samples with one view
=========================

A model fitted on six views, of which every sample had seen some, labels new samples that come with a single one.
"""

import matplotlib.pyplot as plt
import numpy as np

from conspectus import AnchorConsensus
from conspectus.datasets import load_mfeat
from conspectus.missing import random_subsets, remove

digits = load_mfeat()
rng = np.random.default_rng(0)
order = rng.permutation(2000)
train, new = order[:1400], order[1400:]

views = remove({name: x[train] for name, x in digits.X.items()}, random_subsets(1400, 6, 0.5, seed=0))
model = AnchorConsensus(10, effort="fast", random_state=0).fit(views)

# %%
# Which digit each cluster is mostly made of; then how often a new digit falls into the cluster of its kind.

kind = np.array([np.bincount(digits.y[train][model.labels_ == c], minlength=10).argmax() for c in range(10)])
scores = {"all six": (kind[model.predict({v: x[new] for v, x in digits.X.items()})] == digits.y[new]).mean()}
for name, x in digits.X.items():
    scores[f"{name} only"] = (kind[model.predict({name: x[new]})] == digits.y[new]).mean()
print({name: round(float(score), 3) for name, score in scores.items()})

# %%

fig, ax = plt.subplots(figsize=(6, 3))
ax.barh(list(scores)[::-1], list(scores.values())[::-1], color="C0")
ax.set(xlabel="share of new digits in the right cluster", xlim=(0, 1))
fig.tight_layout()
