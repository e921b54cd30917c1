"""The fixtures of the monitoring's tests: a product whose processes serve their metrics, and Prometheus beside it."""

import json
import os
import pathlib

import pytest
from canary import Canary
from harness import processes
from harness.product import Product
from prometheus import Prometheus, free_ports


def pytest_addoption(parser):
    default = pathlib.Path(__file__).parents[2] / ".build" / "release"
    parser.addoption("--executables", default=str(default), help="the folder of the built executables")


def pytest_configure(config):
    config.addinivalue_line("markers", "at_length: level two: deploy/test --all runs it, and level one leaves it out")


def pytest_collection_modifyitems(config, items):
    """Level one leaves out the tests `at_length`, as in the browser tests. There promtool tests each rule."""
    if os.environ.get("TEST_LEVEL") == "all":
        return
    left_out = [item for item in items if item.get_closest_marker("at_length")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("at_length")]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def product(request):
    first = free_ports(12)
    push_port = processes.free_port()
    product = Product(
        request.config.getoption("executables"),
        settings=lambda _: {"MSI_METRICS_PORT": str(first), "MSI_WEBPUSH_HOSTS": f"http://127.0.0.1:{push_port}"})
    # Where the canary takes its pushes.
    product.push_port = push_port
    # msi up gives each service the next port, in the order of msi services.
    services = [
        service["name"] for service in json.loads(product.command("services", "--json")) if not service["is_optional"]]
    product.metrics = {name: f"127.0.0.1:{first + index}" for index, name in enumerate(services)}
    yield product
    product.stop()


@pytest.fixture(scope="session")
def canary(product):
    canary = Canary(product)
    yield canary
    canary.stop()


@pytest.fixture(scope="session")
def prometheus(product, canary, tmp_path_factory):
    prometheus = Prometheus([*product.metrics.values(), canary.address], tmp_path_factory.mktemp("prometheus"))
    yield prometheus
    prometheus.stop()
