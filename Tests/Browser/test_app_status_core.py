"""The web app's core about statuses: what it asks the hub, shows, hides and tells. With a hub in memory, in a page without anything else."""

import pytest
from browsing.core import core_context, core_page

DAY, HOUR, SECOND = 86_400_000, 3_600_000, 1_000
LOOK = "GET /user/statuses"


@pytest.fixture
def play(browser):
    """Runs the body of a function in a new browser, and returns its value. It has what cases/statuses.js exports, and statuses that `it` has."""
    context = core_context(browser)
    page = core_page(context)

    def play(body, argument=None):
        return page.evaluate(f"""async (argument) => {{
            const {{ until }} = await import("/cases/people.js");
            const {{ statusesWith }} = await import("/cases/statuses.js");
            const it = await statusesWith();
            const {{ statuses, hub }} = it;
            const rows = (store) => it.database.read((tx) => tx.all(store));
            {body}
        }}""", argument)

    yield play
    context.close()


def test_the_hub_is_asked_while_a_page_shows_statuses(play):
    """At once, and then not sooner than the hub wants it, whatever else happens in the app."""
    found = play(f"""
        it.show("ben", "In the library");
        const end = it.follow();
        it.tell();
        const before = await it.shown();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        const counts = [it.asked({LOOK!r})];
        for (let time = 0; time < 5; time += 1) {{ statuses.wake(); await rows("direct"); }}
        counts.push(it.asked({LOOK!r}));
        it.show("cleo", "On the lawn");
        it.skipped = 31 * {SECOND};
        statuses.wake();
        await until(async () => (await it.shown()).friends.length === 2);
        counts.push(it.asked({LOOK!r}));
        statuses.watch(false);
        it.skipped = 62 * {SECOND};
        statuses.wake();
        await rows("direct");
        await end();
        counts.push(it.asked({LOOK!r}));
        return {{ before, after: await it.shown(), counts, failures: it.failures }};""")
    assert found["before"]["friends"] == [] and found["counts"] == [1, 0, 1, 0] and found["failures"] == [], found
    assert found["after"]["friends"] == ["cleo: On the lawn", "ben: In the library"], found


def test_a_hub_that_wants_longer_pauses(play):
    """The first refusal is followed by a whole pause. What the hub has said of its pauses counts."""
    found = play(f"""
        it.poll = 90;
        const end = it.follow();
        statuses.watch(true);
        await until(() => it.asked({LOOK!r}) === 1);
        it.skipped = 31 * {SECOND};
        statuses.wake();
        await until(() => it.asked({LOOK!r}) === 1);
        statuses.wake();
        await rows("direct");
        const early = it.asked({LOOK!r});
        await it.database.write((tx) => tx.put("people", {{ name: "messaging", value: {{ rules: {{ poll: 90 }} }} }}));
        it.skipped = 62 * {SECOND};
        statuses.wake();
        await rows("direct");
        const known = it.asked({LOOK!r});
        it.skipped = 125 * {SECOND};
        statuses.wake();
        await until(() => it.asked({LOOK!r}) === 1);
        await end();
        return {{ early, known, failures: it.failures }};""")
    assert found == {"early": 0, "known": 0, "failures": []}, found


@pytest.mark.parametrize("ahead", [0, HOUR, -HOUR], ids=["the same", "the device is late", "the device is early"])
def test_a_status_ends_by_the_hubs_clock(play, ahead):
    """To the second, without another word of the hub."""
    found = play(f"""
        it.ahead = argument;
        it.show("ben", "Until tomorrow");
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        await statuses.set({{ text: "Mine" }}, "key");
        await end();
        hub.isAway = true;
        const shown = [await it.shown({DAY} - 5 * {SECOND}), await it.shown({DAY} + {SECOND})];
        return shown.map(({{ own, friends }}) => [own, friends.length]);""", ahead)
    assert found == [["Mine", 1], [None, 0]], found


def test_a_clock_that_was_set_back_shows_nothing(play):
    """What has ended cannot be told any more. A clock that was only corrected is believed."""
    found = play(f"""
        it.show("ben", "Until tomorrow");
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        await end();
        return [(await it.shown(-10 * {SECOND})).friends.length, (await it.shown(-2 * {HOUR})).friends.length];""")
    assert found == [1, 0], found


def test_what_was_seen_is_told_once(play):
    """While the hub is away it waits. What was seen is seen at once, and comes after what is new."""
    found = play(f"""
        it.show("ben", "One");
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        hub.isAway = true;
        const [{{ id }}] = Object.values(it.friends);
        await statuses.see(id);
        await statuses.see(id);
        await statuses.see("0123456789abcdef01234567");
        const away = await it.shown();
        hub.isAway = false;
        it.pace = 100;
        await until(() => it.seen.length > 0);
        await until(async () => !(await rows("direct")).some(({{ name }}) => name === "statuses seen"));
        it.show("cleo", "Two");
        it.skipped = 31 * {SECOND};
        statuses.wake();
        await until(async () => (await it.shown()).friends.length === 2);
        await end();
        return {{ away: away.friends, isTold: it.seen.length === 1 && it.seen[0] === id, last: (await it.shown()).friends[0] }};""")
    assert found == {"away": ["ben: One (seen)"], "isTold": True, "last": "cleo: Two"}, found


