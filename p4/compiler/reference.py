"""An installed p4c, used instead of this compiler when a user asks for it."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from p4.compiler.diagnostics import ERROR, CompileError, Diagnostic, Position

NAMES = ("p4c-bm2-ss", "p4c")


def compile_with_p4c(
    path: Path, *, defines: Sequence[str] = (), include_paths: Sequence[Path] = ()
) -> dict[str, Any]:
    """Compile a program with p4c; `defines` are as on its command line (NAME or NAME=VALUE).

    Raises CompileError with p4c's own messages if it refuses, or if it is not installed.
    """
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise _error(path, f"neither {' nor '.join(NAMES)} is on the path")
    with tempfile.TemporaryDirectory() as folder:
        command = [program]
        command.extend(f"-D{define}" for define in defines)
        command.extend(f"-I{include}" for include in include_paths)
        output = Path(folder)
        if Path(program).name == "p4c":
            command.extend(["--target", "bmv2", "--arch", "v1model", "-o", folder, str(path)])
            result_path = output / f"{path.stem}.json"
        else:
            result_path = output / "program.json"
            command.extend(["-o", str(result_path), str(path)])
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode or not result_path.exists():
            raise _error(path, f"p4c refuses it:\n{finished.stderr.strip()}")
        result: dict[str, Any] = json.loads(result_path.read_text(encoding="utf-8"))
        return result


def _error(path: Path, message: str) -> CompileError:
    return CompileError([Diagnostic(ERROR, Position(str(path), 1, 1), message)])
