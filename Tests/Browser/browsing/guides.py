"""Guides with a section for each screen, and the pictures of these."""

import pathlib
import re
import shutil
import struct

SERVICES = pathlib.Path(__file__).resolve().parents[3] / "Services"
# A phone, and a desk.
PHONE, DESK = {"width": 390, "height": 780}, {"width": 1280, "height": 860}


def check_sections(service, screens, on_desk):
    """The guides of a service show each screen once, there are no other pictures, and each has the size of what it shows. `on_desk` has those of
    a desk."""
    shown = re.findall(r"!\[[^\]]+\]\(guides/([\w-]+)\.png\)", (SERVICES / service / "GUIDES.md").read_text())
    assert sorted(shown) == sorted(screens)
    pictures = list((SERVICES / service / "guides").glob("*.png"))
    assert sorted(path.stem for path in pictures) == sorted(screens)
    for path in pictures:
        window = DESK if path.stem in on_desk else PHONE
        # A PNG begins with its size.
        assert struct.unpack(">II", path.read_bytes()[16:24]) == (window["width"], window["height"]), path


class GuidePictures:
    """The screens of the guides of a service, `GUIDES.md` in its folder. It takes their pictures into a temporary `folder`, if there is one."""

    def __init__(self, service, check, folder):
        self.published = SERVICES / service / "guides"
        self.check, self.folder, self.taken = check, folder, []

    def snap(self, page, name):
        """Checks a screen, and takes its picture."""
        self.taken.append(name)
        self.check(page)
        if self.folder:
            page.screenshot(path=self.folder / f"{name}.png", animations="disabled")

    def publish(self):
        """Puts the pictures in the place of all earlier ones, which a test that fails leaves."""
        if not self.folder:
            return
        self.published.mkdir(exist_ok=True)
        for earlier in self.published.glob("*.png"):
            earlier.unlink()
        for picture in self.folder.glob("*.png"):
            shutil.move(picture, self.published / picture.name)
