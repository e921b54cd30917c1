"""A push service for the tests: RFC 8030's requests of senders, and Mozilla's protocol of browsers over WebSocket.

Firefox uses it if `dom.push.serverURL` is its `browser_url`. A `Receiver` is a browser that a test plays, without a connection. The
service refuses what Mozilla's and other push services refuse: a request without TTL, with a wrong Topic, Urgency or encoding, too large,
or whose VAPID token is not right. It keeps messages for browsers that are offline, for as long as their TTL says, and replaces those with
the same Topic. `with service.answers(status=503)` lets it answer otherwise.
"""

import base64
import collections
import contextlib
import dataclasses
import http.server
import json
import re
import threading
import time
import uuid
from urllib.parse import urlsplit

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from .waiting import eventually

MAX_BODY = 4096
MAX_TTL = 30 * 86_400
MAX_EXPIRY = 86_400
URGENCIES = {"very-low", "low", "normal", "high"}
TOPIC = re.compile(r"[A-Za-z0-9_-]{1,32}")


def decoded(text):
    """The bytes of a text in URL-safe Base64, with or without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclasses.dataclass
class Endpoint:
    """Where a sender sends the pushes of one subscription."""

    token: str
    # The browser's identifier and that of its subscription; `None` for a receiver.
    user: str | None
    channel: str | None
    # The key of the only sender that may use it.
    key: bytes | None
    # The messages that wait for the browser, or all of a receiver.
    messages: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Message:
    id: str
    body: bytes
    headers: dict
    topic: str | None
    urgency: str
    ttl: int
    arrived: float

    @property
    def is_expired(self):
        return time.time() > self.arrived + self.ttl


@dataclasses.dataclass
class Post:
    """A request of a sender, and what it got."""

    token: str
    status: int
    reason: str
    headers: dict
    body: bytes
    at: float


@dataclasses.dataclass
class Rule:
    """An answer instead of the right one. `count`: to how many requests; `None` for all. `token`: of one endpoint; `None` for all."""

    status: int | None
    headers: dict
    count: int | None
    token: str | None
    delay: float
    hangs: bool


class Refusal(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class PushService:
    """Runs in threads of this process. `url` is the origin of its endpoints."""

    def __init__(self, port=0, browser_port=0):
        self.lock = threading.RLock()
        self.endpoints, self.gone = {}, set()
        # The subscriptions of browsers by their identifiers, and the connections of those that are online.
        self.users, self.online = {}, {}
        self.rules, self.posts = [], []
        # What browsers have said of messages: (message, code). 100 is delivered, 101 could not be decrypted.
        self.acknowledged = []
        self.stopped = threading.Event()
        service = self

        class Handler(Requests):
            push_service = service

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.browsers = serve(self.serve_browser, "127.0.0.1", browser_port, subprotocols=["push-notification"], compression=None)
        self.browser_url = f"ws://127.0.0.1:{self.browsers.socket.getsockname()[1]}/"
        for server in (self.http, self.browsers):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop(self):
        self.stopped.set()
        self.disconnect()
        self.browsers.shutdown()
        self.http.shutdown()
        self.http.server_close()

    # For tests

    @contextlib.contextmanager
    def answers(self, status=None, *, headers=None, count=None, endpoint=None, delay=0.0, hangs=False):
        """Answers with a status instead of the right one; `None`: with the right one, `delay` seconds late. `hangs`: not at all.

        `endpoint`: only of this URL. `count`: only so many requests.
        """
        token = endpoint and endpoint.rsplit("/", 1)[1]
        rule = Rule(status, headers or {}, count, token, delay, hangs)
        with self.lock:
            self.rules.append(rule)
        try:
            yield rule
        finally:
            with self.lock:
                self.rules.remove(rule)

    def posts_of(self, endpoint):
        """The requests for an endpoint so far."""
        token = endpoint.rsplit("/", 1)[1]
        with self.lock:
            return [post for post in self.posts if post.token == token]

    def end(self, endpoint):
        """Ends a subscription: its sender gets 410. The browser is not told."""
        self.remove(endpoint.rsplit("/", 1)[1])

    def forget_browsers(self):
        """Forgets all browsers. Each gets another identifier, drops its subscriptions, and tells its pages (pushsubscriptionchange)."""
        with self.lock:
            for token in [endpoint.token for endpoint in self.endpoints.values() if endpoint.user]:
                self.remove(token)
            self.users.clear()
        self.disconnect()

    def disconnect(self):
        """Breaks the connections of browsers, which connect again."""
        with self.lock:
            connections = list(self.online.values())
        for connection in connections:
            connection.close()

    def add(self, user=None, channel=None, key=None):
        """A new endpoint."""
        endpoint = Endpoint(uuid.uuid4().hex, user, channel, key)
        with self.lock:
            self.endpoints[endpoint.token] = endpoint
        return endpoint

    def address(self, endpoint):
        return f"{self.url}/wpush/{endpoint.token}"

    def remove(self, token):
        with self.lock:
            if self.endpoints.pop(token, None):
                self.gone.add(token)

    # Senders

    def receive(self, token, headers, body):
        """A request of a sender: the status, the reason and the headers of its answer."""
        rule = self.rule_for(token)
        if rule and rule.hangs:
            self.stopped.wait()
            raise ConnectionAbortedError
        if rule and rule.delay:
            self.stopped.wait(rule.delay)
        try:
            if rule and rule.status:
                raise Refusal(rule.status, "the test's answer")
            message = self.checked(token, headers, body)
            answer = 201, "", {"Location": f"{self.url}/m/{message.id}", "TTL": str(message.ttl)}
        except Refusal as refusal:
            answer = refusal.status, str(refusal), rule.headers if rule else {}
        with self.lock:
            self.posts.append(Post(token, answer[0], answer[1], headers, body, time.time()))
        return answer

    def rule_for(self, token):
        with self.lock:
            for rule in self.rules:
                if rule.token in (None, token) and rule.count != 0:
                    rule.count = rule.count and rule.count - 1
                    return rule
        return None

    def checked(self, token, headers, body):
        """Takes a message, if everything about it is right, and delivers it."""
        with self.lock:
            if token in self.gone:
                raise Refusal(410, "the subscription has ended")
            endpoint = self.endpoints.get(token)
        if endpoint is None:
            raise Refusal(404, "there is no such endpoint")
        if not re.fullmatch(r"\d{1,10}", headers.get("ttl", "")):
            raise Refusal(400, f"TTL: {headers.get('ttl')}")
        urgency, topic = headers.get("urgency", "normal"), headers.get("topic")
        if urgency not in URGENCIES:
            raise Refusal(400, f"Urgency: {urgency}")
        if topic is not None and not TOPIC.fullmatch(topic):
            raise Refusal(400, f"Topic: {topic}")
        if len(body) > MAX_BODY:
            raise Refusal(413, f"{len(body)} bytes")
        if body and headers.get("content-encoding") != "aes128gcm":
            raise Refusal(415, f"Content-Encoding: {headers.get('content-encoding')}")
        self.check_sender(headers.get("authorization", ""), endpoint.key)
        ttl = min(int(headers["ttl"]), MAX_TTL)
        message = Message(uuid.uuid4().hex, body, headers, topic, urgency, ttl, time.time())
        self.deliver(endpoint, message)
        return message

    def check_sender(self, authorization, key):
        """Checks the token of RFC 8292: its signature by py-vapid, and its claims."""
        scheme, _, rest = authorization.partition(" ")
        parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
        if scheme.lower() != "vapid" or not {"t", "k"} <= set(parts):
            raise Refusal(401, "Authorization: expected vapid t=…, k=…")
        if key is not None and decoded(parts["k"]) != key:
            raise Refusal(403, "another key than that of the subscription")
        try:
            is_signed = Vapid02.verify(f"vapid t={parts['t']},k={parts['k']}")
            head, claims = (json.loads(decoded(part)) for part in parts["t"].split(".")[:2])
        except Exception as error:
            raise Refusal(401, f"the token cannot be read: {error!r}") from error
        now = time.time()
        wrong = [
            what
            for what, is_right in {
                "signature": is_signed,
                "alg": head.get("alg") == "ES256",
                "aud": claims.get("aud") == self.url,
                "exp": now < claims.get("exp", 0) <= now + MAX_EXPIRY,
                "sub": str(claims.get("sub", "")).startswith(("mailto:", "https:")),
            }.items()
            if not is_right
        ]
        if wrong:
            raise Refusal(403, f"wrong {', '.join(wrong)} in {head} {claims}")

    def deliver(self, endpoint, message):
        with self.lock:
            if message.topic:
                endpoint.messages = [other for other in endpoint.messages if other.topic != message.topic]
            connection = self.online.get(endpoint.user)
            # Without a TTL it is for browsers that are online.
            if message.ttl > 0 or connection or endpoint.user is None:
                endpoint.messages.append(message)
            if connection:
                self.send_message(connection, endpoint, message)

    # Browsers

    def serve_browser(self, connection):
        user = None
        try:
            for text in connection:
                message = json.loads(text)
                kind = message.get("messageType", "ping")
                if kind == "hello":
                    user = self.greet(connection, message.get("uaid"))
                elif kind == "register":
                    self.register(connection, user, message)
                elif kind == "unregister":
                    self.unregister(connection, user, message)
                elif kind == "ack":
                    self.acknowledge(user, message["updates"])
                elif kind == "ping":
                    connection.send("{}")
        except ConnectionClosed:
            # A browser that is killed says nothing.
            pass
        finally:
            with self.lock:
                if self.online.get(user) is connection:
                    del self.online[user]

    def send(self, connection, message):
        with contextlib.suppress(ConnectionClosed):
            connection.send(json.dumps(message))

    def greet(self, connection, user):
        with self.lock:
            # A browser that is unknown gets another identifier, and drops its subscriptions.
            if user not in self.users:
                user = uuid.uuid4().hex
                self.users[user] = True
            self.online[user] = connection
            self.send(connection, {"messageType": "hello", "uaid": user, "status": 200, "use_webpush": True, "broadcasts": {}})
            for endpoint in self.endpoints_of(user):
                endpoint.messages = [message for message in endpoint.messages if not message.is_expired]
                for message in endpoint.messages:
                    self.send_message(connection, endpoint, message)
        return user

    def endpoints_of(self, user):
        return [endpoint for endpoint in self.endpoints.values() if endpoint.user == user]

    def register(self, connection, user, message):
        key = message.get("key")
        endpoint = self.add(user, message["channelID"], decoded(key) if key else None)
        self.send(connection, {
            "messageType": "register", "channelID": endpoint.channel, "status": 200, "pushEndpoint": self.address(endpoint)})

    def unregister(self, connection, user, message):
        with self.lock:
            for endpoint in self.endpoints_of(user):
                if endpoint.channel == message["channelID"]:
                    self.remove(endpoint.token)
        self.send(connection, {"messageType": "unregister", "channelID": message["channelID"], "status": 200})

    def acknowledge(self, user, updates):
        codes = {update["version"]: update.get("code") for update in updates}
        with self.lock:
            for endpoint in self.endpoints_of(user):
                self.acknowledged += [(message, codes[message.id]) for message in endpoint.messages if message.id in codes]
                endpoint.messages = [message for message in endpoint.messages if message.id not in codes]

    def send_message(self, connection, endpoint, message):
        body = {"data": encoded(message.body), "headers": {"encoding": "aes128gcm"}} if message.body else {}
        self.send(connection, {
            "messageType": "notification", "channelID": endpoint.channel, "version": message.id, "ttl": message.ttl, **body})


class Requests(http.server.BaseHTTPRequestHandler):
    """The requests of senders."""

    push_service = None
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        place, _, token = urlsplit(self.path).path.rpartition("/")
        if place != "/wpush":
            self.answer(404, "not found", {})
            return
        try:
            self.answer(*self.push_service.receive(token, headers, body))
        except ConnectionAbortedError:
            self.close_connection = True

    def answer(self, status, text, headers):
        body = text.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Receiver:
    """A browser's subscription at a push service, whose messages a test reads."""

    def __init__(self, service, key=None):
        """`key`: of the only sender that may use it, as its hub tells it."""
        self.service = service
        self.private, self.auth = ec.generate_private_key(ec.SECP256R1()), uuid.uuid4().bytes
        self.at = service.add(key=decoded(key) if key else None)
        self.endpoint = service.address(self.at)
        point = self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.keys = {"p256dh": encoded(point), "auth": encoded(self.auth)}

    def subscribe(self, product, *subjects):
        """The hub sends it the Alerts of subjects from now on: it has returned the code of its first push. The result ends that."""
        added = product.api("POST", "/app/push/subscriptions", {
            "endpoint": self.endpoint, "keys": self.keys, "alerts": [subject.topic_key for subject in subjects], "information": []})
        code = eventually("the first push", lambda: self.pushes and self.pushes[0])["msi"]["code"]
        path, bearer = f"/app/push/subscriptions/{added['id']}", {"Authorization": f"Bearer {added['secret']}"}
        product.api("POST", f"{path}/proof", {"code": code}, headers=bearer)
        return lambda: product.api("DELETE", path, headers=bearer)

    def payload(self, message):
        """The document in a message, decrypted by http-ece (RFC 8188 and 8291)."""
        # One record: its size is in the header, behind the salt, and the rest of the body fits.
        size = int.from_bytes(message.body[16:20], "big")
        assert len(message.body) - 86 <= size <= MAX_BODY, (size, len(message.body))
        return json.loads(http_ece.decrypt(message.body, private_key=self.private, auth_secret=self.auth, version="aes128gcm"))

    @property
    def messages(self):
        with self.service.lock:
            return list(self.at.messages)

    @property
    def pushes(self):
        """The documents of all messages so far, those that were replaced by their Topic left out."""
        return [self.payload(message) for message in self.messages]

    @property
    def titles(self):
        return collections.Counter(push["notification"]["title"] for push in self.pushes)
