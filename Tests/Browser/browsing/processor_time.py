"""How much work a page has."""


class ProcessorTime:
    """The processor time of a page's main thread, from now on. Other processes on the machine do not count."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.before = self.seconds()

    def seconds(self):
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def spent(self):
        return self.seconds() - self.before
