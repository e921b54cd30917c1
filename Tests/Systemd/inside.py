"""What runs in the container's namespaces: boots the container, runs the checks one after the other, and prints how each ended.

    inside.py WORK PACKAGES TOOLCHAIN
"""

import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import checks
import debs
from container import Container, prepare_namespaces
from hub import Hub
from waiting import Failure


def main():
    work, packages, toolchain = (Path(text) for text in sys.argv[1:])
    # A deadline of `timeout` ends in the clean-up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the deadline has passed"))
    lintian = debs.start_lintian(packages)
    failed = 0
    container = None
    try:
        # Nothing of the product is in the container yet.
        try:
            prepare_namespaces()
            container = Container(work, [toolchain])
            container.boot()
        except (Failure, OSError, subprocess.SubprocessError) as error:
            print(f"Tests/Systemd/run needs a container with systemd, which this machine cannot boot: {error}", file=sys.stderr)
            return 77
        hub = Hub(container, packages)
        steps = checks.ALL + [lambda hub: checks.lintian_has_no_complaint(lintian)]
        for step in steps:
            failed += not passes(step, hub)
        print(f"{len(steps) - failed} passed, {failed} failed", flush=True)
    finally:
        if container:
            container.stop()
        lintian.kill()
    return 1 if failed else 0


def passes(step, hub):
    start = time.monotonic()
    title = (step.__doc__ or "lintian has no complaint").strip()
    try:
        result = step(hub)
    except Exception as error:
        print(f"failed after {time.monotonic() - start:.0f} s: {title}\n{describe(error)}", flush=True)
        try:
            print("the end of the log:\n" + hub.journal(40), flush=True)
        except (Failure, OSError) as other:
            print(f"there is no log: {other}", flush=True)
        return False
    print(f"passed after {time.monotonic() - start:.0f} s: {title}" + (f" ({result})" if result else ""), flush=True)
    return True


def describe(error):
    return str(error) if isinstance(error, Failure) else "".join(traceback.format_exception(error))


if __name__ == "__main__":
    sys.exit(main())
