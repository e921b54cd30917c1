"""The web app's core about people: what it keeps, sends again, follows and forgets. With a hub in memory, in a page without anything else."""

import pytest
from browsing.core import core_context, core_page


@pytest.fixture
def context(browser):
    context = core_context(browser)
    yield context
    context.close()


@pytest.fixture
def play(context):
    """Runs the body of a function in a new browser, and returns its value. It has what cases/people.js exports, and people that `it` is."""
    page = core_page(context)

    def play(body, argument=None):
        script = f"""async (argument) => {{
            const {{ peopleWith, until }} = await import("/cases/people.js");
            const it = await peopleWith();
            const {{ hub, people, events }} = it;
            const asked = () => hub.takeAsked().map(({{ method, path }}) => `${{method}} ${{path}}`);
            const kindOf = (work) => work.then((value) => value, (error) => error.kind);
            {body}
        }}"""
        return page.evaluate(script, argument)

    return play


# The account

def test_nobody_can_read_the_key(play):
    """A script of the page can sign with it, and no more. Nothing else that shows who the person is stays, but a token of an hour."""
    found = play("""
        const { key } = await it.database.read((tx) => tx.get("account", "key"));
        const rows = await it.database.read((tx) => tx.all("account"));
        const outcomes = await Promise.allSettled(["pkcs8", "jwk"].map((form) => crypto.subtle.exportKey(form, key)));
        return { extractable: key.extractable, usages: key.usages, outcomes: outcomes.map(({ status }) => status),
            names: rows.map(({ name }) => name), text: JSON.stringify(rows) };""")
    assert not found["extractable"] and found["usages"] == ["sign"] and found["outcomes"] == ["rejected", "rejected"], found
    assert found["names"] == ["device", "key", "token"] and "right" not in found["text"], found


def test_two_tabs_get_one_token(play):
    """Several requests at once that find the token due get the same new one."""
    found = play("""
        it.skipped = 3_500_000;
        await Promise.all([1, 2, 3].map(() => people.account.authorized("GET", "/user")));
        return hub.takeAsked().map(({ method, path, headers }) => [`${method} ${path}`, headers.Authorization ?? ""]);""")
    assert [path for path, _ in found].count("POST /user/token") == 1, found
    assert [token for path, token in found if path == "GET /user"] == ["Bearer token-2"] * 3, found


def test_how_the_device_is_reached_is_told_once(play):
    """After the sign-in, and when the subscription to pushes or the language changes. Nobody who is signed out tells anything."""
    found = play("""
        const told = [];
        const { device } = await it.state();
        hub.answers[`PUT /user/devices/${device}`] = (body) => { told.push(body); return { status: 200, body: {} }; };
        const { account } = people;
        await account.registerDevice();
        await account.registerDevice();
        await it.database.write((tx) => tx.keep("push", { id: "6b0187feff0dafac2833f431" }));
        await account.registerDevice();
        it.language = "ar";
        await account.registerDevice();
        await it.database.write((tx) => tx.keep("push", undefined));
        await account.registerDevice();
        await account.signOut();
        await account.registerDevice();
        return told.map(({ subscription, language }) => [subscription ?? null, language]);""")
    subscription = "6b0187feff0dafac2833f431"
    assert found == [[None, "en"], [subscription, "en"], [subscription, "ar"], [None, "ar"]], found


def test_a_registration_that_is_told_again_after_a_failure(play):
    found = play("""
        it.pace = 10;
        const end = it.start();
        await until(() => it.failures.length > 0);
        const { device } = await it.state();
        let told = null;
        hub.answers[`PUT /user/devices/${device}`] = (body) => { told = body; return { status: 200, body: {} }; };
        await until(() => told);
        await end();
        return told;""")
    assert found["language"] == "en" and found["name"], found


