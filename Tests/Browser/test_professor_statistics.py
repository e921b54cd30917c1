"""What the professor's page computes from the history of a class, in a page without anything else."""

import pytest
from browsing.core import core_context, core_page

SESSIONS = """
const at = (year, month, day, hour = 12) => new Date(year, month - 1, day, hour).getTime();
const session = (ended, topics, minutes, sponsored = false) => ({ ended, topics, sponsored, attendants: minutes.map((each) => ({ minutes: each })) });
"""


@pytest.fixture(params=["Europe/Berlin", *(pytest.param(zone, marks=pytest.mark.at_length) for zone in ("America/New_York", "Asia/Riyadh"))])
def compute(browser, request):
    """Runs the body of a function with the module, in a zone."""
    context = core_context(browser, timezone_id=request.param)
    page = core_page(context)

    def run(body):
        return page.evaluate(f"async () => {{ const {{ weeksOf, topicsOf, hasTopic, orders }} = await import('/professor/statistics.js'); {SESSIONS} {body} }}")

    yield run
    context.close()


def test_weeks_begin_on_mondays_and_none_is_left_out(compute):
    """The clocks of two of the zones are changed within these weeks."""
    weeks = compute("""return weeksOf([session(at(2026, 11, 2, 0), ["a"], [5]), session(at(2026, 10, 19, 0), ["a"], []),
        session(at(2026, 10, 25, 23), ["b"], [1, 2], true), session(at(2026, 11, 8, 23), ["b"], [])])
        .map(({ start, sessions, sponsored }) => [new Date(start).toDateString(), sessions, sponsored]);""")
    assert weeks == [["Mon Oct 19 2026", 1, 1], ["Mon Oct 26 2026", 0, 0], ["Mon Nov 02 2026", 2, 0]]


def test_the_latest_weeks_are_shown(compute):
    weeks = compute("""return weeksOf([session(at(2024, 1, 1), ["a"], []), session(at(2026, 11, 2), ["a"], [])], 3)
        .map(({ start, sessions }) => [new Date(start).toDateString(), sessions]);""")
    assert weeks == [["Mon Oct 19 2026", 0], ["Mon Oct 26 2026", 0], ["Mon Nov 02 2026", 1]]
    assert compute("return weeksOf([]);") == []


def test_the_time_of_all_people_counts_for_each_topic(compute):
    topics = compute("""return topicsOf([session(at(2026, 10, 1), ["trees", "Sets"], [30, 60]), session(at(2026, 10, 2), ["Trees"], [45]),
        session(at(2026, 10, 3), ["graphs"], []), session(at(2026, 10, 4), ["Logic"], [90])]);""")
    assert topics == [
        {"topic": "Trees", "minutes": 135, "sessions": 2}, {"topic": "Logic", "minutes": 90, "sessions": 1},
        {"topic": "Sets", "minutes": 90, "sessions": 1}, {"topic": "graphs", "minutes": 0, "sessions": 1}]


def test_a_topic_in_two_spellings_counts_once_for_a_session(compute):
    topics = compute("""return topicsOf([session(at(2026, 10, 1), ["Trees", "TREES"], [30]), session(at(2026, 10, 2), ["trees"], [60])]);""")
    assert topics == [{"topic": "trees", "minutes": 90, "sessions": 2}]


def test_orders_and_topics_of_the_table(compute):
    found = compute("""
        const all = [session(at(2026, 10, 1), ["b"], [1]), session(at(2026, 10, 3), ["c"], [1, 1, 1]), session(at(2026, 10, 2), ["a", "B"], [1])];
        const days = (list) => list.map(({ ended }) => new Date(ended).getDate());
        return [...Object.keys(orders).map((name) => days([...all].sort(orders[name]))), days(all.filter((each) => hasTopic(each, "b"))),
            days(all.filter((each) => hasTopic(each, "")))];""")
    assert found == [[3, 2, 1], [2, 1, 3], [3, 2, 1], [1, 2], [1, 3, 2]]
