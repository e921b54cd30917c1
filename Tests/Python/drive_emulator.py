"""Drives the FCM emulator with Google's own Firebase Admin SDK, in which only the addresses are changed.

Usage: drive_emulator.py <https://host:port> <service account file> <CA file>. Prints a line for each successful check; ends with
1 at the first failure.
"""

import asyncio
import os
import sys
import warnings

from harness.checking import check

PATIENCE = 30


class Emulator:
    """Calls the emulator's control endpoints: phones, faults and accepted sends."""

    def __init__(self, url, certificates):
        self.url = url
        self.session = requests.Session()
        self.session.verify = certificates

    def ask(self, method, path, body=None):
        answer = self.session.request(method, self.url + path, json=body, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def phone(self):
        return self.ask("POST", "/emulator/devices")["token"]

    def fail(self, *rules):
        self.ask("PUT", "/emulator/faults", {"rules": rules})

    def accepted(self):
        return self.ask("GET", "/emulator/messages")


def to(topic, **fields):
    return messaging.Message(topic=topic, data={"msi_key": topic}, **fields)


def send(emulator):
    message = messaging.Message(
        topic="news",
        data={"msi_key": "k1"},
        notification=messaging.Notification(title="Hello", body="مرحبا 🎓"),
        android=messaging.AndroidConfig(ttl=3600, priority="high", collapse_key="c"),
        apns=messaging.APNSConfig(headers={"apns-priority": "10"}, payload=messaging.APNSPayload(aps=messaging.Aps(sound="default"))),
        webpush=messaging.WebpushConfig(headers={"TTL": "60"}),
        fcm_options=messaging.FCMOptions(analytics_label="label"),
    )
    dry = messaging.send(message, dry_run=True)
    check("a dry run sends nothing", dry.rsplit("/", 1)[1].isdigit() and emulator.accepted() == [], dry)
    name = messaging.send(message)
    accepted = emulator.accepted()
    check("send", [entry["name"] for entry in accepted] == [name], accepted)
    body = accepted[0]["body"]["message"]
    check("the message is whole", body["notification"]["body"] == "مرحبا 🎓" and body["android"]["ttl"] == "3600s", body)

    phone = emulator.phone()
    for target in ({"token": phone}, {"condition": "'a' in topics || 'b' in topics"}):
        check(f"send to a {next(iter(target))}", messaging.send(messaging.Message(data={"a": "b"}, **target)).startswith("projects/"))

    batch = messaging.send_each([to(f"each-{number}") for number in range(50)])
    check("send_each", batch.success_count == 50 and len({one.message_id for one in batch.responses}) == 50, batch.failure_count)
    multicast = messaging.send_each_for_multicast(messaging.MulticastMessage(tokens=[phone, phone], data={"a": "b"}))
    check("send_each_for_multicast", multicast.success_count == 2, multicast.failure_count)
    batch = asyncio.run(messaging.send_each_async([to(f"async-{number}") for number in range(100)], dry_run=False))
    check("send_each_async, over HTTP/2", batch.success_count == 100, [one.exception for one in batch.responses if not one.success][:1])
    counts = emulator.ask("GET", "/emulator/counts")
    check("each was accepted once", (counts["accepted"], counts["doubled"]) == (155, 0), counts)


def manage_topics(emulator):
    phones = [emulator.phone() for _ in range(3)]
    stranger = "abcdefghijklmnopqrstuv:APA91b" + 134 * "x"
    for subscribe, unsubscribe in (
        (messaging.subscribe_to_topic, messaging.unsubscribe_from_topic),
        (messaging.subscribe_to_topic_legacy, messaging.unsubscribe_from_topic_legacy),
    ):
        before = emulator.ask("GET", "/emulator/status")["subscriptions"]
        done = subscribe(phones + [stranger, "nonsense"], "/topics/a%b")
        reasons = {error.index: error.reason for error in done.errors}
        check(f"{subscribe.__name__}: a result for each", done.success_count == 3 and sorted(reasons) == [3, 4], reasons)
        check("the reasons are FCM's", reasons[3] in ("UNREGISTERED", "NOT_FOUND") and reasons[4] == "INVALID_ARGUMENT", reasons)
        check("they are subscribed", emulator.ask("GET", "/emulator/status")["subscriptions"] == before + 3)
        check("twice is no error", subscribe(phones, "a%b").success_count == 3)
        check(f"{unsubscribe.__name__}", unsubscribe(phones, "a%b").success_count == 3)
        check("none is left", emulator.ask("GET", "/emulator/status")["subscriptions"] == before)
    emulator.fail({"fault": "UNAUTHENTICATED", "on": "TOPICS"})
    failed = messaging.subscribe_to_topic(phones[:1], "a")
    check("a failure has its reason", [error.reason for error in failed.errors] == ["UNAUTHENTICATED"], failed.errors)
    emulator.fail()


def raise_errors(emulator):
    """Each class of FCM's errors, injected for its own topic, becomes the SDK's exception of that class."""
    expected = {
        "INVALID_ARGUMENT": exceptions.InvalidArgumentError,
        "UNAUTHENTICATED": exceptions.UnauthenticatedError,
        "THIRD_PARTY_AUTH_ERROR": messaging.ThirdPartyAuthError,
        "SENDER_ID_MISMATCH": messaging.SenderIdMismatchError,
        "UNREGISTERED": messaging.UnregisteredError,
        "QUOTA_EXCEEDED": messaging.QuotaExceededError,
        "PROJECT_QUOTA": exceptions.ResourceExhaustedError,
        "INTERNAL": exceptions.InternalError,
        "UNAVAILABLE": exceptions.UnavailableError,
        "BAD_GATEWAY": exceptions.UnknownError,
        "CUT_CONNECTION": exceptions.UnavailableError,
    }
    rules = [{"fault": name, "topic": name} for name in expected]
    for rule in rules:
        # The SDK retries these five times, with growing waits unless Retry-After is set.
        if rule["fault"] in ("INTERNAL", "UNAVAILABLE"):
            rule["retry_after_s"] = 1
    emulator.fail(*rules, {"fault": "UNAVAILABLE", "topic": "once", "count": 1}, {"fault": "LOST_REPLY", "topic": "lost", "count": 1})
    emulator.ask("DELETE", "/emulator/counts")
    batch = messaging.send_each([to(name) for name in expected] + [to("once"), to("lost")])
    for (name, error), response in zip(expected.items(), batch.responses):
        check(f"{name} is {error.__name__}", type(response.exception) is error, repr(response.exception))
    check("what fails once is sent by the SDK's own retry", batch.responses[-2].success, batch.responses[-2].exception)
    # The SDK cannot know the outcome and sends again. The emulator counts both.
    doubled = emulator.ask("GET", "/emulator/counts/doubled")
    check("a lost reply doubles the message", [entry["msi_key"] for entry in doubled] == ["lost"], doubled)

    emulator.fail({"fault": "DELAY", "fixed_ms": 60000})
    hasty = firebase_admin.initialize_app(firebase_admin.get_app().credential, {"httpTimeout": 0.5}, name="hasty")
    expect(exceptions.UnavailableError, "a late answer", lambda: messaging.send(to("slow"), app=hasty))
    emulator.fail()

    # Errors that the emulator returns without an injected fault.
    stranger = "abcdefghijklmnopqrstuv:APA91b" + 134 * "x"
    expect(messaging.UnregisteredError, "an unknown token", lambda: messaging.send(messaging.Message(token=stranger)))
    expect(exceptions.InvalidArgumentError, "a malformed token", lambda: messaging.send(messaging.Message(token="x")))
    large = {"a": 5000 * "x"}
    expect(exceptions.InvalidArgumentError, "a message too large", lambda: messaging.send(messaging.Message(topic="t", data=large)))
    project = firebase_admin.initialize_app(firebase_admin.get_app().credential, {"projectId": "other"}, name="other")
    expect(exceptions.PermissionDeniedError, "another project", lambda: messaging.send(to("t"), app=project))


def expect(error, what, work):
    try:
        found = work()
    except Exception as raised:
        check(f"{what} is {error.__name__}", type(raised) is error, repr(raised))
    else:
        raise SystemExit(f"not so: {what} is {error.__name__}: {found}")


def renew_tokens(emulator):
    emulator.ask("PUT", "/emulator/oauth", {"token_life_s": 300})
    short = firebase_admin.initialize_app(credentials.Certificate(ACCOUNT), name="short")
    messaging.send(to("before"), app=short)
    emulator.ask("PUT", "/emulator/oauth", {"clock_offset_s": 301})
    emulator.ask("DELETE", "/emulator/counts")
    check("an expired access token is renewed", messaging.send(to("after"), app=short).startswith("projects/"))
    answers = emulator.ask("GET", "/emulator/counts")["answers"]
    check("because it was refused", answers == {"200": 1, "401": 1}, answers)
    emulator.ask("DELETE", "/emulator/oauth")
    emulator.fail({"fault": "SKEWED_CLOCK"})
    skewed = firebase_admin.initialize_app(credentials.Certificate(ACCOUNT), name="skewed")
    try:
        messaging.send(to("t"), app=skewed)
    except RefreshError as error:
        check("a skewed clock is told as Google tells it", "short-lived token (60 minutes)" in str(error), error)
    else:
        raise SystemExit("a skewed clock went unnoticed")
    emulator.fail()


def main(url):
    # The endpoints are constants of the SDK; nothing else is changed.
    messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
    messaging._MessagingService.IID_URL = url
    firebase_admin.initialize_app(credentials.Certificate(ACCOUNT))
    service = messaging._get_messaging_service(None)
    service._fcm_topic_url = service._fcm_topic_url.replace("https://fcm.googleapis.com", url)
    emulator = Emulator(url, CERTIFICATES)
    send(emulator)
    manage_topics(emulator)
    raise_errors(emulator)
    renew_tokens(emulator)
    print("all of it works")


if __name__ == "__main__":
    _, URL, ACCOUNT, CERTIFICATES = sys.argv
    # The trusted certificate of requests and httpx, set before their import.
    os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = CERTIFICATES
    warnings.simplefilter("ignore", DeprecationWarning)
    import firebase_admin
    import requests
    from firebase_admin import credentials, exceptions, messaging
    from google.auth.exceptions import RefreshError

    main(URL)
