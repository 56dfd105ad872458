"""STF, the P4 community's test scripts: read and run in this process."""

from p4.stf.reader import StfError, read_stf
from p4.stf.runner import StfMismatchError, run_stf

__all__ = ["StfError", "StfMismatchError", "read_stf", "run_stf"]
