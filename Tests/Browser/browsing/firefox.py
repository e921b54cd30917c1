"""A headless Firefox, which a test drives by Marionette: a line of JSON with its length before it, over TCP."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess

from harness import processes
from harness.waiting import eventually

BINARY = "/usr/bin/firefox-esr"
# The key of an element in WebDriver's documents.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def preferences(push_service, port):
    return {
        "marionette.port": port,
        # The push service of the tests, without TLS. Marionette's recommended preferences would switch pushes off.
        "dom.push.serverURL": push_service.browser_url,
        "dom.push.testing.allowInsecureServerURL": True,
        "remote.prefs.recommended": False,
        "dom.push.retryBaseInterval": 200,
        "dom.push.requestTimeout": 20_000,
        # A machine without a desktop shows no notifications otherwise.
        "alerts.useSystemBackend": False,
        # A start without questions, and without requests to anybody.
        "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0, "browser.startup.homepage": "about:blank",
        "startup.homepage_welcome_url": "about:blank", "browser.aboutwelcome.enabled": False, "browser.newtabpage.enabled": False,
        "datareporting.policy.dataSubmissionEnabled": False, "termsofuse.bypassNotification": True, "toolkit.telemetry.server": "",
        "app.normandy.enabled": False, "app.update.disabledForTesting": True, "services.settings.server": "data:,",
        "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
        "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False,
        "browser.safebrowsing.update.enabled": False, "extensions.systemAddon.update.enabled": False,
        "browser.region.network.url": "", "geo.provider.network.url": "", "network.prefetch-next": False,
        "browser.tabs.warnOnClose": False, "browser.sessionstore.resume_from_crash": False, "toolkit.startup.max_resumed_crashes": -1,
        "intl.accept_languages": "en",
    }


class FirefoxError(Exception):
    """Firefox could not do what the test asked for, or a script failed."""


class Firefox:
    """`start()` and `quit()` as often as needed: the profile stays, and with it the subscriptions to pushes."""

    def __init__(self, folder, push_service):
        self.folder, self.push_service = pathlib.Path(folder), push_service
        self.process, self.connection = None, None
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder.with_suffix(".log")

    def start(self):
        port = processes.free_port()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences(self.push_service, port).items()]
        (self.folder / "user.js").write_text("\n".join(lines) + "\n")
        environment = {**os.environ, "MOZ_HEADLESS": "1", "MOZ_CRASHREPORTER_DISABLE": "1", "HOME": str(self.folder), "TZ": "Europe/Berlin"}
        command = [BINARY, "--marionette", "--remote-allow-system-access", "--headless", "--no-remote", "--profile", str(self.folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.connection = eventually("Firefox", lambda: self.connect(port), pause=0.1)
        self.received, self.number = b"", 0
        # What it says of itself.
        self.receive()
        self.command("WebDriver:NewSession")
        self.command("WebDriver:SetTimeouts", script=60_000, pageLoad=60_000)

    def connect(self, port):
        assert self.process.poll() is None, self.log.read_text(errors="replace")[-3000:]
        connection = socket.create_connection(("127.0.0.1", port), 5)
        connection.settimeout(120)
        return connection

    def quit(self):
        """Ends it as a person does."""
        if self.process is None:
            return
        # It may end before it answers.
        with contextlib.suppress(FirefoxError, OSError, EOFError):
            self.command("Marionette:Quit", flags=["eForceQuit"])
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.connection.close()
        self.process = None

    # Marionette

    def receive(self):
        while b":" not in self.received:
            self.fill()
        length, _, rest = self.received.partition(b":")
        self.received = rest
        while len(self.received) < int(length):
            self.fill()
        message, self.received = self.received[: int(length)], self.received[int(length) :]
        return json.loads(message)

    def fill(self):
        data = self.connection.recv(65_536)
        if not data:
            raise EOFError("Firefox has closed the connection")
        self.received += data

    def command(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.connection.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.receive()
        if error:
            raise FirefoxError(f"{name}: {error.get('error')}: {error.get('message')}")
        return result

    def run(self, body, *arguments, chrome=False):
        """Runs the body of an asynchronous function with `args`, in the page or with the rights of the browser, and returns its value."""
        script = "const done = arguments[arguments.length - 1], args = [...arguments].slice(0, -1);" \
            f"(async () => {{ {body} }})().then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));"
        with self.context("chrome") if chrome else contextlib.nullcontext():
            found = self.command(
                "WebDriver:ExecuteAsyncScript", script=script, args=list(arguments), newSandbox=True, sandbox="system" if chrome else "default")
        if "error" in found["value"]:
            raise FirefoxError(found["value"]["error"])
        return found["value"].get("value")

    @contextlib.contextmanager
    def context(self, name):
        self.command("Marionette:SetContext", value=name)
        try:
            yield
        finally:
            self.command("Marionette:SetContext", value="content")

    # What a person does and sees

    def go(self, url):
        self.command("WebDriver:Navigate", url=url)

    def reload(self):
        self.command("WebDriver:Refresh")

    def click(self, xpath):
        """Clicks on an element once it is there and can be clicked."""

        def clicked():
            element = self.command("WebDriver:FindElement", using="xpath", value=xpath)["value"][ELEMENT]
            self.command("WebDriver:ElementClick", id=element)
            return True

        eventually(f"an element to click on: {xpath}", clicked, pause=0.2)

    def click_button(self, name):
        self.click(f"//button[normalize-space(.)={json.dumps(name)}]")

    def text(self):
        return self.run("return document.body.innerText")

    def wait_for_text(self, text):
        eventually(f"the page says {text}", lambda: text in self.text(), pause=0.2)

    def permit(self, origin, is_allowed=True):
        """The person has answered the question for notifications, or has changed the answer in the browser's settings."""
        self.run(
            """const site = Services.scriptSecurityManager.createContentPrincipalFromOrigin(args[0]);
            Services.perms.addFromPrincipal(site, "desktop-notification", args[1] ? Ci.nsIPermissionManager.ALLOW_ACTION : Ci.nsIPermissionManager.DENY_ACTION);""",
            origin, is_allowed, chrome=True)

    def notifications(self):
        """The notifications of the app that are shown: dictionaries with title, body, tag and the data's key."""
        return self.run(
            """const known = await navigator.serviceWorker.getRegistration("/app/");
            return (await known.getNotifications()).map(({ title, body, tag, silent, data }) => ({ title, body, tag, silent, key: data?.msi_key ?? null }));""")

    def titles(self):
        return sorted(notification["title"] for notification in self.notifications())
