"""Waiting for a condition."""

import time


def eventually(what, condition, seconds=20):
    """Waits until `condition()` is true, and returns its value. What it raises meanwhile counts as false."""
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
        time.sleep(0.05)
