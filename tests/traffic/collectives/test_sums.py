import numpy as np
import pytest

from traffic.collectives.sums import ring_sums, tree_sums


@pytest.mark.parametrize("ranks", range(2, 65))
def test_sums__of_integers_are_exact(ranks: int) -> None:
    values = np.random.default_rng(ranks).integers(-(2**40), 2**40, (ranks, 101))
    assert np.array_equal(ring_sums(values), values.sum(axis=0))
    assert np.array_equal(tree_sums(values), values.sum(axis=0))


def test_sums__of_floats_differ_in_their_last_bits() -> None:
    values = np.random.default_rng(1).standard_normal((16, 10_000)).astype(np.float32)
    ring, tree = ring_sums(values), tree_sums(values)
    assert ring.dtype == tree.dtype == np.float32
    assert 0.2 < np.mean(ring != tree) < 0.9
    assert np.allclose(ring, tree, rtol=1e-4, atol=1e-5)
