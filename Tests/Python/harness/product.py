"""A running product: every process of `msi up`, with accounts and the sample cube."""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import requests

from . import processes
from .subject import Subject
from .waiting import eventually

PASSWORD = "copper-lantern-orchard"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
# For how many seconds a confirmed password counts.
CONFIRMATION = 300
numbers = itertools.count(1)


class Refused(Exception):
    """An answer of the gateway that is no success."""

    def __init__(self, response):
        super().__init__(f"{response.request.method} {response.request.path_url}: {response.status_code} {response.text[:500]}")
        self.status = response.status_code


class Product:
    """`admin` is a super user; `ann` and `ben` are communicators. All have the password `PASSWORD`."""

    def __init__(self, executables, settings=lambda product: {}):
        """`settings(product)` returns further variables of the environment; the product has its addresses by then."""
        self.executables = pathlib.Path(executables)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="msi-browser-"))
        self.gateway_port, self.emulator_port, identity_port = (processes.free_port() for _ in range(3))
        self.url = f"http://127.0.0.1:{self.gateway_port}"
        self.cookie = f"msi_session_{self.gateway_port}"
        self.emulator_url = f"https://127.0.0.1:{self.emulator_port}"
        self.identity_url = f"http://127.0.0.1:{identity_port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MSI_")},
            "MSI_STATE_DIR": str(self.folder),
            "MSI_GATEWAY_PORT": str(self.gateway_port),
            "MSI_FCM_EMULATOR_PORT": str(self.emulator_port),
            "MSI_IDENTITY_EMULATOR_PORT": str(identity_port),
            "MSI_PHONE_PORT": "0",
            # One account does in a minute what many people do.
            "MSI_GATEWAY_ACCOUNT_REQUESTS": "100000",
        }
        self.environment |= settings(self)
        self.sessions, self.confirmations = {}, {}
        self.is_ending = False
        self.output = (self.folder / "msi-up.log").open("wb")
        self.up = subprocess.Popen(
            [self.executables / "msi", "up"], env=self.environment, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)
        try:
            self.fill()
        except BaseException:
            print(self.logs())
            self.stop()
            raise

    def fill(self):
        eventually("the first account", lambda: b"\nready: " in (self.folder / "msi-up.log").read_bytes())
        self.wait_until_healthy()
        # A new password ends the operator's token.
        self.command("account", "password", "admin", typed=PASSWORD)
        self.command("account", "token")
        for account in ("ann", "ben"):
            self.add_account(account)
        self.command("sample")

    def end(self):
        """Begins to stop, as by Ctrl-C."""
        if not self.is_ending:
            self.is_ending = True
            self.up.send_signal(signal.SIGTERM)

    def stop(self):
        """Stops it, and removes its folder."""
        self.end()
        try:
            self.up.wait(90)
        except subprocess.TimeoutExpired:
            self.up.kill()
            self.up.wait()
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self):
        """The end of each log; nothing of a product that has stopped."""
        texts = []
        for path in sorted([*self.folder.glob("msi-up.log"), *self.folder.glob("log/*.log")]):
            lines = path.read_text(errors="replace").splitlines()
            texts.append("\n".join([f"--- {path.name}, the last of {len(lines)} lines", *lines[-25:]]))
        return "\n".join(texts)

    # Commands and requests

    def command(self, *arguments, typed=None):
        """Runs `msi` with arguments, and returns what it prints."""
        done = subprocess.run(
            [self.executables / "msi", *arguments], env=self.environment, input=(typed or "") + "\n", text=True, capture_output=True, timeout=120)
        assert done.returncode == 0, f"msi {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def api(self, method, path, body=None, account=None, headers=None):
        """The document of an answer of the gateway; `Refused` if it is no success. Without an account, with the operator's token."""
        if account is None:
            client, headers = requests, {"Authorization": f"Bearer {(self.folder / 'token').read_text().strip()}", **(headers or {})}
        else:
            client, headers = self.session(account), {**SAME_ORIGIN, **(headers or {})}
        response = client.request(method, self.url + path, json=body, headers=headers, timeout=60)
        if not response.ok:
            raise Refused(response)
        return response.json() if response.content else None

    def sign_in(self, account):
        """Signs an account in, and returns the client that is signed in. Hashing the password takes a tenth of a second."""
        session = requests.Session()
        answer = session.post(self.url + "/session", json={"account": account, "password": PASSWORD}, timeout=60)
        assert answer.ok, answer.text
        return session

    def session(self, account, confirmed=False):
        """The client with the account's sign-in, which all tests share; `confirmed`: the one whose password has just been confirmed."""
        key = account, confirmed
        if key not in self.sessions:
            self.sessions[key] = self.sign_in(account)
        if confirmed and time.monotonic() - self.confirmations.get(account, -CONFIRMATION) > CONFIRMATION / 2:
            answer = self.sessions[key].put(self.url + "/session", json={"password": PASSWORD}, headers=SAME_ORIGIN, timeout=60)
            assert answer.ok, answer.text
            self.confirmations[account] = time.monotonic()
        return self.sessions[key]

    def is_healthy(self):
        return requests.get(self.url + "/health", timeout=20).json()["status"] == "ok"

    def wait_until_healthy(self):
        eventually("a healthy product", self.is_healthy)

    # Things for one test

    def unique(self, name):
        """A name that no other test uses."""
        return f"{name} {next(numbers)}"

    def new_account(self, name="carla", role="communicator"):
        """Adds an account with `PASSWORD`, and returns its name."""
        return self.add_account(f"{name}{next(numbers)}", role)

    def add_account(self, account, role="communicator"):
        self.api("POST", "/account", {"account": account, "password": PASSWORD, "role": role})
        return account

    def new_channel(self, name="Channel"):
        """Adds a channel with a unique name, and returns its document."""
        return self.api("POST", "/channel", {"name": self.unique(name), "desc": ""})

    def new_area(self, channel, name="Area"):
        return self.api("POST", f"/area/{channel['_id']}", {"name": self.unique(name), "desc": ""})

    def new_subject(self, name="Subject", distribution="Information", level="", channel=None, area=None, approval=False):
        """Adds a subject with a unique name, by default in a new channel and a new area."""
        channel = channel or self.new_channel()
        area = area or self.new_area(channel)
        document = self.api(
            "POST", f"/subject/{channel['_id']}/{area['id']}",
            {"name": self.unique(name), "desc": "", "opt": {"level": level, "distribution": distribution}})
        if approval:
            self.api("PUT", f"/approval/{channel['_id']}/{area['id']}/{document['id']}", {"approval": True})
        return Subject(channel, area, document)

    def send(self, subject, title="A title", message="A text.", account=None, **fields):
        """Sends a message, and returns its `msi_key`."""
        desc = fields.pop("desc", title if subject.distribution == "Alert" else "")
        body = {
            "title": title, "desc": desc, "message": message, "topic_key": subject.topic_key, "distribution": subject.distribution, **fields}
        return self.api("POST", "/message", body, account)["msi_key"]

    def message(self, msi_key):
        return self.api("GET", f"/message/{msi_key}")

    def wait_for_state(self, msi_key, *states):
        """Waits until a message is in one of the states, and returns it."""

        def found():
            message = self.message(msi_key)
            return message if message["relay"]["state"] in states else None

        return eventually(f"{msi_key} in {states}", found)

    def data_sent(self, msi_key):
        """The data that FCM got for a message."""
        message = self.wait_for_state(msi_key, "relayed")
        sends = self.emulator("GET", f"/emulator/messages?topic={message['topic_key']}")
        datas = [send["body"]["message"]["data"] for send in sends if "notification" not in send["body"]["message"]]
        return next(data for data in datas if data["msi_key"] == msi_key)

    # Faults

    def emulator(self, method, path, body=None):
        """A request to the FCM emulator: see Services/FCMEmulator/API.md."""
        # Only this machine's emulator is asked, so its certificate does not matter.
        response = requests.request(method, self.emulator_url + path, json=body, verify=self.folder / "fcm-emulator" / "ca.pem", timeout=60)
        if not response.ok:
            raise Refused(response)
        return response.json() if response.content else None

    @contextlib.contextmanager
    def faults(self, *rules):
        """FCM treats its clients by these rules: `with product.faults({"fault": "UNREGISTERED", "topic": key})`. Rules that name no topic
        disturb other tests: use `spare_product` for them."""
        before = self.emulator("GET", "/emulator/faults").get("rules", [])
        keep = ("fault", "share", "count", "topic", "on", "body", "retry_after_s", "fixed_ms")
        before = [{name: rule[name] for name in keep if name in rule} for rule in before]
        self.emulator("PUT", "/emulator/faults", {"rules": [*rules, *before]})
        try:
            yield
        finally:
            self.emulator("PUT", "/emulator/faults", {"rules": before})

    def kill(self, service):
        """Kills a service, such as "msi-gateway", and waits until the product has replaced it and is healthy."""
        processes.kill(self.up.pid, service)
        self.wait_until_healthy()

    @contextlib.contextmanager
    def frozen(self, service):
        """A service does not run: `with spare_product.frozen("msi-people")`. Requests that need it wait."""
        with processes.frozen(self.up.pid, service):
            yield
        self.wait_until_healthy()

    @contextlib.contextmanager
    def away(self, *services):
        """Services are away: requests that need them fail."""
        with contextlib.ExitStack() as stack:
            for service in services:
                stack.enter_context(processes.away(self.up.pid, service))
            yield
        self.wait_until_healthy()
