"""The faults, one after the other, while messages flow, and the counts.

    scenario.py EXECUTABLES WORK [EXECUTABLES OF ANOTHER VERSION]
"""

import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

from harness.waiting import Failure, eventually
from hosts import say
from product import PLACES, PORTS, Product
from sender import TEXT
from wire import Wire

RATE = 12
# How long a fault lasts, in seconds: longer than the bus's silence, so that each side notices.
FAULT = 6
# Of all, in seconds.
DEADLINE = 1200


class Load:
    """A sender on each host that has a gateway."""

    def __init__(self, product):
        self.senders = {
            letter: product[letter].start(
                "sender", sys.executable, Path(__file__).with_name("sender.py"), RATE / 2, product[letter].folder / "token")
            for letter in "ab"}
        self.results = []
        self.readers = [threading.Thread(target=self.read, args=(sender,), daemon=True) for sender in self.senders.values()]
        for reader in self.readers:
            reader.start()
        self.product = product

    def read(self, sender):
        for line in sender.stdout:
            self.results.append(line.decode().strip())

    @property
    def accepted(self):
        return [result for result in list(self.results) if " " not in result]

    def flows(self, seconds=120):
        """Waits until messages are accepted again."""
        before = len(self.accepted)
        eventually("no message is accepted", lambda: len(self.accepted) >= before + RATE, seconds)

    def finish(self):
        for sender in self.senders.values():
            sender.stdin.close()
        for letter, sender in self.senders.items():
            sender.wait(240)
            del self.product[letter].processes["sender"]
        for reader in self.readers:
            reader.join(10)
        refused = [result for result in self.results if " " in result]
        if refused:
            raise Failure(f"{len(refused)} messages were not accepted in the end, such as {refused[0]}")
        return self.accepted


def links_are_cut(product, load):
    for letter in "abcd":
        host = product[letter]
        host.cut()
        # Time in which messages meet the fault.
        time.sleep(FAULT)
        host.restore()
        load.flows()


def hosts_are_frozen(product, load):
    for letter in "bcd":
        sender = product[letter].processes.pop("sender", None)
        product[letter].freeze()
        time.sleep(FAULT)
        product[letter].thaw()
        if sender:
            product[letter].processes["sender"] = sender
        load.flows()


def a_host_moves(product, load):
    """Its cube, people and broadcast services, message log and relay are found at the new address by its name."""
    product["c"].move(30)
    for service in ("cube", "people", "message-log", "fcm-relay"):
        eventually(
            f"the {service} of hub-c is not found at its new address",
            lambda service=service: established(product["c"], PORTS[service], product["c"].address))
    eventually(
        "the operator's command finds no people service",
        lambda: product["a"].run(product.program("msi"), "account", "list", environment=product.settings(product["a"])))
    load.flows()


def wrong_keys_are_refused(product, load):
    """A fifth machine with its own key, and one without a key."""
    stranger = product.network.add("stranger", 66)
    product.make_key(stranger)
    # It knows the others, and is not in their lists.
    product.peers_file(stranger).write_text("\n".join(product.keys.values()) + "\n")
    del product.keys["stranger"]
    settings = product.settings(stranger)
    for what, environment, reason in [
        ("with an unknown key", settings, "does not have this machine's key"),
        ("without a key", {name: value for name, value in settings.items() if "_BUS_" not in name} | {
            "MSI_BUS_UNENCRYPTED": "true"}, "this process has no keys"),
    ]:
        done = subprocess.run(
            stranger.command([product.program("msi"), "account", "list"]), env=environment | {"PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=180, check=False)
        if done.returncode != 75 or reason not in done.stderr:
            raise Failure(f"msi account list {what} ended with {done.returncode}: {done.stdout}{done.stderr}")
    eventually("the people service does not log the refused key", lambda: "not in the list of peers" in product["c"].log("people"))
    load.flows()


def a_removed_host_is_refused(product, load):
    """Clients leave hub-d's services while it is not in the lists, and return afterwards. A service of another host still starts."""
    product.write_peers(without="hub-d")
    eventually("the others still use hub-d", lambda: not connections_to(product["d"]))
    product.restart("b", "message-log")
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if connections_to(product["d"]):
            raise Failure("the others use hub-d again")
        time.sleep(0.05)
    load.flows()
    product.write_peers()
    eventually("the message logs do not use hub-d again", lambda: established(product["d"], PORTS["fcm-relay"]))
    load.flows()


def connections_to(host):
    return [row for service in PLACES for row in established(host, PORTS[service])]


def established(host, port, address=None):
    """Connections to a port of a host from other machines, at one of its addresses or any of them."""
    rows = [line.split() for line in Path(f"/proc/{process_of(host)}/net/tcp").read_text().splitlines()[1:]]
    end = f"{hexadecimal(address) if address else ''}:{port:04X}"
    loopback, own = hexadecimal("127.0.0.1"), hexadecimal(host.address)
    return [row for row in rows if row[1].endswith(end) and row[3] == "01" and row[2].split(":")[0] not in (loopback, own)]


def hexadecimal(address):
    """As in /proc/net/tcp."""
    return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))


