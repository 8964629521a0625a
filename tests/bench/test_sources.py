"""From names to problems: samples, masks, kernels; what is not there is said."""

from __future__ import annotations

import numpy as np
import pytest

from conspectus import missing
from conspectus.bench import sources
from conspectus.bench.grid import Data, Missing
from conspectus.datasets import load_mfeat
from conspectus.errors import InputError

OWN = Missing()
VIEWS = Data("make_views", params={"n": 120, "dims": (3, 4, 5), "k": 4})


def test_a_generator_by_name():
    found = sources.problem(VIEWS, OWN, None, None)
    assert (len(found.views), found.views.n_views, found.k) == (120, 3, 4)
    assert found.unseen == [0, 0, 0]


def test_the_mask_is_that_of_the_protocol():
    found = sources.problem(VIEWS, Missing("random_subsets"), 0.4, 7)
    np.testing.assert_array_equal(found.views.seen, missing.random_subsets(120, 3, 0.4, 7))


def test_protocols_that_use_classes_get_them():
    found = sources.problem(VIEWS, Missing("absent_views"), 0.5, 1)
    np.testing.assert_array_equal(found.views.seen, missing.absent_views(120, 3, 0.5, 1, y=found.y))


def test_a_sample_is_the_same_at_every_call():
    small = Data("mfeat_ff", sample=100)
    first, second = sources.problem(small, OWN, None, None), sources.problem(small, OWN, None, None)
    assert len(first.views) == 100
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(first.views.data(0), second.views.data(0))
    whole, rows = sources.read(small)
    np.testing.assert_array_equal(np.asarray(whole.X["fac"]), load_mfeat().X["fac"][rows])


def test_kernels_are_centred_normalised_and_square():
    whole, _ = sources.read(VIEWS)
    for kind in ("gaussian", "linear"):
        K = sources.kernels(whole, kind)["view1"]
        np.testing.assert_allclose(np.diag(K), 1)
        np.testing.assert_allclose(K, K.T)
        assert np.linalg.eigvalsh(K)[0] > -1e-9
    found = sources.problem(Data(**{**VIEWS.__dict__, "kernel": "linear"}), Missing("paired"), 0.5, 0)
    assert found.views.cols is not None


def test_the_linear_kernel_is_the_cosine_of_centred_rows():
    whole, _ = sources.read(VIEWS)
    X = whole.X["view2"] - whole.X["view2"].mean(axis=0)
    X /= np.linalg.norm(X, axis=1)[:, None]
    np.testing.assert_allclose(sources.kernels(whole, "linear")["view2"], X @ X.T)


def test_a_stand_in_is_named(monkeypatch):
    monkeypatch.delenv("CONSPECTUS_DATA", raising=False)
    wanted = Data("uci_digital", "UCI-Digital", stand_in="mfeat_fpm")
    found = sources.had(wanted)
    assert (found.name, found.instead_of, found.printed) == ("mfeat_fpm", "UCI-Digital", "UCI-Digital")
    assert sources.had(Data("sunrgbd")) is None
    assert sources.had(Data("mfeat")) == Data("mfeat")


def test_a_changed_file_is_another_data_set(blobs):
    changed = np.load(blobs.name)
    np.savez(blobs.name, X0=changed["X0"] + 1, X1=changed["X1"], y=changed["y"])
    assert sources.own(blobs.name).params != blobs.params


def test_data_without_classes_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X0=np.ones((5, 2)))
    with pytest.raises(InputError, match="no classes"):
        sources.problem(sources.own(tmp_path / "a.npz"), OWN, None, None)


def test_an_unknown_protocol_is_named():
    with pytest.raises(InputError, match="'magic'"):
        sources.problem(VIEWS, Missing("magic"), 0.5, 0)


def test_stored_orders_of_a_part_are_those_of_the_whole(monkeypatch):
    """Of a sample of the rows, the order of the partial examples is the stored one with the others left out."""
    from conspectus import datasets

    order = np.random.default_rng(3).permutation(120)
    monkeypatch.setattr(datasets, "folds", lambda name: order[None, :])
    part = Data(**{**VIEWS.__dict__, "sample": 50})
    whole, rows = sources.read(part)
    mask = sources.presence(part, whole, rows, Missing("folds"), 0.4, 0)
    kept = order[np.isin(order, rows)]
    complete = rows[mask.all(axis=1)]
    assert set(complete) == set(kept[:30])
    assert (mask.sum(axis=1) == np.where(np.isin(rows, complete), 3, 1)).all()
