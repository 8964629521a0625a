"""
From files to labels
====================

Two tables list different patients, in another order. Read them, cluster all patients, write a label for each.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from conspectus import AnchorConsensus

# %%
# Two tables such as a laboratory sends: the second one lacks some patients of the first, and has some of its own.

rng = np.random.default_rng(0)
kind = np.repeat([0, 1, 2], 50)
patients = np.array([f"P{i:03d}" for i in range(150)])
rna = pd.DataFrame(rng.normal(size=(150, 12)) + 3 * rng.normal(size=(3, 12))[kind], index=patients)
protein = pd.DataFrame(rng.normal(size=(150, 8)) + 3 * rng.normal(size=(3, 8))[kind], index=patients)
folder = Path(tempfile.mkdtemp())
rna.iloc[:120].to_csv(folder / "rna.csv", index_label="patient")
protein.iloc[40:].sample(frac=1, random_state=0).to_csv(folder / "protein.csv", index_label="patient")

# %%
# Tables are joined by their index. All patients of either table are clustered: 80 are in both.

tables = {name: pd.read_csv(folder / f"{name}.csv", index_col="patient") for name in ("rna", "protein")}
model = AnchorConsensus(n_clusters=3, random_state=0).fit(tables)
labels = model.to_frame()
labels.to_csv(folder / "labels.csv", index=False)
print(labels.head())

# %%
# Patients with one table only are labelled as well as the others here; the confidence says how clear each case is.

together = labels.set_index("id").loc[patients]
n_tables = pd.Series(model.views_seen_.sum(axis=1), index=model.ids_).loc[patients]
fig, ax = plt.subplots(figsize=(7, 3))
for count, marker in ((1, "x"), (2, "o")):
    rows = (n_tables == count).to_numpy()
    ax.scatter(np.flatnonzero(rows), together["confidence"][rows], c=together["label"][rows], marker=marker,
               cmap="viridis", vmin=0, vmax=2, label=f"{count} table{'s' * (count > 1)}")  # fmt: skip
ax.set(xlabel="patient (50 of each kind)", ylabel="confidence")
ax.legend(loc="lower right")
fig.tight_layout()
