"""Waiting for a condition, for the tests of several machines and of the packages."""

import subprocess
import time


class Failure(Exception):
    """A check has failed, or a command has."""


def wait_until(what, condition, seconds=120, pause=0.1):
    """Waits for a condition, and returns its value. An exception of it counts as not yet."""
    end = time.monotonic() + seconds
    error = None
    while True:
        try:
            value = condition()
            error = None
            if value:
                return value
        except (Failure, OSError, ValueError, LookupError, subprocess.SubprocessError) as failure:
            error = failure
        if time.monotonic() > end:
            raise Failure(f"after {seconds} s: {what}" + (f" ({error})" if error else ""))
        time.sleep(pause)
