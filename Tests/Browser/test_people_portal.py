"""Students on the portal's page about people: found by the hub, with their devices, codes, lists and erasures."""

import re
import time

import pytest
from browsing.visits import SERVICE_AWAY
from harness.person import Person
from harness.product import PASSWORD, Refused
from harness.waiting import eventually
from playwright.sync_api import expect

from test_people import add_person, edit, row


@pytest.fixture
def student(product):
    return Person(product, "sara")


def open_students(visit, **options):
    page = visit("/portal/people/", account="admin", confirmed=True, **options)
    page.get_by_role("button", name="Students", exact=True).click()
    return page


def edit_student(visit, account):
    page = open_students(visit)
    return page, edit(page, account)


def arranged(account):
    """Brings a page in Arabic to the editor of a student."""

    def arrange(page):
        page.get_by_role("button", name="الطلاب", exact=True).click()
        page.get_by_role("searchbox").fill(account)
        page.locator(f"tr[data-account='{account}']").get_by_role("button").click()
        expect(page.locator(".devices [aria-busy=false]")).to_be_visible()

    return arrange


def is_signed_out(person):
    try:
        person.request("GET", "/user")
    except Refused as refused:
        assert refused.status == 401, refused
        return True
    return False


def test_students_are_found_by_the_hub(product, visit, pictures):
    first, second = Person(product, "tarik"), Person(product, "tarik")
    page = open_students(visit)
    page.get_by_role("searchbox", name="The beginning of an account").fill("TARIK")
    for person in (first, second):
        expect(row(page, person.account)).to_contain_text("Student")
    expect(row(page, "admin")).to_have_count(0)
    pictures(page, "portal-students", arrange=lambda other: other.get_by_role("button", name="الطلاب", exact=True).click(), right_to_left=True)
    page.get_by_role("searchbox").fill(second.account)
    expect(row(page, first.account)).to_have_count(0)
    page.get_by_role("searchbox").fill("nobody-begins-like-this")
    expect(page.get_by_role("heading", name="No student fits")).to_be_visible()
    page.get_by_role("button", name="Show all students").click()
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("row")).not_to_have_count(0)


@pytest.mark.at_length
def test_a_name_of_the_staff_leads_to_the_students(student, visit):
    page = visit("/portal/people/", account="admin")
    page.get_by_role("searchbox").fill(student.account)
    expect(page.get_by_role("heading", name="Nobody fits")).to_be_visible()
    page.get_by_role("button", name="Search the students").click()
    expect(row(page, student.account)).to_be_visible()


def test_forty_thousand_students_come_in_pages(visit, pictures):
    """The page asks for what it shows, and not for more."""
    asked = []

    def answer(route):
        if "role=student" not in route.request.url:
            return route.fallback()
        asked.append(route.request.url)
        text = re.search(r"[?&]q=([^&]*)", route.request.url)
        start = int(re.search(r"after=(\d+)|$", route.request.url)[1] or 0)
        accounts = [{
            "account": f"{text[1] if text else ''}person.{number:05}", "role": "student", "disabled": number % 9 == 4, "second_factor": "none",
            "second_factor_required": False, "has_password": True, "created": 1795262462399, **({"professor": True} if number % 7 == 0 else {}),
        } for number in range(start, start + 50)]
        query = f"&q={text[1]}" if text else ""
        return route.fulfill(json={"accounts": accounts, "next": f"/account?role=student{query}&limit=50&after={start + 50}"})

    page = open_students(visit, routes={"**/account?**": answer})
    expect(row(page, "person.00049")).to_be_visible()
    assert len(asked) == 1
    expect(page.get_by_role("status").filter(has_text="50 students shown, more follow")).to_have_count(1)
    pictures(page, "portal-students-many", at_length=True)
    row(page, "person.00049").scroll_into_view_if_needed()
    expect(row(page, "person.00099")).to_be_visible()
    # Of what is typed quickly, only the end is asked for. Its next page may be asked for at once, since the window is far down.
    page.get_by_role("searchbox").evaluate(
        "box => { for (const text of ['l', 'li', 'library']) { box.value = text; box.dispatchEvent(new Event('input')); } }")
    expect(row(page, "libraryperson.00000")).to_be_visible()
    assert sum("q=" in url and "after=" not in url for url in asked) == 1, asked


