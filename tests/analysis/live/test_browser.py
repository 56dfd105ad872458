"""The page in a real browser: it plays, answers clicks, and complains of nothing."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from analysis.report import write_report
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.virtual import run

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
WATCH = """<script>window.faults = [];
window.addEventListener("error", (event) => faults.push(String(event.message)));
window.addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
const complain = console.error;
console.error = (...said) => { faults.push(said.join(" ")); complain(...said); };</script>"""
DRIVE = """<script>
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const painted = () => [...document.querySelectorAll(".link")].filter((l) => l.style.stroke).length;
(async () => {
  while (!document.querySelector(".trees svg")) await wait(20);
  const found = {}, slider = document.querySelector(".slider");
  found.links = document.querySelectorAll(".trees svg:first-of-type .link").length;
  document.querySelector(".play").click();
  await wait(1500);
  found.played = Number(slider.value);
  found.label = document.querySelector(".play").textContent;
  document.querySelector(".play").click();
  slider.value = String(Number(slider.max) / 2); slider.dispatchEvent(new Event("input"));
  found.queueing = painted();
  const by = document.querySelector(".by");
  by.value = "utilisation"; by.dispatchEvent(new Event("change"));
  found.used = painted();
  by.value = "queue"; by.dispatchEvent(new Event("change"));
  const busy = [...document.querySelectorAll("figure svg")][0];
  const lines = [...busy.querySelectorAll(".link")];
  const at = lines.findIndex((line) => line.style.stroke);
  busy.querySelectorAll(".target")[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await wait(500);
  found.traces = document.querySelectorAll(".plot .scatterlayer .trace").length;
  found.chosen = document.querySelectorAll(".chosen").length;
  const row = document.querySelector(".detail .clickable");
  found.flows = document.querySelectorAll(".detail .clickable").length;
  if (row) row.click();
  found.way = document.querySelectorAll(".way").length;
  const table = [...document.querySelectorAll("table")].find((t) => t.rows[0].cells[1]);
  const column = () => [...table.rows].slice(1).map((r) => parseFloat(r.cells[2].textContent));
  table.rows[0].cells[2].click(); found.up = column();
  table.rows[0].cells[2].click(); found.down = column();
  found.wide = document.documentElement.scrollWidth <= innerWidth;
  found.faults = faults;
  document.body.insertAdjacentHTML("beforeend",
    `<pre id="found">${JSON.stringify(found).replaceAll("<", "(")}</pre>`);
})();</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for scheme in ("ecmp", "ofan"):
        run(plan_for(Scenario(scheme=scheme, message_bytes=1 << 19)), folder / scheme)
    return write_report(folder).page


def driven(page: Path, folder: Path, *options: str) -> dict[str, Any]:
    """Open a page, drive it, and return what was found."""
    text = page.read_text(encoding="utf-8")
    text = text.replace("<head>", f"<head>{WATCH}", 1)
    before, _, after = text.rpartition("</body>")
    copy = folder / "driven.html"
    copy.write_text(f"{before}{DRIVE}</body>{after}", encoding="utf-8")
    said = chromium(folder, "--virtual-time-budget=20000", "--dump-dom", *options, copy.as_uri())
    found = re.findall(r'<pre id="found">({.*?)</pre>', said, re.DOTALL)
    assert found, said[-2000:]
    content: dict[str, Any] = json.loads(html.unescape(found[0]))
    return content


def chromium(folder: Path, *arguments: str) -> str:
    assert CHROMIUM
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")
@pytest.mark.parametrize("width", [1200, 400])
def test_page__plays_and_answers_clicks(page: Path, tmp_path: Path, width: int) -> None:
    found = driven(page, tmp_path, f"--window-size={width},900")
    assert found["faults"] == []
    assert found["played"] > 5
    assert found["label"] == "Pause"
    assert found["queueing"] > 10
    assert found["used"] > found["queueing"]
    assert found["traces"] == 2
    assert found["chosen"] == 2
    assert found["flows"] > 0
    assert found["way"] >= 2
    assert found["up"] == sorted(found["up"])
    assert found["down"] == found["up"][::-1]
    assert found["wide"], "nothing is cut off at the right"


def test_page__needs_no_network_and_is_small(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text) < 15_000_000
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", own)
