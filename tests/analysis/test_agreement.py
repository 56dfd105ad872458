from __future__ import annotations

import pandas as pd
import pytest

from analysis.agreement import paired, ranking


def rows(world: str, ccts: dict[str, float], seed: int = 1) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "variant": scheme,
                "seed": seed,
                "world": world,
                "k": 4,
                "workload": "permutation",
                "message_bytes": 1 << 20,
                "load": 1.0,
                "cca": "none",
                "cct_us": cct,
                "verdict": "VALID",
            }
            for scheme, cct in ccts.items()
        ]
    )


def test_paired__compares_scenario_by_scenario() -> None:
    table = pd.concat(
        [
            rows("virtual", {"ofan": 20.0, "rsq": 30.0}),
            rows("mininet", {"rsq": 33.0, "ofan": 20.0, "ecmp": 50.0}),
            rows("mininet", {"ofan": 21.0}, seed=2),
        ]
    )
    pairs = paired(table, "virtual", "mininet").set_index("variant")
    assert pairs["error"].to_dict() == pytest.approx({"ofan": 0.0, "rsq": 0.1})


def test_paired__tells_congestion_controls_apart() -> None:
    """Four rows with one scheme: a merge that ignores the CCA would make four pairs of them."""
    table = pd.concat(
        [
            rows(world, {"ofan": cct}).assign(cca=cca)
            for world, ccts in (("virtual", (20.0, 30.0)), ("mininet", (22.0, 30.0)))
            for cca, cct in zip(("none", "nscc"), ccts, strict=True)
        ]
    )
    pairs = paired(table, "virtual", "mininet").set_index("cca")
    assert pairs["error"].to_dict() == pytest.approx({"none": 0.1, "nscc": 0.0})


def test_paired__leaves_invalid_runs_out() -> None:
    table = pd.concat([rows("virtual", {"ofan": 20.0}), rows("mininet", {"ofan": 25.0})])
    table["verdict"] = ["VALID", "INVALID"]
    assert paired(table, "virtual", "mininet").empty


def test_ranking__counts_pairs_that_can_be_told_apart() -> None:
    virtual = {"ofan": 20.0, "pofan": 20.1, "rsq": 30.0, "ecmp": 50.0}
    mininet = {"ofan": 20.5, "pofan": 20.0, "rsq": 51.0, "ecmp": 50.0}
    table = pd.concat([rows("virtual", virtual), rows("mininet", mininet)])
    found = ranking(paired(table, "virtual", "mininet"))
    assert (found.alike, found.pairs) == (4, 5)
    assert found.share == 0.8
