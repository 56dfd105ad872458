"""The sums that all-reduces make, in the order in which they make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from traffic.collectives.double_tree import first_tree, second_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.collectives.double_tree import Node


def ring_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sum `values[rank, element]` as a ring does: chunk c begins at rank c+1, each rank adds."""
    ranks, elements = values.shape
    cuts = np.arange(ranks + 1) * elements // ranks
    out = np.empty(elements, dtype=values.dtype)
    for chunk in range(ranks):
        part = slice(cuts[chunk], cuts[chunk + 1])
        total = values[(chunk + 1) % ranks, part]
        for step in range(2, ranks + 1):
            total = total + values[(chunk + step) % ranks, part]
        out[part] = total
    return out


def tree_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Sum `values[rank, element]` as the double tree does: children's sums are added to one's own.

    The first half goes through the first tree, the rest through the second.
    """
    ranks, elements = values.shape
    half = elements // 2
    parts = (values[:, :half], values[:, half:])
    trees = (first_tree(ranks), second_tree(ranks))
    return np.concatenate([_up(part, tree) for part, tree in zip(parts, trees, strict=True)])


def _up(values: NDArray[Any], tree: list[Node]) -> NDArray[Any]:
    order = [rank for rank, node in enumerate(tree) if node.parent is None]
    for rank in order:
        order.extend(tree[rank].children)
    total = list(values)
    for rank in reversed(order):
        for child in tree[rank].children:
            total[rank] = total[rank] + total[child]
    return np.asarray(total[order[0]])