def test_data_of_the_version_before(context):
    """The data get what accounts need, and what is there stays."""
    page = core_page(context)
    found = page.evaluate("""async () => {
        const { openDatabase } = await import("/core/database.js");
        await new Promise((resolve, reject) => {
            const request = indexedDB.open("before", 1);
            request.onupgradeneeded = () => {
                const { result: db } = request;
                db.createObjectStore("messages", { keyPath: "id", autoIncrement: true }).createIndex("msi_key", "msi_key", { unique: true });
                db.createObjectStore("removed", { keyPath: "msi_key" });
                db.createObjectStore("corrections", { keyPath: "msi_key" });
                db.createObjectStore("subscriptions", { keyPath: "topic_key" });
                db.createObjectStore("receipts", { keyPath: ["msi_key", "kind"] }).createIndex("waits", "waits");
                db.createObjectStore("broadcasts", { keyPath: "id" });
                db.createObjectStore("memory", { keyPath: "name" }).put({ name: "installation", value: "before" });
            };
            request.onsuccess = () => { request.result.close(); resolve(); };
            request.onerror = reject;
        });
        let isFilled = false;
        const data = await openDatabase("before", { fill: async () => { isFilled = true; }, lost: () => {}, outdated: () => {} });
        await data.write((tx) => tx.put("account", { name: "device", id: "x" }));
        return { isFilled, installation: await data.read((tx) => tx.memory("installation")), people: await data.read((tx) => tx.all("people")) };
    }""")
    assert found == {"isFilled": False, "installation": "before", "people": []}, found


# What the person does

def test_an_action_is_sent_and_what_it_changes_is_read(play):
    found = play("""
        hub.answers["POST /user/friends"] = () => ({ status: 200, body: { account: "ben", state: "asked" } });
        hub.answers["GET /user/friends/requests"] = () => ({ status: 200, body: { received: [], asked: [{ account: "ben", at: 1 }] } });
        const outcome = await people.act("ask", "ben");
        const [first] = hub.takeAsked().filter(({ method }) => method === "POST");
        const { waits, requests } = await it.state();
        return { outcome, waits, requests, body: first.body, key: first.headers["Idempotency-Key"] };""")
    assert found["outcome"] == "done" and found["waits"] == [] and found["body"] == {"account": "ben"}, found
    assert len(found["key"]) == 36 and found["requests"] == {"received": [], "asked": [{"account": "ben", "at": 1}]}, found


def test_an_action_without_an_answer_is_sent_again_with_the_same_key(play):
    """It is shown as failed. However often somebody taps, it is one request; the hub may have done it the first time."""
    found = play("""
        let status = 503;
        hub.answers["POST /user/friends"] = () => ({ status, body: status === 200 ? { account: "ben", state: "asked" } : { detail: "later" } });
        const outcomes = [await people.act("ask", "ben"), await people.act("ask", "ben")];
        const [row] = (await it.state()).waits;
        status = 200;
        outcomes.push(await people.again(row.key));
        const keys = hub.takeAsked().filter(({ method, path }) => `${method} ${path}` === "POST /user/friends").map(({ headers }) => headers["Idempotency-Key"]);
        return { outcomes, error: row.error, keys, waits: (await it.state()).waits, gone: await kindOf(people.again(row.key)) };""")
    assert found["outcomes"] == ["waits", "waits", "done"] and found["error"] == "later" and found["waits"] == [], found
    assert len(found["keys"]) == 3 and len(set(found["keys"])) == 1 and found["gone"] == "denied", found


def test_actions_are_sent_again_by_themselves(play):
    """In their order, after a start of the app as well."""
    found = play("""
        it.pace = 10;
        hub.isAway = true;
        await people.act("ask", "ben");
        await people.act("withdraw", "ben");
        hub.isAway = false;
        hub.answers["POST /user/friends"] = () => ({ status: 200, body: { account: "ben", state: "asked" } });
        hub.answers["DELETE /user/friends/ben"] = () => ({ status: 204 });
        hub.answers[`PUT /user/devices/${(await it.state()).device}`] = () => ({ status: 200, body: {} });
        const end = it.start();
        await until(async () => !(await it.state()).waits.length);
        await end();
        return asked().filter((each) => each.includes("/user/friends") && !each.startsWith("GET"));""")
    assert found == ["POST /user/friends", "DELETE /user/friends/ben"], found


def test_an_action_that_the_hub_refuses_is_over(play):
    found = play("""
        hub.answers["POST /user/friends"] = () => ({ status: 409, body: { detail: "too many" } });
        const error = await people.act("ask", "ben").then(() => null, ({ kind, status, message }) => [kind, status, message]);
        return { error, waits: (await it.state()).waits };""")
    assert found == {"error": ["refused", 409, "too many"], "waits": []}, found


