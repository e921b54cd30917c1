"""Two students side by side, each with a Firefox: from the registration at a provider to what is left after a block and a sign-out elsewhere.

The steps are one story, so that each begins where the one before has ended. With `--pictures`, each step has pictures of both: in English and
in Arabic, in the light and in the dark, wide and 320 pixels wide. test_people_app_pages.py has each page by itself, in Chromium.
"""

import contextlib

import pytest
from browsing.firefox import Firefox
from browsing.pictures import FOLDER
from harness.person import Person
from harness.product import PASSWORD
from harness.waiting import eventually

# How long a loaded machine may take until an event has come over all services, in seconds.
PATIENCE = 60
# What the app has stored in its two stores about a person.
STORED = """const opened = await new Promise((resolve, reject) => {
        const request = indexedDB.open("msi-app");
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const read = opened.transaction(["account", "people"]);
    const asked = ["account", "people"].map((store) => read.objectStore(store).getAllKeys());
    await new Promise((resolve) => { read.oncomplete = resolve; });
    opened.close();
    return asked.map(({ result }) => result);"""


class Student:
    """A person with a Firefox."""

    def __init__(self, product, firefox, name, takes):
        self.site = f"http://localhost:{product.gateway_port}"
        self.product, self.firefox, self.name, self.takes = product, firefox, product.unique(name).replace(" ", ""), takes

    def open(self, path):
        self.firefox.run("location.hash = args[0];", path)

    def begin(self):
        self.firefox.permit(self.site)
        self.firefox.go(f"{self.site}/app/")
        self.firefox.tap("button", "Turn on notifications")
        self.firefox.wait_for_text("Notifications are on.")
        self.firefox.tap("button", "Show my messages")
        self.firefox.tap("link", text="People", within=self.firefox.the("navigation"))

    def register(self, first, last):
        """At the identity emulator, which stands for Google."""
        self.firefox.tap("button", "Continue with Google")
        for label, text in (("First name", first), ("Last name", last)):
            self.firefox.type(self.firefox.the("textbox", label), text)
        self.firefox.tap("button", "Add and sign in")
        self.firefox.type(self.firefox.the("textbox", "Account name"), self.name)
        self.picture("register", is_lasting=False)
        self.firefox.tap("button", "Make the account")
        self.firefox.the("heading", "No friends yet")

    def sees(self, text):
        eventually(f"{self.name} sees {text}", lambda: text in self.firefox.text(), PATIENCE, pause=0.1)

    def picture(self, step, is_lasting=True):
        """Pictures of the page as it is, in all variants. A change of the language loads the page again: what does not outlast that is shown
        in English alone."""
        if not self.takes:
            return
        for language in ("en", "ar") if is_lasting else ("en",):
            if language == "ar":
                self.speak(language)
            for scheme in ("light", "dark"):
                self.firefox.scheme(scheme)
                for name, width in (("wide", None), ("narrow", 320)):
                    self.firefox.narrow(width)
                    self.firefox.picture(FOLDER / f"people-{step}-{self.name.rstrip('0123456789')}-{name}-{scheme}-{language}.png")
                self.firefox.narrow(None)
            self.firefox.scheme("light")
        if is_lasting:
            self.speak("en")

    def speak(self, language):
        self.firefox.run("localStorage.setItem('msi.app.language', args[0]);", language)
        self.firefox.reload()
        eventually(f"the page in {language}", lambda: self.firefox.run("return document.documentElement.lang === args[0] && !document.querySelector('.skeleton')", language))


@pytest.fixture
def students(request, push_product, push_service, tmp_path):
    """Ann and Ben."""
    with contextlib.ExitStack() as stack:
        pair = []
        for name in ("ann", "ben"):
            firefox = Firefox(tmp_path / name, push_service)
            stack.callback(firefox.quit)
            firefox.start()
            pair.append(Student(push_product, firefox, name, request.config.getoption("pictures")))
        yield pair


@pytest.mark.at_length
def test_two_students(students):
    ann, ben = students
    for student, names in ((ann, ("Ann", "Ash")), (ben, ("Ben", "Birch"))):
        student.begin()
        student.firefox.the("button", "Continue with Google")
        student.picture("landing")
        student.register(*names)
        student.picture("registered")
    ask_and_accept(ann, ben)
    show_a_profile(ann, ben)
    block(ann, ben)
    sign_out_elsewhere(ann)


