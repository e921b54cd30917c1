"""A server that speaks MongoDB's protocol and stores on disk, for the tests: SecantusDB, with its own flags.

It stops when its standard input ends, so that none outlives the test that started it.
"""

import os
import signal
import sys
import threading

from secantus.cli import main


def stop_when_abandoned():
    # Not through sys.stdin, whose lock a thread must not hold when Python ends.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    # The thread that started it may have kept signals for others.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    threading.Thread(target=stop_when_abandoned, daemon=True).start()
    sys.exit(main())
