"""The web app's core about messages between persons: when it asks the hub, what it stores first, and what it sends again. With a hub in memory, in
a page without anything else. What it shows of them is in Tests/AppCases/direct.json."""

import pytest
from browsing.core import APP, SECURE, core_context, core_page

NEWS, RECEIVED, SEND = "GET /user/messages", "PUT /user/messages/received", "POST /user/messages"


@pytest.fixture
def context(browser):
    context = core_context(browser)
    yield context
    context.close()


@pytest.fixture
def play(context):
    """Runs the body of a function in a new browser, and returns its value. It has what cases/direct.js exports, and messages that `it` has."""
    page = core_page(context)

    def play(body, argument=None):
        return page.evaluate(f"""async (argument) => {{
            const {{ until }} = await import("/cases/people.js");
            const {{ directWith }} = await import("/cases/direct.js");
            const it = await directWith();
            const {{ direct, hub }} = it;
            const kindOf = (work) => work.then((value) => value, (error) => error.kind);
            const pause = (time) => new Promise((next) => {{ setTimeout(next, time); }});
            {body}
        }}""", argument)

    return play


# What the hub brings

def test_a_picture_is_here_before_the_hub_hears_of_it(play):
    """The message is stored and not confirmed while its picture cannot be fetched. It is never asked for again once it is here."""
    found = play("""
        const { pictures } = it;
        it.pictures = async () => new Response("{}", { status: 503 });
        it.change({ writes: [{ from: "ben", picture: true }, { from: "ben", text: "two" }] });
        const first = await kindOf(direct.fetch());
        const stored = [await it.texts("ben"), (await it.position()).missing.length, it.asked()];
        it.pictures = pictures;
        await direct.fetch();
        const { letters: [letter] } = await direct.letters("ben", 10);
        const blob = await direct.pictures.pictureOf(`/user/messages/${letter.id}/picture`);
        return { first, stored, then: it.asked(), missing: (await it.position()).missing, bytes: await blob.text(), type: blob.type };""")
    picture = next(each for each in found["then"] if each.endswith("/picture"))
    assert found["first"] == "refused" and found["stored"] == [[None, "two"], 1, [NEWS, picture]], found
    assert found["then"] == [NEWS, picture, RECEIVED] and found["missing"] == [] and [found["bytes"], found["type"]] == ["bytes", "image/png"], found


@pytest.mark.parametrize("answer", [
    pytest.param("'{}', { status: 404 }", id="gone"),
    pytest.param("'{}', { status: 403 }", id="refused"),
    pytest.param("new Blob(['bytes'], { type: 'image/later' })", id="of a type that this version does not know")])
def test_a_picture_that_does_not_come_holds_nothing_up(play, answer):
    found = play(f"""
        it.pictures = async () => new Response({answer});
        it.change({{ writes: [{{ from: "ben", picture: true }}] }});
        await direct.fetch();
        return {{ asked: it.asked(), stored: (await it.rows("pictures")).length, missing: (await it.position()).missing }};""")
    assert found["asked"][-1] == RECEIVED and found["stored"] == 0 and found["missing"] == [], found


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html", ""])
def test_what_is_no_picture(play, kind):
    """It is not kept, whatever the hub sends."""
    found = play("""
        it.pictures = async () => new Response(new Blob(["<svg/>"], { type: argument }));
        return [await kindOf(direct.pictures.pictureOf("/user/messages/x/picture")), (await it.rows("pictures")).length];""", kind)
    assert found == ["unreadable", 0]


def test_pictures_of_persons_who_are_no_friends(play):
    """They are forgotten; those of messages stay."""
    found = play("""
        const { pathOfPerson } = await import("/core/pictures.js");
        const names = [pathOfPerson("Ben"), pathOfPerson("eve"), "/user/messages/x/picture", "own 1"];
        await it.database.write((tx) => Promise.all(names.map((name) => tx.put("pictures", { name, at: 0 }))));
        await direct.pictures.keepPersons(["ann", "ben"]);
        return (await it.rows("pictures")).map(({ name }) => name).sort();""")
    assert found == ["/user/messages/x/picture", "/users/ben/picture", "own 1"]


