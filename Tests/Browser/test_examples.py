"""The examples of Tests/Examples, as somebody runs them against the product. Tests/System runs the app, which is in Swift."""

import contextlib
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest
from browsing.copies import copy_of
from harness.product import Product
from playwright.sync_api import expect

EXAMPLES = pathlib.Path(__file__).parents[1] / "Examples"


def started(environment, name, *arguments):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], env=environment, capture_output=True, text=True, timeout=120)


def run(product, name, *arguments, **settings):
    """The lines that an example prints. It finds the product by `MSI_STATE_DIR` alone."""
    done = started({**product.environment, "MSI_HUB": product.url, **settings}, name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def send(product, tmp_path):
    """Sends with a token of some rights, and returns the lines that the example prints."""
    subject = product.new_subject("Examples")
    path = f"{subject.channel['name']}/{subject.area['name']}/{subject.document['name']}"

    def send(*rights):
        token = product.api("POST", "/token", {"name": product.unique("Example"), "rights": rights})["secret"]
        (tmp_path / "token").write_text(token)
        return run(product, "send.py", path, "From an example", "All lectures are cancelled.", MSI_TOKEN_FILE=str(tmp_path / "token"))

    send.subject, send.path = subject, path
    return send


def test_send(product, send):
    key, state = send("send", "read")
    assert state == "relayed" and product.message(key)["title"] == "From an example"


def test_send_with_the_token_of_the_state_directory(product, send):
    assert run(product, "send.py", send.path, "From the operator", "All lectures are cancelled.")[1] == "relayed"


def test_send_without_the_right_to_read(product, send):
    key, note = send("send")
    assert note.startswith("It is sent, and cannot be followed: 403") and product.message(key)


def test_send_what_needs_an_approval(product, send):
    product.api("PUT", f"/approval/{send.subject.path}", {"approval": True})
    assert send("send", "read")[1] == "held"


@contextlib.contextmanager
def gateway(*answers):
    """A gateway with these answers, each a status, a media type, a text, and further headers; with the requests that it gets."""
    asked, left = [], list(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.command, self.path, self.headers["Idempotency-Key"]))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, media_type, text, headers = left.pop(0)
            self.send_response(status)
            for name, value in {"Content-Type": media_type, "Content-Length": len(text), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


def send_to(hub, folder):
    (folder / "token").write_text("msi_example")
    return started({"MSI_HUB": hub, "MSI_STATE_DIR": str(folder)}, "send.py", "A/B/C", "Title", "Text")


def test_send_waits_for_an_outage(tmp_path):
    """The answers of a proxy are pages, and one may end too soon; the message keeps its key."""
    answers = [
        (502, "text/html", "<h1>Bad Gateway</h1>", {}), (201, "application/json", "{", {"Content-Length": 100}),
        (201, "application/json", '{"msi_key": "a"}', {}), (503, "text/html", "<h1>Away</h1>", {"Retry-After": "0"}),
        (200, "application/json", '{"relay": {"state": "relayed"}}', {}),
    ]
    with gateway(*answers) as (hub, asked):
        done = send_to(hub, tmp_path)
    assert done.stdout.splitlines() == ["a", "relayed"], done.stderr
    assert [method for method, *_ in asked] == ["POST"] * 3 + ["GET"] * 2
    assert len({key for method, _, key in asked if method == "POST"}) == 1


def test_send_says_what_is_missing(tmp_path):
    for arguments, said in [
        ([], "send.py CHANNEL/AREA/SUBJECT TITLE TEXT"), (["A/B", "Title", "Text"], "send.py CHANNEL/AREA/SUBJECT TITLE TEXT"),
        (["A/B/C", "Title", "Text"], "Start the hub with deploy/run, or set MSI_STATE_DIR or MSI_TOKEN_FILE"),
    ]:
        done = started({"MSI_STATE_DIR": str(tmp_path)}, "send.py", *arguments)
        assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_send_gives_up(tmp_path):
    """An outage that is too long and a refusal end it, and it says why."""
    for answer, reason in [
        ((503, "application/problem+json", '{"detail": "away"}', {"Retry-After": "3600"}), "503: away"),
        ((404, "text/html", "<h1>No hub</h1>", {}), "404: Not Found"),
        ((403, "application/problem+json", '{"detail": "not to this subject"}', {}), "403: not to this subject"),
    ]:
        with gateway(answer) as (hub, asked):
            done = send_to(hub, tmp_path)
        assert done.returncode == 1 and reason in done.stderr and "Traceback" not in done.stderr and len(asked) == 1, done.stderr


def test_bus_client(product):
    channels = len(product.api("GET", "/channel"))
    for arguments in [(), (product.folder / "run",)]:
        lines = run(product, "bus_client.py", *arguments)
        assert lines[:2] == [f"the cube has {channels} channels", "100 pings are answered"]
        assert lines[2].startswith("its version is ")


def test_push(product):
    first, again = run(product, "push.py"), run(product, "push.py", product.folder / "run")
    assert first[0].endswith(" relayed") and again == first


def test_relay(product):
    lines = run(product, "relay.py", f"ipc://{product.folder}/run/fcm-relay.sock")
    assert [line.split()[:2] for line in lines] == [["message.relay", "ok"], ["push.relay", "ok"]]
    assert all("/messages/" in line for line in lines)


@pytest.fixture(scope="module")
def extended_product(request, tmp_path_factory):
    """A product with the example's page among the portal's files."""
    folder = copy_of(pathlib.Path(request.config.getoption("executables")), tmp_path_factory.mktemp("executables"))
    files = folder / "mobile-student-intranet_Gateway.resources" / "Files"
    pages = json.loads((files / "pages.json").read_text()) | json.loads((EXAMPLES / "Page" / "row.json").read_text())
    shutil.copytree(EXAMPLES / "Page", files, dirs_exist_ok=True, ignore=shutil.ignore_patterns("row.json"))
    (files / "pages.json").write_text(json.dumps(pages))
    product = Product(folder)
    yield product
    product.stop()


def test_page(extended_product, visit, check):
    product = extended_product
    page = visit("/portal/latest/", product=product)
    expect(page.get_by_role("heading", name="Latest messages")).to_be_visible()
    product.send(product.new_subject(), "On the example's page")
    expect(page.get_by_role("link", name="On the example's page")).to_be_visible()
    check(page)
