"""Data sets: what is shipped, the file format and its errors, named parts, generators, and the folder of one's own."""

from __future__ import annotations

import json
import os
import zipfile

import numpy as np
import pytest

from conspectus import missing
from conspectus.datasets import (
    Dataset,
    available,
    folds,
    load,
    load_mfeat,
    make_gaussian_views,
    make_views,
    masks,
    read,
)
from conspectus.datasets.entries import ENTRIES, NOT_SHARED
from conspectus.errors import InputError

needs_folder = pytest.mark.skipif(
    not os.environ.get("CONSPECTUS_DATA"), reason="CONSPECTUS_DATA does not name the folder of data sets"
)


@pytest.fixture
def empty(monkeypatch):
    monkeypatch.delenv("CONSPECTUS_DATA", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSPECTUS_DATA", str(tmp_path))
    return tmp_path


def write(folder, name, **contents):
    np.savez(folder / f"{name}.npz", **contents)
    return folder / f"{name}.npz"


def tables(n=8, dims=(3, 4), letter="X"):
    rng = np.random.default_rng(n)
    return {f"{letter}{v}": rng.standard_normal((n, d)) for v, d in enumerate(dims)}


# What is shipped


def test_mfeat_is_the_published_set():
    data = load_mfeat()
    assert {name: x.shape for name, x in data.X.items()} == {
        "fou": (2000, 76),
        "fac": (2000, 216),
        "kar": (2000, 64),
        "pix": (2000, 240),
        "zer": (2000, 47),
        "mor": (2000, 6),
    }
    assert np.bincount(data.y).tolist() == [200] * 10
    assert {x.dtype for x in data.X.values()} == {np.dtype(np.float64)}
    assert [data.X["pix"].min(), data.X["pix"].max()] == [0, 6]
    assert data.X["fac"][0, :3].tolist() == [98, 236, 531]
    assert data.presence.all()
    assert "CC BY 4.0" in data.licence


def test_mfeat_comes_with_its_attribution_and_licence():
    from conspectus.datasets.library import SHIPPED

    assert "Robert P. W. Duin" in (SHIPPED / "README.md").read_text(encoding="utf8")
    assert "Attribution 4.0 International Public License" in (SHIPPED / "LICENSE-CC-BY-4.0.txt").read_text("utf8")


@pytest.mark.usefixtures("empty")
def test_without_a_folder_mfeat_and_its_parts_are_there():
    assert available() == ["mfeat", "mfeat_5v", "mfeat_ff", "mfeat_fp", "mfeat_fpm"]
    assert list(load("mfeat_fpm").X) == ["fou", "pix", "mor"]
    np.testing.assert_array_equal(load("mfeat_fp").X["pix"], load("mfeat").X["pix"])
    assert load("mfeat_fp").name == "mfeat_fp"


@pytest.mark.usefixtures("empty")
def test_an_unknown_name_lists_what_there_is_and_names_the_variable():
    with pytest.raises(
        InputError, match=r"no data set 'cora' here: available are mfeat, .*mfeat_fpm; .*\$CONSPECTUS_DATA \(not set"
    ):
        load("cora")
    with pytest.raises(InputError, match=r"it is a part of hdigit_mnist_usps_10000.npz"):
        load("hdigit2000")
    with pytest.raises(InputError, match=r"'sunrgbd' \(SOME-AS: 10,335 samples, 45 classes\)"):
        load("sunrgbd")
    for lookup in (masks, folds):
        with pytest.raises(InputError, match=r"looked for in masks/.* \$CONSPECTUS_DATA \(not set now\)"):
            lookup("mfeat")


# The file format


def test_a_file_becomes_a_data_set(folder):
    meta = {"views": ["genes", "images"], "kind": "counts", "labels": ["ill", "well"], "source": "us", "licence": "own"}
    y = np.arange(8, dtype=np.int16) % 2
    mask = np.ones((8, 2), bool)
    mask[3, 0] = False
    write(folder, "mine", **tables(), y=y, mask=mask, meta=json.dumps(meta))
    data = load("mine")
    assert (data.name, data.kind, data.k, data.labels) == ("mine", "counts", 2, ("ill", "well"))
    assert (data.source, data.licence) == ("us", "own")
    assert data.y.dtype == np.int64
    np.testing.assert_array_equal(data.presence, mask)
    for x, table in zip(data.X.values(), tables().values()):
        np.testing.assert_array_equal(x, table)
    assert repr(data) == "<Dataset mine: 8 samples, 2 views (genes 3, images 4), 2 classes>"


def test_only_the_views_are_required(folder):
    data = read(write(folder, "bare", **tables()))
    assert (list(data.X), data.y, data.mask, data.k, data.kind) == (["view1", "view2"], None, None, None, "dense")
    assert repr(data) == "<Dataset bare: 8 samples, 2 views (view1 3, view2 4)>"


def test_ten_views_keep_their_order(folder):
    data = read(write(folder, "many", **tables(dims=range(1, 13))))
    assert [x.shape[1] for x in data.X.values()] == list(range(1, 13))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.float32, bool])
