import { openApp } from "/core/app.js";
import { deviceClock } from "/core/clock.js";
import { caseClock } from "./clock.js";
import { caseHub } from "./hub.js";

const words = { "message.alert": "Alert", "message.unknown": "Unknown subject",
  "export.missing": "The rest of the text is not on this phone." };

/** A text of the app in English. */
export const text = (key) => words[key];

/**
 * An app over a hub in memory, with its `failures`. `members` are what the hub has, `time` is for a clock that stands
 * still, and the other options go to the app.
 */
export async function appWith(members, { time, ...options } = {}) {
  const clock = time ? caseClock(Date.parse(time), "+00:00") : deviceClock;
  const hub = caseHub(clock);
  hub.change(members);
  const failures = [];
  const app = await openApp({ hub, clock, text, database: "app", language: () => "en",
    failed: (error) => failures.push(error.message), ...options });
  return { app, hub, clock, failures };
}

/** Starts an app, and returns it after its first look. */
export async function started(members, options) {
  const made = await appWith(members, options);
  made.running = made.app.run();
  await made.app.look();
  return made;
}

/** Ends an app that was started. */
export async function ended({ app, running }) {
  app.close();
  await running;
}

/** Deletes the app's data, as a browser does that needs the space. */
export const evict = () => new Promise((resolve, reject) => {
  Object.assign(indexedDB.deleteDatabase("app"), { onsuccess: resolve, onerror: reject });
});

/** What the app shows, in short. */
export async function shown(app) {
  const { messages, broadcasts, channels } = await app.state();
  const subjects = channels.flatMap(({ areas }) => areas.flatMap((area) => area.subjects));
  const keysOf = (list) => list.map(({ msi_key }) => msi_key);
  return { messages: keysOf(messages), unread: messages.filter(({ read }) => !read).length,
    kept: keysOf(messages.filter(({ kept }) => kept)), cards: broadcasts.map(({ title }) => title),
    subscribed: subjects.filter(({ subscribed }) => subscribed).map(({ name }) => name) };
}

/** Waits until the app shows something, for at most a minute. */
export async function until(app, isThere) {
  const end = performance.now() + 60_000;
  while (!isThere(await shown(app))) {
    if (performance.now() > end) throw new Error(`the app shows ${JSON.stringify(await shown(app))}`);
    await new Promise((next) => { setTimeout(next, 10); });
  }
}

/** The paths that a hub was asked for since the last call. */
export const askedOf = (hub) => hub.takeAsked().map(({ method, path }) => `${method} ${path}`);
