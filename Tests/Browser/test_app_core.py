"""What the core of the web app does beyond the cases that every app passes: tabs, the browser's storage, and answers of the hub that are wrong."""

import pytest

from browsing.core import INSECURE, core_context, core_page, run
from harness.waiting import eventually

STORMS = [{"path": "Campus/Weather/Storms", "level": "Forced"}]
SUBJECTS = [*STORMS, {"path": "Library/Main/Hours", "level": "Recommended"}]
HUB = {"cube": STORMS, "accepts": [{"key": "a"}]}
# As the hub in memory has it.
TIME = "2026-11-24T12:00:00Z"


@pytest.fixture
def context(browser):
    context = core_context(browser)
    yield context
    context.close()


@pytest.fixture
def page(context):
    return core_page(context)


def start(page, hub=HUB, time=TIME):
    """Starts the app, which is `it` with its hub and its clock, and waits for its first look."""
    run(page, "globalThis.it = await started(argument.hub, { time: argument.time });", {"hub": hub, "time": time})


def prepare(page, hub):
    """Opens the app without starting it."""
    run(page, "globalThis.it = await appWith(argument.hub, { time: argument.time });", {"hub": hub, "time": TIME})


def test_one_tab_looks_and_all_show(context, page):
    """The tab that was started or used last looks at the hub. When it is closed, another one does."""
    other = core_page(context)
    hour = """const { hub, clock } = globalThis.it; hub.takeAsked();
              for (let minute = 0; minute < 60; minute += 1) await clock.set(clock.now() + 60_000);
              return askedOf(hub).length;"""
    start(page)
    run(page, "globalThis.changes = 0; it.app.changes(() => { globalThis.changes += 1; });")
    start(other, {**HUB, "accepts": [{"key": "a"}, {"key": "b"}]})
    run(page, "await until(it.app, ({ messages }) => messages.includes('b'))")
    assert run(page, "return globalThis.changes") > 0
    # A tab learns a moment later that another one has taken the lead, and then waits for it.
    waits = "const { held, pending } = await navigator.locks.query(); return held.length === 1 && pending.length === 1"
    eventually("the first tab waits", lambda: run(page, waits))
    assert run(page, hour) == 0 and run(other, hour) > 0
    run(other, "await it.app.request('DELETE', '/messages/a')")
    run(page, "await until(it.app, ({ messages }) => !messages.includes('a'))")
    run(page, "await it.app.look()")
    eventually("the other tab waits", lambda: run(page, waits))
    assert run(page, hour) > 0 and run(other, hour) == 0
    page.close()
    other.wait_for_function("navigator.locks.query().then(({ held, pending }) => held.length === 1 && !pending.length)")
    assert run(other, hour) > 0


def test_without_a_secure_connection(context):
    """There are no locks then."""
    page = core_page(context, INSECURE)
    assert run(page, "return [isSecureContext, await shown((await started(argument)).app)]", HUB) == [
        False, {"messages": ["a"], "unread": 1, "kept": [], "cards": [], "subscribed": ["Storms"]}]


def test_in_a_worker(page):
    """No part of it needs a page."""
    found = run(page, """const worker = new Worker('/cases/worker.js', { type: 'module' });
        return new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = reject; });""")
    assert found["messages"] == ["Title a"] and found["file"].startswith("Title a\nCampus › Weather › Storms · ")


EVICTED = {"cube": SUBJECTS, "accepts": [{"key": key} for key in ("read", "kept", "deleted", "new")], "broadcasts": [{"id": 1}, {"id": 2, "title": "Other"}]}
USE = """const { app } = globalThis.it;
    await app.request("PATCH", "/messages/read", { read: true });
    await app.request("PATCH", "/messages/kept", { kept: true });
    await app.request("DELETE", "/messages/deleted");
    await app.request("POST", "/broadcasts/hub-1/close", { version: 1 });
    await app.request("PUT", `/subscriptions/${(await app.state()).channels[1].areas[0].subjects[0].topic_key}`, { subscribed: false });
    await app.report();"""
REMAINS = {"messages": ["new", "kept", "read"], "unread": 2, "kept": ["kept"], "cards": ["Other"], "subscribed": ["Storms"]}


def test_evicted_between_two_starts(page):
    """The app begins again, and knows what it has shown. Nothing is reported twice."""
    start(page, EVICTED)
    run(page, USE)
    reports = "return it.hub.takeAsked().filter(({ path }) => path === '/receipt').map(({ body }) => body)"
    [first] = run(page, reports)
    run(page, "await ended(it); await evict();")
    start(page, {**EVICTED, "accepts": [*EVICTED["accepts"], {"key": "later"}]})
    assert run(page, "return shown(it.app)") == {**REMAINS, "messages": ["later", *REMAINS["messages"]], "unread": 3}
    run(page, "await it.app.report()")
    assert run(page, reports) == [{"installation": first["installation"], "report": 2, "received": ["later"], "opened": []}]


