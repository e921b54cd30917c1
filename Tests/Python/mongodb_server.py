"""A server with MongoDB's protocol that stores on disk, for the tests: SecantusDB, with its own flags.

It stops when its standard input ends, so that it does not outlive its test.
"""

import os
import signal
import sys
import threading

from secantus.cli import main


def stop_when_abandoned():
    # Not through sys.stdin: a thread must not hold its lock when Python ends.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    # The thread that started it may have blocked signals.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    threading.Thread(target=stop_when_abandoned, daemon=True).start()
    sys.exit(main())
