"""How the web app's core keeps its subscription to pushes: with a hub and a browser in memory, in a page without anything else."""

import pytest
from browsing.core import core_context, core_page


@pytest.fixture
def play(browser):
    """Runs the body of a function in a new browser, and returns its value. It has what cases/pushes.js exports, and pushes that `it` is."""
    context = core_context(browser)
    page = core_page(context)

    def play(body, subjects):
        script = f"""async (subjects) => {{
            const {{ pushesWith, until }} = await import("/cases/pushes.js");
            const it = await pushesWith(subjects);
            const {{ hub, browser, pushes, topicOf }} = it;
            const asked = () => hub.takeAsked().map(({{ method, path }}) => `${{method}} ${{path.replace("/app/push", "")}}`);
            {body}
        }}"""
        return page.evaluate(script, subjects)

    yield play
    context.close()


SUBJECTS = {"Campus/Weather/Storms": "Alert", "Library/Main/Hours": "Information"}


def test_begin_and_prove(play):
    """The hub gets the browser's keys and the topics, those of Alerts first; then the code."""
    found = play("""
        await pushes.begin();
        const before = await it.row();
        await pushes.prove(hub.newest.code);
        const { endpoint, keys, alerts, information, language, proven } = hub.newest;
        return { before, after: await it.row(), asked: asked(), endpoint, keys, information, language, proven,
            isSorted: alerts.join() === [topicOf("Campus/Weather/Storms"), topicOf("Library/Main/Hours")].join() };""", SUBJECTS)
    assert found["asked"] == ["GET ", "POST /subscriptions", "POST /subscriptions/id1/proof"], found
    assert found["endpoint"] == "https://push.example.net/1" and found["keys"] == {"p256dh": "p", "auth": "a"}
    assert found["isSorted"] and found["information"] == [] and found["language"] == "en" and found["proven"], found
    assert not found["before"]["proven"] and found["after"]["proven"] and not found["after"].get("code"), found


def test_changes_are_told_once(play):
    """Several changes after each other are one request, whichever of two tabs makes it; without a change there is none."""
    found = play("""
        await it.begin();
        // The changes are stored within the time of one request, on a busy machine too.
        it.pace = 2;
        const ends = [it.start(), it.start()];
        // Both have found nothing to tell.
        await until(() => browser.looks === 2);
        asked();
        await it.subscribe({ ...subjects, "Campus/Weather/Floods": "Alert" });
        await it.subscribe({ "Campus/Weather/Storms": "Alert", "Library/Main/Hours": "Information" });
        await pushes.choose(topicOf("Library/Main/Hours"), true);
        await until(() => hub.newest.information.length === 1);
        // What a tab may still have to tell would come within this time.
        await new Promise((next) => { setTimeout(next, 1_500); });
        const first = asked();
        await it.subscribe(subjects);
        await new Promise((next) => { setTimeout(next, 1_500); });
        await Promise.all(ends.map((end) => end()));
        return { first, then: asked(), failures: it.failures };""", SUBJECTS)
    assert found == {"first": ["PUT /subscriptions/id1"], "then": [], "failures": []}, found


def test_changes_are_told_again_after_failures(play):
    found = play("""
        await it.begin();
        const end = it.start();
        hub.isAway = true;
        await pushes.choose(topicOf("Library/Main/Hours"), true);
        await until(() => it.failures.length > 1);
        hub.isAway = false;
        await until(() => hub.newest.information.length === 1);
        await end();
        return asked();""", SUBJECTS)
    assert found == ["GET ", "PUT /subscriptions/id1"], found


def test_the_hub_has_ended_it(play):
    """The browser's subscription may be why: it gets another one."""
    found = play("""
        await it.begin();
        hub.subscriptions.clear();
        it.language = "ar";
        await pushes.renew();
        return { asked: asked(), endpoint: hub.newest.endpoint, language: hub.newest.language, row: await it.row() };""", SUBJECTS)
    assert found["asked"] == ["PUT /subscriptions/id1", "GET ", "POST /subscriptions"], found
    assert found["endpoint"] == "https://push.example.net/2" and found["language"] == "ar"
    assert found["row"]["id"] == "id2" and not found["row"]["proven"], found


def test_it_has_ended_before_the_code_came(play):
    found = play("""
        await pushes.begin();
        const { code } = hub.newest;
        hub.subscriptions.clear();
        asked();
        await pushes.prove(code);
        return { asked: asked(), row: await it.row() };""", SUBJECTS)
    assert found["asked"] == ["POST /subscriptions/id1/proof", "PUT /subscriptions/id1", "GET ", "POST /subscriptions"], found
    assert found["row"]["id"] == "id2" and not found["row"].get("code"), found


