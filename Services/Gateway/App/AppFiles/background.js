// What the service worker does while the app is closed: it shows what the hub pushes, and fetches what is new.
//
// Browsers want to see a notification for each push. So one is shown whatever happens: before anything is fetched, and
// also for a push that cannot be read.

import { isIdentifier, isMoment, isObject, isText } from "./core/checks.js";
import { deviceClock as clock } from "./core/clock.js";
import { openDatabase } from "./core/database.js";
import { connectionTo, gateway } from "./core/hub.js";
import { messagesOf } from "./core/messages.js";
import { missedOf } from "./core/missed.js";
import { peopleOf } from "./core/people.js";
import { pushesOf } from "./core/pushes.js";
import { receiptsOf } from "./core/receipts.js";
import { studyOf } from "./core/study.js";
import { subscriptionsOf } from "./core/subscriptions.js";
import { tabsOf } from "./core/tabs.js";

const name = "msi-app";
const page = "/app/";
/** The hub pushes to all browsers at once. Within this random time they ask it for what is new, in milliseconds. */
const spread = 5_000;
/** Browsers end a worker that takes longer, in milliseconds. */
const limit = 60_000;
/** How long a notification waits for the app's data, which another tab may block, in milliseconds. */
const patience = 3_000;
/** If not even the app's texts can be read. */
const product = "Message Hub";

const ignore = () => {};
/** The hub is asked again by the next look. */
const warn = (error) => console.warn(error.message);

addEventListener("push", (event) => event.waitUntil(pushed(event.data)));
addEventListener("pushsubscriptionchange", (event) => event.waitUntil(withData(async ({ pushes, people, signal }) => {
  await pushes.renew(signal);
  // Who is signed in is reached by the new subscription.
  await people.account.registerDevice(signal);
})));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { msi_key: key, link } = event.notification.data ?? {};
  event.waitUntil(open(key ? `#message/${key}` : link ?? ""));
});

/**
 * Works with the app's data, of which the pages are told afterwards. Without data there is no work: a page begins again
 * with what it knows after a browser has evicted them.
 */
async function withData(work) {
  if (!(await indexedDB.databases()).some((each) => each.name === name)) return;
  const signal = AbortSignal.timeout(limit);
  const database = await openDatabase(name, { fill: async () => {}, lost: ignore, outdated: ignore });
  const hub = connectionTo(gateway, clock);
  const tabs = tabsOf(name, ignore);
  const tell = () => tabs.tell({ hub: hub.state, isFull: database.isFull });
  const receipts = receiptsOf({ database, clock, hub, reported: ignore });
  const messages = messagesOf({ database, clock, reportable: ignore, needsText: ignore });
  const subscriptions = subscriptionsOf({ database, hub });
  const missed = missedOf({ database, hub, messages, subscriptions, failed: warn });
  const pushes = pushesOf({ name, database, hub: gateway, tell });
  const people = peopleOf({ name, database, hub: gateway, tell, failed: warn });
  const study = studyOf({ name, database, account: people.account, tell, failed: warn });
  try {
    await work({ missed, people, pushes, receipts, study, signal });
    tell();
  } catch (error) {
    warn(error);
  } finally {
    tabs.close();
    database.close();
  }
}

async function pushed(data) {
  const push = pushOf(data);
  let shown = null;
  const showOnce = (isKnown = false, language = undefined) => {
    shown ??= push ? show(push, isKnown) : showUnknown(language);
    return shown;
  };
  const timer = setTimeout(() => showOnce().catch(warn), patience);
  try {
    await withData(async ({ missed, people, pushes, receipts, study, signal }) => {
      // A push about people or a study session has no message. Its tag tells a second copy.
      const key = push?.msi_key ?? (push?.kind && push.tag);
      // The browser may have no space to remember it.
      await showOnce(key ? await pushes.note(key).catch(() => false) : false, await pushes.language());
      if (push?.code) return pushes.prove(push.code, signal);
      // It went to one person, so nobody has to wait.
      if (push?.kind?.startsWith("session_")) return study.happened("session", signal);
      if (push?.kind) return people.happened("requests", signal);
      await clock.sleep(spread * Math.random(), signal);
      await missed.fetch(signal);
      // A message may have been recalled since.
      await pushes.tidy(true);
      await receipts.send(signal);
    });
  } catch (error) {
    // The data cannot be opened.
    warn(error);
  }
  clearTimeout(timer);
  await showOnce();
}

/** Reads a push in the declarative form, in which some browsers show it themselves; `null` if it cannot be read. */
function pushOf(data) {
  let push;
  try { push = data.json(); } catch { return null; /* it is empty, or no JSON */ }
  if (!isObject(push) || !isObject(push.notification) || !isObject(push.msi)) return null;
  const { title, body, lang, dir, tag, silent } = push.notification;
  const { msi_key: key, timestamp, code, kind, link } = push.msi;
  if (!isText(title) || !title) return null;
  const text = (value) => (isText(value) ? value : "");
  return { title, body: text(body), lang: text(lang), dir: ["ltr", "rtl"].includes(dir) ? dir : "auto", tag: text(tag),
    isSilent: silent === true, msi_key: isIdentifier(key) ? key : undefined, code: isText(code) ? code : undefined,
    kind: isText(kind) ? kind : undefined, link: isText(link) && link.startsWith("#") ? link : undefined,
    timestamp: isMoment(timestamp) ? timestamp : undefined };
}

/** Shows a push. With the tag of an earlier one it replaces that one. */
function show({ title, body, lang, dir, tag, isSilent, msi_key: key, link, timestamp }, isKnown) {
  const isQuiet = isSilent || isKnown;
  return registration.showNotification(title, { body, lang, dir, tag, timestamp, icon, silent: isQuiet,
    renotify: Boolean(tag) && !isQuiet, data: { msi_key: key, link } });
}

const icon = new URL("icons/192.png", import.meta.url).href;

/** Says that there is something, without what. Its tag keeps one of them. */
async function showUnknown(language = navigator.language.split("-")[0] === "ar" ? "ar" : "en") {
  const title = await textIn(language, "push.unknown").catch(() => product);
  await registration.showNotification(title, { lang: language, dir: "auto", tag: "unknown", icon, data: {} });
}

async function textIn(language, key) {
  const address = new URL(`text/${language}/common.json`, import.meta.url);
  // As for the app's files: the browser may have evicted it, or cannot read it.
  const answer = (await caches.match(address, { ignoreVary: true }).catch(() => null)) ?? await fetch(address);
  return (await answer.json())[key];
}

/** Shows the app, at the place that a hash names. */
async function open(hash) {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const app = windows.find(({ url }) => new URL(url).pathname === page);
  if (!app) return clients.openWindow(page + hash);
  if (hash) app.postMessage({ show: hash });
  return app.focus();
}