def test_small_types_become_float64_without_wrapping(folder, dtype):
    x = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    data = read(write(folder, "small", X0=x))
    assert data.X["view1"].dtype == np.float64
    np.testing.assert_array_equal(data.X["view1"] - 1, [[0, -1], [-1, 0], [0, 0]])


def test_classes_may_be_words(folder):
    data = read(write(folder, "words", **tables(4), y=["cat", "ant", "cat", "bee"]))
    assert (data.y.tolist(), data.labels, data.k) == ([2, 0, 2, 1], ("ant", "bee", "cat"), 3)


def test_rows_of_nan_are_unseen_and_stay(folder):
    x = tables()
    x["X0"][2] = np.nan
    x["X1"][5, 0] = np.nan  # a cell is not a row
    data = read(write(folder, "holes", **x))
    assert np.argwhere(~data.presence).tolist() == [[2, 0]]
    assert np.isnan(data.X["view1"][2]).all()


def test_kernels_are_square(folder):
    data = read(write(folder, "kernels", **tables(5, (5, 5), "K"), y=[0, 1, 0, 1, 1]))
    assert data.square
    part = data.subset(rows=[4, 1])
    assert part.X["view2"].tolist() == data.X["view2"][np.ix_([4, 1], [4, 1])].tolist()
    assert (part.y.tolist(), part.k) == ([1, 1], 1)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"y": [0, 1]}, "views are called X0, X1, ... or kernels K0, K1, ...; the file holds y"),
        (tables() | tables(letter="K"), "or kernels K0"),
        ({"X0": np.ones((2, 2)), "X2": np.ones((2, 2))}, "not numbered X0 to X1"),
        ({"X0": np.ones(3)}, r"X0 must be a non-empty table of real numbers, not float64 of shape \(3,\)"),
        ({"X0": np.ones((3, 2)) * 1j}, "complex128"),
        ({"X0": np.ones((3, 0))}, r"\(3, 0\)"),
        ({"X0": np.ones((3, 2)), "X1": np.ones((4, 2))}, r"view view2 is of shape \(4, 2\) and should have 3 rows"),
        ({"K0": np.ones((3, 2))}, r"view view1 is of shape \(3, 2\) and should have \(3, 3\)"),
        (tables() | {"y": [0, 1]}, r"y is of shape \(2,\) for 8 samples"),
        (tables() | {"mask": np.ones((8, 2))}, r"mask is float64 of shape \(8, 2\) and should be bool"),
        (tables() | {"meta": "{"}, "meta is not JSON"),
        (tables() | {"meta": "[1]"}, "meta is not a JSON object"),
        (tables() | {"meta": '{"views": ["a", "a"]}'}, "meta names the views a, a, and there are 2"),
        (tables() | {"meta": '{"views": ["a"]}'}, "meta names the views a, and there are 2"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(folder, contents, message):
    path = write(folder, "wrong", **contents)
    with pytest.raises(InputError, match=f"(?s)wrong.npz: .*{message.replace('...', '[.]{3}')}"):
        read(path)


def test_files_that_are_no_archives_are_refused(folder):
    (folder / "text.npz").write_text("X0, X1")
    np.save(folder / "one", np.ones((2, 2)))
    (folder / "one.npy").rename(folder / "one.npz")
    np.savez(folder / "pickled", X0=np.array([{}, {}], dtype=object))
    with zipfile.ZipFile(folder / "cut.npz", "w") as archive:
        archive.writestr("X0.npy", b"\x93NUMPY")
    (folder / "directory.npz").mkdir()
    for name in ("text", "one", "pickled", "cut", "directory"):
        with pytest.raises(InputError, match=f"{name}.npz is no .npz archive of plain arrays"):
            read(folder / f"{name}.npz")
    with pytest.raises(InputError, match="no such file"):
        read(folder / "absent.npz")


# Named data sets, masks and orders


def test_a_file_of_ones_own_goes_before_the_shipped_one(folder):
    write(folder, "mfeat", **tables())
    assert load("mfeat").n == 8
    assert load_mfeat().n == 2000


def test_parts_are_views_rows_and_the_zero_rule(folder):
    x = tables(9, (3, 4, 5))
    x["X0"][2] = x["X1"][2] = np.nan
    write(folder, "3sources_416", **x, y=np.arange(9) % 3, meta=json.dumps({"views": ["bbc", "guardian", "reuters"]}))
    assert load("3sources_bbc_guardian").y.tolist() == [0, 1, 0, 1, 2, 0, 1, 2]
    assert load("3sources_bbc_reuters").n == 9

    zeros = tables(4, (3, 2))
    zeros["X0"][1] = zeros["X0"][3] = zeros["X1"][3] = 0
    write(folder, "bdgp", **zeros, y=np.arange(4))
    assert load("bdgp").presence.all()
    assert load("bdgp_nat").presence.tolist() == [[True, True], [False, True], [True, True]]
    assert load("bdgp_nat").y.tolist() == [0, 1, 2]

    write(folder, "hdigit_mnist_usps_10000", X0=np.arange(2100)[:, None], X1=np.zeros((2100, 1)))
    rows = np.sort(np.random.default_rng(0).choice(2100, 2000, replace=False))
    assert load("hdigit2000").X["view1"][:, 0].tolist() == rows.tolist()


def test_masks_and_orders_lie_beside_the_data(folder):
    (folder / "masks").mkdir()
    mask = missing.random_subsets(8, 2, 0.5, 0)
    np.savez(folder / "masks" / "bdgp.npz", **{"per0.5": mask, "per0.9": ~mask})
    orders = np.stack([np.random.default_rng(i).permutation(8) for i in range(3)]).astype(np.int32)
    np.savez(folder / "masks" / "mfeat_gpmvc_folds.npz", folds_gpmvc=orders)
    write(folder, "cora", **tables(), folds_gpmvc=orders[:2])
    assert list(masks("bdgp")) == [0.5, 0.9]
    np.testing.assert_array_equal(masks("bdgp")[0.9], ~mask)
    np.testing.assert_array_equal(folds("mfeat_fp"), orders)
    np.testing.assert_array_equal(folds("cora"), orders[:2])
    assert (~missing.partial_examples(8, 2, 0.5, fold=folds("cora")[1])).sum() == 4


@pytest.mark.parametrize("name", sorted(NOT_SHARED))
def test_a_set_that_is_not_shared_loads_when_its_file_is_there(folder, name):
    assert name not in available()
    letter, dims = ("K", (6, 6, 6)) if "EE-IMVC" in NOT_SHARED[name] else ("X", (3, 4))
    write(folder, name, **tables(6, dims, letter), y=np.arange(6) % 2)
    assert name in available()
    data = load(name)
    assert (data.n, data.k, data.square) == (6, 2, letter == "K")


# Parts


def test_a_part_takes_views_by_name_or_position_and_rows_by_index_or_mask():
    data = Dataset("d", {"a": np.ones((4, 2)), "b": np.zeros((4, 3))}, np.array([0, 1, 1, 2]), k=3)
    assert list(data.subset(["b"]).X) == list(data.subset([1]).X) == list(data.subset([-1]).X) == ["b"]
    assert list(data.subset(["b", "a"]).X) == ["b", "a"]
    assert data.subset(rows=[True, False, True, True]).y.tolist() == data.subset(rows=[0, 2, 3]).y.tolist() == [0, 1, 2]
    assert data.subset(rows=[1, 2]).k == 1
    for wrong in ("c", 2, -3):
        with pytest.raises(InputError, match="its views are a, b"):
            data.subset([wrong])


def test_a_part_leaves_out_who_is_unseen_and_takes_the_mask_along():
    mask = np.array([[True, False], [False, True], [True, True]])
    data = Dataset("d", {"a": np.ones((3, 1)), "b": np.ones((3, 1))}, np.arange(3), mask, k=3)
    part = data.subset(["b"])
    assert part.y.tolist() == [1, 2]
    assert part.mask.tolist() == [[True], [True]]
    assert data.subset(rows=[0, 1]).mask.tolist() == mask[:2].tolist()
    assert data.subset(["b"], rows=[2, 0]).y.tolist() == [2]


def test_the_views_of_a_data_set_are_what_it_says_is_present():
    a, b = np.ones((3, 2)), np.arange(3.0)[:, None]
    a[1] = np.nan
    mask = np.array([[True, True], [False, True], [True, False]])
    views = Dataset("d", {"a": a, "b": b}, mask=mask).views
    assert views.names == ("a", "b")
    np.testing.assert_array_equal(views.seen, mask)
    kernel = Dataset("k", {"a": np.eye(3), "b": np.eye(3)}, mask=mask, kind="kernel").views
    assert kernel.square
    np.testing.assert_array_equal(kernel.seen, mask)
    drawn = make_views(50, [3, 4], 2, missing=0.5)
    np.testing.assert_array_equal(drawn.views.seen, drawn.presence)


# Generators


def test_gaussian_views_have_the_printed_moments():
    data = make_gaussian_views(40000, seed=1)
    first = data.X["view2"][data.y == 0]
    np.testing.assert_allclose(first.mean(axis=0), [1, 3], atol=0.02)
    np.testing.assert_allclose(np.cov(first.T), [[0.25, -0.05], [-0.05, 0.2]], atol=0.02)
    second = data.X["view1"][data.y == 1]
    np.testing.assert_allclose(second.mean(axis=0), [4, 2], atol=0.02)
    np.testing.assert_allclose(np.cov(second.T), [[0.2, 0.15], [0.15, 0.35]], atol=0.02)
    assert make_gaussian_views().y.tolist() == [0] * 100 + [1] * 100


def test_make_views_has_centres_at_the_asked_distance_and_unit_noise():
    data = make_views(4000, [50, 80], 8, separation=6, seed=3)
    assert np.bincount(data.y, minlength=8).min() > 400
    for x in data.X.values():
        centres = np.stack([x[data.y == c].mean(axis=0) for c in range(8)])
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(8, 1)]
        assert gaps.mean() == pytest.approx(6, rel=0.15)
        assert (x - centres[data.y]).std() == pytest.approx(1, abs=0.01)


