"""The states of pages: each is checked, and a designer looks at its pictures."""

import pathlib

from .checks import check, check_contrast, check_width, dialogs
from .visits import NARROW, WIDE

FOLDER = pathlib.Path(__file__).parents[3] / ".build" / "portal-pictures"
# Higher pages are cut.
HIGHEST = 4_000


class Pictures:
    """Checks a page in a state. With `takes` it takes pictures of it in all variants, and checks each variant."""

    def __init__(self, visits, takes):
        self.visits, self.takes = visits, takes

    def __call__(self, page, name, *, right_to_left=False, arrange=None, arabic=None, at_length=False):
        """Checks the page as it is, and its width in a narrow window; the contrast in the dark of those that are mirrored with pictures.

        With pictures: `name-wide-light.png` and so on, wide and narrow, light and dark. `right_to_left`: also opens the same address in
        Arabic, wide and narrow, in light. `arrange(page)` then brings that page into the state that is shown, and `arabic(page)` does so for
        a state that is no main one. `at_length`: only with pictures, since level one checks another state with the same parts.
        """
        if at_length and not self.takes:
            return
        size, media = page.viewport_size, page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'")
        if self.takes:
            self.take(page, name)
        else:
            check(page)
            if right_to_left or arrange:
                page.emulate_media(color_scheme="dark")
                check_contrast(page)
            page.set_viewport_size(NARROW)
            check_width(page)
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=media)
        if self.takes and (right_to_left or arrange or arabic):
            self.mirror(page, name, arrange or arabic)

    def take(self, page, name):
        for width, window in (("wide", WIDE), ("narrow", NARROW)):
            page.set_viewport_size(window)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                self.save(page, f"{name}-{width}-{scheme}", window)

    def mirror(self, page, name, arrange):
        context = self.visits.context(self.visits.product_of(page), language="ar")
        context.add_cookies(page.context.cookies())
        mirrored = context.new_page()
        mirrored.goto(page.url)
        self.visits.settle(mirrored)
        assert mirrored.evaluate("document.documentElement.dir") == "rtl"
        if arrange:
            arrange(mirrored)
        for width, window in (("wide", WIDE), ("narrow", NARROW)):
            mirrored.set_viewport_size(window)
            self.save(mirrored, f"{name}-{width}-arabic", window)
        mirrored.emulate_media(color_scheme="dark")
        check_contrast(mirrored)
        mirrored.close()

    def save(self, page, name, window):
        """Checks the page and takes its picture."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        # A window as high as the page, so that what sticks to its edges does so in the picture, and covers nothing. A dialog floats over
        # the window.
        isDialog = dialogs(page).count() > 0
        height = window["height"] if isDialog else page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": window["width"], "height": min(max(height, window["height"]), HIGHEST)})
        check(page)
        page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")
        page.set_viewport_size(window)