def test_professor(product, student, visit, pictures):
    page, editor = edit_student(visit, student.account)
    pictures(page, "portal-student-editor", arrange=arranged(student.account), right_to_left=True)
    expect(editor.get_by_role("checkbox", name="Require a second factor")).to_have_count(0)
    expect(editor.get_by_role("button", name="Invitation link…")).to_have_count(0)
    editor.get_by_role("checkbox", name="Professor").check()
    editor.get_by_role("button", name="Save").click()
    expect(row(page, student.account)).to_contain_text("Professor")
    assert product.api("GET", f"/account/{student.account}")["professor"] is True
    edit(page, student.account).get_by_role("checkbox", name="Professor").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(row(page, student.account)).not_to_contain_text("Professor")
    assert "professor" not in product.api("GET", f"/account/{student.account}")


def test_a_student_becomes_a_communicator(product, student, visit):
    page, editor = edit_student(visit, student.account)
    editor.get_by_role("radio", name="Communicator").check()
    editor.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{student.account} was saved.")).to_be_visible()
    expect(row(page, student.account)).to_have_count(0)
    page.get_by_role("button", name=re.compile(r"^Staff")).click()
    expect(row(page, student.account)).to_contain_text("Communicator")
    assert product.api("GET", f"/account/{student.account}")["role"] == "communicator"
    # Who joins the staff signs in again on each device.
    eventually("the device is signed out", lambda: is_signed_out(student))


def test_add_a_student(product, visit, pictures):
    name = product.unique("tina").replace(" ", "")
    page = visit("/portal/people/", account="admin", confirmed=True)
    dialog = add_person(page, name, "Tina")
    dialog.get_by_role("radio", name="Student").check()
    expect(dialog.get_by_role("radio", name="With an invitation link")).to_have_count(0)
    dialog.get_by_role("textbox", name="Password").fill(PASSWORD)
    expect(dialog).to_contain_text("They can change the password in the students' app.")
    pictures(page, "portal-student-add", at_length=True)
    dialog.get_by_role("button", name="Add person").click()
    expect(row(page, name)).to_contain_text("Tina")
    expect(row(page, name).get_by_role("button")).to_be_focused()
    assert Person(product, account=name).request("GET", "/user")["account"] == name


def test_devices(product, student, visit, pictures):
    second = Person(product, account=student.account)
    page, editor = edit_student(visit, student.account)
    devices = editor.get_by_role("listitem").filter(has_text="gets no notifications")
    expect(devices).to_have_count(2)
    pictures(page, "portal-student-devices")
    # The one that was used last comes first.
    devices.first.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("A test is signed out.")).to_be_visible()
    expect(devices).to_have_count(1)
    expect(devices.get_by_role("button", name="Sign out")).to_be_focused()
    assert is_signed_out(second) and not is_signed_out(student)
    editor.get_by_role("button", name="Sign out everywhere…").click()
    question = page.get_by_role("dialog", name=f"Sign out all devices of {student.account}?")
    pictures(page, "portal-student-devices-end", at_length=True)
    question.get_by_role("button", name="Sign out everywhere").click()
    expect(editor.get_by_text("Signed in on no device.")).to_be_visible()
    eventually("the device is signed out", lambda: is_signed_out(student))


def test_disable_and_new_password_end_devices(product, student, visit):
    page, editor = edit_student(visit, student.account)
    editor.get_by_role("button", name="Disable").click()
    expect(row(page, student.account)).to_contain_text("Disabled")
    expect(editor.get_by_text("Signed in on no device.")).to_be_visible()
    assert is_signed_out(student)
    editor.get_by_role("button", name="Enable").click()
    expect(editor.get_by_role("button", name="Disable")).to_be_visible()
    other = Person(product, account=student.account)
    editor.get_by_role("button", name="New password…").click()
    dialog = page.get_by_role("dialog", name=f"New password for {student.account}")
    expect(dialog).to_contain_text("all devices are signed out at once")
    dialog.get_by_role("textbox", name="Password").fill("violet-harbour-piano")
    dialog.get_by_role("button", name="Set password").click()
    expect(page.get_by_text(f"{student.account} has a new password.")).to_be_visible()
    eventually("the device is signed out", lambda: is_signed_out(other))