def ask_and_accept(ann, ben):
    """The request pops up at the other, and nowhere at the one who asks."""
    for student in (ann, ben):
        wait_until_reached(student)
        student.open("#people")
    ann.firefox.type(ann.firefox.the("searchbox"), ben.name)
    ann.firefox.tap("link", ben.name)
    ann.firefox.tap("button", "Ask to be friends")
    ann.sees("You have asked to be friends.")
    ann.picture("asked")
    eventually("the request pops up", lambda: "You have a friend request" in ben.firefox.titles(), PATIENCE, pause=0.2)
    assert "You have a friend request" not in ann.firefox.titles()
    # The event comes without a look.
    ben.firefox.the("link", text="1 friend request")
    ben.open("#people/requests")
    ben.firefox.the("button", f"Accept: {ann.name}")
    ben.picture("request")
    ben.firefox.tap("button", f"Accept: {ann.name}")
    ben.sees("Nobody waits for your answer.")
    ann.sees("You are friends.")
    eventually("the answer pops up", lambda: "Your friend request was accepted" in ann.firefox.titles(), PATIENCE, pause=0.2)
    ben.open("#people")
    ben.firefox.the("link", ann.name)
    ben.picture("friends")


def show_a_profile(ann, ben):
    """A friend sees what the person has chosen, and nothing else."""
    ann.sees("Shows nothing but the name.")
    ben.open("#settings/profile")
    for label, text in (("First name", "Ben"), ("About you", "Physics, second year")):
        ben.firefox.type(ben.firefox.the("textbox", label), text)
    bio = ben.firefox.the("combobox", "Who sees this: About you")
    ben.firefox.run("args[0].value = 'friends'; args[0].dispatchEvent(new Event('input', { bubbles: true }));", bio)
    ben.firefox.tap("button", "Save")
    ben.sees("Your profile is saved.")
    ben.picture("profile")
    ann.open("#people")
    ann.open(f"#people/person?account={ben.name}")
    ann.sees("Physics, second year")
    assert "First name" not in ann.firefox.text()
    ann.picture("person")


def block(ann, ben):
    """Neither finds the other in any screen, and nothing of what was is left."""
    ann.firefox.tap("button", "Block")
    ann.firefox.the("alertdialog")
    ann.picture("block", is_lasting=False)
    ann.firefox.tap("button", "Block", within=ann.firefox.the("alertdialog"))
    ann.firefox.the("heading", "No friends yet")
    eventually("the note closes", lambda: ben.name not in ann.firefox.text(), PATIENCE, pause=0.5)
    ben.open("#people")
    ben.firefox.the("heading", "No friends yet")
    for one, other in ((ann, ben), (ben, ann)):
        one.firefox.type(one.firefox.the("searchbox"), other.name)
        one.sees("0 people found")
        one.open(f"#people/person?account={other.name}")
        one.sees("There is nobody with this name.")
        one.open("#people/requests")
        one.sees("Nobody waits for your answer.")
        assert other.name not in one.firefox.text()
        one.open("#people")
        one.firefox.reload()
        one.firefox.the("heading", "No friends yet")
    ann.open("#people/blocked")
    ann.firefox.the("button", f"Unblock: {ben.name}")
    ann.picture("blocked")


def sign_out_elsewhere(ann):
    """The page says so at once, and nothing of the person is left in the browser."""
    before = ann.firefox.run(STORED)
    assert "key" in before[0] and "friends" in before[1], before
    ann.product.command("account", "sign-out", ann.name)
    ann.sees("You were signed out on this device.")
    assert ann.firefox.run(STORED) == [["ended"], []]
    ann.picture("signed-out")


@pytest.mark.at_length
def test_two_devices_of_one_person(students, push_product):
    """What comes for a person comes to each device, once; what a person does on one is seen on the other; one signs the other out."""
    one, other = students
    name = one.name
    one.begin()
    one.firefox.tap("button", "Make an account…")
    for label, text in (("Account name", name), ("Password", PASSWORD)):
        one.firefox.type(one.firefox.the("textbox", label), text)
    one.firefox.tap("button", "Make the account")
    one.firefox.the("heading", "No friends yet")
    other.begin()
    for label, text in (("Account", name), ("Password", PASSWORD)):
        other.firefox.type(other.firefox.the("textbox", label), text)
    other.firefox.tap("button", "Sign in")
    other.firefox.the("heading", "No friends yet")
    asker = Person(push_product, "cleo")
    wait_until_reached(one, devices=2)
    one.open("#people")
    asker.ask(name)
    for student in (one, other):
        eventually("the request pops up", lambda: student.firefox.titles().count("You have a friend request") == 1, PATIENCE, pause=0.2)
        student.firefox.the("link", text="1 friend request")
    one.open("#people/requests")
    one.firefox.tap("button", f"Accept: {asker.account}")
    other.firefox.the("link", asker.account)
    one.open("#settings/devices")
    one.firefox.tap("button", text="Sign out")
    one.firefox.tap("button", "Sign out", within=one.firefox.the("alertdialog"))
    other.sees("You were signed out on this device.")
    assert other.firefox.run(STORED) == [["ended"], []]


def wait_until_reached(student, devices=1):
    """Waits until the hub knows how all devices of a person are reached, which each tells it seconds after the sign-in."""
    student.open("#settings/devices")

    def are_reached():
        student.firefox.reload()
        student.sees("This device")
        return student.firefox.text().count("Gets notifications") == devices

    eventually(f"{student.name} is reached", are_reached, PATIENCE, pause=0.5)