def test_a_message_that_cannot_be_read_is_left_out(play):
    """Those behind it come, and the position moves on. An answer that is no news changes nothing."""
    found = play("""
        const id = "6b0187feff0dafac28330001";
        const message = { id, from: "ben", to: "ann", number: 7, at: 1, text: "fine" };
        const bad = [{}, { ...message, id: "x" }, { ...message, number: "7" }, { ...message, text: 7 }, { ...message, text: undefined }, null];
        it.refuses["GET /user/messages"] = { status: 200, body: { messages: [...bad, message], conversations: [{ account: "ben" }, 7], after: 9, now: 1 } };
        await direct.fetch();
        const after = (await it.position()).after;
        const texts = await it.texts("ben");
        it.refuses["GET /user/messages"] = { status: 200, body: { messages: [message], conversations: [], now: 1 } };
        return { texts, after, error: await kindOf(direct.fetch()), then: (await it.position()).after };""")
    assert found == {"texts": ["fine"], "after": 9, "error": "unreadable", "then": 9}, found


def test_two_fetches_at_once(play):
    """A tab and the service worker fetch one after the other, and nothing comes twice."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "m#", count: 5 }] });
        await Promise.all([direct.fetch(it.find("m0")), direct.fetch(it.find("m0"))]);
        return { texts: await it.texts("ben"), unread: (await it.conversation("ben")).unread };""")
    assert found == {"texts": ["m0", "m1", "m2", "m3", "m4"], "unread": 5}, found


def test_who_signs_out_while_messages_come(play):
    """Nothing of them is kept."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "one" }] });
        let go;
        it.refuses["GET /user/messages"] = () => new Promise((resolve) => { go = () => resolve({ status: 200, body: { messages: [
            { id: "6b0187feff0dafac28330001", from: "ben", to: "ann", number: 7, at: 1, text: "late" }], conversations: [], after: 9, now: 1 } }); });
        const fetched = kindOf(direct.fetch());
        await until(() => go);
        await it.people.account.signOut();
        go();
        await fetched;
        return (await Promise.all(["direct", "letters", "pictures"].map(it.rows))).flat().length;""")
    assert found == 0


def test_thousands_of_unread_messages(play):
    """A conversation shows its last messages without reading the others."""
    found = play("""
        const { takeLetters } = await import("/core/direct-letters.js");
        await it.database.write(async (tx) => {
            const letters = Array.from({ length: 3_000 }, (_, index) => ({ id: index.toString(16).padStart(24, "0"), account: "ben", name: "Ben",
                isOwn: false, number: index + 1, at: index, text: `m${index}`, picture: null }));
            await takeLetters(tx, letters, []);
        });
        const { letters, hasEarlier } = await direct.letters("BEN", 50);
        const earlier = await direct.letters("ben", 2, letters[0].number);
        return { count: letters.length, last: letters.at(-1).text, hasEarlier, earlier: earlier.letters.map(({ text }) => text),
            unread: (await it.whole()).direct.unread };""")
    assert found == {"count": 50, "last": "m2999", "hasEarlier": True, "earlier": ["m2948", "m2949"], "unread": 3_000}, found


@pytest.mark.parametrize("status", [403, 404])
def test_a_hub_without_messages(play, status):
    """An earlier version has no such routes, and the staff have no messages."""
    found = play("""
        it.refuses["GET /user/messages"] = { status: argument, body: {} };
        it.isCutOff = true;
        it.pace = 50;
        const end = it.follow();
        await until(() => it.asked().length);
        await end();
        return it.failures;""", status)
    assert found == []


