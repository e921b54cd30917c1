"""Pictures that the app and the portal make smaller before they are sent, in a page without anything else."""

import pytest
from browsing.core import core_context, core_page

# A JPEG of a canvas, wider than high, whose file says that it is to be turned, by which camera it was taken, and where.
TURNED = """
    const jpegOf = async (width, height) => {
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width, height });
        const context = canvas.getContext("2d");
        context.fillStyle = "red";
        context.fillRect(0, 0, width / 2, height);
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg"));
        return new Uint8Array(await blob.arrayBuffer());
    };
    const turned = (jpeg) => {
        const text = new TextEncoder().encode("Camera 7, 45.0029 N");
        const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 2,
            0x01, 0x0f, 0, 2, 0, 0, 0, text.length, 0, 0, 0, 38,
            0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, ...text];
        const exif = [0x45, 0x78, 0x69, 0x66, 0, 0, ...tiff];
        const segment = [0xff, 0xe1, 0, exif.length + 2, ...exif];
        return new Blob([jpeg.slice(0, 2), new Uint8Array(segment), jpeg.slice(2)], { type: "image/jpeg" });
    };
    const textOf = async (blob) => new TextDecoder("latin1").decode(await blob.arrayBuffer());
"""


@pytest.fixture
def shrink(browser):
    """Runs the body of a function in a page. It has `shrunk`, and what makes pictures."""
    context = core_context(browser)
    page = core_page(context)
    yield lambda body: page.evaluate(f"""async () => {{ const {{ shrunk }} = await import("/lib/shrink.js"); {TURNED} {body} }}""")
    context.close()


def test_a_picture_is_upright_and_says_nothing_of_its_origin(shrink):
    found = shrink("""
        const before = turned(await jpegOf(800, 400));
        const after = await shrunk(before);
        const bitmap = await createImageBitmap(after);
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
        canvas.getContext("2d").drawImage(bitmap, 0, 0);
        const colour = (x, y) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data];
        return { before: await textOf(before), after: await textOf(after), type: after.type, size: [bitmap.width, bitmap.height],
            top: colour(200, 100), bottom: colour(200, 700) };""")
    assert "Camera 7" in found["before"] and "Camera 7" not in found["after"] and "Exif" not in found["after"]
    assert found["type"] == "image/jpeg" and found["size"] == [400, 800]
    # What was on the left is above.
    assert found["top"][0] > 200 and found["top"][1] < 60, found["top"]
    assert found["bottom"][0] < 60, found["bottom"]


def test_a_large_picture_fits(shrink):
    """One of noise, which no format makes small."""
    found = shrink("""
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: 3000, height: 1500 });
        const image = new ImageData(3000, 1500);
        let seed = 7;
        for (let place = 0; place < image.data.length; place += 1) {
            seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
            image.data[place] = place % 4 === 3 ? 255 : (seed >> 16) & 255;
        }
        canvas.getContext("2d").putImageData(image, 0, 0);
        const before = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
        const after = await shrunk(before);
        const bitmap = await createImageBitmap(after);
        return { before: before.size, after: after.size, side: Math.max(bitmap.width, bitmap.height), ratio: bitmap.width / bitmap.height };""")
    assert found["before"] > 1 << 20 >= found["after"], found
    assert found["side"] <= 2_048 and abs(found["ratio"] - 2) < 0.01, found


def test_what_is_transparent_gets_a_light_ground(shrink):
    found = shrink("""
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: 8, height: 8 });
        const before = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
        const bitmap = await createImageBitmap(await shrunk(before));
        canvas.getContext("2d").drawImage(bitmap, 0, 0);
        return [bitmap.width, ...canvas.getContext("2d").getImageData(4, 4, 1, 1).data];""")
    assert found[0] == 8 and min(found[1:4]) > 250, found


def test_what_is_no_picture_is_refused(shrink):
    for content in ("", "no picture", "<svg xmlns='http://www.w3.org/2000/svg'/>"):
        outcome = shrink(f"""return shrunk(new Blob([{content!r}], {{ type: "image/png" }})).then(() => "taken", () => "refused");""")
        assert outcome == "refused", content
