"""Hosts in network namespaces, on one bridge.

Must run in separate mount, PID and network namespaces. The network namespace of the caller is the bridge's.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from harness.waiting import Failure

# Only in these namespaces; nothing else has such an address there.
PREFIX = "10.83.0."
# The bridge's own address: the database and FCM are there.
OUTSIDE = PREFIX + "254"


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class Network:
    """The bridge, and the names that all hosts know."""

    def __init__(self, work):
        self.work = work
        self.hosts = {}
        # Nothing remains of the namespaces' names in the real folder.
        Path("/run/netns").mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)
        ip("link", "set", "lo", "up")
        ip("link", "add", "bridge", "type", "bridge")
        ip("addr", "add", OUTSIDE + "/24", "dev", "bridge")
        ip("link", "set", "bridge", "up")

    def add(self, name, number):
        self.hosts[name] = Host(self, name, number)
        self.tell_names()
        return self.hosts[name]

    def tell_names(self):
        """Writes the hosts' file of each host in place, since it is mounted there."""
        lines = ["127.0.0.1 localhost"] + [f"{host.address} {host.name}" for host in self.hosts.values()]
        for host in self.hosts.values():
            host.names.write_text("\n".join(lines) + "\n")


class Host:
    """A machine: its network, its folder, and the processes on it."""

    def __init__(self, network, name, number):
        self.network = network
        self.name = name
        self.folder = network.work / name
        self.folder.mkdir()
        self.names = network.work / f"{name}.hosts"
        self.names.write_text("")
        self.address = f"{PREFIX}{number}"
        self.processes = {}
        self.link = f"to-{name}"
        ip("netns", "add", name)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "bus", "netns", name)
        ip("link", "set", self.link, "master", "bridge", "up")
        for arguments in (
            ["link", "set", "lo", "up"], ["link", "set", "bus", "up"], ["addr", "add", self.address + "/24", "dev", "bus"]):
            ip("-n", name, *arguments)

    # Faults.

    def cut(self):
        ip("link", "set", self.link, "down")

    def restore(self):
        ip("link", "set", self.link, "up")

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def signal(self, number):
        for process in self.processes.values():
            process.send_signal(number)

    def move(self, number):
        """Gives the host another address, and tells its name to all."""
        ip("-n", self.name, "addr", "del", self.address + "/24", "dev", "bus")
        self.address = f"{PREFIX}{number}"
        ip("-n", self.name, "addr", "add", self.address + "/24", "dev", "bus")
        self.network.tell_names()

    # Processes.

    def command(self, arguments):
        script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
        return [
            "nsenter", f"--net=/run/netns/{self.name}", "unshare", "--mount", "sh", "-c", script, "sh", str(self.names),
            *map(str, arguments)]

    def run(self, *arguments, environment=None, typed="", seconds=180):
        """Runs a command to its end, and returns what it prints."""
        done = subprocess.run(
            self.command(arguments), env=os.environ | (environment or {}), input=typed, text=True, capture_output=True,
            timeout=seconds, check=False)
        if done.returncode != 0:
            raise Failure(f"{arguments[1:]} on {self.name} ended with {done.returncode}: {done.stdout}{done.stderr}"[-2000:])
        return done.stdout

    def start(self, name, *arguments, environment=None):
        log = (self.network.work / f"{self.name}-{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            self.command(arguments), env=os.environ | (environment or {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        return self.processes[name]

    def log(self, name):
        return (self.network.work / f"{self.name}-{name}.log").read_text(errors="replace")

    def check_processes(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Failure(f"{name} on {self.name} has ended with {process.returncode}: {self.log(name)[-1500:]}")


def say(text):
    print(text, flush=True, file=sys.stdout)