def test_more_rows_only_add_rows():
    few, many = (make_views(n, [3, 2], 4, seed=5) for n in (8200, 17000))
    np.testing.assert_array_equal(many.y[:8200], few.y)
    for name, x in few.X.items():
        np.testing.assert_array_equal(many.X[name][:8200], x)
    assert (make_views(50, [3], 2, seed=6).X["view1"] != few.X["view1"][:50]).all()


def test_streams_of_views_blocks_and_seeds_are_apart():
    data = make_views(16384, [2, 2], 1, separation=0, seed=0)
    drawn = [half for x in data.X.values() for half in (x[:8192], x[8192:])]
    drawn += list(make_views(8192, [2, 2], 1, separation=0, seed=1).X.values())
    spread = np.corrcoef(np.stack([x.ravel() for x in drawn]))
    assert abs(spread - np.eye(len(drawn))).max() < 0.05


def test_missing_is_a_share_or_a_mask():
    data = make_views(1000, [2, 2, 2], 3, missing=0.4, seed=7)
    assert missing.shares(data.mask).incomplete_samples == pytest.approx(0.4)
    blocks = missing.blocks(1000, 3, 0.5, 0)
    np.testing.assert_array_equal(make_views(1000, [2, 2, 2], 3, missing=blocks).mask, blocks)
    assert make_views(10, [2, 2], 3).mask is None


