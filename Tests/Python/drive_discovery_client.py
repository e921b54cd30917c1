"""Drives the FCM emulator with the client that google-api-python-client generates from FCM's discovery document.

Usage: drive_discovery_client.py <https://host:port> <service account file> <CA file>. Prints a line for each successful check; ends
with 1 at the first failure.
"""

import json
import re
import sys

import google_auth_httplib2
import httplib2
from google.oauth2 import service_account
from googleapiclient import discovery
from googleapiclient.errors import HttpError
from harness.checking import check

TIMEOUT = 30
PARENT = "projects/msi-emulator"
NUMBER = "projects/103953800507"
STRANGER = "abcdefghijklmnopqrstuv:APA91b" + 134 * "x"
MESSAGING = "https://www.googleapis.com/auth/firebase.messaging"
TO_PHONE = re.compile(PARENT + r"/messages/0:\d{16}%[0-9a-f]{16}")
TO_TOPIC = re.compile(PARENT + r"/messages/\d+")


def connect(scope=MESSAGING):
    """The generated client. Only its endpoint, its key file and its trusted certificate are set."""
    credentials = service_account.Credentials.from_service_account_file(ACCOUNT, scopes=[scope])
    http = google_auth_httplib2.AuthorizedHttp(credentials, http=httplib2.Http(ca_certs=CERTIFICATES, timeout=TIMEOUT))
    return discovery.build("fcm", "v1", http=http, client_options={"api_endpoint": URL}, cache_discovery=False).projects()


def ask(method, path):
    """Calls the emulator's control endpoints."""
    _, content = httplib2.Http(ca_certs=CERTIFICATES, timeout=TIMEOUT).request(URL + path, method)
    return json.loads(content) if content else None


def refused(request):
    """An error's status, its text, and the types of its details in order."""
    try:
        found = request.execute()
    except HttpError as error:
        details = error.error_details if isinstance(error.error_details, list) else []
        return error.status_code, error.reason, [detail["@type"].rsplit(".", 1)[1] for detail in details]
    return found


def send(fcm):
    def message(target, parent=PARENT, dry_run=False, **fields):
        return fcm.messages().send(parent=parent, body={"validateOnly": dry_run, "message": {**target, **fields}})

    phone = ask("POST", "/emulator/devices")["token"]
    installation = phone.split(":")[0]
    for field in ("token", "fid"):
        name = message({field: installation}, data={"k": "v"}).execute()["name"]
        check(f"an installation's id as {field}", TO_PHONE.fullmatch(name), name)
    name = message({"token": phone}, notification={"title": "t", "body": "b"}, android={"collapseKey": "c", "ttl": "60s"}).execute()
    check("a send to a token", TO_PHONE.fullmatch(name["name"]), name)
    name = message({"token": phone}, androidV2={"remoteNotification": {"notification": {"title": "t", "id": 7}}}).execute()
    check("androidV2", TO_PHONE.fullmatch(name["name"]), name)
    for target in ({"topic": "news"}, {"condition": "'news' in topics"}):
        for dry_run in (False, True):
            name = message(target, dry_run=dry_run, data={"k": "v"}).execute()["name"]
            check(f"a plain number for {target}, dry run {dry_run}", TO_TOPIC.fullmatch(name), name)
    name = message({"topic": "news"}, parent=NUMBER).execute()["name"]
    check("the project's number", TO_TOPIC.fullmatch(name), name)
    accepted = ask("GET", "/emulator/messages")
    check("all but the dry runs were accepted", len(accepted) == 7, len(accepted))

    own, violation = "FcmError", "BadRequest"
    for what, request, expected in (
        ("no target", message({}), (400, "Recipient of the message is not set.", [violation, own])),
        ("a malformed token", message({"token": "x"}),
         (400, "The registration token is not a valid FCM registration token", [own, violation])),
        ("an unregistered token", message({"token": STRANGER}), (404, "Requested entity was not found.", [own])),
        ("the same in a dry run", message({"token": STRANGER}, dry_run=True), (404, "Requested entity was not found.", [own])),
        ("a bad topic", message({"topic": "a b"}), (400, "Topic name contains invalid characters.", [violation, own])),
        ("a malformed condition", message({"condition": "'a' in"}), (400, "Request contains an invalid argument.", [])),
        ("a message too large", message({"topic": "t"}, data={"k": 4096 * "x"}),
         (400, "Message is too large. The maximum is 4K (4096 bytes).", [violation, own])),
        ("another project", message({"topic": "t"}, parent="projects/other"),
         (403, "Permission 'cloudmessaging.messages.create' denied on resource "
          "'//cloudresourcemanager.googleapis.com/projects/other' (or it may not exist).", ["ErrorInfo"])),
    ):
        found = refused(request)
        check(f"{what} is refused", found == expected, found)
    other = connect("https://www.googleapis.com/auth/devstorage.read_only")
    found = refused(other.messages().send(parent=PARENT, body={"message": {"topic": "t"}}))
    check("a token of another scope", found == (403, "Request had insufficient authentication scopes.", ["ErrorInfo"]), found)


def subscribe(fcm):
    subscriptions = fcm.registrations().topicSubscriptions()
    phone = ask("POST", "/emulator/devices")["token"]
    parent = f"{PARENT}/registrations/{phone}"
    made = subscriptions.create(parent=parent, topicName="a%b", body={}).execute()
    check("create", made["topicName"] == "a%b" and made["createTime"] and made["name"] == f"{parent}/topicSubscriptions/a%b", made)
    found = refused(subscriptions.create(parent=parent, topicName="a%b", body={}))
    check("create again", found[0] == 409, found)
    for topic in ("b", "c"):
        subscriptions.patch(name=f"{parent}/topicSubscriptions/{topic}", allowMissing=True, body={}).execute()
    check("get", subscriptions.get(name=f"{parent}/topicSubscriptions/b").execute()["topicName"] == "b")
    check("patch without allowMissing", refused(subscriptions.patch(name=f"{parent}/topicSubscriptions/z", body={}))[0] == 404)
    pages, topics = 0, []
    request = subscriptions.list(parent=parent.replace("msi-emulator", "103953800507"), pageSize=2)
    while request is not None:
        page = request.execute()
        topics += [entry["topicName"] for entry in page["topicSubscriptions"]]
        pages += 1
        request = subscriptions.list_next(request, page)
    check("list, page by page", (pages, topics) == (2, ["a%b", "b", "c"]), (pages, topics))
    check("delete", subscriptions.delete(name=f"{parent}/topicSubscriptions/b").execute() == {})
    check("delete again", refused(subscriptions.delete(name=f"{parent}/topicSubscriptions/b"))[0] == 404)
    check("delete what may be missing", subscriptions.delete(name=f"{parent}/topicSubscriptions/b", allowMissing=True).execute() == {})
    check("no phone", refused(subscriptions.list(parent=f"{PARENT}/registrations/{STRANGER}"))[0] == 404)


if __name__ == "__main__":
    _, URL, ACCOUNT, CERTIFICATES = sys.argv
    client = connect()
    send(client)
    subscribe(client)
    print("all of it works")
