"""The web app's core about classes and study sessions: when it asks the hub, and what it keeps. With a hub in memory, in a page without anything
else. What it shows is in Tests/AppCases/study.json."""

import json
import re

import pytest
from browsing.core import APP, TOP, core_context, core_page

PRELUDE = """
    const group = "6b0187feff0dafac28330001", other = "6b0187feff0dafac28330002", one = "6b0187feff0dafac28330011";
    const now = Date.now();
    const place = { latitude: 45, longitude: -30, name: "Library" };
    const session = { id: one, class: group, topics: ["Heaps"], place, starts: now, ends: now + 3_600_000, sponsored: false, host: "eve",
        host_role: "student", attendants: ["eve"], room: 100 };
    const classOf = (id, sessions) => ({ id, name: id, identification_key: id, role: "student", new_sessions: false, created: 0, members: 2, sessions });
    const own = { current: undefined, hosted: [], invites: [], now };
    const answers = {
        "GET /study": { rules: { radius: 150, accuracy: 200, grace: 300, max_minutes: 720, attendants: 100, invites: 50 }, map: { plan: "/app/plan" } },
        "GET /user/classes": { classes: [classOf(group, 1), classOf(other, 0)] }, "GET /user/sessions": own,
        [`GET /classes/${group}/sessions`]: { sessions: [session], now }, [`GET /classes/${group}/sessions/${one}`]: { session, now },
        [`GET /classes/${group}/sessions/${one}/posts?limit=50`]: { posts: [], now },
    };
    const answer = (path, body, status = 200) => { hub.answers[path] = () => ({ status, body }); };
    for (const [path, body] of Object.entries(answers)) answer(path, body);
    answer(`PUT /user/devices/${(await it.state()).device}`, {});
    /** The questions about study sessions. */
    const studied = () => asked().filter((each) => /\\/(classes|study|user\\/sessions)/.test(each));
"""


@pytest.fixture
def context(browser):
    context = core_context(browser)
    yield context
    context.close()


@pytest.fixture
def play(context):
    """Runs the body of a function in a new browser, and returns its value. It has what cases/people.js exports, people that `it` is, and a hub
    with a class that has a session, and one without."""
    page = core_page(context)

    def play(body, argument=None):
        script = f"""async (argument) => {{
            const {{ peopleWith, until }} = await import("/cases/people.js");
            const it = await peopleWith({{ hasStudy: true }});
            const {{ hub, people, study, events }} = it;
            const asked = () => hub.takeAsked().map(({{ method, path }}) => `${{method}} ${{path}}`);
            const kindOf = (work) => work.then((value) => value, (error) => error.kind);
            {PRELUDE}
            {body}
        }}"""
        return page.evaluate(script, argument)

    return play


# When the hub is asked

def test_nothing_is_followed_before_a_page_shows_sessions(play):
    """Only what the bar above the tabs needs is asked for, at the beginning of a stream."""
    found = play("""
        const end = it.start();
        await until(async () => (await it.whole()).study.own);
        hub.tell(`event: class\\ndata: {"class":"${group}","session":"${one}","kind":"sessions"}\\n\\n`);
        hub.tell('event: alive\\ndata: {}\\nid: 1-7\\n\\n');
        await new Promise((next) => { setTimeout(next, 200); });
        await end();
        return { asked: studied(), failures: it.failures };""")
    assert found == {"asked": ["GET /user/sessions"], "failures": []}, found


