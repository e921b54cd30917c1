"""Codes of authenticator apps (RFC 6238), as phones compute them."""

import base64
import hashlib
import hmac
import struct
import time

STEP = 30


def totp(secret, steps=0):
    """The code of a secret in base 32 now, or `steps` later. The hub accepts the code of the step before and after the current one."""
    key = base64.b32decode("".join(secret.split()))
    digest = hmac.digest(key, struct.pack(">Q", int(time.time()) // STEP + steps), hashlib.sha1)
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start:start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"