def process_of(host):
    return next(iter(host.processes.values())).pid


def everything_arrives(product, accepted):
    """Counts at FCM. A component may be there twice if the link to its relay broke before the relay's answer was stored."""
    unique = set(accepted)
    expected = 2 * len(unique)
    eventually(
        "messages are missing at FCM", lambda: product.emulator("/emulator/counts")["distinct"] >= expected, 240, 0.5)
    counts = product.emulator("/emulator/counts")
    lost = [key for key in unique if set(product.emulator(f"/emulator/counts?msi_key={key}")) != {"notification", "data"}]
    say(f"accepted {len(unique)}, lost {len(lost)}, components {counts['distinct']}, doubled {counts['doubled']}")
    if lost or counts["distinct"] != expected:
        raise Failure(f"{len(lost)} of {len(unique)} accepted messages did not reach FCM, or {counts['distinct']} is not {expected}")
    if len(accepted) != len(unique):
        raise Failure("two messages have one msi_key")
    # Those that were between a message log and a relay when a link broke.
    if counts["doubled"] > expected / 10:
        raise Failure(f"{counts['doubled']} of {expected} components were sent twice")


def nothing_is_readable(wire):
    """The bus's packets between the hosts do not show a message."""
    packets, readable = wire.finish()
    say(f"packets of the bus {packets}, with the text of a message {readable}")
    if packets < 1000 or readable:
        raise Failure(f"of {packets} packets of the bus {readable} had the text of a message")


def main():
    executables, work = Path(sys.argv[1]), Path(sys.argv[2])
    beside = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    end = time.monotonic() + DEADLINE
    product = Product(executables, beside, work)
    failed = 0
    passed = 0
    try:
        product.start()
        say("the product runs on four hosts")
        ports = {port + offset for port in PORTS.values() for offset in (0, 100)}
        wire = Wire(ports, TEXT.encode())
        load = Load(product)
        load.flows()
        steps = [links_are_cut, hosts_are_frozen, a_host_moves, wrong_keys_are_refused, a_removed_host_is_refused]
        steps = [(step, (product, load)) for step in steps]
        for step, arguments in steps:
            if time.monotonic() > end:
                raise Failure(f"after {DEADLINE} s not at its end")
            start = time.monotonic()
            step(*arguments)
            product.check_processes()
            passed += 1
            say(f"passed after {time.monotonic() - start:.0f} s: {step.__name__.replace('_', ' ')}")
        everything_arrives(product, load.finish())
        passed += 1
        nothing_is_readable(wire)
        passed += 1
    except (Failure, OSError, subprocess.SubprocessError) as error:
        failed += 1
        traceback.print_exc()
        for path in sorted(work.glob("*.log")):
            lines = path.read_text(errors="replace").splitlines()
            say("\n".join([f"--- {path.name}, the last of {len(lines)} lines", *[line[:500] for line in lines[-15:]]]))
        say(f"error: {error}")
    finally:
        product.stop()
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
