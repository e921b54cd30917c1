"""Pictures that tests upload: as a person does by the app, or by the hub's routes."""

import struct
import zlib

import requests
from harness.product import Refused


def png(width=64, height=48, colour=(31, 95, 214), noise=None):
    """The bytes of a picture of one colour, or with `noise`, a `random.Random`, of one that no file makes small."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + (noise.randbytes(3 * width) if noise else bytes(colour) * width) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows), 1)) + chunk(b"IEND", b"")


def upload(person, picture, path="/user/pictures"):
    """Uploads a picture as a person, and returns its id."""
    headers = {"Authorization": f"Bearer {person.token}", "Content-Type": "image/png"}
    response = requests.post(person.product.url + path, data=picture, headers=headers, timeout=60)
    if not response.ok:
        raise Refused(response)
    return response.json()["id"]


def download(person, path):
    """The bytes of a picture that a person sees; `Refused` if they do not."""
    response = requests.get(person.product.url + path, headers={"Authorization": f"Bearer {person.token}"}, timeout=60)
    if not response.ok:
        raise Refused(response)
    return response.content


def chosen(picture, name="picture.png", media_type="image/png"):
    """A file for `set_input_files`."""
    return {"name": name, "mimeType": media_type, "buffer": picture}
