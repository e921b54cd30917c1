"""A student whose device a test plays: a key that signs, and requests with the device's token."""

import hashlib

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .product import PASSWORD, Refused
from .push_service import encoded


class Person:
    """Registers with `PASSWORD` under a name that no other test uses, unless `account` is one that exists, and signs in."""

    def __init__(self, product, name="carla", account=None):
        self.product = product
        self.account = account or product.unique(name).replace(" ", "")
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.point = encoded(self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
        self.token = None
        credential = {"provider": "password", "account": self.account, "password": PASSWORD}
        subject = hashlib.sha256(self.account.lower().encode()).hexdigest()
        device = {"key": self.point, "platform": "web", "name": "A test", "language": "en"}
        if account is None:
            self.request("POST", "/user", {"account": self.account, "credential": credential, "device": device, **self.proof("sign-in", subject)})
        answer = self.request("PUT", "/user", {"credential": credential, "device": device, **self.proof("sign-in", subject)})
        self.device, self.token = answer["device"], answer["token"]

    def renew(self):
        """Gets another token, which says what the account may do now."""
        answer = self.request("POST", "/user/token", {"device": self.device, **self.proof("token", self.device)})
        self.token = answer["token"]
        return self

    def proof(self, purpose, subject):
        """The members of a body that prove that it comes from the device."""
        nonce = self.request("GET", "/user/challenge")["nonce"]
        text = f"msi device proof\n{purpose}\n{nonce}\n{subject}"
        numbers = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return {"nonce": nonce, "proof": encoded(b"".join(number.to_bytes(32, "big") for number in numbers))}

    def request(self, method, path, body=None):
        """The document of an answer; `Refused` if it is no success."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = requests.request(method, self.product.url + path, json=body, headers=headers, timeout=60)
        if not response.ok:
            raise Refused(response)
        return response.json() if response.content else None

    def ask(self, other):
        """Asks for somebody's friendship, or accepts it."""
        return self.request("POST", "/user/friends", {"account": getattr(other, "account", other)})

    def friends(self):
        return self.request("GET", "/user/friends")["friends"]