def test_an_action_that_is_refused_while_nobody_looks(play):
    """It stays with the reason, and is not sent again by itself; what is behind it is sent."""
    found = play("""
        it.pace = 10;
        hub.isAway = true;
        await people.act("ask", "ben");
        await people.act("unblock", "eve");
        hub.isAway = false;
        hub.answers["POST /user/friends"] = () => ({ status: 409, body: { detail: "too many", field: "account" } });
        hub.answers["DELETE /user/blocked/eve"] = () => ({ status: 204 });
        hub.answers[`PUT /user/devices/${(await it.state()).device}`] = () => ({ status: 200, body: {} });
        const end = it.start();
        await until(async () => (await it.state()).waits.length === 1);
        await end();
        const [{ key, action, error, refusal }] = (await it.state()).waits;
        const posts = asked().filter((each) => each === "POST /user/friends").length;
        await people.discard(key);
        return { action, error, refusal, posts, then: (await it.state()).waits };""")
    assert found == {"action": "ask", "error": "too many", "refusal": {"status": 409, "field": "account"}, "posts": 1, "then": []}, found


def test_a_later_profile_takes_the_place_of_one_that_waits(play):
    found = play("""
        hub.isAway = true;
        await people.act("profile", { bio: "a", visibility: {} });
        await people.act("profile", { bio: "b", visibility: {} });
        const { waits } = await it.state();
        await people.discard(waits[0].key);
        return { waits: waits.map(({ about }) => about.bio), then: (await it.state()).waits };""")
    assert found == {"waits": ["b"], "then": []}, found


# What the hub tells

@pytest.mark.parametrize("path,body", [
    ("/user/friends", None), ("/user/friends", {"friends": "ben"}), ("/user/friends", {"friends": ["a b"]}), ("/user/friends", {"friends": [7]}),
    ("/user/friends/requests", {"received": []}), ("/user/friends/requests", {"received": [{"account": "ben"}], "asked": []}),
    ("/user/blocked", {}), ("/user/profile", {"bio": 7, "visibility": {}}), ("/user/profile", {"bio": "x"}), ("/user/preferences", {"pushes": []}),
    ("/user/devices", {"devices": [{"id": "x", "platform": "web", "created": 0, "seen": 0}]})])
def test_answers_that_cannot_be_read(play, path, body):
    """They change nothing, and the app says so."""
    part = path.rsplit("/", 1)[1]
    found = play(f"""
        await people.load(["{part}"]);
        const before = await it.state();
        hub.answers["GET {path}"] = () => ({{ status: 200, body: argument }});
        const error = await kindOf(people.load(["{part}"]));
        return {{ error, isSame: JSON.stringify(before) === JSON.stringify(await it.state()) }};""", body)
    assert found == {"error": "unreadable", "isSame": True}, found


def test_another_person(play):
    """What is not theirs to see is not there; who is not found is nobody."""
    found = play("""
        hub.answers["GET /users/ben"] = () => ({ status: 200, body: { account: "ben", relation: "friends", bio: "x", mutual_friends: ["eve"] } });
        hub.answers["GET /users?q=be"] = () => ({ status: 200, body: { accounts: ["ben", "bea"] } });
        hub.answers["GET /users/odd"] = () => ({ status: 200, body: { account: "odd" } });
        return [await people.view("ben"), await people.view("nobody"), await kindOf(people.view("odd")), await people.search("be"), await kindOf(people.search("xyz"))];""")
    assert found == [{"account": "ben", "relation": "friends", "bio": "x", "mutual_friends": ["eve"]}, None, "unreadable", ["ben", "bea"], "refused"], found


def test_a_friend_who_is_nobody_any_more(play):
    """The lists are read again, and whether they are blocked."""
    found = play("""
        let seen = asked();
        await people.view("ben");
        const wanted = ["GET /user/friends", "GET /user/friends/requests", "GET /user/blocked"];
        await until(() => { seen = [...seen, ...asked()]; return wanted.every((each) => seen.includes(each)); });
        return true;""")
    assert found


