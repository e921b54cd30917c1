"""Waiting for a condition."""

import time


class Failure(AssertionError):
    """A check has failed, or a command has."""


def eventually(what, condition, seconds=120, pause=0.05):
    """Waits until `condition()` is true, and returns its value. If it raises an error, that counts as false.

    `what` is awaited, such as "a healthy product", or says what is wrong until then. `pause`: between two looks.
    """
    end = time.monotonic() + seconds
    while True:
        last = None
        try:
            value = condition()
            if value:
                return value
        except Exception as error:
            last = error
        if time.monotonic() > end:
            raise Failure(f"after {seconds} s, still: {what}" + (f" ({last})" if last else "")) from last
        time.sleep(pause)
