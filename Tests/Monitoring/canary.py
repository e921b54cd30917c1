"""The canary beside the product, with a phone at the emulator that reports each message at once."""

import json
import secrets
import subprocess
import threading

import requests
from harness import processes

AS_OWNER = {"Authorization": "Bearer owner", "access_token_auth": "true"}


class Canary:
    def __init__(self, product):
        self.product = product
        self.topic = product.new_subject("Canary").topic_key
        self.certificate = product.folder / "fcm-emulator" / "ca.pem"
        self.registration = self.emulator("POST", "/emulator/devices").json()["token"]
        self.emulator(
            "POST", "/iid/v1:batchAdd", json={"to": f"/topics/{self.topic}", "registration_tokens": [self.registration]})
        # It ends with the process: a stream of events has no end.
        threading.Thread(target=self.report, daemon=True).start()
        token = product.api("POST", "/token", {"name": "canary", "rights": ["read", "send"], "scope": [self.topic]})["secret"]
        self.address = f"127.0.0.1:{processes.free_port()}"
        environment = {
            **product.environment, "MSI_CANARY_TOPIC": self.topic, "MSI_CANARY_TOKEN": token, "MSI_CANARY_INTERVAL": "1",
            "MSI_CANARY_PUSH_PORT": str(product.push_port),
            "MSI_METRICS_PORT": self.address.partition(":")[2]}
        self.log = (product.folder / "log" / "msi-canary.log").open("wb")
        self.process = subprocess.Popen(
            [product.executables / "msi-canary"], env=environment, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT)

    def emulator(self, method, path, **arguments):
        arguments.setdefault("timeout", 20)
        response = requests.request(
            method, self.product.emulator_url + path, headers=AS_OWNER, verify=self.certificate, **arguments)
        response.raise_for_status()
        return response

    def report(self):
        installation, number = secrets.token_hex(12), 0
        events = self.emulator("GET", f"/emulator/devices/{self.registration}/events", stream=True, timeout=None)
        for line in events.iter_lines(chunk_size=1):
            if not line.startswith(b"data: "):
                continue
            number += 1
            message = json.loads(line[6:])["data"]["msi_key"]
            requests.post(
                f"{self.product.url}/receipt", timeout=60,
                json={"installation": installation, "report": number, "received": [message], "opened": []})

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        self.log.close()
