"""A student who signs in by the identity emulator's Google, so that the metrics of students have values."""

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
    return response.json()


class Student:
    def __init__(self, product):
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
        signed_in = call("PUT", self.url, self.proven())
        assert call("GET", self.url, token=signed_in["token"])["account"] == "dana"

    def proven(self):
        """The body of a sign-in, with the proof that the device has the key."""
        nonce = call("GET", self.url + "/challenge")["nonce"]
        text = f"msi device proof\nsign-in\n{nonce}\n{hashlib.sha256(self.token.encode()).hexdigest()}"
        numbers = utils.decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return {
            "credential": {"provider": "google", "id_token": self.token}, "device": self.device, "nonce": nonce,
            "proof": encoded(b"".join(number.to_bytes(32, "big") for number in numbers))}
