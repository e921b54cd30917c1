"""A student who signs in by the identity emulator's Google, and studies, so that the metrics of both have values."""

import base64
import hashlib
import re

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SUB = "100000000000000000001"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def call(method, url, body=None, token=None):
    response = requests.request(
        method, url, json=body, headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=60)
    assert response.ok, f"{method} {url}: {response.status_code} {response.text[:500]}"
    return response.json() if response.content else None


class Student:
    def __init__(self, product):
        self.product = product
        self.url = product.url + "/user"
        emulator = re.search(r"sign-in +(http://[^\s,]+),", (product.folder / "msi-up.log").read_text())[1]
        self.key = ec.generate_private_key(ec.SECP256R1())
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.device = {"key": encoded(point), "platform": "web"}
        order = {"provider": "google", "sub": SUB, "claims": {"nonce": encoded(hashlib.sha256(point).digest())}}
        self.token = call("POST", emulator + "/control/token", order)["token"]

    def sign_in(self):
        """Registers, signs in, and uses the token of the device."""
        call("POST", self.url, {"account": "dana", **self.proven()})
        # From a super user. The token of the next sign-in has the mark.
        self.product.api("PUT", "/account/dana", {"professor": True})
        self.token_of_device = call("PUT", self.url, self.proven())["token"]
        assert call("GET", self.url, token=self.token_of_device)["account"] == "dana"

    def study(self):
        """Creates a class, starts a session in it, joins it, posts, and ends it."""
        hub = self.product.url

        def ask(method, path, body=None):
            return call(method, hub + path, body, self.token_of_device)

        sessions = "/classes/" + ask("POST", "/class", {"name": "Optics", "identification_key": "PH1"})["id"] + "/sessions"
        place = {"latitude": 51.5007, "longitude": -0.1246}
        draft = {"topics": ["Lenses"], "place": place, "minutes": 60, "sponsored": True, "attends": False}
        one = sessions + "/" + ask("POST", sessions, draft)["session"]["id"]
        ask("POST", one, {})
        ask("POST", one + "/posts", {"text": "Room 4"})
        ask("DELETE", one)

    def proven(self):
        """The body of a sign-in, with the proof that the device has the key."""
        nonce = call("GET", self.url + "/challenge")["nonce"]
        text = f"msi device proof\nsign-in\n{nonce}\n{hashlib.sha256(self.token.encode()).hexdigest()}"
        numbers = utils.decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return {
            "credential": {"provider": "google", "id_token": self.token}, "device": self.device, "nonce": nonce,
            "proof": encoded(b"".join(number.to_bytes(32, "big") for number in numbers))}
