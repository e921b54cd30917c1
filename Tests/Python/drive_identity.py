"""Verifies ID tokens of the identity emulator with Google's own library.

Usage: drive_identity.py <http://host:port> <Google's token> <Firebase's token>. Prints a line for each successful check; ends with 1 at the
first failure.
"""

import sys

import jwt
from google.auth.transport.requests import Request
from google.oauth2 import id_token
from harness.checking import check

EMULATOR, GOOGLE, FIREBASE = sys.argv[1:]
KEYS = {
    GOOGLE: f"{EMULATOR}/google/oauth2/v3/certs",
    FIREBASE: f"{EMULATOR}/firebase/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
}


def verified(token, audience):
    return id_token.verify_token(token, Request(), audience=audience, certs_url=KEYS[token], clock_skew_in_seconds=60)


def is_refused(token, audience):
    try:
        verified(token, audience)
    except jwt.PyJWTError:
        return True
    return False


check("Google's token", verified(GOOGLE, "hub.apps.example")["iss"] == "https://accounts.google.com")
check("Firebase's token", verified(FIREBASE, "hub-example")["iss"] == "https://securetoken.google.com/hub-example")
check("another audience", is_refused(GOOGLE, "another") and is_refused(FIREBASE, "another"))
head, claims, signature = GOOGLE.split(".")
KEYS[f"{head}.{claims}.{signature[:-8]}AAAAAAAA"] = KEYS[GOOGLE]
check("another signature", is_refused(f"{head}.{claims}.{signature[:-8]}AAAAAAAA", "hub.apps.example"))
print("all of it works")
