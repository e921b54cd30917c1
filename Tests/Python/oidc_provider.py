"""An OpenID Connect provider for the tests: oidc-provider-mock, which is built on Authlib, and PKCE, which it does not check.

PUT /users/SUB stores a person's claims, POST /oauth2/clients registers a client, and POST /test/new-key replaces the key of the ID tokens.
GET /test/id-tokens lists the ID tokens. GET /test/requests counts the requests by their paths; the answer to GET /test/endless-body does not end. It prints its address, and stops when its standard
input ends, so that it does not outlive its test.
"""

import base64
import collections
import hashlib
import os
import sys
import threading
from urllib.parse import parse_qs, urlparse

import flask
import werkzeug.serving
from authlib import jose
from oidc_provider_mock import app
from oidc_provider_mock._storage import storage

challenges = {}
id_tokens = []
requests = collections.Counter()


def keep_answer(response):
    """Keeps the challenge of the sign-in that a code belongs to, and the ID tokens."""
    if flask.request.path == "/oauth2/authorize" and "Location" in response.headers:
        code = parse_qs(urlparse(response.headers["Location"]).query).get("code")
        if code:
            assert flask.request.args["code_challenge_method"] == "S256"
            challenges[code[0]] = flask.request.args["code_challenge"]
    if flask.request.path == "/oauth2/token" and response.is_json:
        id_tokens.append(response.json.get("id_token"))
    return response


def count_request():
    requests[flask.request.path] += 1


def new_key():
    storage.jwk = jose.RSAKey.generate_key(is_private=True)
    return "", 204


def endless_body():
    def parts():
        yield "{"
        threading.Event().wait()

    return flask.Response(parts(), mimetype="application/json")


def check_verifier():
    if flask.request.path == "/oauth2/token":
        digest = hashlib.sha256(flask.request.form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if challenges.get(flask.request.form["code"]) != challenge:
            return flask.jsonify({"error": "invalid_grant"}), 400


if __name__ == "__main__":
    provider = app(require_client_registration=True, require_nonce=True)
    provider.after_request(keep_answer)
    provider.before_request(count_request)
    provider.before_request(check_verifier)
    provider.post("/test/new-key")(new_key)
    provider.get("/test/id-tokens", endpoint="id_tokens")(lambda: flask.jsonify(id_tokens))
    provider.get("/test/endless-body")(endless_body)
    provider.get("/test/requests", endpoint="requests")(lambda: flask.jsonify(requests))
    server = werkzeug.serving.make_server("127.0.0.1", int(sys.argv[1]), provider, threaded=True)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while os.read(0, 4096):
        pass