def test_signed_out_elsewhere(play):
    """All that the app has of the person is gone, and what waits as well. What belongs to the browser stays."""
    found = play("""
        await it.database.write((tx) => tx.keep("installation", "x"));
        hub.answers["POST /user/friends"] = () => ({ status: 503, body: {} });
        await people.act("ask", "ben");
        hub.changes.ends(["ann"]);
        const error = await kindOf(people.load(["friends"]));
        const rows = await it.database.read((tx) => Promise.all(["account", "people"].map((store) => tx.all(store))));
        return { error, rows: rows.map((each) => each.map(({ name }) => name)), state: await it.state(),
            stays: await it.database.read((tx) => tx.memory("installation")), later: await kindOf(people.act("ask", "ben")) };""")
    assert found["error"] == "signed out" and found["rows"] == [["ended"], []] and found["stays"] == "x", found
    assert found["state"] == {"account": None, "device": None, "signed_out": True, "waits": []} and found["later"] == "signed out", found


def test_a_refusal_that_comes_after_the_sign_out(play):
    """Who has signed out is not told that the hub has done it."""
    found = play("""
        const gates = {};
        const held = (name) => new Promise((resolve) => { gates[name] = resolve; });
        const { request } = hub;
        hub.request = async (method, path, ...more) => {
            if (path === "/user/token") await held("token");
            const answer = await request(method, path, ...more);
            if (method === "DELETE") await held("end");
            return answer;
        };
        const out = people.account.signOut();
        await until(() => gates.end);
        const late = kindOf(people.account.authorized("GET", "/user"));
        await until(() => gates.token);
        gates.end();
        const isKnown = await out;
        gates.token();
        return { isKnown, late: await late, state: await it.state() };""")
    assert found == {"isKnown": True, "late": "signed out", "state": {"account": None, "device": None, "signed_out": False, "waits": []}}, found


# Events

STREAM = """
    hub.answers[`PUT /user/devices/${(await it.state()).device}`] = () => ({ status: 200, body: {} });
    const parts = () => asked().filter((each) => each.startsWith("GET /user") && !["GET /user/challenge", "GET /user/events"].includes(each)).sort();
    const end = it.start();
    await until(() => hub.streams.size === 1);
    await until(async () => (await it.state()).requests);
    /** What was read until it is so much. */
    const read = async (count) => {
        const seen = [];
        await until(() => seen.push(...parts()) >= count);
        return seen.sort();
    };
"""


def test_events_say_what_to_read(play):
    """At the beginning everything that pages show is read; then what the events are about, in whatever pieces they come."""
    found = play(STREAM + """
        const first = parts();
        hub.tell('event: person\\ndata: {"kind":"requests","id":"ben"}\\nid: 1-7\\n\\n');
        const second = await read(2);
        hub.tell('event: alive\\ndata: {}\\n\\nevent: person\\ndata: {"kind":"later"}\\nid: 1-8\\n\\n');
        hub.tell('event: reset\\ndata: {}\\nid: 1-9\\n\\n');
        const third = await read(3);
        await end();
        return { first, second, third, failures: it.failures };""")
    everything = ["GET /user", "GET /user/friends", "GET /user/friends/requests"]
    assert found["first"] == everything and found["second"] == everything[1:] and found["third"] == everything, found
    assert found["failures"] == [], found


def test_a_reset_of_one_service(play):
    """What another service knows is not read again."""
    found = play(STREAM + """
        parts();
        hub.tell('event: reset\\ndata: {"service":"study"}\\nid: 1-7\\n\\nevent: reset\\ndata: {"service":"people"}\\nid: 1-8\\n\\n');
        hub.tell('event: person\\ndata: {"kind":"requests"}\\nid: 1-9\\n\\n');
        const seen = await read(5);
        await end();
        return { seen, failures: it.failures };""")
    friends = ["GET /user/friends"] * 2 + ["GET /user/friends/requests"] * 2
    assert found == {"seen": ["GET /user", *friends], "failures": []}, found


def test_a_stream_resumes_where_it_was(play):
    found = play(STREAM + """
        hub.tell('event: alive\\ndata: {}\\nid: 1-7\\n\\n');
        await new Promise((next) => { setTimeout(next, 100); });
        parts();
        hub.end();
        let opened = [];
        await until(() => (opened = [...opened, ...hub.takeAsked()]).some(({ path }) => path === "/user/events"));
        await end();
        return opened.filter(({ path }) => path.startsWith("/user")).map(({ path, headers }) => [path, headers["Last-Event-ID"] ?? null]);""")
    assert found == [["/user/events", "1-7"]], found


