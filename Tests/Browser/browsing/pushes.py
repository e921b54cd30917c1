"""Pushes to the app in Chromium: what the page says about them, and what the service worker makes of them.

Chromium has no push service here. `subscribe_at` lets the page believe that it has one, and `deliver` hands a push to the service worker,
as Chromium does with one that has come.
"""

import json

from harness.waiting import eventually

# The whole Chromium: the one without windows shows no notifications.
CHROMIUM = {"executable_path": "/usr/bin/chromium", "args": ["--no-sandbox", "--disable-dev-shm-usage"]}

# The page's push manager, with a subscription that is the receiver's. It stays in the browser's storage.
SUBSCRIPTION = """(() => {
    const given = %s;
    const read = () => JSON.parse(localStorage.getItem("test.subscription"));
    const subscription = () => read() && {
        endpoint: given.endpoint, options: { applicationServerKey: Uint8Array.from(atob(read().replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0)) },
        toJSON: () => ({ ...given, expirationTime: null }),
        unsubscribe: async () => { localStorage.removeItem("test.subscription"); return true; },
    };
    PushManager.prototype.getSubscription = async () => subscription();
    PushManager.prototype.permissionState = async () => Notification.permission === "default" ? "prompt" : Notification.permission;
    PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
        if (!userVisibleOnly) throw new DOMException("not visible", "NotAllowedError");
        localStorage.setItem("test.subscription", JSON.stringify(applicationServerKey));
        return subscription();
    };
})();"""

NOTIFICATIONS = """async () => {
    const known = await navigator.serviceWorker.getRegistration("/app/");
    return (await known.getNotifications()).map(({ title, body, tag, silent, renotify, lang, dir, data }) =>
        ({ title, body, tag, silent, renotify, lang, dir, key: data?.msi_key ?? null }));
}"""

# How many notifications the service worker has shown, counted from the first question on.
SHOWS = """() => {
    if (self.shows === undefined) {
        const { showNotification } = ServiceWorkerRegistration.prototype;
        self.shows = 0;
        ServiceWorkerRegistration.prototype.showNotification = function (...given) {
            return showNotification.apply(this, given).finally(() => { self.shows += 1; });
        };
    }
    return self.shows;
}"""


def subscribe_at(page, receiver):
    """From the page's next load on, its browser subscribes at the receiver's push service."""
    page.add_init_script(SUBSCRIPTION % json.dumps({"endpoint": receiver.endpoint, "keys": receiver.keys}))


def notifications(page):
    """Those that are shown: dictionaries."""
    return page.evaluate(NOTIFICATIONS)


def shown(page, title):
    """Waits for a notification, and returns it."""

    def found():
        titles = {each["title"]: each for each in notifications(page)}
        assert title in titles, f"shown: {list(titles)}"
        return titles[title]

    return eventually(f"a notification {title}", found)


def worker_of(page):
    """The service worker that takes pushes, which runs."""
    page.wait_for_function("navigator.serviceWorker.ready")
    return eventually("the worker", lambda: next((each for each in page.context.service_workers if each.url.endswith("push-worker.js")), None))


def deliver(page, data):
    """Hands a push to the service worker, a document or a text as it is, and waits until the worker has shown a notification.

    A page that asks for the notifications before that may ask while Chromium knows of one that is not on the screen yet. Chromium then
    takes it for one that was closed, and never names it again.
    """
    worker = worker_of(page)
    before = worker.evaluate(SHOWS)
    session = page.context.new_cdp_session(page)
    registrations = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    session.send("ServiceWorker.enable")

    def known():
        # The event comes while the page does something.
        page.evaluate("1")
        return [each for each in registrations if each["scopeURL"].endswith("/app/") and not each["isDeleted"]]

    registration = eventually("the service worker", known)[-1]["registrationId"]
    origin = page.evaluate("location.origin")
    text = data if isinstance(data, str) else json.dumps(data)
    session.send("ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": registration, "data": text})
    session.detach()
    eventually("the worker shows something", lambda: worker.evaluate(SHOWS) > before)


def stored(page, store, key):
    """What the app has stored under a key, or `None`."""
    return page.evaluate("""([store, key]) => new Promise((resolve, reject) => {
        const opened = indexedDB.open("msi-app");
        opened.onerror = reject;
        opened.onsuccess = () => {
            const asked = opened.result.transaction(store).objectStore(store).get(key);
            asked.onsuccess = () => { opened.result.close(); resolve(asked.result ?? null); };
        };
    })""", [store, key])


def push_of(key, title, *, topic="", tag=None, body="", silent=False, language="en", **more):
    """The document of a message's push."""
    notification = {
        "title": title, "body": body, "navigate": f"http://localhost/app/#message/{key}", "lang": language,
        "dir": "rtl" if language == "ar" else "ltr", "tag": tag or key, **({"silent": True} if silent else {})}
    msi = {"msi_key": key, "topic_key": topic, "timestamp": 1_795_262_462_399, "distribution": "Information" if silent else "Alert", **more}
    return {"web_push": 8030, "notification": notification, "msi": msi}
