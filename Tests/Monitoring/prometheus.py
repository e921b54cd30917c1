"""Debian's Prometheus with the product's alert rules."""

import pathlib
import random
import re
import subprocess

import requests
from harness import processes
from harness.waiting import eventually

MONITORING = pathlib.Path(__file__).parents[2] / "deploy" / "monitoring"


def free_ports(count):
    """The first of several free ports in a row, as `processes.free_port` chooses one."""
    while True:
        first = random.randrange(11_000, 15_000 - count)
        if all(processes.reserve(first + index) for index in range(count)):
            return first


class Prometheus:
    def __init__(self, targets, folder):
        self.url = f"http://127.0.0.1:{processes.free_port()}"
        # Shorter times than an operator's, so that the tests need not wait. alerts.test.yml has the operator's.
        rules = folder / "alerts.yml"
        rules.write_text(re.sub(r"for: \d+[sm]", "for: 2s", (MONITORING / "alerts.yml").read_text()))
        configuration = folder / "prometheus.yml"
        configuration.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
            f"rule_files: ['{rules}']\n"
            "scrape_configs:\n  - job_name: msi\n    static_configs:\n"
            f"      - targets: {targets}\n")
        self.log = (folder / "prometheus.log").open("wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address={self.url.removeprefix('http://')}"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        eventually("Prometheus is ready", self.is_ready, 60)

    def is_ready(self):
        try:
            return requests.get(f"{self.url}/-/ready", timeout=5).ok
        except requests.ConnectionError:
            return False

    def get(self, path, **parameters):
        response = requests.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=60)
        response.raise_for_status()
        return response.json()["data"]

    def query(self, expression):
        """The values of an instant query, with their labels."""
        return [(sample["metric"], float(sample["value"][1])) for sample in self.get("query", query=expression)["result"]]

    def value(self, expression):
        """The only value of a query; 0 if there is none."""
        return sum(value for _, value in self.query(expression))

    def alerts(self, name):
        """The labels of an alert that fires."""
        return [
            alert["labels"] for alert in self.get("alerts")["alerts"]
            if alert["labels"]["alertname"] == name and alert["state"] == "firing"]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