def test_a_page_that_shows_sessions(play):
    """Everything is read at once, and from then on every half a minute; without the page no more. Classes without sessions are not asked for them."""
    found = play("""
        const end = it.start();
        await until(async () => (await it.whole()).study.own);
        studied();
        study.watch([]);
        await until(async () => (await it.whole()).study[`sessions ${group}`]);
        const first = studied().sort();
        it.pace = 1_000;
        study.watch(null);
        study.watch([]);
        let again = 0;
        await until(() => (again += studied().filter((each) => each === "GET /user/classes").length) >= 3);
        study.watch(null);
        await new Promise((next) => { setTimeout(next, 300); });
        studied();
        await new Promise((next) => { setTimeout(next, 300); });
        const later = studied();
        await end();
        return { first, later };""")
    group = "6b0187feff0dafac28330001"
    assert sorted(set(found["first"])) == [f"GET /classes/{group}/sessions", "GET /study", "GET /user/classes", "GET /user/sessions"], found
    # At this pace each stream of events is silent for too long, and the next one begins with what the bar needs.
    assert not [each for each in found["later"] if each != "GET /user/sessions"], found


def test_events_of_classes(play):
    """The app follows those of its classes, and reads what they are about, if a page shows it."""
    found = play("""
        const end = it.start();
        await until(() => hub.streams.size === 1);
        study.watch([`session ${group} ${one}`]);
        const streams = [];
        await until(() => { streams.push(...asked().filter((each) => each.startsWith("GET /user/events"))); return streams.some((each) => each.includes("?")); });
        await until(async () => (await it.whole()).study[`session ${group} ${one}`]);
        await until(() => hub.streams.size === 1);
        it.pace = 50;
        await new Promise((next) => { setTimeout(next, 300); });
        it.pace = 1;
        studied();
        const tell = (kind) => hub.tell(`event: class\\ndata: {"class":"${group}","session":"${one}","kind":"${kind}"}\\n\\n`);
        const seen = async (path) => { const found = []; await until(() => found.push(...studied()) && found.includes(path)); return found; };
        tell("posts");
        tell("later");
        tell("sessions");
        const sessions = await seen(`GET /classes/${group}/sessions/${one}`);
        await end();
        return { streams: streams.at(-1), sessions };""")
    group, other, one = (f"6b0187feff0dafac283300{end}" for end in ("01", "02", "11"))
    assert found["streams"] == f"GET /user/events?classes={group},{other}", found
    assert f"GET /classes/{group}/sessions" in found["sessions"] and not [each for each in found["sessions"] if "posts" in each], found


def test_invitations_of_those_who_are_friends(play):
    """The hub shows those of friends alone, and none while the people service is away. The app asks again when friends change, or that
    service is back."""
    found = play("""
        const end = it.start();
        await until(async () => (await it.whole()).study.own && hub.streams.size === 1);
        studied();
        const tell = (type, data) => hub.tell(`event: ${type}\\ndata: ${JSON.stringify(data)}\\nid: 1-7\\n\\n`);
        const shown = (count) => until(async () => (await it.whole()).study.own.invites.length === count);
        answer("GET /user/sessions", { ...own, invites: [{ session, by: "ben", at: now }] });
        tell("reset", { service: "people" });
        await shown(1);
        answer("GET /user/sessions", own);
        tell("person", { kind: "friends" });
        await shown(0);
        await end();
        return studied();""")
    assert set(found) == {"GET /user/sessions"}, found


def test_another_class_begins_another_stream(play):
    """The hub no longer follows the classes for the stream to which it has told that they are others."""
    found = play("""
        const end = it.start();
        study.watch([]);
        const opened = [];
        const read = () => opened.push(...asked().filter((each) => each.startsWith("GET /user/events")));
        await until(() => { read(); return opened.some((each) => each.includes("?")) && hub.streams.size === 1; });
        opened.length = 0;
        answer("GET /user/classes", { classes: [classOf(other, 0)] });
        hub.tell('event: person\\ndata: {"kind":"classes"}\\nid: 1-7\\n\\n');
        await until(() => { read(); return opened.some((each) => each.endsWith(other) && !each.includes(group)); });
        await until(async () => (await it.whole()).study[`sessions ${group}`] === undefined);
        await end();
        return (await it.whole()).study.classes.length;""")
    assert found == 1


