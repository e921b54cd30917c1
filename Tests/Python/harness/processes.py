"""The processes of `msi up`."""

import contextlib
import os
import pathlib
import random
import signal
import socket

from .waiting import eventually


# The sockets that reserve ports. They stay open until this process ends.
reservations = []


def free_port():
    """A port below those that the system gives to clients, so that it stays free while its process restarts.

    It is also below those that `msi up` chooses, and no other process of the tests chooses it before this process has ended.
    """
    while True:
        port = random.randrange(11_000, 15_000)
        if reserve(port):
            return port


def reserve(port):
    """Reserves a port among the processes of the tests, as `FreePort` of the Swift tests does. Returns whether it was free."""
    reservation = socket.socket(socket.AF_UNIX)
    try:
        # An abstract name, which the system releases when the socket is closed: unix(7).
        reservation.bind(f"\0msi-test-port-{port}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        reservation.close()
        return False
    reservations.append(reservation)
    return True


def child(parent, name):
    """The process identifier of the running child of `parent` with this executable, or `None`."""
    for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        for identifier in map(int, task.read_text().split()):
            with contextlib.suppress(OSError):
                # A process that has ended has no executable.
                if pathlib.Path(os.readlink(f"/proc/{identifier}/exe").removesuffix(" (deleted)")).name == name:
                    return identifier
    return None


def kill(parent, name):
    """Kills a child, and waits until `msi up` has started another one. Returns at once if it is being restarted anyway."""
    old = child(parent, name)
    if old is not None:
        os.kill(old, signal.SIGKILL)
    eventually(f"another {name}", lambda: child(parent, name) not in (None, old))


@contextlib.contextmanager
def frozen(parent, name):
    """A child does not run, and its callers get no answer."""
    identifier = eventually(name, lambda: child(parent, name))
    os.kill(identifier, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(identifier, signal.SIGCONT)


@contextlib.contextmanager
def away(parent, name):
    """A child is killed, and the one that `msi up` starts in its place is stopped before it has opened its sockets.

    Afterwards that one continues. So `msi up` has seen a single end, and does not wait before the start.
    """
    ended = eventually(name, lambda: child(parent, name))
    os.kill(ended, signal.SIGKILL)
    # A start takes a few milliseconds.
    stopped = eventually(f"another {name} without sockets", lambda: stopped_at_start(parent, name, ended), 180, pause=0.001)
    try:
        yield
    finally:
        os.kill(stopped, signal.SIGCONT)


def stopped_at_start(parent, name, ended):
    """Stops the child that has replaced `ended`, and returns its identifier; `None` if there is none yet."""
    identifier = child(parent, name)
    if identifier in (None, ended):
        return None
    os.kill(identifier, signal.SIGSTOP)
    # Its sockets belong to threads that it starts.
    if len(os.listdir(f"/proc/{identifier}/task")) == 1:
        return identifier
    os.kill(identifier, signal.SIGKILL)
    return None