def test_evicted_with_a_subscription_without_a_choice(page):
    """A subject that is no longer recommended keeps those who have it. The app still knows that they do."""
    optional = {**EVICTED, "cube": [STORMS[0], {"path": "Library/Main/Hours"}]}
    start(page, EVICTED)
    run(page, "it.hub.change({ cube: argument }); await it.app.look(); await ended(it); await evict();", optional["cube"])
    start(page, optional)
    assert run(page, "return shown(it.app)")["subscribed"] == ["Storms", "Hours"]


def test_evicted_while_it_runs(page):
    """The app fetches everything again by itself."""
    start(page, EVICTED)
    run(page, USE)
    run(page, "await evict(); await until(it.app, ({ messages }) => messages.length === 3)")
    run(page, "await it.app.look()")
    assert run(page, "return shown(it.app)") == REMAINS


def test_kept_copy_that_cannot_be_read(page):
    """The app begins without it."""
    run(page, "localStorage.setItem('app', argument)", '{"form":1,"memory":')
    assert run(page, "return shown((await started(argument)).app)", HUB)["messages"] == ["a"]


def test_data_of_a_later_version(page):
    """The app says what is wrong, and leaves the data as they are."""
    run(page, "await new Promise((resolve) => { indexedDB.open('app', 7).onsuccess = ({ target }) => { target.result.close(); resolve(); }; });")
    kind, message = run(page, "return appWith({}).then(() => null, ({ kind, message }) => [kind, message])")
    assert kind == "newer" and message == "app has the format 7, which this version of the app does not know; the highest one that it knows is 3"


def test_later_version_in_another_tab(context, page):
    """The app makes room for it, and says that the page is to be loaded again."""
    start(page)
    run(page, "it.told = new Promise((resolve) => it.app.changes(() => it.app.state().catch(resolve)));")
    other = core_page(context)
    run(other, "await new Promise((resolve) => { indexedDB.open('app', 7).onsuccess = resolve; });")
    assert run(page, "return (await it.told).kind") == "outdated"
    assert run(page, "return it.app.state().then(() => null, ({ kind }) => kind)") == "outdated"
    answer = run(page, "return it.app.request('PATCH', '/messages/a', { read: true })")
    assert answer == {"status": 500, "body": {"error": "a later version of the app is open in another tab: load this page again"}}


def test_no_space(context, page):
    """The app shows what it has, says that it can store no more, and stores again when there is space."""
    quota = lambda size: context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", {"origin": "http://localhost", **size})
    quota({"quotaSize": 3_000_000})
    start(page)
    run(page, "it.hub.change({ accepts: [{ key: 'large', message: 'x'.repeat(4_000_000) }] }); await it.app.look().catch(() => {});")
    assert run(page, "return shown(it.app)")["messages"] == ["a"]
    assert run(page, "return it.app.state()")["storage"] == "full"
    answer = run(page, "return it.app.request('PUT', '/quiet-hours', { from: '22:00', to: '07:00' })")
    assert answer["status"] in (204, 507), answer
    # Small things may fit. The app says so all the time nevertheless, until the message does as well.
    run(page, """globalThis.seen = new Set(); globalThis.end = it.app.changes(async () => seen.add((await it.app.state()).storage));
        await it.app.look().catch(() => {}); await it.app.state(); end();""")
    assert run(page, "return [...seen]") == ["full"]
    quota({})
    run(page, "await it.app.look()")
    assert run(page, "return shown(it.app)")["messages"] == ["large", "a"]
    assert run(page, "return it.app.state()")["storage"] == "good"


# What no hub should answer, by the path.
WRONG = {
    "/channel": [None, "text", {}, [None], [{"_id": "x", "name": "N", "areas": []}], [{"_id": "0" * 24, "name": "N", "areas": [{"id": "0" * 24, "name": "N", "subjects": [{}]}]}]],
    "/message/since": [None, [], {}, {"messages": []}, {"messages": {}, "next": "1-" + "0" * 24}, {"messages": [], "next": 7}, {"messages": [], "next": "later"},
                       {"messages": [], "next": "1-" + "0" * 24, "waiting": {}}, {"messages": [], "next": "1-" + "0" * 24, "recalled": [1]}],
    "/broadcast/active": [None, "text", {}, {"broadcasts": [], "withdrawn": {}}, {"broadcasts": 1, "withdrawn": []}],
}


