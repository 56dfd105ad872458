"""Tables about trees that need no run: their shape, what ranks send, what sums come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from testbed.workload import flows_between_ranks, request_for
from traffic.collectives.double_tree import depth, first_tree, second_tree
from traffic.collectives.sums import ring_sums, tree_sums

if TYPE_CHECKING:
    from testbed.scenario import Scenario

MOST_SHOWN = 16
ELEMENTS = 1 << 16


def trees(base: Scenario) -> str:
    """Return the trees of the ranks, what each role sends, and how sums of floats differ."""
    ranks = request_for(base).group_size()
    one, two = first_tree(ranks), second_tree(ranks)
    lines = [f"Two trees of {ranks} ranks, {depth(one)} and {depth(two)} deep"]
    if ranks <= MOST_SHOWN:
        lines.append("rank  tree 0: parent children    tree 1: parent children")
        for rank in range(ranks):
            cells = [
                f"{'-' if node.parent is None else node.parent!s:>14} "
                f"{' '.join(map(str, node.children)) or '-':<14}"
                for node in (one[rank], two[rank])
            ]
            lines.append(f"{rank:4}  {''.join(cells)}")
    lines += ["", *_sent(base, ranks), "", _floats(ranks, base.seed)]
    return "\n".join(lines) + "\n"


def _sent(base: Scenario, ranks: int) -> list[str]:
    """Say what ranks send and receive of S bytes, by what they are in the two trees."""
    size = ranks << 16
    flows = flows_between_ranks(replace(base, message_bytes=size))
    first_group = request_for(base).groups()[0]
    sent = np.bincount(flows.source, flows.size_bytes, base.ranks)[first_group] / size
    received = np.bincount(flows.destination, flows.size_bytes, base.ranks)[first_group] / size
    children = [
        tuple(sorted((len(one.children), len(two.children))))
        for one, two in zip(first_tree(ranks), second_tree(ranks), strict=True)
    ]
    lines = ["Bytes a rank sends and receives, as multiples of the buffer S"]
    for kind in sorted(set(children)):
        of_kind = [rank for rank in range(ranks) if children[rank] == kind]
        roots = any(tree[rank].parent is None for rank in of_kind for tree in (first_tree(ranks),))
        role = f"{kind[0]} and {kind[1]} children" + (", roots among them" if roots else "")
        lines.append(
            f"  {role:<36} {len(of_kind):4} ranks   sent {sent[of_kind].mean():.2f} S   "
            f"received {received[of_kind].mean():.2f} S"
        )
    lines.append(
        f"  {'all':<36} {ranks:4} ranks   sent {sent.mean():.3f} S   a ring: "
        f"{2 * (ranks - 1) / ranks:.3f} S"
    )
    return lines


def _floats(ranks: int, seed: int) -> str:
    """Compare the float32 sums of a ring and of the trees, bit for bit."""
    values = np.random.default_rng(seed).standard_normal((ranks, ELEMENTS)).astype(np.float32)
    ring, tree = ring_sums(values), tree_sums(values)
    apart = np.abs(ring.view(np.int32).astype(np.int64) - tree.view(np.int32).astype(np.int64))
    return (
        f"Sums of {ranks} float32 numbers: a ring's and the trees' differ in "
        f"{np.mean(ring != tree):.0%} of {ELEMENTS:,} cases, in the median by "
        f"{int(np.median(apart[apart > 0])) if apart.any() else 0} unit in the last place"
    )
