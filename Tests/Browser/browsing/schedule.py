"""A time that is ahead on each day on which the tests run."""

import datetime


def next_march():
    """Six o'clock in Berlin, in winter, on the next first of March that is not within the next days."""
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=7)
    march = datetime.datetime(soon.year, 3, 1, 5, tzinfo=datetime.UTC)
    return march if march > soon else march.replace(year=soon.year + 1)


def as_typed(time):
    """In the form of the page's field, in Berlin."""
    return (time + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