@pytest.mark.parametrize("path", WRONG)
def test_answers_that_are_wrong(page, path):
    """The look fails, what the app has stays, and the next look succeeds."""
    start(page, {**HUB, "broadcasts": [{"id": 1}]})
    run(page, "globalThis.print = async () => JSON.stringify({ ...await it.app.state(), hub: null }); globalThis.before = await print();")
    for status, body in [*[(200, body) for body in WRONG[path]], (404, None), (500, None), (304, None)]:
        run(page, """const { hub, app } = it; const right = hub.request;
            hub.request = async (method, path, ...rest) => (path.startsWith(argument.path) ? { status: argument.status, body: argument.body } : right(method, path, ...rest));
            await app.look().catch(() => {}); hub.request = right;""", {"path": path, "status": status, "body": body})
        assert run(page, "return await print() === before || it.app.state()") is True, (status, body)
    run(page, "it.hub.change({ accepts: [{ key: 'b' }] }); await it.app.look();")
    assert run(page, "return shown(it.app)")["messages"] == ["b", "a"]


BROKEN_MESSAGES = [None, 7, [], {}, {"title": {}}, {"title": None}, {"dist": []}, {"timestamp": 1e30}, {"timestamp": "1e5"}, {"timestamp": -9e15}, {"timestamp": 8_640_000_000_000_000}, {"msi_key": ""}, {"topic_key": 1.5e300}]


def test_messages_that_are_wrong(page):
    """They are left out, and the others come."""
    prepare(page, {"cube": STORMS, "accepts": [{"key": "first"}, {"key": "last"}]})
    found = run(page, """const { app, hub, failures } = it; const right = hub.request;
        hub.request = async (method, path, ...rest) => {
          const answer = await right(method, path, ...rest);
          if (path !== "/message/since" || !answer.body.messages.length) return answer;
          const [good] = answer.body.messages;
          const broken = argument.map((each) => (each && typeof each === "object" && !Array.isArray(each) ? { ...good, ...each, ...(Object.keys(each).length ? {} : { msi_key: undefined }) } : each));
          return { ...answer, body: { ...answer.body, messages: [...broken, ...answer.body.messages], waiting: broken } };
        };
        app.run(); await app.look(); await app.look();
        return [await shown(app), failures.length]""", BROKEN_MESSAGES)
    assert found[0]["messages"] == ["last", "first"] and found[1] > 0, found


BROKEN_BROADCASTS = [None, "text", {"id": 0}, {"version": "1"}, {"type": 9}, {"type": "1"}, {"starts": 1e30}, {"channels": ["Campus"]}, {"condition": 7}, {"language": None}, {"actiondata": []},
                     {"actiondata": {"translations": {"en": "Hello"}}}, {"actiondata": {"notificationtype": "loud"}}, {"actiondata": {"share": -1}}, {"actiondata": {"cancellable": "no"}}]


def test_broadcasts_that_are_wrong(page):
    """They are left out, the others come, and the hub is asked without a validator: a later version of the app may read them."""
    prepare(page, {"cube": [], "broadcasts": [{"id": 1}]})
    found = run(page, """const { app, hub, failures } = it; const right = hub.request;
        hub.request = async (method, path, ...rest) => {
          const answer = await right(method, path, ...rest);
          if (!path.startsWith("/broadcast/")) return answer;
          const [good] = answer.body.broadcasts;
          const broken = argument.map((each, index) => (each && typeof each === "object" ? { ...good, id: 100 + index, ...each } : each));
          return { ...answer, body: { broadcasts: [...broken, good], withdrawn: [null, { id: 1 }] } };
        };
        app.run(); await app.look(); hub.takeAsked(); await app.look();
        const [{ headers }] = hub.takeAsked().filter(({ path }) => path.startsWith("/broadcast/"));
        return [(await shown(app)).cards, Object.keys(headers), failures.length > 0]""", BROKEN_BROADCASTS)
    assert found == [["Hello"], [], True], found


def test_zone_that_the_browser_does_not_take(page):
    """Chromium's name for a system's zone that it does not know."""
    found = run(page, """const { resolvedOptions } = Intl.DateTimeFormat.prototype;
        Intl.DateTimeFormat.prototype.resolvedOptions = function () { return { ...resolvedOptions.call(this), timeZone: 'Etc/Unknown' }; };
        return (await started(argument)).app.state()""", HUB)
    assert found["zone"] == "UTC"


def test_growing_pauses(page):
    """An app that cannot reach the hub asks less and less often, and each app at its own times."""
    prepare(page, {"away": True})
    found = run(page, """const { app, hub, clock } = it; const times = [];
        const right = hub.request;
        hub.request = async (method, path, ...rest) => { if (path === "/channel") times.push(clock.now()); return right(method, path, ...rest); };
        app.run(); await app.look().catch(() => {});
        for (let second = 0; second < 600; second += 0.5) { await clock.idle(); await clock.set(clock.now() + 500); }
        return times.slice(1).map((time, index) => time - times[index]);""")
    assert 12 <= len(found) <= 28, found
    assert all(500 <= pause <= 60_500 for pause in found) and found[0] <= 1_500 and max(found) > 30_000, found
    assert found[:6] == sorted(found[:6]) and len(set(found)) > len(found) / 2, found