def test_data_of_the_version_before(context):
    """The data get what messages need, and what is there stays."""
    found = core_page(context).evaluate("""async () => {
        const { openDatabase } = await import("/core/database.js");
        await new Promise((resolve, reject) => {
            const request = indexedDB.open("before", 3);
            request.onupgradeneeded = () => {
                const { result: db } = request;
                for (const name of ["removed", "subscriptions", "receipts", "broadcasts"]) db.createObjectStore(name, { keyPath: "id" });
                for (const name of ["memory", "account", "people", "study"]) db.createObjectStore(name, { keyPath: "name" }).put({ name: "x", value: 1 });
            };
            request.onsuccess = () => { request.result.close(); resolve(); };
            request.onerror = reject;
        });
        const data = await openDatabase("before", { fill: async () => {}, lost: () => {}, outdated: () => {} });
        await data.write((tx) => tx.put("letters", { id: "a", account: "ben", number: 1 }));
        return data.read(async (tx) => [(await tx.all("study")).length, (await tx.all("letters")).length, (await tx.all("direct")).length]);
    }""")
    assert found == [1, 1, 0]


# When the hub is asked

def test_events_are_followed_at_once(play):
    """Those about messages, with what they name; and the first one of a stream, which names nothing."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "one" }] });
        const end = it.follow();
        direct.happened("friends", null, undefined, it.find("one"));
        await pause(300);
        const before = it.asked();
        direct.happened(null);
        await until(async () => (await it.texts("ben")).length === 1);
        await until(async () => { const { due, confirmed } = await it.position(); return confirmed >= due; });
        it.change({ writes: [{ from: "ben", text: "two" }] });
        it.questions();
        direct.happened("messages", null, undefined, it.find("two"));
        await until(async () => (await it.texts("ben")).length === 2);
        const [{ path }] = it.questions();
        await end();
        return { before, prompt: new URLSearchParams(path.split("?")[1]).get("prompt") === it.find("two"), failures: it.failures };""")
    assert found == {"before": [], "prompt": True, "failures": []}, found


def test_the_stream_of_events(play):
    """An event names its message. While there is a stream the app is not cut off; a service that is back is asked for what was missed."""
    found = play("""
        const { personEventsOf } = await import("/core/person-events.js");
        const events = personEventsOf({ account: it.people.account, failed: () => {}, changed: (...event) => direct.happened(...event) });
        const [stop, end] = [it.follow(), new AbortController()];
        const isAsked = () => it.asked().includes("GET /user/messages");
        const states = [events.isCutOff()];
        const following = events.run(end.signal).catch(() => {});
        await until(isAsked);
        states.push(events.isCutOff());
        it.change({ writes: [{ from: "ben", text: "one" }] });
        hub.tell(`event: person\\ndata: {"kind":"messages","id":"${it.find("one")}"}\\n\\n`);
        await until(async () => (await it.texts("ben")).length === 1);
        const [{ path }] = it.questions();
        it.change({ writes: [{ from: "ben", text: "two" }] });
        hub.tell('event: reset\\ndata: {"service":"messaging"}\\n\\n');
        await until(async () => (await it.texts("ben")).length === 2);
        hub.end();
        await until(() => events.isCutOff());
        end.abort();
        await Promise.all([following, stop()]);
        return { states, prompt: new URLSearchParams(path.split("?")[1]).get("prompt") === it.find("one") };""")
    assert found == {"states": [True, False], "prompt": True}, found


def test_polls_without_a_stream(play):
    """Each 30 to 36 seconds while the app is in front and hears of nothing; the hub's rule counts, once it is known."""
    found = play("""
        const pauses = async () => {
            const times = [];
            await until(() => times.push(...it.questions().map(({ at }) => at)) >= 4);
            return times.slice(1, 4).map((time, index) => (time - times[index]) * it.pace);
        };
        it.refuses["GET /user/messages"] = { status: 200, body: { messages: [], conversations: [], after: 0, now: 1 } };
        it.pace = 100;
        const end = it.follow();
        await pause(500);
        const heard = it.questions().length;
        it.isCutOff = true;
        const usual = await pauses();
        await it.database.write((tx) => tx.put("people", { name: "messaging", value: { rules: { poll: 60 } } }));
        await pauses();
        const longer = await pauses();
        await end();
        return { heard, usual, longer, failures: it.failures };""")
    assert found["heard"] == 0 and found["failures"] == [], found
    # A busy machine makes pauses longer.
    assert all(each >= 29_000 for each in found["usual"]) and all(each >= 59_000 for each in found["longer"]), found