def test_a_code_of_an_earlier_subscription(play):
    found = play("""
        await it.begin();
        await pushes.prove("code0");
        return await it.row();""", SUBJECTS)
    assert found["id"] == "id1" and found["proven"] and not found.get("code"), found


def test_the_browser_has_ended_it(play):
    """Without the permission the app waits for the person; with it, it subscribes again."""
    found = play("""
        await it.begin();
        browser.subscription = null;
        browser.permission = "denied";
        await pushes.renew();
        const denied = asked();
        browser.permission = "granted";
        await pushes.renew();
        return { denied, asked: asked(), row: await it.row() };""", SUBJECTS)
    assert found["denied"] == [] and found["asked"] == ["GET ", "POST /subscriptions"], found
    assert found["row"]["id"] == "id2" and found["row"]["endpoint"] == "https://push.example.net/2", found


def test_the_hub_has_another_key(play):
    """The sign of life looks for it. A browser keeps a subscription with the key that it was made with, so it gets another one."""
    found = play("""
        await it.begin();
        hub.key = hub.key.replace("B", "C");
        await pushes.renew();
        const before = asked();
        it.now += 90_000_000;
        await pushes.renew();
        return { before, asked: asked(), row: await it.row(), key: hub.key };""", SUBJECTS)
    assert found["before"] == [] and found["asked"] == ["GET ", "GET ", "POST /subscriptions"], found
    assert found["row"]["key"] == found["key"] and found["row"]["endpoint"] == "https://push.example.net/2", found


def test_another_key_is_noticed_at_the_next_start(play):
    found = play("""
        await it.begin();
        hub.key = hub.key.replace("B", "C");
        const end = it.start();
        await until(async () => (await it.row()).id === "id2");
        await end();
        return { asked: asked(), row: await it.row(), key: hub.key, failures: it.failures };""", SUBJECTS)
    assert found["asked"] == ["GET ", "GET ", "POST /subscriptions"] and found["failures"] == [], found
    assert found["row"]["key"] == found["key"] and found["row"]["endpoint"] == "https://push.example.net/2", found


def test_the_key_is_asked_for_at_most_once_an_hour(play):
    """After each look at the hub there is something to find out, and when the app comes to the front it looks."""
    found = play("""
        await it.begin();
        const end = it.start();
        await until(() => browser.looks === 1);
        const first = asked();
        hub.key = hub.key.replace("B", "C");
        await it.subscribe(subjects);
        await until(() => browser.looks === 2);
        const soon = asked();
        it.now += 3_700_000;
        await it.subscribe(subjects);
        await until(async () => (await it.row()).id === "id2");
        await end();
        return { first, soon, later: asked() };""", SUBJECTS)
    assert found == {"first": ["GET "], "soon": [], "later": ["GET ", "GET ", "POST /subscriptions"]}, found


def test_the_hub_sends_no_pushes_any_more(play):
    """The app's state says so, and the subscription stays for the time when the hub sends them again."""
    found = play("""
        await it.begin();
        const { key } = hub;
        hub.key = null;
        const end = it.start();
        await until(async () => (await it.row()).isOff);
        await until(() => it.failures.length === 1);
        await end();
        hub.key = key;
        const endAgain = it.start();
        await until(async () => !(await it.row()).isOff);
        await endAgain();
        return { asked: asked(), id: (await it.row()).id, endpoint: browser.subscription.endpoint, failures: it.failures };""", SUBJECTS)
    assert found["asked"] == ["GET ", "GET "] and found["id"] == "id1", found
    assert found["endpoint"] == "https://push.example.net/1" and found["failures"] == ["the hub sends no pushes"], found


def test_pushes_are_switched_on_again_after_the_hub_was_off(play):
    """The app that is open tells the hub of changes at once, not after an hour."""
    found = play("""
        await it.begin();
        const { key } = hub;
        hub.key = null;
        const end = it.start();
        await until(async () => (await it.row()).isOff);
        hub.key = key;
        await pushes.end();
        await it.begin();
        await it.subscribe({ ...subjects, "Campus/Weather/Floods": "Alert" });
        await until(() => hub.newest.alerts.length === 3);
        await end();
        return it.failures;""", SUBJECTS)
    assert found == ["the hub sends no pushes"], found


def test_a_subscription_that_has_ended_at_its_push_service(play):
    """The hub refuses it, and the browser does not know: it gets another one."""
    found = play("""
        hub.refuses = (endpoint) => endpoint.endsWith("/1");
        await pushes.begin();
        return { asked: asked(), endpoint: hub.newest.endpoint, row: await it.row() };""", SUBJECTS)
    assert found["asked"] == ["GET ", "POST /subscriptions", "POST /subscriptions"], found
    assert found["endpoint"] == found["row"]["endpoint"] == "https://push.example.net/2", found


