"""Expert-parallel load balancing (EPLB): popular experts get replicas on several GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def replicate(load: NDArray[np.float64], slots: int) -> NDArray[np.int64]:
    """Return how many replicas each expert gets when `slots` are shared out.

    Every expert starts with one; each further slot goes to the expert whose replicas are the most
    loaded, the lowest number first among equals. Raises ValueError with fewer slots than experts.
    """
    if slots < len(load):
        raise ValueError(f"{slots} slots cannot hold {len(load)} experts")
    replicas = np.ones(len(load), dtype=np.int64)
    for _ in range(slots - len(load)):
        replicas[np.argmax(load / replicas)] += 1
    return replicas


def pack(weight: NDArray[np.float64], packs: int) -> NDArray[np.int64]:
    """Return the pack of each item: equally many items a pack, weights as even as greed makes them.

    Items are placed from the heaviest down, each in the lightest pack that still has room, the
    lowest number first among equals. Raises ValueError if the items do not divide by the packs.
    """
    room, left_over = divmod(len(weight), packs)
    if left_over:
        raise ValueError(f"{len(weight)} items do not fill {packs} packs equally")
    pack_of = np.empty(len(weight), dtype=np.int64)
    pack_weight, pack_items = np.zeros(packs), np.zeros(packs, dtype=np.int64)
    for item in np.argsort(-weight, kind="stable"):
        lightest = np.argmin(np.where(pack_items < room, pack_weight, np.inf))
        pack_of[item] = lightest
        pack_weight[lightest] += weight[item]
        pack_items[lightest] += 1
    return pack_of


def place(load: NDArray[np.float64], gpus: int, slots_per_gpu: int) -> NDArray[np.float64]:
    """Place experts on GPUs and return each GPU's share of each expert, shape (experts, gpus).

    `load` is the experts' number of tokens. Replicas of an expert share its tokens equally, so
    that every row sums to 1. This is EPLB's global policy, for models whose experts are not in
    groups.
    """
    replicas = replicate(load, gpus * slots_per_gpu)
    expert = np.repeat(np.arange(len(load)), replicas)
    gpu = pack((load / replicas)[expert], gpus)
    share = np.zeros((len(load), gpus))
    np.add.at(share, (expert, gpu), 1 / replicas[expert])
    return share