def test_the_own_status(play):
    found = play("""
        const shown = [];
        await statuses.set({ text: "Mine" }, "key-1");
        shown.push((await it.shown()).own);
        const keys = hub.takeAsked().filter(({ path }) => path === "/user/status").map(({ headers }) => headers["Idempotency-Key"]);
        it.own.seen = 3;
        await statuses.readOwn();
        shown.push((await it.whole()).direct.statuses.own.seen);
        await statuses.remove();
        shown.push((await it.shown()).own);
        await statuses.readOwn();
        shown.push((await it.shown()).own);
        return { shown, keys };""")
    assert found == {"shown": ["Mine", 3, None, None], "keys": ["key-1"]}, found


def test_a_refusal_changes_nothing(play):
    found = play("""
        await statuses.set({ text: "Mine" }, "key-1");
        hub.answers["POST /user/status"] = () => ({ status: 429, body: { detail: "slowly" } });
        const outcome = await statuses.set({ text: "Another" }, "key-2").catch(({ kind, status }) => [kind, status]);
        return [outcome, (await it.shown()).own];""")
    assert found == [["refused", 429], "Mine"], found


def test_who_is_no_friend_any_more_is_not_shown(play):
    """At once, before the next look."""
    found = play("""
        it.show("ben", "One");
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        await it.database.write((tx) => tx.put("people", { name: "friends", value: ["cleo"] }));
        await end();
        return (await it.shown()).friends;""")
    assert found == [], found


def test_pictures_of_what_has_ended_are_gone(play):
    """With the next look. Others stay."""
    found = play(f"""
        const {{ pathOfStatus }} = await import("/core/statuses.js");
        it.show("ben", "One");
        const path = pathOfStatus(it.friends.ben.id);
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        await it.database.write((tx) => Promise.all([path, "/users/ben/picture"].map((name) => tx.put("pictures", {{ name, at: 0 }}))));
        const names = async () => (await rows("pictures")).map(({{ name }}) => name === path ? "status" : name).sort();
        const before = await names();
        it.friends = {{}};
        it.skipped = 31 * {SECOND};
        statuses.wake();
        await until(async () => (await it.shown()).friends.length === 0);
        await end();
        return [before, await names()];""")
    assert found == [["/users/ben/picture", "status"], ["/users/ben/picture"]], found


def test_what_has_ended_is_not_kept(play):
    """Neither here nor at the next start, even if no page shows statuses and the hub is away."""
    found = play(f"""
        it.show("ben", "One");
        await statuses.set({{ text: "Mine" }}, "key");
        let end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        await end();
        statuses.watch(false);
        hub.isAway = true;
        it.skipped = {DAY} + {SECOND};
        end = it.follow();
        const kept = async () => (await rows("direct")).find(({{ name }}) => name === "statuses").value;
        await until(async () => (await kept()).list.length === 0);
        await end();
        return {{ own: (await kept()).own, failures: it.failures }};""")
    assert found == {"own": None, "failures": []}, found


def test_nothing_is_left_after_signing_out(play):
    """Nothing comes back with an answer that the hub gives only then."""
    found = play("""
        it.show("ben", "One");
        let answer;
        const held = new Promise((resolve) => { answer = resolve; });
        const { "GET /user/statuses": usual } = hub.answers;
        hub.answers["GET /user/statuses"] = async () => { await held; return usual(); };
        await statuses.set({ text: "Mine" }, "key");
        const end = it.follow();
        statuses.watch(true);
        await until(() => it.asked("GET /user/statuses") === 1);
        await it.people.account.signOut();
        const before = it.told;
        answer();
        await until(() => it.told > before);
        await end();
        return (await rows("direct")).length;""")
    assert found == 0, found


@pytest.mark.parametrize("status", [403, 404])
def test_the_staff_have_no_statuses(play, status):
    """Nor has a hub of an earlier version: the app asks no more often than others do, and complains of nothing."""
    found = play(f"""
        hub.answers[{LOOK!r}] = () => ({{ status: argument, body: {{}} }});
        const end = it.follow();
        statuses.watch(true);
        await until(() => it.asked({LOOK!r}) === 1);
        statuses.wake();
        await rows("direct");
        const again = it.asked({LOOK!r});
        await end();
        return {{ again, failures: it.failures, shown: await it.shown() }};""", status)
    assert found == {"again": 0, "failures": [], "shown": {"own": None, "friends": []}}, found


def test_an_answer_that_cannot_be_read_changes_nothing(play):
    found = play(f"""
        it.show("ben", "One");
        const end = it.follow();
        statuses.watch(true);
        await until(async () => (await it.shown()).friends.length === 1);
        it.friends.ben = {{ ...it.friends.ben, expires: "soon" }};
        hub.answers[{LOOK!r}] = () => ({{ status: 200, body: {{ statuses: [it.friends.ben], now: Date.now() }} }});
        it.skipped = 31 * {SECOND};
        statuses.wake();
        await until(() => it.failures.length > 0);
        await end();
        return (await it.shown()).friends;""")
    assert found == ["ben: One"], found