def test_single_precision_is_the_users_choice():
    data = make_views(100, [4], 2, dtype="float32")
    assert data.X["view1"].dtype == np.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_views(10, [], 2), "dims="),
        (lambda: make_views(10, [3, 0], 2), "at least 1"),
        (lambda: make_views(10, [3], 11), "k=11, n=10"),
        (lambda: make_views(10, [3], 0), "k=0"),
        (lambda: make_views(10, [3, 3], 2, dtype=int), "dtype=int64"),
        (lambda: make_views(10, [3, 3], 2, missing=1.5), "must lie in"),
        (lambda: make_views(10, [3, 3], 2, missing=np.ones((10, 3), bool)), r"boolean array \(10, 2\)"),
        (lambda: make_gaussian_views(1), "at least 2"),
    ],
)
def test_impossible_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# The folder of the documentation's data sets


@needs_folder
def test_every_known_set_is_what_it_says():
    assert set(ENTRIES) <= set(available())
    for name in available():
        data = load(name)
        assert data.presence.any(axis=1).all(), name
        assert data.k == len(np.unique(data.y)), name
        assert data.y.min() == 0, name
        assert len({len(x) for x in data.X.values()}) == 1, name


@needs_folder
def test_natural_missing_views_are_those_of_the_table():
    assert (~load("3sources_416").presence).sum(axis=0).tolist() == [64, 114, 122]
    assert (~load("tcga_brca_mixomics_220").presence).sum(axis=0).tolist() == [0, 0, 70]
    assert (~load("bdgp_nat").presence).sum(axis=0).tolist() == [201, 1203, 1915]
    assert load("bdgp_nat").n == 2500
    assert [load(f"3sources_{pair}").n for pair in ("bbc_guardian", "bbc_reuters", "guardian_reuters")] == [
        404,
        407,
        384,
    ]


