"""Golden copies of generated C: a few to read, all others as a digest.

`python -m tests.p4.codegen.golden write` accepts what the generator writes now; `… diff [NAME...]`
shows what it writes differently from the last commit's generator, program by program.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from p4.codegen.generate import generate_c
from p4.codegen.reader import read_program
from p4.compiler import compile_file

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = Path(__file__).parent / "golden"
DIGESTS = GOLDEN / "digests.json"
READ = ("ofan", "residue")  # kept as text: a scheme, and a program of everything that is odd
PROGRAMS = [
    *sorted((ROOT / "tests" / "p4" / "engine_programs").glob("*.p4")),
    *sorted((ROOT / "p4" / "programs").glob("*.p4")),
    ROOT / "benchmarks" / "engine_program" / "router.p4",
]
FAT_TREE = {"W": "2", "DESTINATIONS": "8"}  # of k = 4; other programs do not use these names


def generated(path: Path) -> str:
    """Return the C of a program."""
    return generate_c(read_program(compile_file(path, defines=FAT_TREE), path.stem))


def digest(text: str) -> str:
    """Return what stands for a C file in the digests."""
    return hashlib.sha256(text.encode()).hexdigest()


def digests() -> dict[str, str]:
    """Return the accepted digests by program."""
    content: dict[str, str] = json.loads(DIGESTS.read_text())
    return content


def write() -> None:
    """Accept what the generator writes now."""
    texts = {path.stem: generated(path) for path in PROGRAMS}
    for name in READ:
        (GOLDEN / f"{name}.c").write_text(texts.pop(name))
    content = {name: digest(text) for name, text in sorted(texts.items())}
    DIGESTS.write_text(json.dumps(content, indent=2) + "\n")


def diff(names: list[str]) -> str:
    """Return how the C of programs differs from what the last commit's generator makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        (Path(folder) / ".venv").symlink_to(ROOT / ".venv")
        chosen = [path for path in PROGRAMS if not names or path.stem in names]
        return "".join(_difference(Path(folder), path) for path in chosen)


def _difference(before: Path, path: Path) -> str:
    place = path.relative_to(ROOT)
    defines = [word for item in FAT_TREE.items() for word in ("-D", "=".join(item))]
    done = subprocess.run(
        [sys.executable, "-m", "p4", "c", str(before / place), *defines],
        cwd=before,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    old, new = done.stdout.splitlines(keepends=True), generated(path).splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, f"HEAD/{path.stem}.c", f"{path.stem}.c"))


def main() -> None:
    """Write or compare, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["write", "diff"])
    parser.add_argument("names", nargs="*", help="programs to compare (default: all)")
    arguments = parser.parse_args()
    if arguments.what == "write":
        write()
    else:
        sys.stdout.write(diff(arguments.names) or "no difference from the last commit\n")


if __name__ == "__main__":
    main()