def test_a_poll_that_was_too_early(play):
    """Nothing is asked again before the next poll, but for what an event names. It is no failure."""
    found = play("""
        const refused = async (text) => {
            it.refuses["GET /user/messages"] = { status: 429, body: { field: "poll" } };
            it.asked();
            direct.happened(null);
            await until(() => it.asked().includes("GET /user/messages"));
            delete it.refuses["GET /user/messages"];
            it.change({ writes: [{ from: "ben", text }] });
        };
        let end = it.follow();
        await refused("one");
        for (let count = 0; count < 5; count += 1) { direct.happened(null); await pause(20); }
        const early = it.asked();
        direct.happened("messages", null, undefined, it.find("one"));
        await until(async () => (await it.texts("ben")).length === 1);
        await end();
        // The next poll comes by itself.
        it.pace = 30;
        end = it.follow();
        await refused("two");
        await until(async () => (await it.texts("ben")).length === 2);
        await end();
        return { early, failures: it.failures };""")
    assert found == {"early": [], "failures": []}, found


def test_a_hub_that_is_away(play):
    """What an event has named is fetched when it is back."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "one" }] });
        hub.isAway = true;
        it.pace = 10;
        const end = it.follow();
        direct.happened("messages", null, undefined, it.find("one"));
        await until(() => it.failures.length);
        hub.isAway = false;
        await until(async () => (await it.texts("ben")).length);
        await end();
        return (await it.conversation("ben")).unread;""")
    assert found == 1


# What the person sends

def test_what_waits_is_sent_when_the_hub_is_heard_again(play):
    """In its order, and without the pause that grows with each failure."""
    found = play("""
        hub.isAway = true;
        const outcomes = [await direct.send("ben", { text: "one" }), await direct.send("ben", { text: "two" })];
        const waits = await it.waits("ben");
        it.pace = 1_000;
        const end = it.follow();
        await until(() => it.failures.length > 4);
        // From now on the pauses are long.
        it.pace = 1;
        const count = it.failures.length;
        await until(() => it.failures.length > count);
        hub.isAway = false;
        direct.retry();
        await until(async () => (await it.texts("ben")).length === 2);
        await end();
        return { outcomes, waits, texts: await it.texts("ben"), then: await it.waits("ben") };""")
    assert found == {"outcomes": ["waits", "waits"], "waits": [["one", "waits"], ["two", "waits"]], "texts": ["one", "two"], "then": []}, found


@pytest.mark.parametrize("status,mark", [(429, "waits.server"), (503, "waits.server"), (507, "waits.full")])
def test_what_the_hub_does_not_take_now(play, status, mark):
    """It waits, and says why; and so do those behind it."""
    found = play("""
        it.refuses["POST /user/messages"] = { status: argument, body: {} };
        const outcomes = [await direct.send("ben", { text: "one" }), await direct.send("ben", { text: "two" })];
        return { outcomes, waits: await it.waits("ben") };""", status)
    assert found == {"outcomes": ["waits", "waits"], "waits": [["one", mark], ["two", mark]]}, found


def test_a_message_is_never_missing_between_two_states(play):
    """While it waits and when it is sent, it is there once."""
    found = play("""
        const counts = new Set();
        let isOver = false;
        await direct.send("ben", { text: "first" });
        const looks = (async () => { while (!isOver) { await it.database.read(async (tx) => {
            const [letters, rows] = [await tx.all("letters"), await tx.all("direct")];
            counts.add(letters.length + rows.filter(({ action }) => action === "message").length);
        }); } })();
        await direct.send("ben", { text: "second" });
        isOver = true;
        await looks;
        return [...counts].sort();""")
    assert set(found) <= {1, 2} and 2 in found, found


