"""Checks a running gateway against its own OpenAPI document with schemathesis.

usage: check_contract.py URL TOKENFILE

TOKENFILE is the file of the operator's token. Operations get valid and invalid data. Every answer must be documented: its status,
content type, headers, problem type and fields. The callers are the operator, nobody (who calls only the open operations), a super
user with a cookie, a communicator with a bearer token, a student's device, which calls only its own and the open operations, and a
student, a teaching assistant and a professor of a class, who call what is about classes, each with sessions, posts and keys.

No schema states some rules, such as that a time must be in the future. So the affected operations may refuse valid data in the
first runs. In a further run they get only data that keeps these rules, and must accept it.

schemathesis takes seconds to start. So by default the operator and nobody call each of their operations, and of the others each
operation has one caller, in turn. With TEST_LEVEL=all every caller calls everything, with more examples of each operation, and with
the phases of schemathesis that try each border of each parameter.
"""

import base64
import copy
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

SEED = "20261123"
# How many seconds an answer may take, which is no property of the API.
PATIENCE = 60
# The arguments of schemathesis: for the operator, for nobody, for the other callers, and for valid data.
AT_LENGTH = os.environ.get("TEST_LEVEL") == "all"
if AT_LENGTH:
    MAIN = OPEN = VALID = ["--max-examples", "20"]
    OTHERS = ["--max-examples", "5"]
else:
    FUZZING = ["--phases", "fuzzing", "--max-examples"]
    MAIN, OPEN = ["--phases", "examples,fuzzing", "--max-examples", "4"], [*FUZZING, "2"]
    OTHERS, VALID = [*FUZZING, "1"], [*FUZZING, "2"]

# Operations that are not called.
NOT_CALLED = {
    ("delete", "/session"): "signs out, which ends the credential of the other requests; the tests of sign-in call it",
    ("get", "/events"): "a stream without an end; HEAD has the same answer without it, and the tests of events read it",
    ("get", "/user/events"): "as above",
    ("get", "/user/export"): "a file of any length, which the tests of the export read",
}
# The streams, which are called by HEAD.
STREAMS = ["/events", "/user/events"]

# Operations that may refuse valid data; `keep_rules` has their rules.
RULES = {
    ("post", "/message"): "FCM's limit counts the bytes of all fields together; send_at is at most a year ahead; blanks are filled",
    ("post", "/send/{channel}/{area}/{subject}"): "as POST /message; not both delay and send_at",
    ("get", "/message"): "the words of q; before is from another page",
    ("get", "/statistics"): "edges ascend",
    ("post", "/receipt"): "1 to 200 messages in both lists together",
    ("post", "/account"): "the password is none that everybody tries first; a student gets no invitation",
    ("post", "/token"): "expires is in the future; the account must have the rights",
    ("post", "/session"): "the right password",
    ("put", "/access/{channelID}"): "two names that differ only in case are equal, and each may occur once",
    ("put", "/access/{channelID}/{areaID}"): "as above",
    ("put", "/access/{channelID}/{areaID}/{subjectID}"): "as above",
    ("get", "/account"): "after is from another page",
    ("get", "/audit"): "as above",
    ("get", "/template"): "as above",
    ("get", "/token"): "as above",
}