def test_a_hub_without_study_sessions(play):
    """An earlier version has no such routes. People are followed as ever."""
    found = play("""
        for (const path of Object.keys(answers)) delete hub.answers[path];
        const end = it.start();
        study.watch([]);
        await until(async () => (await it.state()).friends);
        await until(() => studied().includes("GET /user/classes"));
        hub.tell('event: person\\ndata: {"kind":"friends"}\\nid: 1-7\\n\\n');
        await until(() => asked().includes("GET /user/friends"));
        const { study: known } = await it.whole();
        await end();
        return { known, failures: it.failures };""")
    assert found == {"known": {"waits": []}, "failures": []}, found


def test_a_study_service_that_is_away(play):
    """The stream of events stays, and the sessions come when it is back."""
    found = play("""
        for (const path of Object.keys(answers)) answer(path, {}, 503);
        const end = it.start();
        study.watch([]);
        await until(() => it.failures.length > 0);
        await until(async () => (await it.state()).friends && hub.streams.size === 1);
        const streams = asked().filter((each) => each.startsWith("GET /user/events")).length;
        it.pace = 50;
        for (const [path, body] of Object.entries(answers)) answer(path, body);
        await until(async () => (await it.whole()).study[`sessions ${group}`]);
        await end();
        return streams;""")
    assert found == 1


def test_what_is_refused_waits(play):
    """The hub says for how long. Until then nothing that it tells makes the app ask, and what the people service knows is not read for it either."""
    found = play("""
        for (const path of Object.keys(answers)) hub.answers[path] = () => ({ status: 503, body: {}, wait: 2_000 });
        it.pace = 0.1;
        const end = it.start();
        await until(async () => (await it.state()).requests && it.failures.length > 0 && hub.streams.size === 1);
        it.pace = 5;
        study.watch([]);
        asked();
        const parts = () => asked().filter((each) => /^GET .(user$|user.friends|user.sessions|user.classes|classes|study)/.test(each));
        const tell = (type, data) => hub.tell(`event: ${type}\\ndata: ${JSON.stringify(data)}\\nid: 1-7\\n\\n`);
        const seen = [];
        tell("reset", { service: "study" });
        tell("person", { kind: "session" });
        tell("class", { class: group, session: one, kind: "sessions" });
        tell("reset", { service: "people" });
        await until(() => seen.push(...parts()) >= 3);
        tell("reset", {});
        await until(() => seen.push(...parts()) >= 6);
        await new Promise((next) => { setTimeout(next, 200); });
        seen.push(...parts());
        await end();
        return seen.sort();""")
    assert found == ["GET /user"] * 2 + ["GET /user/friends"] * 2 + ["GET /user/friends/requests"] * 2, found


def test_pauses_after_refusals(play):
    """Each is as long as the hub asks, and a growing time of at most half a minute longer, which differs from app to app."""
    found = play("""
        const { studyOf } = await import("/core/study.js");
        const { deviceClock } = await import("/core/clock.js");
        const day = 86_400_000;
        const pauses = [];
        const end = new AbortController();
        const sleep = (time, signal) => {
            if (time === day) return deviceClock.sleep(time, signal);
            if (pauses.push(time) === 16) end.abort();
            return deviceClock.sleep(0, signal);
        };
        const account = { ...people.account, authorized: async () => ({ status: 503, body: {}, wait: 2_000 }) };
        const alone = studyOf({ name: "alone", database: it.database, account, clock: { ...deviceClock, sleep }, tell: () => {}, failed: () => {} });
        alone.watch([]);
        await alone.run(end.signal).catch(() => {});
        return pauses;""")
    assert found[0::2] == [2_000] * 8, found
    for number, pause in enumerate(found[1::2]):
        longest = min(1_000 * 2 ** number, 30_000)
        assert longest / 2 <= pause <= longest, found