def test_a_push_service_that_the_hub_refuses(play):
    """The app tries twice, and leaves no subscription that the next start would try again."""
    found = play("""
        hub.refuses = () => true;
        const { kind, status, message } = await pushes.begin().then(() => ({}), (error) => error);
        await pushes.renew();
        return { kind, status, message, asked: asked(), subscription: browser.subscription, row: await it.row() ?? null };""", SUBJECTS)
    assert found["asked"] == ["GET ", "POST /subscriptions", "POST /subscriptions"], found
    assert (found["kind"], found["status"], found["message"]) == ("refused", 400, "endpoint: refused"), found
    assert found["subscription"] is None and found["row"] is None, found


def test_the_codes_of_earlier_pushes_are_awaited(play):
    """The first push to the subscription may still come, so it stays."""
    found = play("""
        Object.assign(hub, { refuses: () => true, refusal: 409 });
        const status = await pushes.begin().then(() => null, (error) => error.status);
        return { status, asked: asked(), endpoint: browser.subscription.endpoint };""", SUBJECTS)
    assert found == {"status": 409, "asked": ["GET ", "POST /subscriptions"], "endpoint": "https://push.example.net/1"}, found


def test_a_sign_of_life_each_day(play):
    found = play("""
        await it.begin();
        it.now += 90_000_000;
        await pushes.renew();
        await pushes.renew();
        return asked();""", SUBJECTS)
    assert found == ["GET ", "PUT /subscriptions/id1"], found


def test_the_browser_has_evicted_the_data(play):
    """Its subscription says that pushes are on. The hub replaces its own one when the new one is proven."""
    found = play("""
        await it.begin();
        await it.database.write((tx) => tx.keep("push", undefined));
        await pushes.renew();
        return { asked: asked(), endpoint: hub.newest.endpoint };""", SUBJECTS)
    assert found == {"asked": ["GET ", "POST /subscriptions"], "endpoint": "https://push.example.net/1"}, found


def test_end(play):
    """Also without the hub, which then learns of the end from the push service."""
    found = play("""
        await it.begin();
        await pushes.end();
        const ended = [await it.row() ?? null, browser.subscription, hub.subscriptions.size];
        await it.begin();
        hub.isAway = true;
        await pushes.end();
        await pushes.renew();
        return { ended, away: [await it.row() ?? null, browser.subscription] };""", SUBJECTS)
    assert found == {"ended": [None, None, 0], "away": [None, None]}, found


@pytest.mark.parametrize("arrange,kind", [("hub.key = null", "off"), ("browser.script = '/app/service-worker.js'", "unsupported"),
                                          ("browser.script = '/app/service-worker.js'; browser.waiting = '/app/push-worker.js'", "later"),
                                          ("browser.permission = 'denied'", "NotAllowedError"), ("hub.isAway = true", "TypeError")])
def test_what_keeps_it_from_being_on(play, arrange, kind):
    found = play(f"""
        {arrange};
        const error = await pushes.begin().then(() => null, (error) => error.kind ?? error.name);
        return {{ error, row: await it.row() ?? null }};""", SUBJECTS)
    assert found == {"error": kind, "row": None}, found


def test_more_subjects_than_a_request_has_room_for(play):
    """Those of Alerts are first."""
    subjects = {f"Channel/Area/{number}": "Alert" if number % 10 == 0 else "Information" for number in range(1_000)}
    found = play("""
        await it.begin();
        const alerts = new Set(hub.newest.alerts);
        return [alerts.size, hub.newest.information.length,
            Object.keys(subjects).filter((each) => subjects[each] === "Alert").every((each) => alerts.has(topicOf(each)))];""", subjects)
    assert found == [800, 0, True], found


def test_what_makes_no_sound(play):
    """A second copy, and what the person has read or deleted. Its notification goes."""
    found = play("""
        await it.database.write(async (tx) => {
            await tx.put("messages", { msi_key: "read", read: true });
            await tx.put("messages", { msi_key: "unread", read: false });
            await tx.put("removed", { msi_key: "removed", at: 0 });
        });
        const closed = [];
        browser.shown = ["read", "unread", "removed", "unknown", undefined]
            .map((key) => ({ data: key && { msi_key: key }, close: () => closed.push(key) }));
        await pushes.tidy();
        // At the end of a push something is to be seen.
        browser.shown = browser.shown.slice(0, 1);
        await pushes.tidy(true);
        const quiet = [];
        for (const key of ["read", "unread", "removed", "unknown", "unknown", "unread"]) quiet.push(await pushes.note(key));
        return { closed, quiet };""", SUBJECTS)
    assert found == {"closed": ["read", "removed"], "quiet": [True, False, True, False, True, True]}, found
