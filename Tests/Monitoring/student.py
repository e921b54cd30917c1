"""Students who sign in by the identity emulator's Google, study, and write to each other, so that the metrics have values."""

import base64
import hashlib
import re

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# People whom the identity emulator knows.
SUBS = {"dana": "100000000000000000001", "emil": "100000000000000000002"}


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def call(method, url, body=None, token=None):
    response = requests.request(
        method, url, json=body, headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=60)
    assert response.ok, f"{method} {url}: {response.status_code} {response.text[:500]}"
    return response.json() if response.content else None


class Student:
    def __init__(self, product, name="dana"):
        self.product = product
        self.name = name
        self.url = product.url + "/user"
        emulator = re.search(r"sign-in +(http://[^\s,]+),", (product.folder / "msi-up.log").read_text())[1]
        self.key = ec.generate_private_key(ec.SECP256R1())
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.device = {"key": encoded(point), "platform": "web"}
        order = {"provider": "google", "sub": SUBS[name], "claims": {"nonce": encoded(hashlib.sha256(point).digest())}}
        self.token = call("POST", emulator + "/control/token", order)["token"]

    def sign_in(self):
        """Registers, signs in, and uses the token of the device."""
        call("POST", self.url, {"account": self.name, **self.proven()})
        # From a super user. The token of the next sign-in has the mark.
        self.product.api("PUT", f"/account/{self.name}", {"professor": True})
        self.token_of_device = call("PUT", self.url, self.proven())["token"]
        assert call("GET", self.url, token=self.token_of_device)["account"] == self.name

    def study(self):
        """Creates a class, starts a session in it, joins it, posts, and ends it."""
        ask = self.ask
        sessions = "/classes/" + ask("POST", "/class", {"name": "Optics", "identification_key": "PH1"})["id"] + "/sessions"
        place = {"latitude": 51.5007, "longitude": -0.1246}
        draft = {"topics": ["Lenses"], "place": place, "minutes": 60, "sponsored": True, "attends": False}
        one = sessions + "/" + ask("POST", sessions, draft)["session"]["id"]
        ask("POST", one, {})
        ask("POST", one + "/posts", {"text": "Room 4"})
        ask("DELETE", one)

    def ask(self, method, path, body=None):
        return call(method, self.product.url + path, body, self.token_of_device)

    def write_to(self, friend):
        """Makes friends, and sends a message that the friend gets and reads. Then the hub removes it."""
        self.ask("POST", "/user/friends", {"account": friend.name})
        friend.ask("PUT", f"/user/friends/{self.name}", {"accept": True})
        message = self.ask("POST", "/user/messages", {"to": friend.name, "text": "See you at three"})["id"]
        news = friend.ask("GET", f"/user/messages?prompt={message}")
        assert [one["id"] for one in news["messages"]] == [message]
        friend.ask("PUT", "/user/messages/received", {"after": news["after"]})
        friend.ask("PUT", f"/user/messages/{message}/read")

    def proven(self):
        """The body of a sign-in, with the proof that the device has the key."""
        nonce = call("GET", self.url + "/challenge")["nonce"]
        text = f"msi device proof\nsign-in\n{nonce}\n{hashlib.sha256(self.token.encode()).hexdigest()}"
        numbers = utils.decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return {
            "credential": {"provider": "google", "id_token": self.token}, "device": self.device, "nonce": nonce,
            "proof": encoded(b"".join(number.to_bytes(32, "big") for number in numbers))}
