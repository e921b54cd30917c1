"""The product on the four hosts.

| host | runs |
|---|---|
| hub-a | a gateway |
| hub-b | a gateway, a message log |
| hub-c | the cube, the people, the broadcast and the study service, a message log, a relay |
| hub-d | the cube, the people and the broadcast service, a relay |

With another version's executables, hub-b and hub-d run that version, so each service has an instance of either version. The study
service has only one, since 1.0.0 has none; without it no gateway would be well.

The database (MongoDB's protocol) is at the bridge's own address. FCM is the emulator; each relay reaches it on its own loopback
interface, through a forwarder.
"""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from harness.waiting import Failure, eventually
from hosts import OUTSIDE, Network

TESTS = Path(__file__).resolve().parents[1]
PORTS = {"cube": 7101, "people": 7102, "broadcast": 7103, "message-log": 7104, "fcm-relay": 7105, "study": 7106}
# The hosts of each service that the gateways use.
PLACES = {"people": "cd", "cube": "cd", "broadcast": "cd", "fcm-relay": "cd", "message-log": "bc", "study": "c"}
PASSWORD = "correct-horse-battery"


class Product:
    def __init__(self, executables, beside, work):
        self.executables = executables
        # By the hosts' letters.
        self.others = {letter: beside for letter in "bd"} if beside else {}
        self.work = work
        self.network = Network(work)
        self.outside = []
        self.hosts = {name: self.network.add(name, number + 1) for number, name in enumerate(["hub-a", "hub-b", "hub-c", "hub-d"])}
        self.keys = {}

    def __getitem__(self, letter):
        return self.hosts[f"hub-{letter}"]

    # The start.

    def start(self):
        for host in self.hosts.values():
            self.make_key(host)
        self.write_peers()
        self.start_outside()
        for service, letters in PLACES.items():
            for letter in letters:
                self.start_service(letter, service)
        for letter in "ab":
            self.start_service(letter, "gateway")
        self.make_accounts()

    def make_key(self, host):
        line = host.run(self.program("msi"), "keys", "new", "--name", host.name, self.key_file(host))
        self.keys[host.name] = line.strip()

    def key_file(self, host):
        return self.work / f"{host.name}.key"

    def peers_file(self, host):
        return self.work / f"{host.name}.peers"

    def write_peers(self, without=None):
        """Writes each host's list of peers, as an editor does: a new file in the place of the old one."""
        lines = [line for name, line in self.keys.items() if name != without]
        for host in self.hosts.values():
            draft = self.work / "draft"
            draft.write_text("\n".join(lines) + "\n")
            draft.rename(self.peers_file(host))

    def start_outside(self):
        """The database and FCM."""
        self.database_port = self.listening(
            "mongodb", sys.executable, TESTS / "Python/mongodb_server.py", "--host", OUTSIDE, "--port", "0", "--sync-on-commit",
            "--storage-path", self.work / "mongodb")
        emulator = self.start_here("emulator", self.program("msi-fcm-emulator"), environment={
            "MSI_STATE_DIR": str(self.work / "emulator"), "MSI_FCM_EMULATOR_PORT": "8443"})
        eventually("the emulator does not start", lambda: self.emulator("/emulator/status") or emulator.poll())
        self.start_here("forwarder", sys.executable, TESTS / "Network/forward.py", "8443", "hub-c", "hub-d")

    def listening(self, name, *arguments):
        self.start_here(name, *arguments)
        log = self.work / f"{name}.log"
        return eventually(f"{name} does not listen", lambda: int(log.read_text().split("listening on ")[1].split(":")[1].split()[0]))

    def start_here(self, name, *arguments, environment=None):
        log = (self.work / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [str(argument) for argument in arguments], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
            env=(environment or {}) | {"PATH": "/usr/bin:/bin", "HOME": str(self.work)})
        self.outside.append(process)
        return process

    def start_service(self, letter, service):
        host = self[letter]
        listen = {}
        if port := PORTS.get(service):
            listen[setting(service, "LISTEN")] = f"tcp://0.0.0.0:{port}"
            if service != "fcm-relay":
                listen[setting(service, "EVENTS_LISTEN")] = f"tcp://0.0.0.0:{port + 100}"
        host.start(service, self.program(f"msi-{service}", letter), environment=self.settings(host) | listen)

    def restart(self, letter, service):
        process = self[letter].processes.pop(service)
        process.terminate()
        process.wait(180)
        self.start_service(letter, service)
        eventually(f"{service} is not ready again", lambda: self[letter].log(service).count(": ready") > 1)

    def settings(self, host):
        endpoints = {}
        for service, letters in PLACES.items():
            port = PORTS[service]
            endpoints[setting(service, "ENDPOINTS")] = ",".join(f"tcp://hub-{letter}:{port}" for letter in letters)
            if service != "fcm-relay":
                endpoints[setting(service, "EVENTS_ENDPOINTS")] = ",".join(f"tcp://hub-{letter}:{port + 100}" for letter in letters)
        return endpoints | {
            "MSI_STATE_DIR": str(host.folder), "MSI_LOG_FORMAT": "text",
            "MSI_BUS_KEY_FILE": str(self.key_file(host)), "MSI_BUS_PEERS_FILE": str(self.peers_file(host)),
            "MSI_DATABASE_URL": f"mongodb://{OUTSIDE}:{self.database_port}/campus?retryWrites=false",
            "MSI_FCM_ENDPOINT": "https://127.0.0.1:8443", "MSI_FCM_CA_FILE": str(self.work / "emulator/fcm-emulator/ca.pem"),
            "MSI_FCM_SERVICE_ACCOUNT_FILE": str(self.work / "emulator/fcm-emulator/service-account.json"),
            "MSI_FCM_RAMP": "0",
        }

    def program(self, name, letter=None):
        """An executable of the version on a host, or of this version."""
        return self.others.get(letter, self.executables) / name

    def make_accounts(self):
        """By the operator's command on hub-a, which reaches the people service over the network."""
        host = self["a"]
        settings = self.settings(host)
        eventually(
            "no account can be made", lambda: host.run(
                self.program("msi"), "account", "add", "admin", "--role", "super_user", environment=settings, typed=PASSWORD + "\n"))
        host.run(self.program("msi"), "account", "token", "admin", environment=settings)
        self.token = (host.folder / "token").read_text().strip()
        (self["b"].folder / "token").write_text(self.token + "\n")
        eventually("the cube cannot be filled", lambda: host.run(self.program("msi"), "sample", environment=settings))
        for letter in "ab":
            eventually(f"the gateway of hub-{letter} is not well", lambda letter=letter: self.status(letter).startswith("ok"))

    def status(self, letter):
        return self[letter].run(self.program("msi"), "status", environment=self.settings(self[letter]))

    # Counts.

    def emulator(self, path):
        """An answer of the emulator."""
        import ssl
        context = ssl.create_default_context(cafile=self.work / "emulator/fcm-emulator/ca.pem")
        request = urllib.request.Request("https://127.0.0.1:8443" + path, headers={"Authorization": "Bearer owner"})
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return json.load(answer)
        except urllib.error.URLError as error:
            raise Failure(f"the emulator: {error}") from error

    def check_processes(self):
        for host in self.hosts.values():
            host.check_processes()

    def stop(self):
        """Ends the services in order, so that their last words are in the logs."""
        for host in self.hosts.values():
            for process in host.processes.values():
                process.terminate()
        end = time.monotonic() + 20
        for host in self.hosts.values():
            for process in host.processes.values():
                try:
                    process.wait(max(0.1, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.kill()


def setting(service, rest):
    return f"MSI_{service.upper().replace('-', '_')}_{rest}"
