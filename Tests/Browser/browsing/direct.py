"""Messages between persons in the students' app, as tests find things in them."""

import re

from harness.study import student
from harness.waiting import eventually
from playwright.sync_api import expect

from .people import open_people

# What the browser says about pictures that nobody has.
NO_PICTURE = r"status of 404 .*/picture"


def pair(product, *names):
    """Friends, each of whom has an account that the operator has made."""
    people = [student(product, name) for name in names or ("ann", "ben")]
    for one in people:
        for other in people:
            if one is not other and other.account not in one.friends():
                one.ask(other)
    return people


def path_to(other):
    return f"#people/with/{other.account}"


def open_conversation(visit, person, other, accepts=True, **options):
    """Opens the app in a new browser, in which a person signs in, at the conversation with somebody."""
    page = open_people(visit, person, path_to(other), **options)
    expect(page.get_by_role("heading", name=other.account, level=1)).to_be_visible()
    if accepts:
        accept(page)
    return page


def accept(page):
    """The person has read what may be sent."""
    page.get_by_role("button", name="I understand").click()
    expect(field(page)).to_be_focused()


def field(page):
    return page.get_by_role("textbox", name="Message", exact=True)


def write(page, text):
    field(page).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(field(page)).to_have_value("")


def letter(page, text):
    """A message by its text."""
    return page.locator(".letter").filter(has_text=text)


def letters(page):
    """The texts of the conversation, in their order."""
    return page.locator(".letter .bubble-text").all_inner_texts()


def in_list(page, other):
    """The conversation with somebody in the list."""
    return page.locator(".conversations").get_by_role("link", name=re.compile(re.escape(other.account)))


def send(person, other, text):
    """A message by the hub's routes. Returns its id."""
    return person.request("POST", "/user/messages", {"to": other.account, "text": text})["id"]


def take(person, reads=False):
    """A device fetches what is new, confirms it, and marks it as read if `reads`. Returns the texts of others."""
    news = person.request("GET", "/user/messages?after=0&limit=200")
    person.request("PUT", "/user/messages/received", {"after": news["after"]})
    found = [each for each in news["messages"] if each["from"] != person.account]
    if reads and found:
        person.request("PUT", f"/user/messages/{found[-1]['id']}/read")
    return [each.get("text") for each in found]


def conversation(person, other):
    """What the hub says of a conversation to a person."""
    return person.request("GET", f"/user/conversations/{other.account}?limit=50")


def removed(person, other):
    """Waits until the hub has removed what was read."""
    eventually("the hub has removed the messages", lambda: conversation(person, other)["messages"] == [])