def test_erase(product, student, visit, pictures):
    page, editor = edit_student(visit, student.account)
    editor.get_by_role("button", name="Erase…").click()
    question = page.get_by_role("dialog", name=f"Erase {student.account}?")
    expect(question).to_contain_text("Within a minute nothing of the person is left in any service")
    pictures(page, "portal-student-erase", at_length=True)
    question.get_by_role("button", name="Erase the person").click()
    expect(question.get_by_text("This is not the name of the account.")).to_be_visible()
    question.get_by_role("textbox").fill(student.account.upper())
    question.get_by_role("button", name="Erase the person").click()
    report = page.get_by_role("dialog", name=re.compile(f"{student.account} (was|is being) erased"))
    expect(report).to_contain_text("Removed: account (1)")
    expect(report).to_contain_text("Removed: devices (1)")
    pictures(page, "portal-student-erased")
    report.get_by_role("button", name="Close").click()
    expect(row(page, student.account)).to_have_count(0)
    assert is_signed_out(student)
    with pytest.raises(Refused, match="404"):
        product.api("GET", f"/account/{student.account}")
    # Nobody gets the name again.
    with pytest.raises(Refused, match="409"):
        product.add_account(student.account)


def test_access_codes(product, student, visit, pictures):
    page = open_students(visit)
    page.get_by_role("button", name="Access codes…").click()
    codes = page.get_by_role("dialog", name="Access codes")
    codes.get_by_role("button", name="Make a code…").click()
    form = page.get_by_role("dialog", name="Make an access code")
    form.get_by_role("textbox", name="Note").fill(note := product.unique("Physics"))
    form.get_by_role("spinbutton", name="How often it can be used").fill("0")
    pictures(page, "portal-code-new", at_length=True)
    form.get_by_role("button", name="Make code").click()
    expect(form.get_by_text("Use a whole number from 1 to 100,000.")).to_be_visible()
    form.get_by_role("spinbutton").fill("2")
    form.get_by_role("button", name="Make code").click()
    shown = page.get_by_role("dialog", name="Give this code to whom it is for")
    expect(shown).to_contain_text("It works 2 times")
    code = shown.get_by_role("textbox", name="Makes a professor").inner_text()
    pictures(page, "portal-code-made")
    page.keyboard.press("Escape")
    shown.get_by_role("button", name="Done").click()
    listed = codes.get_by_role("listitem").filter(has_text=note)
    expect(listed).to_contain_text("0 of 2 uses")
    pictures(page, "portal-codes", at_length=True)
    assert code not in str(product.api("GET", "/access-codes"))

    assert student.request("POST", "/user/access-code", {"code": code})["professor"] is True
    listed.get_by_role("button", name="End").click()
    page.get_by_role("dialog", name="End this code?").get_by_role("button", name="End").click()
    expect(listed).to_have_count(0)
    with pytest.raises(Refused, match="403"):
        Person(product, "theo").request("POST", "/user/access-code", {"code": code})


def choose(page, text):
    page.get_by_role("button", name="Import a list…").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("List").set_input_files({"name": "students.csv", "mimeType": "text/csv", "buffer": text.encode()})
    return dialog


