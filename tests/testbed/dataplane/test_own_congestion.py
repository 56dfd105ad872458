"""A congestion control is added by one file and one entry: nothing else knows its name."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
AIMD = """
#include "congestion.h"
#include "registry.h"

static void open(struct cca *cca)
{
    cca->window = given(cca, AIMD_FIRST_PACKETS) * cca->network->frame;
}

static void acknowledged(struct cca *cca, const struct dp_signal *signal)
{
    double frame = cca->network->frame;
    if (signal->marked)
        cca->window = larger(cca->window * (1 - given(cca, AIMD_DECREASE)), frame);
    else
        cca->window += frame * (double)signal->bytes / cca->window;
}

const struct congestion congestion_aimd = {
    .name = "aimd", .open = open, .acknowledged = acknowledged,
};
"""
ENTRY = """
    Congestion(
        "aimd",
        "AIMD",
        "marks",
        "a test",
        (
            Parameter("first_packets", 8, "first window"),
            Parameter("decrease", 0.5, "share that a mark takes", 0, 1),
        ),
    ),
"""
RUN = """
from pathlib import Path
from experiments.listing import listing
from testbed import virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario
assert "aimd" in listing()
took = []
for first in (1, 100):
    scenario = Scenario(scheme="ofan", cca="aimd", message_bytes=200_000,
                        cca_parameters={"first_packets": first, "decrease": 0.25})
    outcome = virtual.run(plan_for(scenario), Path("out"))
    took.append(outcome.now_ps)
    assert outcome.ended == "done"
print("slower" if took[0] > 3 * took[1] else took)
"""


def test_aimd__is_added_by_a_file_and_an_entry(tmp_path: Path) -> None:
    for room in ("p4", "testbed", "traffic", "analysis", "experiments"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (*ROOT.glob("*.py"), ROOT / "pyproject.toml"):
        shutil.copy(file, tmp_path)
    (tmp_path / "testbed/dataplane/hosts/congestion_aimd.c").write_text(AIMD)
    registry = tmp_path / "testbed/hosts.py"
    text = registry.read_text(encoding="utf-8")
    place = text.index("CONGESTIONS = (") + len("CONGESTIONS = (")
    registry.write_text(text[:place] + ENTRY + text[place:], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "slower", done.stderr[-2000:]
