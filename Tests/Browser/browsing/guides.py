"""Guides with a section for each screen, and the pictures of these."""

import pathlib
import re

SERVICES = pathlib.Path(__file__).resolve().parents[3] / "Services"
# A phone, and a desk.
PHONE, DESK = {"width": 390, "height": 780}, {"width": 1280, "height": 860}


class GuidePictures:
    """The screens of the guides of a service, `GUIDES.md` in its folder. With `takes` it keeps their pictures in `guides/`."""

    def __init__(self, service, check, takes):
        self.guides, self.folder = SERVICES / service / "GUIDES.md", SERVICES / service / "guides"
        self.check, self.takes, self.taken = check, takes, []

    def snap(self, page, name):
        """Checks a screen, and keeps it as a picture."""
        self.taken.append(name)
        self.check(page)
        if self.takes:
            self.folder.mkdir(exist_ok=True)
            page.screenshot(path=self.folder / f"{name}.png", animations="disabled")

    def check_sections(self):
        """The guides show each screen, and there are no other pictures."""
        shown = re.findall(r"!\[[^\]]+\]\(guides/([\w-]+)\.png\)", self.guides.read_text())
        assert sorted(shown) == sorted(self.taken)
        assert sorted(path.stem for path in self.folder.glob("*.png")) == sorted(shown)
