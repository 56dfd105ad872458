"""STF, the P4 community's test scripts: read and run in this process."""

from p4.stf.reader import read_stf
from p4.stf.runner import StfMismatchError, run_stf

__all__ = ["StfMismatchError", "UserError", "read_stf", "run_stf"]
