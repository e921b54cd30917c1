"""A headless Firefox, which a test drives by Marionette: a line of JSON with its length before it, over TCP."""

import base64
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


# How elements of a role are written in the app.
ROLES = {
    "alertdialog": "[role=alertdialog]", "article": "article", "button": "button:not([role])", "combobox": "select", "dialog": "[role=dialog]",
    "heading": "h1, h2, h3", "link": "a[href]", "listitem": "li", "navigation": "nav", "radio": "input[type=radio]",
    "searchbox": "input[type=search]", "summary": "summary", "switch": "[role=switch]",
    "textbox": "input:not([type]), input[type=text], input[type=email], input[type=password], textarea",
}

# Those of a role that can be seen, by their accessible names and texts.
FIND = """const [selector, name, text, within] = args;
    const words = (element) => element.textContent.replace(/\\s+/g, " ").trim();
    const named = (element) => element.getAttribute("aria-labelledby")?.split(" ").map((id) => words(document.getElementById(id))).join(" ")
        ?? element.getAttribute("aria-label") ?? words(element.labels?.[0] ?? element);
    return [...(within ?? document).querySelectorAll(selector)].filter((element) => element.checkVisibility({ visibilityProperty: true })
        && !element.closest("[inert]") && (name === null || named(element) === name) && words(element).includes(text));"""


def preferences(push_service, port, downloads):
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
        # Files are saved without a question.
        "browser.download.folderList": 2, "browser.download.dir": str(downloads), "browser.download.alwaysOpenPanel": False,
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
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir(exist_ok=True)

    def start(self):
        port = processes.free_port()
        preferred = preferences(self.push_service, port, self.downloads)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferred.items()]
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

    def all(self, role, name=None, text="", within=None):
        """The elements that can be seen with a role, by default in the whole page: those with a name, or whose text has a part."""
        return self.run(FIND, ROLES[role], name, text, within)

    def the(self, role, name=None, text="", within=None):
        """Waits for the first of `all`."""
        return eventually(f"the {role} {name or text}", lambda: self.all(role, name, text, within), pause=0.1)[0]

    def tap(self, role, name=None, text="", within=None):
        """Clicks on the first of `all` once it is there, can be clicked, and nothing covers it."""

        def clicked():
            self.command("WebDriver:ElementClick", id=self.all(role, name, text, within)[0][ELEMENT])
            return True

        eventually(f"the {role} {name or text} to click on", clicked, pause=0.1)

    def wait_until_gone(self, role, name=None, text="", within=None):
        eventually(f"no {role} {name or text}", lambda: not self.all(role, name, text, within), pause=0.1)

    def attribute(self, element, name):
        return self.run("return args[0].getAttribute(args[1])", element, name)

    def text_of(self, element):
        """As it can be seen."""
        return self.run("return args[0].innerText", element)

    def type(self, element, text):
        self.command("WebDriver:ElementSendKeys", id=element[ELEMENT], text=text)

    def swipe(self, element, distance):
        """Presses on the middle of an element, and moves sideways by so many pixels, to the left if there are fewer than none."""
        moves = [
            {"type": "pointerMove", "origin": element, "x": 0, "y": 0, "duration": 0}, {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "origin": "pointer", "x": distance, "y": 0, "duration": 300}, {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}
        self.command("WebDriver:PerformActions", actions=[mouse])
        self.command("WebDriver:ReleaseActions")

    def resize(self, width, height):
        self.command("WebDriver:SetWindowRect", width=width, height=height)

    def narrow(self, width):
        """The page is so wide, even if a window cannot be; `None` ends it."""
        self.run(
            """const { style } = Services.wm.getMostRecentWindow("navigator:browser").gBrowser.selectedBrowser;
            style.minWidth = style.maxWidth = args[0] ? `${args[0]}px` : "";""", width, chrome=True)
        if width:
            eventually(f"a page of {width} pixels", lambda: self.run("return innerWidth") == width, pause=0.1)

    def scheme(self, name):
        """The page is "light" or "dark"."""
        self.run("Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', args[0] === 'dark' ? 0 : 1);", name, chrome=True)
        eventually(name, lambda: self.run("return matchMedia(`(prefers-color-scheme: ${args[0]})`).matches", name), pause=0.1)

    def picture(self, path):
        """Saves what is to be seen of the page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)["value"]))

    def forget(self):
        """Removes what sites have stored, with their service workers."""
        self.go("about:blank")
        self.run(
            """const { CLEAR_DOM_QUOTA, CLEAR_BFCACHE } = Ci.nsIClearDataService;
            await new Promise((resolve) => Services.clearData.deleteData(CLEAR_DOM_QUOTA | CLEAR_BFCACHE, () => resolve()));""", chrome=True)

    def downloaded(self, name):
        """Waits for a file that the page has saved, removes it, and returns its text."""
        path = self.downloads / name
        # Until it is complete, an empty file has its name.
        eventually(f"the file {name}", lambda: path.stat().st_size)
        text = path.read_text()
        path.unlink()
        return text

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