def test_deleted_messages_are_known_for_five_weeks(page):
    """The hub may bring a copy late. After that it is a new one."""
    start(page)
    run(page, "await it.app.request('DELETE', '/messages/a'); await ended(it);")
    for time, copies, messages in [("2026-12-29T11:00:00Z", 1, []), ("2026-12-29T13:00:00Z", 2, ["a"])]:
        start(page, {**HUB, "accepts": [*HUB["accepts"], *[{"key": "a", "at": time}] * copies]}, time)
        assert run(page, "const found = await shown(it.app); await ended(it); return found;")["messages"] == messages, time


CONDITIONS = [
    ("'a' in topics", "a", True), ("'a' in topics", "", False), ("!'a' in topics", "", True), ("'a' in topics && 'b' in topics", "a", False),
    ("'a' in topics||'b' in topics", "b", True), ("'a' in topics && ('b' in topics || 'c' in topics)", "ac", True),
    # From left to right, without precedence.
    ("'a' in topics || 'b' in topics && 'c' in topics", "a", False), ("'a' in topics || ('b' in topics && 'c' in topics)", "a", True),
    ("!('a' in topics || 'b' in topics)", "c", True), ("'a' in topics && 'b' in topics || 'c' in topics", "ac", True),
    # None fulfil a malformed one.
    *[(text, "a", False) for text in ("", "'a'", "a in topics", "'a' in topics &", "'a' in topics 'b' in topics", "('a' in topics", "'a b' in topics", "'a' in topics)",
                                      "&& 'a' in topics", "!" * 20 + "'a' in topics", " || ".join(f"'{name}' in topics" for name in "abcdef"))]]


def test_conditions(page):
    found = run(page, """const { isFulfilled } = await import('/core/condition.js');
        return argument.map(([condition, topics]) => [condition, topics, isFulfilled(condition, new Set(topics))]);""",
                [[condition, topics] for condition, topics, _ in CONDITIONS])
    assert [tuple(each) for each in found] == CONDITIONS


def test_shares_of_features(page):
    """Every app puts an installation into the same of a hundred buckets: these are fixed."""
    found = run(page, """const { featuresOf } = await import('/core/broadcast.js');
        const isOn = (installation, share, group) => featuresOf([{ id: 1, type: 4, starts: 0, expires: 1, actiondata: {
          feature: 'dark-cards', notificationtype: 'enable-feature', share, group } }], installation).length === 1;
        return argument.map(([installation, bucket]) => [isOn(installation, bucket), isOn(installation, bucket + 1), isOn(installation, 99 - bucket, 'B'), isOn(installation, 100 - bucket, 'B')]);""",
                [["a", 75], ["b", 99], ["5a0187feff0dafac2833f401", 37]])
    assert found == [[False, True, False, True], [False, True, True, True], [False, True, False, True]], found


ANSWERS = [
    ("GET", "/messages/a/calendar.ics", None, 400), ("GET", "/messages/a/calendar.ics?start=1e300", None, 400),
    ("GET", "/messages/a/calendar.ics?start=0&minutes=0", None, 400), ("GET", "/messages/none/calendar.ics?start=0", None, 404),
    ("GET", "/messages/a/calendar.ics?start=253402300799999&minutes=10080", None, 200),
    ("PATCH", "/messages/a", {"read": 1}, 400), ("PATCH", "/messages/a", {"seen": True}, 400), ("PATCH", "/messages/none", {"read": True}, 404),
    ("POST", "/messages/read", {"keys": "a", "read": True}, 400), ("POST", "/messages/a/restore", None, 404), ("DELETE", "/messages/none", None, 404),
    ("PUT", "/settings", {"receipts": "no"}, 400), ("PUT", "/quiet-hours", {"from": "22:00"}, 400), ("POST", "/broadcasts/hub-1/close", {"version": 1}, 404),
    ("POST", "/nothing", None, 404)]


def test_requests_that_are_refused(page):
    """Each says why. An app that has ended does not look."""
    found = run(page, """const { app, running } = await started(argument.hub); const answers = [];
        for (const [method, path, body] of argument.requests) answers.push(await app.request(method, path, body));
        app.close(); await running;
        return [...answers, await app.request("POST", "/refresh", null)];""", {"hub": HUB, "requests": [each[:3] for each in ANSWERS]})
    for request, answer in zip([*ANSWERS, ("POST", "/refresh", None, 409)], found, strict=True):
        status = request[3]
        assert answer["status"] == status and (status == 200 or answer["body"]["error"]), (request, answer)
