"""A container that boots the systemd of this machine, on an overlay of the machine's own root.

Nothing outside changes: the overlay and all mounts are in a mount namespace, the network is private, the cgroups are a subtree that
is removed at the end, and the processes are in a PID namespace, so that they end with this program.
"""

import os
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

from harness.waiting import Failure, eventually

# The environment of commands in the container.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
    "DEBIAN_FRONTEND": "noninteractive", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"}


class Container:
    """Must run in separate namespaces, see `isolated`."""

    def __init__(self, work, hidden):
        self.root = work / "root"
        layers = [work / name for name in ("upper", "work")]
        for folder in [self.root, *layers]:
            folder.mkdir()
        subprocess.run(
            ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={layers[0]},workdir={layers[1]}", self.root], check=True)
        self.prepare()
        self.console = work / "console"
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", f"--directory={self.root}", "--boot", "--register=no", "--keep-unit", "--link-journal=no",
                "--private-network", "--machine=msi-test", "--hostname=hub", "--console=pipe", "--resolv-conf=off",
                *[f"--tmpfs={path}" for path in hidden]],
            stdin=subprocess.DEVNULL, stdout=self.console.open("wb"), stderr=subprocess.STDOUT,
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        self.leader = eventually("nspawn starts no container", self.find_leader, 60)

    def prepare(self):
        """Leaves only what every Debian starts, and lets the packages' scripts start services."""
        for folder in ("etc/systemd/system", "etc/systemd/user"):
            for links in list((self.root / folder).glob("*.wants")) + list((self.root / folder).glob("*.requires")):
                shutil.rmtree(links)
        # The last one would let dpkg write the index of all manuals after each installation.
        for pattern in (
            "etc/rc?.d/*", "usr/sbin/policy-rc.d", "var/lib/systemd/deb-systemd-helper-enabled/msi*", "var/lib/man-db/auto-update"):
            for path in self.root.glob(pattern):
                path.unlink()
        # Without one, systemd would enable everything again, as at the first boot of a machine.
        (self.root / "etc/machine-id").write_text(uuid.uuid4().hex + "\n")
        # Units that a container without a network and a terminal only waits for.
        for unit in ("systemd-networkd.service", "systemd-resolved.service", "systemd-timesyncd.service", "console-getty.service"):
            link = self.root / "etc/systemd/system" / unit
            link.unlink(missing_ok=True)
            link.symlink_to("/dev/null")
        (self.root / "var/log/journal").mkdir(exist_ok=True)

    def find_leader(self):
        if self.nspawn.poll() is not None:
            raise Failure(f"systemd-nspawn has ended with {self.nspawn.returncode}: {self.console_text()}")
        # nspawn's first child only prepares. The leader is the first process of its PID namespace.
        for child in Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            if any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in status.splitlines()):
                return int(child)
        return None

    def console_text(self):
        """The end of what systemd has printed."""
        return self.console.read_text(errors="replace")[-2000:]

    def start(self, *command, **options):
        """Starts a command in the container."""
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wdns=/", "--",
                *command],
            env=ENVIRONMENT, text=True, **options)

    def run(self, *command, input=None, seconds=180, check=True):
        """Runs a command in the container, and returns what it prints."""
        process = self.start(
            *command, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(input, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure(f"{' '.join(command)[:200]} takes more than {seconds} s") from None
        if check and process.returncode != 0:
            raise Failure(f"{' '.join(command)[:200]} ended with {process.returncode}: {(err or out).strip()[-2000:]}")
        return out

    def status(self, *command, seconds=180):
        """Runs a command in the container, and returns its exit status."""
        process = self.start(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"{' '.join(command)} takes more than {seconds} s") from None

    def path(self, text):
        """A path of the container, seen from outside. Its /run and /tmp are only in its own mount namespace."""
        return Path(f"/proc/{self.leader}/root") / text.lstrip("/")

    def boot(self):
        """Waits until systemd has started everything."""
        def is_running():
            state = self.run("systemctl", "is-system-running", check=False).strip()
            if state not in ("running", "degraded"):
                jobs = self.run("systemctl", "list-jobs", "--no-legend", check=False).strip()
                raise Failure(f"it is {state or 'not there'}; its jobs: {jobs}; its console: {self.console_text()}")
            return True
        eventually("systemd in the container is not running", is_running, 180)

    def stop(self):
        if self.nspawn.poll() is None:
            # nspawn hands SIGTERM to systemd as a request to power off.
            self.nspawn.terminate()
            try:
                self.nspawn.wait(30)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()
        subprocess.run(["umount", "--lazy", self.root], check=False)


def isolated(work, *command):
    """Runs a command in new namespaces and a new cgroup, and returns its exit status.

    The caller is already in a separate mount namespace.
    """
    cgroups = work / "cgroups"
    cgroups.mkdir()
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", cgroups], check=True)
    group = cgroups / f"msi-systemd-test-{os.getpid()}"
    group.mkdir()

    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()))

    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--cgroup", "--", *command], preexec_fn=enter)
    # The end of unshare ends everything in its PID namespace. It ignores SIGTERM.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: process.kill())
    try:
        return process.wait()
    finally:
        process.kill()
        def is_removed():
            for folder in sorted(group.rglob("*"), reverse=True):
                if folder.is_dir():
                    folder.rmdir()
            group.rmdir()
            return True
        eventually("the cgroups of the container cannot be removed", is_removed, 60)


def prepare_namespaces():
    """In the new namespaces: what nspawn writes to /run stays inside, and it sees no other cgroups."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    # Those of version 1, which some machines have, are mounted below.
    while subprocess.run(["umount", "-R", "/sys/fs/cgroup"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        pass
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], check=True)
