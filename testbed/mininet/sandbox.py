"""Namespaces of the emulation's own: nothing foreign is touched, nothing is left behind.

The process that asks for a sandbox stays outside as its keeper. The work runs in a child that is
the first process of new process, network and mount namespaces and that dies with its keeper; when
it dies, however it dies, the kernel ends every process in there and removes every interface.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError, code_of, terminate

if TYPE_CHECKING:
    from collections.abc import Callable

PROCESS_NAME = "ofan-fabric"
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SENT_BY_PROGRAM = 0  # si_code SI_USER, and below
_NEW_MOUNT, _NEW_USER, _NEW_PID, _NEW_NET = 0x0002_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
_MOUNT_BIND, _MOUNT_RECURSIVE, _MOUNT_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_SET_PARENT_DEATH_SIGNAL, _SET_NAME = 1, 15
_libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str | None:
    """Say in one line why Mininet cannot run on this machine, or return None where it can."""
    missing = [tool for tool in ("mnexec", "ip") if shutil.which(tool) is None]
    if missing or importlib.util.find_spec("mininet") is None:
        return "Mininet is not installed; `make setup` installs it"
    child = os.fork()
    if child == 0:
        os._exit(_try_namespaces())
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error == 0:
        return None
    if os.geteuid() != 0:
        return "Mininet needs root; run the command with sudo"
    return (
        f"the kernel refuses new namespaces ({os.strerror(error)}); use a machine that allows them"
    )


def run_inside(work: Callable[[], int]) -> int:
    """Run `work` in a new sandbox and return its exit code (128 + n if signal n ended it).

    SIGINT, SIGTERM and SIGHUP sent to the caller reach `work` as KeyboardInterrupt, SIGTERM as
    TerminatedError. Raises UserError where namespaces cannot be made. Must be called before any
    thread is started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    _new_namespaces()
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        _live_inside(work, keeper)
    code = _keep(child)
    return code if code >= 0 else 128 - code


def running() -> list[int]:
    """Return the process ids of the first processes of all sandboxes that run on this machine."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text(encoding="utf-8").strip() == PROCESS_NAME:
                found.append(int(comm.parent.name))
        except OSError:
            continue
    return sorted(found)


def _try_namespaces() -> int:
    try:
        _new_namespaces()
    except UserError as error:
        cause = error.__cause__
        return cause.errno or 1 if isinstance(cause, OSError) else 1
    return 0


def _new_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    flags = _NEW_PID | _NEW_NET | _NEW_MOUNT | (_NEW_USER if user != 0 else 0)
    try:
        _checked(_libc.unshare(flags))
        if user != 0:
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        raise UserError(f"no namespaces of its own for the fabric: {error.strerror}") from error


def _live_inside(work: Callable[[], int], keeper: int) -> None:
    code = 1
    try:
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if _outer_parent() != keeper:
            os._exit(1)
        _libc.prctl(_SET_NAME, PROCESS_NAME.encode(), 0, 0, 0)
        _mount_own_views()
        for number in FORWARDED:
            ending = terminate if number == signal.SIGTERM else signal.default_int_handler
            signal.signal(number, ending)
        code = work()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except KeyboardInterrupt as stop:
        code = code_of(stop)
    except BaseException:  # noqa: BLE001 - a child of fork must not unwind into its parent's frames
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


def _outer_parent() -> int:
    """Return the parent as the still mounted outer /proc sees it; getppid() is 0 in here."""
    stat = Path("/proc/self/stat").read_text(encoding="utf-8")
    return int(stat.rpartition(")")[2].split()[1])


def _mount_own_views() -> None:
    if _libc.mount(None, b"/", None, _MOUNT_PRIVATE, None) != 0:
        _make_root_a_mount()
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        _libc.mount(None, line.split()[4].encode(), None, _MOUNT_PRIVATE, None)
    for kind, place in ((b"proc", b"/proc"), (b"sysfs", b"/sys")):
        _checked(_libc.mount(kind, place, kind, 0, None))


def _make_root_a_mount() -> None:
    """Make a chroot's / the root of the new mount namespace, for all who enter it by setns."""
    here = Path.cwd()
    root = os.open("/", os.O_PATH)
    own = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    _checked(_libc.setns(own, _NEW_MOUNT))  # leaves the chroot, so that its path can be told
    path = bytes(Path(f"/proc/self/fd/{root}").readlink())
    _checked(_libc.mount(None, b"/", None, _MOUNT_PRIVATE, None))
    _checked(_libc.mount(path, path, None, _MOUNT_BIND | _MOUNT_RECURSIVE, None))
    os.chdir(path)
    _checked(_libc.pivot_root(b".", b"."))
    _checked(_libc.umount2(b".", _DETACH))
    os.chdir(here)
    os.close(own)
    os.close(root)


def _keep(child: int) -> int:
    """Wait for the child, and pass on what programs signal; a terminal signals both by itself."""
    watched = {*FORWARDED, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        told = signal.sigwaitinfo(watched)
        if told.si_signo != signal.SIGCHLD and told.si_code <= SENT_BY_PROGRAM:
            os.kill(child, told.si_signo)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
