"""Waiting for a condition."""

import time


def eventually(what, condition, seconds=60, pause=0.05):
    """Waits until `condition()` is true, and returns its value. If it raises an error, that counts as false. `pause`: between two looks."""
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
            raise AssertionError(f"not within {seconds} s: {what}") from last
        time.sleep(pause)
