"""A picture looks the same in a browser after the hub has cut out what a camera wrote into it, and nothing of that is left."""

import base64
import struct
import zlib

import pytest
import requests
from harness.study import student

# A picture with and without transparency, as this browser's encoder makes it.
MAKE = """async ([type, quality, clear]) => {
  const canvas = new OffscreenCanvas(48, 32), pen = canvas.getContext("2d");
  if (!clear) { pen.fillStyle = "#fff"; pen.fillRect(0, 0, 48, 32); }
  const fade = pen.createLinearGradient(0, 0, 48, 32);
  fade.addColorStop(0, clear ? "rgb(200 30 30 / 20%)" : "#c81e1e");
  fade.addColorStop(1, "#143cdc");
  pen.fillStyle = fade;
  pen.fillRect(2, 2, 44, 28);
  pen.fillStyle = "#0a0";
  pen.fillRect(4, 6, 16, 8);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type, quality })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""
# The size and all pixels of a file as this browser shows it, turned as the file says.
LOOK = """async (text) => {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))]));
  const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
  pen.drawImage(image, 0, 0);
  return [image.width, image.height, Array.from(pen.getImageData(0, 0, image.width, image.height).data).join()];
}"""
SECRETS = [b"SecretCamera", b"SecretPlace"]
FORMS = [("image/jpeg", 0.7, False), ("image/webp", 0.5, True)]
# Level one has these in the tests of the service, which do not look at them.
FURTHER = [("image/png", 1, True), ("image/webp", 0.5, False), ("image/webp", 1, True)]


def exif(orientation):
    """A camera, an orientation and a position: a TIFF file with two directories."""
    def entry(tag, kind, count, value):
        return struct.pack("<HHI", tag, kind, count) + value
    camera = b"SecretCamera\0\0"
    positions = 50 + len(camera)
    directory = struct.pack("<H", 3) + entry(0x10F, 2, len(camera), struct.pack("<I", 50))
    directory += entry(0x112, 3, 1, struct.pack("<HH", orientation, 0)) + entry(0x8825, 4, 1, struct.pack("<I", positions)) + bytes(4)
    gps = struct.pack("<H", 2) + entry(1, 2, 2, b"N\0\0\0") + entry(2, 5, 3, struct.pack("<I", positions + 30)) + bytes(4)
    return b"II*\0\x08\0\0\0" + directory + camera + gps + struct.pack("<6I", 46, 1, 57, 1, 999, 100)


def chunk(name, data):
    """Of WebP."""
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def chunks(file):
    """Those of a WebP file, by their names."""
    place, found = 12, {}
    while place < len(file):
        size = struct.unpack_from("<I", file, place + 4)[0]
        found[file[place:place + 4]] = file[place + 8:place + 8 + size]
        place += 8 + size + size % 2
    return found


def with_metadata(file, orientation):
    """What a camera and its owner's program make of a file."""
    text, metadata = b"<x>SecretPlace</x>", exif(orientation)
    if file.startswith(b"\xff\xd8"):
        parts = [(0xE1, b"Exif\0\0" + metadata), (0xE1, b"http://ns.adobe.com/xap/1.0/\0" + text), (0xFE, text)]
        return file[:2] + b"".join(struct.pack(">BBH", 0xFF, code, len(data) + 2) + data for code, data in parts) + file[2:]
    if file.startswith(b"\x89PNG"):
        parts = [(b"eXIf", metadata), (b"tEXt", b"Comment\0" + text)]
        return file[:33] + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts) + file[33:]
    # A browser's file always has the header of an extended one, since it has a profile of colours.
    found = chunks(file)
    header = found.pop(b"VP8X")
    found |= {b"EXIF": metadata, b"XMP ": text}
    content = b"WEBP" + chunk(b"VP8X", bytes([header[0] | 0x0C]) + header[1:]) + b"".join(chunk(*each) for each in found.items())
    return b"RIFF" + struct.pack("<I", len(content)) + content


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def ann(product):
    return student(product, "ann")


def stored(ann, file, kind):
    """What the hub gives back of a file that is the picture of a status."""
    headers = {"Authorization": f"Bearer {ann.token}"}
    answer = requests.post(f"{ann.product.url}/user/pictures", data=file, headers={**headers, "Content-Type": kind}, timeout=60)
    assert answer.status_code == 201, answer.text
    status = ann.request("POST", "/user/status", {"picture": answer.json()["id"]})
    answer = requests.get(f"{ann.product.url}/user/statuses/{status['id']}/picture", headers=headers, timeout=60)
    assert answer.headers["Content-Type"] == kind
    return answer.content


@pytest.mark.parametrize(
    "form", [*FORMS, *(pytest.param(form, marks=pytest.mark.at_length) for form in FURTHER)],
    ids=lambda form: f"{form[0]} {form[1]} {'clear' if form[2] else 'whole'}")
def test_it_looks_the_same(page, ann, form):
    original = base64.b64decode(page.evaluate(MAKE, form))
    for orientation in (1, 3, 6):
        file = with_metadata(original, orientation)
        assert all(secret in file for secret in SECRETS)
        kept = stored(ann, file, form[0])
        assert not any(secret in kept for secret in SECRETS)
        assert len(kept) < len(file)
        looks = [page.evaluate(LOOK, base64.b64encode(each).decode()) for each in (file, kept)]
        assert looks[0] == looks[1]
    # Another program's name for it changes nothing.
    assert stored(ann, original, form[0]) == stored(ann, stored(ann, original, form[0]), form[0])
