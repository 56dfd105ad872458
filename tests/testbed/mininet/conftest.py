"""What the tests of the emulated world share: Python code run in a sandbox of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from testbed.mininet import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
INSIDE = """
import json, os, sys, time
from testbed.mininet import sandbox

def work():
{body}
    return 0

sys.exit(sandbox.run_inside(work))
"""


def start_inside(*parts: str) -> subprocess.Popen[str]:
    """Start Python code as the work of a sandbox; its keeper is the returned process."""
    body = "\n".join(textwrap.dedent(part) for part in parts)
    code = INSIDE.format(body=textwrap.indent(body, "    "))
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_inside(*parts: str) -> Any:
    """Run Python code in a sandbox and return what it printed as JSON."""
    process = start_inside(*parts)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return json.loads(out)


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until a condition holds; fail the test if it does not."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs namespaces where there are none, and say why."""
    reason = sandbox.why_not()
    for item in items:
        if reason and any(item.iter_markers("mininet")):
            item.add_marker(pytest.mark.skip(reason=reason))
