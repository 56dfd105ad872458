"""Port orders: what the formula of paper Appendix F.2 yields, and the P that it is given."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.orders import basis, cyclic, distinct_orders, has_distinct_shifts, port_order


@given(st.integers(2, 40).flatmap(lambda w: st.tuples(st.permutations(range(w)), st.integers(0))))
def test_every_order_visits_every_port(drawn: tuple[list[int], int]) -> None:
    permutation, identifier = drawn
    order = port_order(tuple(permutation), identifier)
    assert sorted(order) == list(range(len(permutation)))


@pytest.mark.parametrize("k", [4, 6, 8, 12, 16])
def test_every_identifier_in_use_is_a_permutation(k: int) -> None:
    for identifier in range(max(k * k, 2 * k)):
        assert sorted(port_order(basis(k // 2), identifier)) == list(range(k // 2))


@pytest.mark.parametrize(
    ("width", "orders"),
    [(2, 1), (3, 2), (4, 4), (6, 30), (8, 32), (16, 128), (32, 512)],
)
def test_the_basis_reaches_the_known_numbers_of_orders(width: int, orders: int) -> None:
    assert distinct_orders(basis(width), range(4 * width * width)) == orders


def test_six_uplinks_have_the_papers_30_orders_and_12_pods_their_own() -> None:
    assert basis(6) == (0, 1, 2, 5, 3, 4)
    assert distinct_orders(basis(6), range(24)) == 21
    assert distinct_orders(basis(6), range(12)) == 12


@pytest.mark.parametrize("width", [4, 5, 6, 7, 8, 10, 12, 16, 32, 64])
def test_the_basis_has_distinct_shifts(width: int) -> None:
    assert has_distinct_shifts(basis(width))
    assert basis(width) is basis(width)


def test_additions_alone_give_six_orders_at_six_uplinks() -> None:
    shifts = {cyclic(tuple((v + c) % 6 for v in basis(6))) for c in range(6)}
    assert len(shifts) == 6


def test_counts_at_six_uplinks_over_all_admissible_permutations() -> None:
    admissible = [
        (0, *rest)
        for rest in itertools.permutations(range(1, 6))
        if has_distinct_shifts((0, *rest))
    ]
    counts = [distinct_orders(permutation, range(144)) for permutation in admissible]
    assert len(admissible) == 108
    assert {count: counts.count(count) for count in set(counts)} == {
        30: 48,
        33: 18,
        24: 18,
        36: 6,
        20: 6,
        19: 6,
        14: 6,
    }
