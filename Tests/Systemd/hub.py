"""The product in a container: its packages, its units and its programs."""

import json
import re
import subprocess
import time

import debs
from harness.waiting import Failure, eventually

STATE = "/var/lib/msi"
CONFIGURATION = "/etc/msi/msi.env"
EMULATOR = "msi-fcm-emulator.service"
IDENTITY_EMULATOR = "msi-identity-emulator.service"
CANARY = "msi-canary.service"


class Hub:
    def __init__(self, container, packages, lintian):
        self.container = container
        self.lintian = lintian
        # Without the debug symbols, which nothing at run time needs.
        self.packages = [path for path in sorted(packages.glob("*.deb")) if "-dbgsym_" not in path.name]
        self.catalogue = []
        self.files_before = set()

    # Packages.

    def install(self, packages):
        folder = self.container.path("/root/packages")
        folder.mkdir(exist_ok=True)
        for path in packages:
            (folder / path.name).write_bytes(path.read_bytes())
        self.apt("install", "--allow-downgrades", *[f"/root/packages/{path.name}" for path in packages])
        for path in packages:
            (folder / path.name).unlink()

    def apt(self, *arguments):
        """Without a network: this machine has what the packages depend on."""
        self.container.run(
            "apt-get", "--yes", "--quiet", "--no-install-recommends", "--option=Dpkg::Options::=--force-unsafe-io",
            "--option=APT::Sandbox::User=root", *arguments, seconds=600)

    def installed(self, *states):
        """The versions of the product's packages that are installed or in these states of dpkg, by name."""
        lines = self.container.run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}|${Package}|${Version}\n", check=False)
        rows = [line.split("|") for line in lines.splitlines()]
        return {name: version for status, name, version in rows if status.strip() in ("ii", *states) and re.fullmatch(r"msi(-.*)?", name)}

    def version(self):
        """The version of the packages."""
        return self.packages[0].name.split("_")[1]

    def renewed(self, packages, version):
        """The same packages as another version."""
        return [debs.renewed(path, version, self.container.root.parent / "renewed") for path in packages]

    def names(self):
        return [path.name.split("_")[0] for path in self.packages]

    def files(self):
        """The files with the product's name in the folders of the system."""
        return set(self.container.run("find", "/etc", "/usr", "/var/lib", "/run", "-xdev", "-name", "*msi*", check=False).split())

    # Units.

    def read_catalogue(self):
        self.catalogue = json.loads(self.container.run("msi", "services", "--json"))

    def units(self):
        """The services that msi.target starts."""
        return [
            entry["executable"] + ("@1" if entry["may_have_instances"] else "") + ".service"
            for entry in self.catalogue if entry["sockets"] or entry["uses"]]

    def show(self, unit, *names):
        """Properties of a unit, by their names."""
        lines = self.container.run("systemctl", "show", unit, *[f"--property={name}" for name in names]).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def process(self, unit):
        return int(self.show(unit, "MainPID")["MainPID"])

    def is_active(self, unit):
        return self.show(unit, "ActiveState")["ActiveState"] == "active"

    def systemctl(self, *arguments, seconds=180):
        return self.container.run("systemctl", *arguments, seconds=seconds)

    def wait_until_active(self, units, seconds=120):
        for unit in units:
            eventually(f"{unit} is not active", lambda: self.is_active(unit), seconds)

    def wait_until_well(self):
        eventually("msi status is not ok", lambda: self.container.run("msi", "status").startswith("ok"), 120)

    def journal(self, lines=80):
        return self.container.run("journalctl", "--no-pager", "--quiet", f"--lines={lines}", "--unit=msi*", check=False)

    # Messages.

    def configure(self):
        """Lets the hub send to the emulator, with its key as a credential."""
        key = f"{STATE}/fcm-emulator/service-account.json"
        eventually("the emulator writes no key", lambda: self.container.path(key).exists())
        self.container.run("install", "--mode=0600", key, "/etc/credstore/msi-fcm-service-account")
        with self.container.path(CONFIGURATION).open("a") as file:
            file.write(f"MSI_FCM_ENDPOINT=https://127.0.0.1:8443\nMSI_FCM_CA_FILE={STATE}/fcm-emulator/ca.pem\n")

    def load(self, rate=25, phones=5):
        return Load(self.container, rate, phones)


class Load:
    """Messages at a constant rate, counted at phones, until it is told to finish."""

    def __init__(self, container, rate, phones):
        self.container = container
        self.report = f"/tmp/load-{time.monotonic_ns()}.json"
        self.log = container.path(self.report + ".log")
        # Longer than any check.
        self.process = container.start(
            "msi-load", "gateway", f"--rate={rate}", "--duration=3000", f"--phones={phones}", "--topics=5", f"--json={self.report}",
            stdout=self.log.open("w"), stderr=subprocess.STDOUT)
        eventually("no message is sent", lambda: " answered" in self.log.read_text(), 120)

    def finish(self, gateway_restarts=False):
        """Ends the load, and returns a line with the counts. A message that is lost or doubled at a phone is a failure.

        A gateway that stops closes its idle connections. A request that a client is just writing to one of them has no answer; a
        portal repeats it with the same Idempotency-Key. msi-load does not repeat, and counts it.
        """
        if self.process.poll() is not None:
            raise Failure(f"the load ended before the check, with {self.process.returncode}: {self.log.read_text()[-800:]}")
        # The child of nsenter, which hands on no signal.
        self.container.run("pkill", "--exact", "--signal=TERM", "msi-load")
        status = self.process.wait(180)
        text = self.log.read_text()
        if status != 0:
            raise Failure(f"msi-load ended with {status}: {text[-1500:]}")
        report = json.loads(self.container.path(self.report).read_text())
        unanswered = sum(number for kind, number in report["errors"].items() if kind.startswith("connection")) if gateway_restarts else 0
        if report["failed"] > unanswered or unanswered > 3 or not report["accepted"]:
            raise Failure(f"of the messages {report['failed']} failed and {report['accepted']} were accepted: {report['errors']}")
        counted = next(line for line in text.splitlines() if line.startswith("phones")).partition(" ")[2].strip()
        without = f", {unanswered} without an answer" if unanswered else ""
        return f"{report['accepted']} messages{without}, phones {counted}"


class Connections:
    """Connects to the gateway all the time, and counts."""

    SCRIPT = """
import select, socket, sys, time
counts = {"answered": 0, "refused": 0, "unanswered": 0}
request = b"GET /health HTTP/1.1\\r\\nHost: 127.0.0.1:8080\\r\\nConnection: close\\r\\n\\r\\n"
while not select.select([sys.stdin], [], [], 0.005)[0]:
    try:
        with socket.create_connection(("127.0.0.1", 8080), 20) as connection:
            connection.sendall(request)
            counts["answered" if connection.recv(12).startswith(b"HTTP/1.1 ") else "unanswered"] += 1
    except ConnectionRefusedError:
        counts["refused"] += 1
    except OSError:
        counts["unanswered"] += 1
print(*counts.values())
"""

    def __init__(self, container):
        self.process = container.start("python3", "-c", self.SCRIPT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def finish(self):
        """The numbers of connections that were answered, refused, and accepted without an answer."""
        # The end of its input ends it.
        out, _ = self.process.communicate(timeout=120)
        return tuple(int(number) for number in out.split())