def test_a_silent_stream_is_opened_again(play):
    """The hub says every few seconds that it is there."""
    found = play("""
        it.pace = 20;""" + STREAM + """
        await until(() => it.failures.length > 0);
        await until(() => asked().includes("GET /user/events"));
        await end();
        return it.failures[0];""")
    assert found == "there was no answer in time", found


def test_only_an_app_in_front_follows_events(play):
    found = play(STREAM + """
        events.show(false);
        await until(() => hub.streams.size === 0);
        it.tell();
        await new Promise((next) => { setTimeout(next, 300); });
        const hidden = hub.streams.size;
        events.show(true);
        await until(() => hub.streams.size === 1);
        await end();
        return hidden;""")
    assert found == 0


def test_signed_out_while_it_follows_events(play):
    """The hub ends the stream of a device that was signed out elsewhere, and the app asks why, at once: no pause comes before it."""
    found = play(STREAM + """
        hub.tell('event: alive\\ndata: {}\\nid: 1-7\\n\\n');
        await new Promise((next) => { setTimeout(next, 100); });
        hub.changes.ends(["ann"]);
        hub.takeAsked();
        hub.end();
        await until(async () => (await it.state()).signed_out);
        await end();
        return { asked: asked(), failures: it.failures };""")
    assert found == {"asked": ["GET /user/events", "GET /user/challenge", "POST /user/token"], "failures": []}, found


def test_a_hub_without_a_place_for_a_stream(play):
    """The app asks instead."""
    found = play("""
        hub.open = async () => new Response("{}", { status: 429 });
        const end = it.start();
        await until(async () => (await it.state()).friends);
        await end();
        return (await it.state()).friends;""")
    assert found == []


def test_a_stream_is_opened_again_when_the_hub_says(play):
    """`Retry-After` is the least pause."""
    found = play("""
        const { personEventsOf } = await import("/core/person-events.js");
        const { deviceClock } = await import("/core/clock.js");
        const pauses = [];
        const end = new AbortController();
        const sleep = (time, signal) => {
            if (time === 30_000) return deviceClock.sleep(time, signal);
            if (pauses.push(time) === 3) end.abort();
            return deviceClock.sleep(0, signal);
        };
        const account = { device: async () => ({ id: "d" }), open: async () => new Response("{}", { status: 429, headers: { "Retry-After": "10" } }) };
        const following = personEventsOf({ account, changed: async () => {}, failed: () => {}, clock: { ...deviceClock, sleep } });
        await following.run(end.signal).catch(() => {});
        return pauses;""")
    assert len(found) == 3 and min(found) > 10_000, found


def test_the_services_behind_the_stream_are_away(play):
    """The gateway opens each stream, and can answer nothing else: the app asks less and less often."""
    found = play("""
        const { personEventsOf } = await import("/core/person-events.js");
        const { deviceClock } = await import("/core/clock.js");
        const limits = [10_000, 30_000];
        const pauses = [];
        const end = new AbortController();
        const sleep = (time, signal) => {
            if (limits.includes(time)) return deviceClock.sleep(time, signal);
            if (pauses.push(time) === 9) end.abort();
            return deviceClock.sleep(0, signal);
        };
        let [streams, reads] = [0, 0];
        const account = { device: async () => ({ id: "d" }),
            open: async () => new Response(streams++ ? "retry: 9\\n\\nevent: reset\\ndata: {}\\n\\nid: 1-8\\n\\n" : "retry: 9\\n\\nid: 1-7\\n\\n") };
        const changed = async () => {
            reads += 1;
            if (reads > 1) throw Object.assign(new Error("away"), { kind: "refused", status: 503 });
        };
        const following = personEventsOf({ account, changed, failed: () => {}, clock: { ...deviceClock, sleep } });
        await following.run(end.signal).catch(() => {});
        return { pauses, streams, reads };""")
    assert found["streams"] == found["reads"] == 9 and min(found["pauses"][6:]) >= 30_000, found


# The way over a provider's page

