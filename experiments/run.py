#!/usr/bin/env python3
"""Compare load-balancing schemes on an emulated or simulated fat tree: `run.py --help`.

Whatever Python starts this file, it continues in the project's own environment.
"""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    # Run by its path: an import would leave bytecode of root's before it can be forbidden.
    entrance = runpy.run_path(str(ROOT / "environment.py"))
    entrance["enter"]("run.py", [__file__, *sys.argv[1:]])
    sys.path[0] = str(ROOT)
    from experiments.main import main

    sys.exit(main(sys.argv[1:]))