def test_a_page_that_is_opened_does_not_wait(play):
    """Who comes back to sessions after a failure sees at once that they are there again."""
    found = play("""
        for (const path of Object.keys(answers)) answer(path, {}, 503);
        it.pace = 0.05;
        const end = it.start();
        const open = () => { study.watch(null); study.watch([]); };
        // The next pause is one of minutes at this pace.
        await until(() => { open(); return it.failures.length >= 8; });
        for (const [path, body] of Object.entries(answers)) answer(path, body);
        await until(async () => { open(); return (await it.whole()).study[`sessions ${group}`]; });
        await end();
        return true;""")
    assert found


# What is kept

def test_no_position_is_kept(play):
    """Not in the data, not in the storage of the page; only what the hub has made of it."""
    found = play("""
        const position = { latitude: 45.123456, longitude: -30.654321, accuracy: 12 };
        const sent = [];
        answer("GET /user/sessions", { ...own, hosted: [{ ...session, host: "ann" }] });
        await study.load("own");
        hub.answers[`POST /classes/${group}/sessions/${one}/position`] = (body) => { sent.push(body); return { status: 200, body: { state: "outside", ends: now } }; };
        hub.answers[`POST /classes/${group}/sessions`] = (body) => { sent.push(body.position); return { status: 503, body: {} }; };
        const report = await kindOf(study.act("report", { class: group, session: one, position }));
        const start = await kindOf(study.act("start", { class: group, draft: { topics: ["x"], minutes: 60, place, position } }));
        const rows = await it.database.read((tx) => Promise.all(["account", "people", "study", "memory"].map((store) => tx.all(store))));
        const text = JSON.stringify([rows, { ...localStorage, ...sessionStorage }]);
        const presence = (await it.whole()).study.presence[one];
        return { sent, kept: /45\\.123456|30\\.654321/.test(text), report: report.outcome, start, presence, waits: (await it.whole()).study.waits };""")
    position = {"latitude": 45.123456, "longitude": -30.654321, "accuracy": 12}
    assert found["sent"] == [position, position] and not found["kept"] and found["waits"] == [], found
    assert found["report"] == "done" and found["start"] == "refused" and found["presence"]["state"] == "outside", found


def test_what_the_hub_says_of_the_hosts_presence(play):
    """It is kept for each session that the person hosts, and goes with it."""
    found = play("""
        const [first, second, third] = ["11", "12", "13"].map((end) => `6b0187feff0dafac283300${end}`);
        const hosts = async (...ids) => {
            answer("GET /user/sessions", { ...own, hosted: ids.map((id) => ({ ...session, id, host: "Ann" })) });
            await study.load("own");
        };
        const report = (id, state) => {
            answer(`POST /classes/${group}/sessions/${id}/position`, { state });
            return study.act("report", { class: group, session: id, position: { latitude: 45, longitude: -30, accuracy: 12 } });
        };
        const known = async () => Object.entries((await it.whole()).study.presence).map(([id, { state }]) => `${id.slice(-2)} ${state}`).sort();
        await hosts(first, second);
        await Promise.all([report(first, "inside"), report(second, "outside")]);
        const both = await known();
        await hosts(second, third);
        await report(third, "never");
        return [both, await known()];""")
    assert found == [["11 inside", "12 outside"], ["12 outside", "13 never"]], found


def test_what_the_hub_said_is_of_one_place_and_host(play):
    """Elsewhere, and as the host once more, the person has to come near first: until then nothing that the hub said before counts."""
    found = play("""
        const { presenceAt } = await import("/core/presence.js");
        const path = `POST /classes/${group}/sessions/${one}/position`;
        const elsewhere = { ...place, latitude: 46 };
        const stateOf = async (more) => {
            answer("GET /user/sessions", { ...own, hosted: [{ ...session, host: "ann", ...more }] });
            await study.load("own");
            const known = (await it.whole()).study;
            return presenceAt(known, known.own.hosted[0]).state ?? null;
        };
        const report = () => study.act("report", { class: group, session: one, position: { latitude: 45, longitude: -30, accuracy: 12 } });
        await stateOf({});
        answer(path, { state: "inside" });
        await report();
        const moved = [await stateOf({}), await stateOf({ place: { ...place, name: "Hall" } }), await stateOf({ place: elsewhere }), await stateOf({})];
        answer(path, { state: "outside", ends: now });
        await report();
        const handed = [await stateOf({}), await stateOf({ host: "eve" }), await stateOf({})];
        // The answer to a report comes after the change of the place.
        hub.answers[path] = async () => { await stateOf({ place: elsewhere }); return { status: 200, body: { state: "inside" } }; };
        await report();
        return { moved, handed, late: await stateOf({ place: elsewhere }) };""")
    assert found == {"moved": ["inside", "inside", None, None], "handed": ["outside", None, None], "late": None}, found


