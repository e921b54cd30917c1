"""How much slower a page is because the machine is busy with other things."""


class Contention:
    """Compares the time on the clock of the page's main thread with its processor time, from now on."""

    def __init__(self, page):
        self.clocks = {}
        for domain in ("timeTicks", "threadTicks"):
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": domain})
            self.clocks[domain] = (session, self.busy(session))

    def factor(self):
        """1 on an idle machine, 2 if other processes had the processor half of the time; at most 4."""
        spent = {domain: self.busy(session) - before for domain, (session, before) in self.clocks.items()}
        return min(max(1, spent["timeTicks"] / max(spent["threadTicks"], 0.001)), 4)

    def busy(self, session):
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