def test_import(university_product, visit, pictures):
    taken = Person(university_product, "uwe").account
    page = open_students(visit, product=university_product)
    page.get_by_role("button", name="Import a list…").click()
    dialog = page.get_by_role("dialog", name="Import a list of students")
    pictures(page, "portal-import", at_length=True)
    for text, problem in (
        ("account,name\nann,1\n", "“name” is not a column."), ("account,oidc\nann.lee,\n", "Line 2: the identifier (oidc) is missing."),
        ("account,oidc\n", "The list has no rows."), ("account,oidc\nvera,v1\nVERA,v2\n", "is in line 2 as well")):
        dialog.get_by_label("List").set_input_files({"name": "students.csv", "mimeType": "text/csv", "buffer": text.encode()})
        expect(dialog.get_by_text(problem)).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()

    rows = "".join(f"vera.{number},v-{number},Vera {number},{'true' if number == 1 else ''}\n" for number in range(1, 151))
    dialog = choose(page, f"account,oidc,display_name,professor\n{rows}{taken},u-1,,\n")
    expect(dialog.get_by_role("heading", name="This would come of it")).to_be_visible()
    expect(dialog).to_contain_text("150 accounts would be added")
    expect(dialog).to_contain_text("1 row would be refused")
    dialog.get_by_text("Which rows are refused, and why").click()
    expect(dialog).to_contain_text(f"{taken}: ")
    pictures(page, "portal-import-report")
    # A look changes nothing.
    assert university_product.api("GET", "/account?role=student&q=vera")["accounts"] == []
    dialog.get_by_role("button", name="Import 150 students").click()
    expect(dialog.get_by_role("heading", name="The list was imported")).to_be_visible()
    expect(dialog).to_contain_text("150 accounts were added")
    dialog.get_by_role("button", name="Close").click()
    expect(row(page, "vera.1")).to_contain_text("Professor")

    dialog = choose(page, f"account,oidc,display_name,professor\n{rows}")
    expect(dialog).to_contain_text("150 are as the list says")
    expect(dialog.get_by_role("button", name=re.compile("Import"))).to_have_count(0)


@pytest.mark.at_length
def test_an_import_is_stopped_and_continued(university_product, visit):
    visit.expect_errors(SERVICE_AWAY)
    times, held = [], []

    def answer(route):
        body = route.request.post_data_json
        if not body["dry_run"]:
            times.append(time.monotonic())
            if len(times) == 2:
                held.append(route)
                return None
            if len(times) == 3:
                return route.fulfill(status=503, json={"type": "/problems/service-unavailable"})
        # Nothing is left of the budget of this minute.
        headers = {} if body["dry_run"] else {"RateLimit": '"account";r=0;t=1'}
        return route.fulfill(json={"outcomes": [{"account": each["account"], "outcome": "added"} for each in body["rows"]]}, headers=headers)

    page = open_students(visit, product=university_product, routes={"**/account/import": answer})
    dialog = choose(page, "account,oidc\n" + "".join(f"wim.{number},w-{number}\n" for number in range(250)))
    dialog.get_by_role("button", name="Import 250 students").click()
    eventually("the second request", lambda: page.evaluate("1") and held)
    assert times[1] - times[0] >= 0.9
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_contain_text("Stopped after 100 of 250 rows.")
    dialog.get_by_role("button", name="Continue").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Rows 101 to 200: A part of the hub is away.")
    dialog.get_by_role("button", name="Continue").click()
    expect(dialog).to_contain_text("250 accounts were added")


@pytest.mark.at_length
def test_without_a_university_there_is_no_list(visit):
    page = open_students(visit)
    page.get_by_role("button", name="Import a list…").click()
    dialog = page.get_by_role("dialog", name="Import a list of students")
    expect(dialog).to_contain_text("No university sign-in is set up")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


@pytest.mark.at_length
def test_the_audit_log_names_what_was_done(product, student, visit):
    account = student.account
    product.api("PUT", f"/account/{account}", {"professor": True})
    product.api("DELETE", f"/account/{account}/devices")
    product.api("POST", f"/account/{account}/erasure")
    page = visit(f"/portal/audit/?object={account}", account="admin")
    for text in (f"made {account} a professor", f"signed out all devices of {account}", f"erased {account}"):
        expect(page.get_by_role("listitem").filter(has_text=text)).to_have_count(1)


@pytest.mark.at_length
def test_students_while_the_people_service_is_away(spare_product, visit):
    visit.expect_errors(SERVICE_AWAY)
    person = Person(spare_product, "xena")
    page = open_students(visit)
    expect(row(page, person.account)).to_be_visible()
    with spare_product.away("msi-people"):
        page.get_by_role("searchbox").fill("xen")
        expect(page.get_by_text("A part of the hub is away.")).to_be_visible()
        # What was read before stays.
        expect(row(page, person.account)).to_be_visible()
    page.get_by_role("searchbox").fill("xena")
    expect(row(page, person.account)).to_be_visible()
