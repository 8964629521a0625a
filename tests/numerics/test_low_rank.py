"""Low-rank completion and robust PCA: the originals' numbers, optimality, exact recovery."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus.numerics.low_rank import (
    completion_steps,
    decomposition_steps,
    largest_singular_value,
    scaled_directions,
    shrink_singular_values,
    soften,
)
from tests.methods.golden import golden


def iterate(steps, n_iter):
    return next(islice(steps, n_iter - 1, None))


def until(steps, tol, most=200):
    for n_iter, (residual, state) in enumerate(islice(steps, most), 1):
        if residual < tol:
            return n_iter, state
    raise AssertionError(f"residual {residual} after {most} iterations")


def stored_views():
    arrays = golden("factors")
    D = np.hstack([arrays[f"X{v}"] for v in range(3)])
    return D, np.isfinite(D)


@pytest.mark.parametrize("n_iter", [1, 5, 20])
def test_released_completion(n_iter):
    arrays = golden("factors")
    D, seen = stored_views()
    for name, matrix in (("mc_official", D), ("mc_official_lowrank", arrays["lowrank_D"])):
        known = seen if name == "mc_official" else np.isfinite(matrix)
        _, state = iterate(completion_steps(matrix, known, rho=None, rank_guess=True), n_iter)
        np.testing.assert_allclose(state.A, arrays[f"{name}_A_it{n_iter}"], atol=1e-12 * np.nanmax(np.abs(matrix)))
        assert state.rank == arrays[f"{name}_rank_it{n_iter}"]


def test_released_completion_to_its_end():
    arrays = golden("factors")
    D = arrays["lowrank_D"]
    steps = completion_steps(D, np.isfinite(D), rho=None, rank_guess=True)
    n_iter, state = until(steps, 1e-4)
    assert n_iter == arrays["mc_official_lowrank_niter"]
    assert state.rank == arrays["mc_official_lowrank_rank_end"] == 4
    np.testing.assert_allclose(state.A, arrays["mc_official_lowrank_A_end"], atol=1e-11)


@pytest.mark.parametrize("n_iter", [1, 5, 20])
def test_released_robust_pca(n_iter):
    arrays = golden("factors")
    _, state = iterate(decomposition_steps(arrays["rpca_D"].T), n_iter)
    np.testing.assert_allclose(state.A.T, arrays[f"rpca_A_it{n_iter}"], atol=1e-12)
    np.testing.assert_allclose(state.E.T, arrays[f"rpca_E_it{n_iter}"], atol=1e-12)


def test_released_robust_pca_to_its_end():
    arrays = golden("factors")
    n_iter, state = until(decomposition_steps(arrays["rpca_D"].T), 1e-7)
    assert n_iter == arrays["rpca_niter"]
    np.testing.assert_allclose(state.A.T, arrays["rpca_A_end"], atol=1e-12)
    np.testing.assert_allclose(state.E.T, arrays["rpca_E_end"], atol=1e-12)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (12, 12)])
@pytest.mark.parametrize("threshold", [1e-7, 0.5, 3.0, 1e3])
def test_shrinking_is_optimal(shape, threshold):
    """The subgradient: (T - A) / threshold = U V' + W with |W|_2 <= 1, W orthogonal to A on both sides."""
    T = np.random.default_rng(0).normal(size=shape)
    A, rank = shrink_singular_values(T, threshold)
    assert np.linalg.matrix_rank(A, tol=1e-9) == rank
    G = (T - A) / threshold
    assert np.linalg.norm(G, 2) <= 1 + 1e-6
    np.testing.assert_allclose(np.sum(G * A), np.linalg.norm(A, "nuc"), rtol=1e-6, atol=1e-12)
    E = soften(T, threshold)
    assert (np.abs(T - E) <= threshold * (1 + 1e-6)).all()
    np.testing.assert_allclose((T - E)[E != 0], threshold * np.sign(E[E != 0]), rtol=1e-6)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20)])
def test_what_is_read_off_gram_matrices(shape):
    T = np.random.default_rng(0).normal(size=shape)
    _, s, Vt = np.linalg.svd(T, full_matrices=False)
    assert largest_singular_value(T) == pytest.approx(s[0], rel=1e-12)
    for least, r in ((1e-6, 8), ((s[2] + s[3]) / 2 / s[0], 3)):
        VS = scaled_directions(T, least)
        assert VS.shape == (shape[1], r)
        np.testing.assert_allclose(VS @ VS.T, (Vt[:r].T * s[:r] ** 2) @ Vt[:r], atol=1e-10)
    assert scaled_directions(np.zeros(shape), 1e-4).shape == (shape[1], 0)


def planted(m, n, rank, share, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)), rng.random((m, n)) < share


def test_a_low_rank_matrix_is_completed():
    true, seen = planted(80, 60, 3, 0.6)
    _, state = until(completion_steps(np.where(seen, true, np.nan), seen), 1e-6)
    assert np.linalg.norm(state.A - true) < 1e-3 * np.linalg.norm(true)
    assert np.linalg.matrix_rank(state.A, rtol=1e-3) == 3
    assert np.linalg.norm((state.A - true)[seen]) < 1e-5 * np.linalg.norm(true)
    assert np.linalg.norm(state.A, "nuc") <= np.linalg.norm(true, "nuc") * (1 + 1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_whole_blocks_of_rows_are_completed(seed):
    true, _ = planted(200, 70, 4, 1.0, seed=seed)
    seen = np.ones(true.shape, dtype=bool)
    for v, columns in enumerate((slice(0, 30), slice(30, 70))):
        seen[v * 40 : (v + 1) * 40, columns] = False
    _, slow = until(completion_steps(true, seen, rho=1.1), 1e-4)
    assert np.linalg.matrix_rank(slow.A, rtol=1e-6) == slow.rank == 4
    assert np.linalg.norm((slow.A - true)[~seen]) < 1e-3 * np.linalg.norm(true[~seen])
    _, quick = until(completion_steps(true, seen), 1e-4)
    assert np.linalg.norm(quick.A, "nuc") <= np.linalg.norm(true, "nuc") * 1.002
    assert np.linalg.norm((quick.A - true)[~seen]) < 0.1 * np.linalg.norm(true[~seen])


def test_sparse_errors_are_found():
    true, wrong = planted(60, 50, 3, 0.05)
    E = np.where(wrong, np.random.default_rng(1).choice([-10.0, 10.0], size=true.shape), 0)
    _, state = until(decomposition_steps(true + E), 1e-8)
    assert np.linalg.norm(state.A - true) < 1e-4 * np.linalg.norm(true)
    np.testing.assert_array_equal(np.abs(state.E) > 1e-3, wrong)


@pytest.mark.parametrize("stop_at", [1, 7])
def test_going_on_is_bit_equal(stop_at):
    true, seen = planted(30, 20, 3, 0.7)
    for make in (lambda start: completion_steps(true, seen, start=start), lambda s: decomposition_steps(true, start=s)):
        whole = iterate(make(None), 12)
        rest = iterate(make(iterate(make(None), stop_at)[1]), 12 - stop_at)
        assert whole[0] == rest[0]
        np.testing.assert_array_equal(whole[1].A, rest[1].A)


def test_zero_matrices_stay_zero():
    zero = np.zeros((4, 3))
    assert not iterate(completion_steps(zero, zero == 0), 3)[1].A.any()
    assert not iterate(decomposition_steps(zero), 3)[1].A.any()
