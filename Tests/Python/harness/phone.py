"""A running `msi-phone` beside a product."""

import json
import subprocess

import requests

from . import processes
from .waiting import eventually


class Phone:
    """`control(offline=True)` is what its owner does with it; `state()` is all that its page shows."""

    def __init__(self, product, port=None, **control):
        self.product = product
        self.name = product.unique("phone").replace(" ", "-")
        self.port = port or processes.free_port()
        self.url = None
        self.log = product.folder / f"{self.name}.log"
        folder = product.folder / "phones"
        folder.mkdir(exist_ok=True)
        if control:
            defaults = {"platform": "android", "offline": False, "killed": False, "foreground": True, "language": "en", "clock_offset": 0}
            (folder / f"{self.name}.json").write_text(json.dumps({"format": 1, "control": defaults | control}))
        self.start()

    def start(self):
        environment = {**self.product.environment, "MSI_PHONE_PORT": str(self.port), "TZ": "Europe/Berlin"}
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.product.executables / "msi-phone", "--name", self.name], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        eventually("the phone's page", lambda: self.address() and requests.get(self.url, timeout=20).ok)

    def address(self):
        """Where the process says that its page is."""
        for line in self.log.read_text().splitlines():
            if '"listening"' in line:
                self.url = json.loads(line)["url"]
        return self.url

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the phone did not stop") from None

    def request(self, method, path, body=None):
        response = requests.request(method, self.url + path, json=body, timeout=60)
        assert response.ok, f"{method} {path}: {response.status_code} {response.text}"
        return response

    def control(self, **changes):
        return self.request("PUT", "/control", changes).json()

    def kill(self, **changes):
        """Kills the app, and waits until it has ended: the phone's process does that a moment after its answer."""
        self.control(killed=True, **changes)
        eventually("the app has ended", lambda: self.refresh() == 409)

    def reopen(self, **changes):
        """Kills the app and opens it, and waits until it runs and has looked at the hub."""
        self.kill(**changes)
        self.control(killed=False)
        eventually("the app runs", lambda: self.refresh() == 204)

    def refresh(self):
        """The status of the answer to a look for new messages."""
        return requests.post(self.url + "/refresh", timeout=60).status_code

    # FCM's side of the phone

    def topics(self):
        """The topics to which FCM has it subscribed, as the hub says."""
        return requests.post(self.product.url + "/phone/topics", json={"token": self.token()}, timeout=60).json()["topics"]

    def token(self):
        return json.loads((self.product.folder / "phones" / f"{self.name}.json").read_text())["token"]

    def unsubscribe(self, topic):
        """FCM loses a subscription."""
        self.fcm("/iid/v1:batchRemove", {"to": f"/topics/{topic}", "registration_tokens": [self.token()]})

    def push(self, topic, data):
        """FCM sends a data message that the hub does not know."""
        self.fcm("/v1/projects/msi-emulator/messages:send", {"message": {"topic": topic, "data": data}})

    def fcm(self, path, body):
        headers = {"Authorization": "Bearer owner", "access_token_auth": "true"}
        certificate = self.product.folder / "fcm-emulator" / "ca.pem"
        response = requests.post(self.product.emulator_url + path, json=body, headers=headers, verify=certificate, timeout=60)
        assert response.ok, f"{path}: {response.status_code} {response.text}"

    # What its owner sees

    def state(self):
        with requests.get(self.url + "/events", stream=True, timeout=60) as response:
            for line in response.iter_lines(chunk_size=1):
                if line.startswith(b"data: "):
                    return json.loads(line[6:])
        raise AssertionError("the phone has ended")

    def wait(self, what, condition):
        """Waits until `condition(state)` is true."""
        return eventually(what, lambda: condition(self.state()))

    def set_up(self):
        """Waits until the app is set up, and returns the phone."""
        self.wait("the phone is set up", lambda state: state["initialized"] and state["hub"] == "reachable")
        return self

    def has(self, key):
        return self.message(key) is not None

    def message(self, key):
        return next((message for message in self.state()["messages"] if message["msi_key"] == key), None)