SIGN_IN = """
    const { signInOf } = await import("/core/sign-in.js");
    const storage = new Map();
    const kept = { getItem: (key) => storage.get(key) ?? null, setItem: (key, value) => storage.set(key, value), removeItem: (key) => storage.delete(key) };
    let went = null;
    const signIn = signInOf({ account: people.account, storage: kept, origin: "https://hub.example.edu", go: (url) => { went = new URL(url); } });
    const google = { provider: "google", flow: "fragment", url: "https://accounts.example/auth?client_id=c&response_type=id_token", token: "id_token" };
    const outcome = (given) => { try { return signIn.finish(given); } catch ({ kind, purpose, message }) { return { kind, purpose, message }; } };
"""


def test_to_a_provider_and_back(play):
    """The token is for this device alone, and counts once."""
    found = play(SIGN_IN + """
        await signIn.begin(google, "sign-in");
        const query = Object.fromEntries(went.searchParams);
        const state = query.state;
        return { host: went.host, asked: query, thumbprint: await people.account.thumbprint(),
            first: outcome({ state, id_token: "t" }), again: outcome({ state, id_token: "t" }) };""")
    assert found["host"] == "accounts.example" and found["asked"]["client_id"] == "c", found
    assert found["asked"]["redirect_uri"] == "https://hub.example.edu/app/" and found["asked"]["nonce"] == found["thumbprint"], found
    assert len(found["asked"]["state"]) == 32 and len(found["thumbprint"]) == 43, found
    assert found["first"] == {"purpose": "sign-in", "credential": {"provider": "google", "id_token": "t"}}
    assert found["again"]["kind"] == "strange", found


def test_the_universitys_code(play):
    found = play(SIGN_IN + """
        hub.answers["POST /user/providers/university/flow"] = () => ({ status: 201, body: { url: "https://idp.example/auth?state=s1&code_challenge=x", flow: "sealed" } });
        hub.request = ((request) => async (method, path, ...more) => (path.includes("flow") ? hub.answers[`${method} ${path}`]() : request(method, path, ...more)))(hub.request);
        await signIn.begin({ provider: "university", flow: "code" }, "link");
        return { went: went.href, outcome: outcome({ state: "s1", code: "c1", iss: "https://idp.example" }) };""")
    assert found["went"] == "https://idp.example/auth?state=s1&code_challenge=x"
    assert found["outcome"] == {"purpose": "link", "credential": {
        "provider": "university", "authorization_code": "c1", "flow": "sealed", "state": "s1", "iss": "https://idp.example"}}, found


@pytest.mark.parametrize("given,expected", [
    ({"error": "access_denied"}, {"kind": "cancelled", "purpose": "sign-in"}),
    ({"error": "access_denied", "error_reason": "user_denied"}, {"kind": "cancelled", "purpose": "sign-in"}),
    ({"error": "server_error", "error_description": "try later"}, {"kind": "provider", "purpose": "sign-in", "message": "try later"}),
    ({"error_code": "2", "error_message": "try later"}, {"kind": "provider", "purpose": "sign-in", "message": "try later"}),
    ({}, {"kind": "provider", "purpose": "sign-in"}), ({"access_token": "t"}, {"kind": "provider", "purpose": "sign-in"}),
    ({"state": "other", "id_token": "t"}, {"kind": "strange"})])
def test_what_a_provider_may_bring_back(play, given, expected):
    found = play(SIGN_IN + """
        await signIn.begin(google, "sign-in");
        return outcome({ state: went.searchParams.get("state"), ...argument });""", given)
    assert {key: found.get(key) for key in expected} == expected, found


def test_a_token_that_nobody_has_asked_for(play):
    """A link with somebody else's token signs nobody in."""
    found = play(SIGN_IN + "return outcome({ state: 'x', id_token: 't' });")
    assert found["kind"] == "strange", found


def test_ways_to_sign_in_that_this_version_does_not_know(play):
    found = play(SIGN_IN + """
        const providers = [google, { provider: "a b", flow: "form" }, { provider: "later", flow: "qr" }, { provider: "password", flow: "form" },
            { provider: "facebook", flow: "fragment", url: "https://f.example", token: "id" }];
        hub.request = async () => ({ status: 200, body: { providers } });
        const known = await signIn.offered();
        hub.request = async () => ({ status: 404, body: {} });
        return [known.map(({ provider }) => provider), await signIn.offered()];""")
    assert found == [["google", "password"], []], found
