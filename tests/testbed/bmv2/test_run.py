"""A whole run on simple_switch: hosts, network, results and verdict."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from testbed.schemes import skeleton

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
DILATION = 500_000
pytestmark = [
    pytest.mark.bmv2,
    pytest.mark.mininet,
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("simple_switch") is None, reason="simple_switch is not on the path"
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="Mininet needs root"),
    pytest.mark.skipif(
        importlib.util.find_spec("mininet") is None, reason="Mininet is not installed"
    ),
]


@pytest.fixture(scope="module")
def run_on_bmv2(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    def run(scheme: str, *more: str) -> Path:
        out = tmp_path_factory.mktemp(Path(scheme).stem)
        own = scheme.endswith(".p4")
        options = {
            "--on": "bmv2",
            "--scheme-file" if own else "--schemes": scheme,
            **({"--schemes": "ofan"} if own else {}),
            "--message": "65536",
            "--seeds": "1",
            "--dilation": str(DILATION),
            "--out": str(out),
        }
        words = [*(word for option in options.items() for word in option), *more]
        subprocess.run([sys.executable, "experiments/run.py", *words], cwd=ROOT, check=True)
        (folder,) = out.glob(f"{Path(scheme).stem}*/manifest.json")
        return folder.parent

    return run


def crossed(links: pd.DataFrame, stage: str) -> int:
    return int(links[links["stage"] == stage]["data_packets"].sum())


def test_run__writes_what_every_world_writes(run_on_bmv2: Callable[..., Path]) -> None:
    folder = run_on_bmv2("ofan")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    counted = manifest["conservation"]
    assert (manifest["world"], manifest["ended"]) == ("bmv2", "done")
    assert manifest["dilation"] == DILATION
    assert counted["sent"] == counted["delivered"] == 16 * 16 * 2
    assert not any(counted["dropped"].values())
    links = pd.read_csv(folder / "links.csv")
    assert crossed(links, "H-E") == crossed(links, "E-H") == 16 * 16
    assert crossed(links, "E-A") == crossed(links, "A-E")
    assert links["data_bytes"].equals(links["data_packets"] * 4158)
    assert links["max_queue_packets"].max() >= 2
    queues = pd.read_csv(folder / "queues.csv.gz")
    assert set(queues["stage"]) <= {"E-A", "A-C", "C-A", "A-E", "E-H"}
    assert queues["queue_packets"].max() >= 2
    assert queues.groupby(["node", "port"])["queue_packets"].last().eq(0).all()
    flows = pd.read_csv(folder / "flows.csv")
    assert flows["finish_ns"].notna().all()


def test_run__scheme_of_ones_own(run_on_bmv2: Callable[..., Path], tmp_path: Path) -> None:
    program, _ = skeleton.write("mine", tmp_path)
    folder = run_on_bmv2(str(program))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["world"], manifest["scheme"], manifest["ended"]) == ("bmv2", "mine", "done")
    links = pd.read_csv(folder / "links.csv")
    assert crossed(links, "H-E") == crossed(links, "E-H") == 16 * 16


def test_run__links_that_differ__send_at_rates_of_their_own(
    run_on_bmv2: Callable[..., Path], tmp_path: Path
) -> None:
    network = tmp_path / "mine.toml"
    network.write_text(
        "edges = 2\nhosts = 2\nspines = 2\n[rate_gbps]\nh1-e0_0 = 200\n[delay_ns]\nedge = 900\n",
        encoding="utf-8",
    )
    folder = run_on_bmv2("ecmp", "--topology", str(network))
    links = pd.read_csv(folder / "links.csv")
    slow = links[(links["node"] == "e0_0") & (links["peer"] == "h1")]
    assert slow["data_packets"].sum() == 16
    gaps, near = int(slow["gaps"].sum()), int(slow["gaps_within_25pct"].sum())
    assert gaps >= 8
    assert near >= 0.75 * gaps
    flows = pd.read_csv(folder / "flows.csv")
    alone = 16 * (4158 + 20) * 8 / 200  # ns that its link needs
    assert alone < flows["finish_ns"][flows["dst"] == 1].item() < 2 * alone + 12_000