def test_what_was_started_last(play):
    """The next session begins with it. It goes with the sign-out."""
    found = play("""
        answer(`POST /classes/${group}/sessions`, { session, now }, 201);
        await study.act("start", { class: group, draft: { topics: ["Heaps"], minutes: 60, place } });
        const { last } = (await it.whole()).study;
        await people.account.signOut();
        return { last, after: (await it.whole()).study };""")
    assert found == {"last": {"class": "6b0187feff0dafac28330001", "topics": ["Heaps"], "place": "Library"}, "after": {"waits": []}}, found


@pytest.mark.parametrize("path,body", [
    ("/user/classes", None), ("/user/classes", {"classes": [{"id": "x"}]}), ("/user/sessions", {"hosted": [], "invites": []}),
    ("/user/sessions", {"hosted": "", "invites": [], "now": 1}), ("/study", {"rules": {}, "map": {"plan": "/app/plan"}}),
    ("/study", {"rules": {"radius": 1, "accuracy": 1, "grace": 1, "max_minutes": 1, "attendants": 1, "invites": 1}, "map": {"plan": "//elsewhere.example/plan"}}),
    ("/study", {"rules": {"radius": 1, "accuracy": 1, "grace": 1, "max_minutes": 1, "attendants": 1, "invites": 1},
                "map": {"plan": "/app/plan", "tiles": "http://tiles.example/{z}/{x}/{y}"}})])
def test_answers_that_cannot_be_read(play, path, body):
    """They change nothing, and the app says so."""
    part = {"/user/classes": "classes", "/user/sessions": "own", "/study": "rules"}[path]
    found = play(f"""
        await study.load("{part}");
        const before = JSON.stringify((await it.whole()).study);
        answer("GET {path}", argument);
        const error = await kindOf(study.load("{part}"));
        return {{ error, isSame: before === JSON.stringify((await it.whole()).study) }};""", body)
    assert found == {"error": "unreadable", "isSame": True}, found


def test_only_the_session_that_a_page_shows_is_kept(play):
    found = play("""
        const second = "6b0187feff0dafac28330012";
        answer(`GET /classes/${group}/sessions/${second}`, { session: { ...session, id: second }, now });
        answer(`GET /classes/${group}/sessions/${second}/posts?limit=50`, { posts: [], now });
        for (const id of [one, second]) for (const part of ["session", "posts"]) await study.load(part, [group, id]);
        await study.load("classes");
        return Object.keys((await it.whole()).study).sort();""")
    group, second = "6b0187feff0dafac28330001", "6b0187feff0dafac28330012"
    assert found == ["ahead", "classes", f"posts {group} {second}", f"session {group} {second}", "waits"], found


def test_pages(play):
    found = play("""
        const post = (id) => ({ id, author: "eve", role: "student", text: "x", at: now });
        answer(`GET /classes/${group}/sessions/${one}/posts?limit=50&after=a%3Ab`, { posts: [post(one)], next: "c", now });
        answer("GET /user/sessions/past?limit=50", { sessions: [{ id: one, class: group, topics: ["x"], joined: now, minutes: 4, hosted: true }] });
        answer(`GET /classes/${group}/classmates?after=x`, { people: [{ account: "eve", relation: "classmates", first_name: "Eve" }] });
        return [await study.page("posts", "a:b", [group, one]), await study.page("past", null), await study.page("mates", "x", [group])]
            .map(({ list, next }) => [list.length, next]);""")
    assert found == [[1, "c"], [1, None], [1, None]], found