# Operations that may refuse valid data, and whose rules are kept nowhere.
NOT_ACCEPTING = {
    ("put", "/account/{account}/password"): "the current password, which the call changes",
    ("put", "/session"): "the right password",
    ("post", "/broadcast"): "a type, and the fields that it requires; the schema leaves the values of all forms open",
    ("put", "/broadcast/{id}"): "as above",
    ("put", "/message/{msi_key}"): "a message that has not gone out, and what that follows",
    ("get", "/broadcast"): "after is from another page",
    ("get", "/broadcast/{id}/{form}"): "a form that can say it",
    ("get", "/broadcast/active"): "different channels",
    ("get", "/broadcast/features"): "as above",
    ("post", "/session/invitation"): "an invitation that has not ended",
    ("post", "/session/invitation/check"): "as above",
    ("get", "/app/push"): "Web Push is on, and its service runs",
    ("get", "/app/push/count"): "as above",
    ("post", "/app/push/subscriptions"): "an endpoint of a push service, and the keys of a browser",
    ("put", "/app/push/subscriptions/{id}"): "the secret of the subscription",
    ("post", "/app/push/subscriptions/{id}/proof"): "as above, and the code of the first push",
    ("delete", "/app/push/subscriptions/{id}"): "the secret of the subscription",
    ("get", "/session/oidc"): "with confirm, the cookie of the sign-in that is to be confirmed",
    ("get", "/session/oidc/callback"): "the code that the university's provider has given",
    ("put", "/user"): "the proof of a device's key, for a nonce",
    ("post", "/user"): "as above",
    ("post", "/user/token"): "as above",
    ("post", "/user/erasure"): "as above",
    ("post", "/user/identities"): "the credential of a provider",
    ("put", "/user/password"): "the current password, which the call changes",
    ("put", "/user/devices/{id}"): "not both fcm_token and subscription",
    ("put", "/user/profile"): "a day of the calendar; the provider's e-mail address",
    ("post", "/user/friends"): "another person",
    ("put", "/user/friends/{id}"): "as above",
    ("delete", "/user/friends/{id}"): "as above",
    ("put", "/user/blocked/{id}"): "as above",
    ("delete", "/user/blocked/{id}"): "as above",
    ("post", "/access-codes"): "expires is in the future",
    ("post", "/account/import"): "names that look like no others",
    ("post", "/classes/{classID}/keys"): "a role other than professor; expires is in the future",
    ("put", "/classes/{classID}/roster/{account}"): "a role other than professor",
    ("post", "/classes/{classID}/sessions"): "two topics that differ only in case are equal; attends only of a sponsored session",
    ("put", "/classes/{classID}/sessions/{sessionID}"): "two topics that differ only in case are equal",
    ("get", "/classes/{classID}/roster"): "after is from another page",
    ("get", "/classes/{classID}/classmates"): "as above",
    ("get", "/classes/{classID}/sessions/{sessionID}/posts"): "as above",
    ("get", "/user/sessions/past"): "as above",
    ("get", "/classes/{classID}/sessions/past"): "as above; until is after from",
}

# An identifier that no object has.
ABSENT = "0" * 24

# Makes names unique: those of accounts are never used again.
RUN = str(int(time.time()))
PASSWORD = "copper-lantern-orchard"


def main(url, token_file):
    operator = Caller("operator", url, {"Authorization": "Bearer " + pathlib.Path(token_file).read_text().strip()})
    document = operator.get("/openapi.json").json()
    close_answers(document)
    follow_by_head(document)
    widen_if_match(document)
    # Before the runs, whose wrong passwords are limited by the address of the client.
    super_user, communicator, device = sign_in(operator), add_token(operator), sign_in_device(operator)
    classes = {one.caller: one for one in (StudyObjects(operator, role) for role in StudyObjects.ROLES)}
    results = [
        check(operator, operator, document, MAIN),
        check(Caller("anonymous", url, {}), operator, document, OPEN),
    ]
    others = [[super_user, communicator], [device], list(classes)]
    if AT_LENGTH:
        results += [check(caller, operator, document, OTHERS, classes.get(caller)) for group in others for caller in group]
    else:
        results += check_in_turn(others, classes, operator, document)
    results.append(check_acceptance(operator, document))
    sys.exit(0 if all(results) else 1)


class Caller:
    """One who calls the operations, with the header fields that say so.

    `scheme` is the one of the document's security schemes whose operations are called, or none for all; `own` tells who the caller is.
    """

    def __init__(self, name, url, headers, scheme=None, own="/session"):
        self.name, self.url, self.headers, self.scheme, self.own = name, url, headers, scheme, own
        # The name of a person's account.
        self.account = None
        self.session = requests.Session()
        self.session.headers.update(headers)

    def get(self, path):
        return self.session.get(self.url + path, timeout=PATIENCE)

    def add(self, path, body):
        answer = self.session.post(self.url + path, json=body, timeout=PATIENCE)
        assert answer.status_code == 201, answer.text
        return answer

    def is_known(self):
        return not self.headers or self.get(self.own).status_code == 200

    def calls(self, operation):
        schemes = [name for one in operation["security"] for name in one]
        return {} in operation["security"] or bool(self.headers) and self.scheme in [None, *schemes]


def sign_in(operator):
    """A super user with a cookie and a confirmed password."""
    body = {"account": f"schemathesis-admin-{RUN}", "password": PASSWORD}
    operator.add("/account", body | {"role": "super_user"})
    origin = {"Origin": operator.url}
    cookie = Caller("sign-in", operator.url, origin).add("/session", body).headers["Set-Cookie"].split(";")[0]
    caller = Caller("super user with a cookie", operator.url, origin | {"Cookie": cookie})
    assert caller.session.put(operator.url + "/session", json={"password": PASSWORD}, timeout=PATIENCE).status_code == 200
    return caller