@needs_folder
def test_the_gaussian_views_of_seed_zero_are_the_stored_ones():
    stored, ours = load("apmc_synthetic_200"), make_gaussian_views()
    np.testing.assert_array_equal(ours.y, stored.y)
    for name, x in stored.X.items():
        np.testing.assert_allclose(ours.X[name], x, rtol=0, atol=1e-6)


@needs_folder
def test_kernels_load_as_square_data():
    data = load("kern_football")
    assert data.square
    assert {x.shape for x in data.X.values()} == {(248, 248)}


@needs_folder
@pytest.mark.parametrize("name", ["bdgp", "proteinfold"])
def test_published_masks_keep_the_share_complete_that_their_key_says(name):
    data = load(name)
    assert list(masks(name)) == pytest.approx([0.1 * i for i in range(1, 10)])
    for share, mask in masks(name).items():
        assert mask.shape == (data.n, len(data.X))
        assert mask.any(axis=1).all()
        incomplete, entries = missing.shares(mask)
        assert incomplete == pytest.approx(1 - share, abs=0.002)
        assert entries == pytest.approx(incomplete / 2, abs=0.02)


@needs_folder
@pytest.mark.parametrize("name", ["bbcsport_282_3v", "bbcsport_544_2v", "cora", "orl_2v_gpmvc", "mfeat"])
def test_published_orders_are_permutations(name):
    orders = folds(name)
    assert orders.shape == (30, load(name).n)
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(orders.shape[1]), (30, 1)))


@needs_folder
def test_absent_views_of_proteinfold_are_as_many_as_in_the_released_masks():
    y = load("proteinfold").y
    lost = [(~missing.absent_views(694, 12, r, 0, y).all(axis=1)).sum() for r in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert lost == [71, 212, 353, 486, 627]
