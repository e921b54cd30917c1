"""Reads every packet of the bridge's namespace, like a listener in the network."""

import socket
import struct
import threading

ALL_PROTOCOLS = 0x0003


class Wire:
    """Counts the packets to and from some TCP ports, and those that contain a text."""

    def __init__(self, ports, text):
        self.ports = ports
        self.text = text
        self.packets = 0
        self.readable = 0
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        self.socket.settimeout(0.5)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while not self.is_over.is_set():
            try:
                packet = self.socket.recv(65536)
            except TimeoutError:
                continue
            # Ethernet with IPv4 and TCP.
            if len(packet) < 54 or packet[12:14] != b"\x08\x00" or packet[23] != 6:
                continue
            start = 14 + 4 * (packet[14] & 15)
            if self.ports.isdisjoint(struct.unpack("!HH", packet[start:start + 4])):
                continue
            self.packets += 1
            self.readable += self.text in packet

    def finish(self):
        self.is_over.set()
        self.thread.join(5)
        self.socket.close()
        return self.packets, self.readable