def test_two_messages_that_are_written_at_once(play):
    """The hub gets the first one first, even if its answer takes long."""
    found = play("""
        const got = [];
        it.refuses["POST /user/messages"] = async ({ body }) => {
            if (body.text === "one") await pause(200);
            got.push(body.text);
            return { status: 503, body: {} };
        };
        await Promise.all([direct.send("ben", { text: "one" }), direct.send("ben", { text: "two" })]);
        const { waits } = (await it.whole()).direct;
        delete it.refuses["POST /user/messages"];
        // The second one is tried by the person: it waits behind the first one.
        const again = [await direct.again(waits[1].key), await direct.again(waits[0].key), await direct.again(waits[1].key)];
        return { got, again, texts: await it.texts("ben") };""")
    assert found == {"got": ["one"], "again": ["waits", "done", "done"], "texts": ["one", "two"]}, found


def test_a_picture_that_is_sent(play):
    """Its bytes go to the hub once, however often the message is tried, and stay here under the message's path."""
    found = play("""
        const name = await direct.pictures.keepPicture(new Blob(["mine"], { type: "image/png" }));
        it.refuses["POST /user/messages"] = { status: 503, body: {} };
        const outcomes = [await direct.send("ben", { picture: name })];
        const [{ key }] = (await it.whole()).direct.waits;
        outcomes.push(await direct.again(key));
        delete it.refuses["POST /user/messages"];
        it.questions();
        outcomes.push(await direct.again(key));
        const [{ body }] = it.questions();
        const { letters: [letter] } = await direct.letters("ben", 10);
        const names = (await it.rows("pictures")).map((row) => row.name);
        const blob = await direct.pictures.pictureOf(names[0]);
        return { outcomes, uploads: it.uploads, picture: body.picture, text: body.text ?? null, isAtPath: names[0] === `/user/messages/${letter.id}/picture`,
            count: names.length, bytes: await blob.text(), asked: it.asked() };""")
    assert found["outcomes"] == ["waits", "waits", "done"] and found["uploads"] == ["mine"] and len(found["picture"]) == 24, found
    assert found["text"] is None and found["isAtPath"] and found["count"] == 1 and found["bytes"] == "mine" and found["asked"] == [], found


def test_a_picture_that_has_waited_for_too_long(play):
    """The hub has let the upload go. The bytes are sent once more."""
    found = play("""
        const name = await direct.pictures.keepPicture(new Blob(["mine"], { type: "image/png" }));
        it.refuses["POST /user/messages"] = { status: 404, body: { field: "picture" } };
        const outcomes = [await direct.send("ben", { picture: name })];
        delete it.refuses["POST /user/messages"];
        outcomes.push(await direct.again((await it.whole()).direct.waits[0].key));
        return { outcomes, uploads: it.uploads };""")
    assert found == {"outcomes": ["waits", "done"], "uploads": ["mine", "mine"]}, found


def test_a_message_that_is_discarded(play):
    """Its picture goes with it, and those behind it are sent."""
    found = play("""
        const name = await direct.pictures.keepPicture(new Blob(["mine"], { type: "image/png" }));
        hub.isAway = true;
        await direct.send("ben", { picture: name });
        await direct.send("ben", { text: "two" });
        hub.isAway = false;
        const [{ key }, next] = (await it.whole()).direct.waits;
        await direct.discard(key);
        await direct.again(next.key);
        return { pictures: (await it.rows("pictures")).length, texts: await it.texts("ben"), gone: await kindOf(direct.again(key)) };""")
    assert found == {"pictures": 0, "texts": ["two"], "gone": "denied"}, found


