// The pushes of the app's core, with a hub and a push service of the browser in memory.

import { deviceClock } from "/core/clock.js";
import { openDatabase } from "/core/database.js";
import { pushesOf } from "/core/pushes.js";
import { topicOf } from "./names.js";

const path = "/app/push";
const keyOf = (number) => btoa(String.fromCharCode(...new Uint8Array(65).fill(number))).replace(/=+$/, "");

/**
 * The hub: its `key`, which is `null` if it sends no pushes, its subscriptions by their identifiers, and which
 * endpoints it `refuses`, with the status `refusal`.
 */
function hubOfPushes() {
  let last = 0;
  let asked = [];
  const hub = { key: keyOf(4), subscriptions: new Map(), isAway: false, refuses: () => false, refusal: 400,
    /** What it was asked since the last call. */
    takeAsked: () => asked.splice(0),
    /** The subscription that was added last. */
    get newest() { return [...hub.subscriptions.values()].at(-1); },
    async request(method, place, body, headers = {}) {
      if (hub.isAway) throw new TypeError("the hub is away");
      asked.push({ method, path: place, body });
      return JSON.parse(JSON.stringify(answer(method, place, body, headers)));
    } };

  function answer(method, place, body, headers) {
    if (place === path) return hub.key ? { status: 200, body: { key: hub.key } } : { status: 404, body: {} };
    if (method === "POST" && place === `${path}/subscriptions`) {
      if (hub.refuses(body.endpoint))
        return { status: hub.refusal, body: { detail: "endpoint: refused", field: "endpoint" } };
      last += 1;
      const added = { id: `id${last}`, secret: `secret${last}`, code: `code${last}`, proven: false, ...body };
      hub.subscriptions.set(added.id, added);
      return { status: 201, body: { id: added.id, secret: added.secret } };
    }
    const [, , , , id, proof] = place.split("/");
    const known = hub.subscriptions.get(id);
    if (!known || headers.Authorization !== `Bearer ${known.secret}`) return { status: 404, body: {} };
    if (method === "DELETE") hub.subscriptions.delete(id);
    if (method === "PUT") Object.assign(known, body);
    if (proof && body.code !== known.code) return { status: 400, body: { detail: "code: a wrong one" } };
    if (proof) known.proven = true;
    return { status: 204 };
  }
  return hub;
}

/**
 * The browser: its subscription, whether the person has permitted it, and the notifications that are shown, with how
 * often somebody has looked at them.
 */
function browserOfPushes() {
  let last = 0;
  const browser = { subscription: null, permission: "granted", shown: [], looks: 0, script: "/app/push-worker.js",
    waiting: null };
  const pushManager = {
    getSubscription: async () => browser.subscription,
    permissionState: async () => browser.permission,
    async subscribe({ applicationServerKey }) {
      if (browser.permission !== "granted") throw new DOMException("refused", "NotAllowedError");
      last += 1;
      const endpoint = `https://push.example.net/${last}`;
      const key = Uint8Array.from(atob(applicationServerKey.replaceAll("-", "+").replaceAll("_", "/")),
        (letter) => letter.charCodeAt(0));
      browser.subscription = { endpoint, options: { applicationServerKey: key.buffer },
        unsubscribe: async () => { browser.subscription = null; return true; },
        toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: "p", auth: "a" } }) };
      return browser.subscription;
    },
  };
  const registration = { pushManager, get active() { return { scriptURL: browser.script }; },
    get waiting() { return browser.waiting && { scriptURL: browser.waiting }; },
    async getNotifications() { browser.looks += 1; return browser.shown; } };
  return Object.assign(browser, { registration: async () => registration, ready: async () => registration });
}

/** Pushes for subjects by their paths, all of them with a subscription: `{"Campus/Weather/Storms": "Alert"}`. */
export async function pushesWith(subjects) {
  const database = await openDatabase("pushes", { fill: async () => {}, lost: () => {}, outdated: () => {} });
  const [hub, browser, failures] = [hubOfPushes(), browserOfPushes(), []];
  // `pace`: how many seconds pass in one.
  const made = { hub, browser, failures, database, now: Date.now(), pace: 10, language: "en" };
  const clock = { ...deviceClock, now: () => made.now,
    sleep: (milliseconds, signal) => deviceClock.sleep(milliseconds / made.pace, signal) };
  const tabs = [];
  const tell = () => { for (const tab of tabs) tab.wake(); };

  /** The pushes as one more tab has them. */
  function open() {
    tabs.push(pushesOf({ name: "pushes", database, hub, clock, browser, language: () => made.language, tell }));
    return tabs.at(-1);
  }

  const pushes = made.pushes = open();

  /** The person has subscribed to other subjects. */
  made.subscribe = async (next) => {
    await database.write(async (tx) => {
      for (const { topic_key: key } of await tx.all("subscriptions")) await tx.remove("subscriptions", key);
      for (const subject of Object.keys(next)) {
        await tx.put("subscriptions", { topic_key: topicOf(subject), present: true, subscribed: true });
      }
      const listed = Object.entries(next)
        .map(([subject, dist]) => ({ topic_key: topicOf(subject), name: subject, dist }));
      await tx.keep("cube", [{ id: "c", name: "C", areas: [{ id: "a", name: "A", subjects: listed }] }]);
    });
    tell();
  };
  made.topicOf = topicOf;
  made.row = () => database.read((tx) => tx.memory("push"));
  /** The loop of a tab, which tells the hub what changes. Returns a function that ends it. */
  made.start = () => {
    const end = new AbortController();
    const running = open().run(end.signal, (error) => failures.push(error.message)).catch(() => {});
    return async () => { end.abort(); await running; };
  };
  /** Switches pushes on, and returns the code of the first one to the hub. */
  made.begin = async () => {
    await pushes.begin();
    await pushes.prove(hub.newest.code);
    hub.takeAsked();
  };
  await made.subscribe(subjects);
  return made;
}

/** Waits until something is so, for at most a minute. */
export async function until(isSo) {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`after a minute, still not: ${isSo}`);
    await new Promise((next) => { setTimeout(next, 10); });
  }
}