# Refusals

def serve(context, path, source):
    """The pages of the context have one more module."""
    context.route(f"http://localhost/{path}", lambda route: route.fulfill(body=source, content_type="text/javascript"))


def conflicts():
    """What the study service says of conflicts that name no field, with values in it."""
    sources = [path.read_text() for path in (TOP / "Services" / "Study").rglob("*.swift")]
    found = [sentence for source in sources for sentence in re.findall(r'CommandFailure\(\s*\.conflict,\s*"((?:[^"\\]|\\.)*)"\s*\)', source)]
    return sorted({re.sub(r"\\\([^)]*\)", "7", sentence) for sentence in found})


@pytest.mark.parametrize("language", ["en", "ar"])
def test_conflicts_without_a_field_have_words(context, language):
    """The hub's sentences are in English. Each has its own text in the app, and the same one on the professor's page, but for
    the limit of classes: nobody leaves a class of their own."""
    texts = {}
    for part in ("people", "study", "professor"):
        texts |= json.loads((APP / "text" / language / f"{part}.json").read_text())
    serve(context, "people/reasons.js", (APP / "people" / "reasons.js").read_text())
    serve(context, "lib/text.js", f"const texts = {json.dumps(texts)}; export const hasText = (key) => key in texts; export const t = (key) => texts[key];")
    sentences = conflicts()
    found = core_page(context).evaluate("""async (sentences) => {
        const pages = await Promise.all([import("/people/reasons.js"), import("/professor/reasons.js")]);
        return pages.map(({ reasonOf }) => sentences.map((message) => reasonOf({ kind: "refused", status: 409, message }) ?? null));
    }""", sentences)
    assert len(sentences) >= 6 and any(" keys, " in sentence for sentence in sentences), sentences
    for reasons in found:
        assert None not in reasons and len(set(reasons)) == len(sentences), list(zip(sentences, reasons))
    others = [(one, other) for sentence, one, other in zip(sentences, *found) if " classes, and" not in sentence]
    assert len(others) == len(sentences) - 1 and all(one == other for one, other in others), found
    assert found[0] != found[1], found


# The groups of pins

@pytest.fixture
def clusters(context):
    serve(context, "study/clusters.js", (APP / "study" / "clusters.js").read_text())
    page = core_page(context)
    return lambda points: page.evaluate("async (points) => (await import('/study/clusters.js')).clustersOf(points)", points)


def test_pins_that_would_cover_each_other_are_one(clusters):
    points = [{"id": f"{number:04}", "x": x, "y": y} for number, (x, y) in enumerate([(0, 0), (10, 10), (300, 0), (320, 30), (600, 600)])]
    groups = clusters(points)
    assert sorted(sorted(each["id"] for each in group["points"]) for group in groups) == [["0000", "0001"], ["0002", "0003"], ["0004"]]
    assert {(group["x"], group["y"]) for group in groups} == {(5, 5), (310, 15), (600, 600)}


def test_groups_of_many_pins(clusters):
    """Each pin is in one group, whatever their order; and no two groups are near each other."""
    points = [{"id": f"{number:04}", "x": number * 7919 % 1200, "y": number * 104729 % 900} for number in range(400)]
    groups = clusters(points)
    assert sorted(each["id"] for group in groups for each in group["points"]) == [each["id"] for each in points]
    assert clusters(points[::-1]) == groups
    near = [(one["x"], other["x"]) for place, one in enumerate(groups) for other in groups[:place]
            if abs(one["x"] - other["x"]) < 44 and abs(one["y"] - other["y"]) < 44]
    assert not near, near