def test_a_refused_mark_is_forgotten(play):
    """The two are no friends any more. Nobody is bothered with it."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "one" }] });
        await direct.fetch();
        it.refuses[`PUT /user/messages/${it.find("one")}/read`] = { status: 404, body: {} };
        const outcome = await kindOf(direct.read("ben"));
        const { waits, unread } = (await it.whole()).direct;
        return { outcome, waits, unread };""")
    assert found == {"outcome": "refused", "waits": [], "unread": 0}, found


def test_blocked_people_are_not_counted(play):
    found = play("""
        it.change({ writes: [{ from: "Ben", text: "one" }, { from: "eve", text: "two" }] });
        await direct.fetch();
        const before = (await it.whole()).direct.unread;
        await it.database.write((tx) => tx.put("people", { name: "blocked", value: ["ben"] }));
        const { conversationsOf } = await import("/core/direct-state.js");
        const state = await it.whole();
        return [before, state.direct.unread, conversationsOf(state).map(({ account }) => account)];""")
    assert found == [2, 1, ["eve"]]


# Pushes

def test_pushes_while_the_person_is_in_the_app(context):
    """The page shows a message, so there is no notification of it. There is one of everything else, and while another window is in front."""
    context.route(f"{SECURE}/background.js", lambda route: route.fulfill(body=(APP / "background.js").read_text(), content_type="text/javascript"))
    found = core_page(context).evaluate("""async () => {
        const shown = [];
        let windows;
        globalThis.clients = { matchAll: async () => windows };
        globalThis.registration = { showNotification: async (title) => { shown.push(title); } };
        await import("/background.js");
        const shows = async (kind, ...open) => {
            windows = open;
            const data = { json: () => ({ notification: { title: "A title" }, msi: { kind } }) };
            await new Promise((waitUntil) => { dispatchEvent(Object.assign(new Event("push"), { data, waitUntil })); });
            return shown.splice(0).length;
        };
        const app = { url: `${location.origin}/app/#people`, focused: true };
        return [await shows("direct_message", app), await shows("friend_request", app), await shows("direct_message"),
            await shows("direct_message", { ...app, focused: false }), await shows("direct_message", { ...app, url: `${location.origin}/portal/` })];
    }""")
    assert found == [0, 1, 1, 1, 1], found


# Reports

def test_a_report(play):
    """A text as it is here, a picture by its bytes, and what the hub says about it."""
    found = play("""
        it.change({ writes: [{ from: "ben", text: "one" }, { from: "ben", picture: true }] });
        await direct.fetch();
        const { letters: [text, picture] } = await direct.letters("ben", 10);
        it.refuses["POST /user/reports"] = { status: 201, body: { id: text.id, verdict: "genuine" } };
        it.questions();
        const verdicts = [await direct.report(text, "ben", "rude", "key-1"), await direct.report(picture, "ben", "", "key-2")];
        const questions = it.questions();
        const reports = questions.filter(({ path }) => path === "/user/reports");
        it.refuses["POST /user/reports"] = { status: 429, body: {} };
        const refused = await direct.report(text, "ben", "", "key-3").catch(({ status }) => status);
        return { verdicts, bodies: reports.map(({ body }) => JSON.parse(JSON.stringify(body))),
            keys: reports.map(({ headers }) => headers["Idempotency-Key"]), upload: questions.map(({ path }) => path).find((path) => path.startsWith("/user/pictures")), uploads: it.uploads, refused, ids: [text.id, picture.id] };""")
    text, picture = found["bodies"]
    assert text == {"message": found["ids"][0], "account": "ben", "text": "one", "reason": "rude"}, found
    assert picture == {"message": found["ids"][1], "account": "ben", "picture": picture["picture"]} and len(picture["picture"]) == 24, found
    assert found["verdicts"] == ["genuine", "genuine"] and found["keys"] == ["key-1", "key-2"] and found["refused"] == 429, found
    assert found["upload"] == "/user/pictures?report=true" and found["uploads"] == ["bytes"], found
