"""Forwards connections from the loopback interfaces of hosts to this namespace's own: FCM is reached like that from everywhere.

    forward.py PORT HOST...
"""

import ctypes
import os
import socket
import sys
import threading

CLONE_NEWNET = 0x40000000


def enter(path):
    """The calling thread enters a network namespace. Its sockets stay there."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(descriptor)


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(listener, port):
    while True:
        peer, _ = listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", port), 5)
        except OSError:
            peer.close()
            continue
        for one, other in ((peer, server), (server, peer)):
            threading.Thread(target=copy, args=(one, other), daemon=True).start()


def main():
    port = int(sys.argv[1])
    listeners = []
    for host in sys.argv[2:]:
        enter(f"/run/netns/{host}")
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        listeners.append(listener)
    enter("/proc/1/ns/net")
    threads = [threading.Thread(target=serve, args=(listener, port)) for listener in listeners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