def add_token(operator):
    """A communicator with a bearer token."""
    account = f"schemathesis-sender-{RUN}"
    operator.add("/account", {"account": account, "password": PASSWORD, "role": "communicator"})
    token = {"name": "Schemathesis", "account": account, "rights": ["read", "send"]}
    secret = operator.add("/token", token).json()["secret"]
    return Caller("communicator with a token", operator.url, {"Authorization": "Bearer " + secret})


def sign_in_device(operator, name="student", professor=False):
    """A student's device with its token, which may have the professor's mark."""
    account = f"schemathesis-{name}-{RUN}"
    operator.add("/account", {"account": account, "password": PASSWORD, "role": "student"})
    if professor:
        answer = operator.session.put(f"{operator.url}/account/{account}", json={"professor": True}, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    nonce = operator.get("/user/challenge").json()["nonce"]
    subject = hashlib.sha256(account.encode()).hexdigest()
    signature = key.sign(f"msi device proof\nsign-in\n{nonce}\n{subject}".encode(), ec.ECDSA(hashes.SHA256()))
    proof = b"".join(number.to_bytes(32, "big") for number in utils.decode_dss_signature(signature))
    body = {
        "credential": {"provider": "password", "account": account, "password": PASSWORD},
        "device": {"key": base64url(point), "platform": "web"}, "nonce": nonce, "proof": base64url(proof),
    }
    answer = requests.put(operator.url + "/user", json=body, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    authorization = {"Authorization": "Bearer " + answer.json()["token"]}
    caller = Caller("student's device", operator.url, authorization, scheme="device", own="/user")
    caller.account = account
    return caller


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def close_answers(document):
    """Refuses fields in answers that the document does not list. Clients must accept them; the gateway must not have them."""
    for schema in document["components"]["schemas"].values():
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)


def widen_if_match(document):
    """Gives the header `If-Match` two schemas: of a header with one pattern schemathesis takes numbers for valid."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter.get("name") == "If-Match":
                    parameter["schema"] = {"anyOf": [{"const": "*"}, parameter["schema"]]}


def follow_by_head(document):
    """Lets the streams of events be called by HEAD."""
    for number, name in enumerate(STREAMS):
        path = document["paths"][name]
        path["head"] = path["get"] | {"operationId": f"headOfEvents{number}"}


class Objects:
    """Objects of the cube and of the archive, so that requests do not only get 404."""

    NAMES = ("channel", "area", "subject", "channelID", "areaID", "subjectID", "msi_key", "templateID", "account", "tokenID")

    def __init__(self, operator, name):
        self.operator = operator
        self.kept, self.topic = self.subject(name)
        # POST /send takes the names.
        self.kept |= {"channel": name, "area": name, "subject": name}
        self.kept |= {
            "msi_key": self.message(), "templateID": self.template(self.kept), "account": self.account(self.kept),
        }

    def spare(self):
        """Objects for one operation that deletes."""
        identifiers, _ = self.subject("Spare")
        # A message that goes out later can be recalled.
        return identifiers | {
            "msi_key": self.message(delay=3600), "templateID": self.template(identifiers), "account": self.account(identifiers),
            "tokenID": self.add("/token", {"name": "Schemathesis", "rights": ["read"]})["token"]["id"],
        }

    def add(self, path, body):
        return self.operator.add(path, body).json()

    def subject(self, name):
        names = {"name": name, "desc": "Made by check_contract.py"}
        channel = self.add("/channel", names)["_id"]
        area = self.add(f"/area/{channel}", names)["id"]
        options = {"level": "", "distribution": "Alert"}
        subject = self.add(f"/subject/{channel}/{area}", {**names, "opt": options})
        return {"channelID": channel, "areaID": area, "subjectID": subject["id"]}, subject["topic_key"]

    def message(self, **fields):
        text = {"title": "t", "desc": "d", "message": "m", "topic_key": self.topic, "distribution": "Alert"}
        return self.add("/message", text | fields)["msi_key"]

    def account(self, identifiers):
        # Not the caller's own account, which must neither be removed nor disabled.
        name = f"schemathesis-{identifiers['subjectID']}"
        self.add("/account", {"account": name, "password": PASSWORD, "role": "communicator"})
        return name

    def template(self, identifiers):
        # Names of templates are unique.
        name = f"Schemathesis {identifiers['subjectID']}"
        return self.add("/template", {"name": name, "title": "t", "desc": "d", "message": "m"})["_id"]


class StudyObjects:
    """Classes in which a caller has a role, with keys, sessions and posts."""

    ROLES = {"student": "student of a class", "ta": "teaching assistant of a class", "professor": "professor of a class"}
    PLACE = {"latitude": 51.5, "longitude": -0.125}
    # The operations that they are about. The student's device calls the others.
    PATHS = ("/class", "/study", "/user/classes", "/user/sessions")

    def __init__(self, operator, role):
        self.role = role
        self.professor = sign_in_device(operator, f"professor-of-{role}", professor=True)
        self.member = sign_in_device(operator, f"member-of-{role}")
        self.caller = self.professor if role == "professor" else sign_in_device(operator, f"caller-{role}")
        self.caller.name = self.ROLES[role]
        self.classes = 0

    def make_class(self):
        self.classes += 1
        name = f"S-{self.role}-{self.classes}-{RUN}"
        made = self.professor.add("/class", {"name": name, "identification_key": name}).json()["id"]
        persons = [(self.member, "student")] + ([] if self.role == "professor" else [(self.caller, self.role)])
        for person, role in persons:
            person.add("/user/classes", {"key": self.key(made, role)["code"]})
        return made

    def key(self, group, role="student"):
        return self.professor.add(f"/classes/{group}/keys", {"role": role}).json()

    def session(self, group, host):
        """A session; a person is in one at a time."""
        draft = {"topics": ["Heaps"], "place": self.PLACE, "minutes": 60, "position": {**self.PLACE, "accuracy": 10}, "leave": True}
        return host.add(f"/classes/{group}/sessions", draft).json()["session"]["id"]

    def post(self, group, session):
        return self.caller.add(f"/classes/{group}/sessions/{session}/posts", {"text": "t"}).json()["id"]

    def use(self, document, called):
        """Replaces the schemas of identifiers of these operations by those of objects that are there, and of one that is not."""
        group = self.make_class()
        own, other = self.session(group, self.caller), self.session(group, self.member)
        kept = {
            "classID": group, "keyID": self.key(group)["id"], "sessionID": own, "postID": self.post(group, own),
            "account": self.member.account,
        }
        # Operations after which the others would find nothing have objects of their own.
        session = "/classes/{classID}/sessions/{sessionID}"
        spare = {
            ("delete", "/user/classes/{classID}"): {"classID": self.make_class()},
            ("put", "/classes/{classID}"): {"classID": self.make_class()},
            ("put", "/classes/{classID}/keys/{keyID}"): {"keyID": self.key(group)["id"]},
            ("delete", "/classes/{classID}/keys/{keyID}"): {"keyID": self.key(group)["id"]},
            ("delete", "/classes/{classID}/roster/{account}"): {"account": f"schemathesis-nobody-{RUN}"},
            ("post", session): {"sessionID": other}, ("delete", session): {"sessionID": other},
            ("post", session + "/end"): {"sessionID": other},
            ("delete", session + "/posts/{postID}"): {"postID": self.post(group, own)},
        }
        for path, operations in document["paths"].items():
            if "{classID}" not in path:
                continue
            for method, operation in operations.items():
                if (method, path) not in called:
                    continue
                known = kept | spare.get((method, path), {})
                for parameter in operation.get("parameters", []):
                    if parameter["in"] == "path":
                        absent = "nobody" if parameter["name"] == "account" else ABSENT
                        parameter["schema"] = {"enum": [known[parameter["name"]], absent]}
        if ("delete", session + "/posts") not in called:
            return
        posts = document["components"]["schemas"]["PostRemoval"]
        posts["properties"]["post"] = {"enum": [self.post(group, own), ABSENT]}
        forget_examples(posts)


def use_objects(document, objects):
    """Replaces the schemas of identifiers by those of objects that are there, and of one that is not.

    schemathesis also sends identifiers that it has seen in answers. With these schemas it does not end the caller's own token or
    account.
    """
    # The device would sign itself out.
    document["paths"]["/user/devices/{id}"]["delete"]["parameters"][0]["schema"] = {"enum": [ABSENT]}
    for operations in document["paths"].values():
        for method, operation in operations.items():
            named = [each for each in operation.get("parameters", []) if each["in"] == "path" and each["name"] in objects.NAMES]
            # Each operation that deletes gets its own, and an account has at most 100 tokens.
            known = objects.spare() if named and method == "delete" else objects.kept
            for parameter in named:
                if parameter["name"] in known:
                    parameter["schema"] = {"enum": [known[parameter["name"]], ABSENT]}
    post = document["components"]["schemas"]["MessagePost"]
    post["properties"]["topic_key"] = {"enum": [objects.topic]}
    post["properties"]["distribution"] = {"const": "Alert"}
    document["components"]["schemas"]["MessageTemplateDraft"]["properties"]["topic_key"] = {"enum": [objects.topic]}
    for example in post["examples"]:
        example["topic_key"] = objects.topic
    content = document["paths"]["/message"]["post"]["requestBody"]["content"]["application/json"]
    content["example"]["topic_key"] = objects.topic


def keep_rules(document, objects, now):
    """Narrows the schemas to data that also keeps the rules of ``RULES``."""
    schemas, paths = document["components"]["schemas"], document["paths"]
    for operations in paths.values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] in objects.kept:
                    parameter["schema"] = {"const": objects.kept[parameter["name"]]}

    def parameters(method, path):
        return {one["name"]: one for one in paths[path][method]["parameters"]}

    ahead = {"type": "integer", "minimum": now + 60_000, "maximum": now + 365 * 86_400_000}
    post = schemas["MessagePost"]
    text = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e{]*[!-z][^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e{]*$"}
    post["properties"] |= {
        "title": text, "desc": text, "message": text, "send_at": ahead, "follows": {"const": objects.kept["msi_key"]},
        "topic_key": {"const": objects.topic}, "distribution": {"const": "Alert"},
    }
    for name in ("template", "template_revision", "values", "options"):
        del post["properties"][name]
    del post["if"], post["then"], post["else"]
    post["required"] += ["title", "desc", "message"]
    send = parameters("post", "/send/{channel}/{area}/{subject}")
    send["title"]["schema"] = send["desc"]["schema"] = text
    send["delay"]["schema"] = {"type": "integer", "minimum": 0, "maximum": 3600}
    content = paths["/send/{channel}/{area}/{subject}"]["post"]["requestBody"]["content"]
    content["text/plain"]["schema"] = {"type": "string", "pattern": "^[a-z]{1,40}( [a-z]{1,40}){0,4}$"}
    paths["/send/{channel}/{area}/{subject}"]["post"]["parameters"].remove(send["send_at"])
    reported = schemas["AddReceipts"]["properties"]
    reported["received"] |= {"minItems": 1, "maxItems": 100}
    reported["opened"] |= {"maxItems": 100}
    schemas["AddToken"]["properties"] |= {
        "expires": {"type": "integer", "minimum": now + 3_600_000, "maximum": 253402300799999},
        "account": {"const": objects.kept["account"]},
        "rights": {"type": "array", "items": {"enum": ["read", "send"]}, "uniqueItems": True, "minItems": 1},
    }
    schemas["AddAccount"]["properties"] |= {
        "password": {"const": PASSWORD}, "role": {"enum": ["super_user", "communicator"]},
    }
    schemas["SignInDraft"]["properties"] = {
        "account": {"const": objects.kept["account"]}, "password": {"const": PASSWORD},
    }
    names = {"type": "array", "uniqueItems": True, "items": {"enum": [objects.kept["account"], "ann", "bob"]}}
    schemas["AccessListInput"]["properties"]["access"] = names
    schemas["SearchQuery"] = {"enum": ["exam", "campus closed", "exam*"]}
    schemas["TimeEdges"] = {"enum": ["0", "1795219200000,1795305600000,1795392000000"]}
    for path, name in {"/account": "after", "/audit": "after", "/template": "after", "/token": "after", "/message": "before"}.items():
        # There is a next page: the earlier runs have made objects of each kind.
        following = urllib.parse.urlsplit(objects.operator.get(path + "?limit=1").json()["next"])
        parameters("get", path)[name]["schema"] = {"const": urllib.parse.parse_qs(following.query)[name][0]}
    forget_examples(document)


def forget_examples(value):
    """Removes the examples of schemas, parameters and bodies, which would be sent."""
    if isinstance(value, dict):
        if "schema" in value or "type" in value or "properties" in value:
            value.pop("example", None)
            value.pop("examples", None)
        for part in value.values():
            forget_examples(part)
    elif isinstance(value, list):
        for part in value:
            forget_examples(part)


def operations_of(caller, document, study=None):
    """What a caller calls, each as its method and its path. `study` has the caller's classes."""
    return {
        (method, path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if (method, path) not in NOT_CALLED and caller.calls(operation)
        and (study is None or path.startswith(StudyObjects.PATHS))
    }


def names(called):
    """Operations as schemathesis names them."""
    return json.dumps([f"{method.upper()} {path}" for method, path in sorted(called)])


LENIENT = f"[[operations]]\ninclude-name = {names(RULES | NOT_ACCEPTING)}\nchecks.positive_data_acceptance.enabled = false\n"


def check(caller, operator, document, arguments, study=None):
    """Calls all operations, with valid and with invalid data. `study` has the caller's classes."""
    document = copy.deepcopy(document)
    use_objects(document, Objects(operator, f"Kept for {caller.name} {RUN}"))
    called = operations_of(caller, document, study)
    if study:
        study.use(document, called)
    return run({caller: called}, document, LENIENT, arguments)


def check_in_turn(groups, classes, operator, document):
    """Calls each operation as one caller, in turn: of the last group in which somebody calls it. `classes` has those of a caller."""
    document = copy.deepcopy(document)
    use_objects(document, Objects(operator, f"Kept for callers in turn {RUN}"))
    callable_by = {caller: operations_of(caller, document, classes.get(caller)) for group in groups for caller in group}
    turns = {caller: set() for caller in callable_by}
    for number, operation in enumerate(sorted(set.union(*callable_by.values()))):
        callers = [[caller for caller in group if operation in callable_by[caller]] for group in groups]
        last = [group for group in callers if group][-1]
        turns[last[number % len(last)]].add(operation)
    for caller, study in classes.items():
        study.use(document, turns[caller])
    # The fields of a cookie and of a token differ, so that their callers cannot share a run.
    with_cookie = {caller: called for caller, called in turns.items() if "Cookie" in caller.headers}
    with_token = {caller: called for caller, called in turns.items() if caller not in with_cookie}
    return [run(called, copy.deepcopy(document), LENIENT, OTHERS) for called in (with_cookie, with_token)]


def check_acceptance(operator, document):
    """Calls the operations whose rules no schema states, with data that keeps them."""
    document = copy.deepcopy(document)
    keep_rules(document, Objects(operator, f"Kept for valid data {RUN}"), int(time.time() * 1000))
    return run({operator: set(RULES)}, document, "", ["--mode", "positive", *VALID])


def run(called, document, settings, arguments):
    """Runs schemathesis. `called` has the operations of each caller. Callers in one run have the same header fields, with other values.

    Returns whether it found nothing.
    """
    operations = [(method, path) for path, operations in document["paths"].items() for method in operations]
    if any("Cookie" in caller.headers for caller in called):
        # Otherwise schemathesis sends invented bearer tokens, which take precedence.
        document["components"]["securitySchemes"] = {}
        for method, path in operations:
            document["paths"][path][method]["security"] = []
    variables, configuration = {}, pathlib.Path(__file__).with_name("contract.toml").read_text()
    for number, (caller, own) in enumerate(called.items()):
        print(f"{caller.name}: {len(own)} operations, seed {SEED}", flush=True)
        # The configuration names variables, so that no credential is in a list of processes or in a file.
        values = {f"MSI_HEADER_{number}_{index}": value for index, value in enumerate(caller.headers.values())}
        variables |= values
        headers = ", ".join(f'{name} = "${{{variable}}}"' for name, variable in zip(caller.headers, values))
        if number == 0:
            # Of all operations, unless another caller has them.
            configuration = f"headers = {{ {headers} }}\n{configuration}\n{settings}"
        else:
            configuration += f"[[operations]]\ninclude-name = {names(own)}\nheaders = {{ {headers} }}\n"
    all_called = set.union(*called.values())
    with tempfile.TemporaryDirectory() as folder:
        schema = pathlib.Path(folder, "openapi.json")
        schema.write_text(json.dumps(document))
        config = pathlib.Path(folder, "schemathesis.toml")
        config.write_text(configuration)
        command = [
            pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", config, "run", schema,
            "--url", next(iter(called)).url, "--seed", SEED, "--request-timeout", str(PATIENCE), *arguments,
        ]
        for method, path in operations:
            if (method, path) not in all_called:
                command += ["--exclude-name", f"{method.upper()} {path}"]
        environment = {**os.environ, **variables, "NO_COLOR": "1", "COLUMNS": "200"}
        found = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
    ended = [caller.name for caller in called if not caller.is_known()]
    if ended:
        print(f"{', '.join(ended)}: a request has ended the credential of the requests")
    return found == 0 and not ended


if __name__ == "__main__":
    main(*sys.argv[1:])
