// What the person does, as requests with the paths of the simulated phone's page.

import { minutesOf } from "./badge.js";
import { isListOf, isMaybe, isObject, isText } from "./checks.js";
import { denied } from "./errors.js";
import { allMessages } from "./messages.js";
import { knownCube, subjectsOf } from "./subscriptions.js";

/** How many deletions can be taken back. */
const maxDeleted = 50;
const isFlag = (value) => typeof value === "boolean";
const maybeFlag = (value) => isMaybe(value, isFlag);

/** A body with members that pass their checks, and no others. */
function membersOf(body, checks) {
  const names = Object.keys(checks);
  const isRight = isObject(body) && names.every((name) => checks[name](body[name]))
    && Object.keys(body).every((name) => names.includes(name));
  if (!isRight) throw denied(400, `expected a document with ${names.join(", ")}, found ${JSON.stringify(body)}`);
  return body;
}

/** Answers requests: `{status, body}`, and for a file its `type` and `name`. `look` fetches what is new. */
export function requestsOf({ database, clock, messages, subscriptions, broadcasts, receipts, text, tell, failed, look,
  refresh }) {
  /** Deleted messages, which can be restored. */
  let deleted = [];
  const findDeleted = (key) => deleted.findLast(({ msi_key }) => msi_key === key);

  /** The message, or with `orDeleted` one that was deleted lately: a page may tell late that it was read. */
  async function find(key, orDeleted) {
    const found = (await database.read((tx) => tx.message(key))) ?? (orDeleted && findDeleted(key));
    if (!found) throw denied(404, `the app has no message ${key.slice(0, 40)}`);
    return found;
  }

  const lookNow = () => look().catch((error) => {
    throw error.kind === "denied" ? error : denied(503, `the look at the hub has failed: ${error.message}`);
  });

  /** Everything, and the subjects by their topic keys. */
  const everything = () => database.read(async (tx) => ({ all: await allMessages(tx),
    subjects: new Map(subjectsOf(await knownCube(tx)).map((subject) => [subject.topic_key, subject])) }));

  const routes = {
    async "PATCH /messages/:"(body, query, key) {
      const { read, kept } = membersOf(body, { read: maybeFlag, kept: maybeFlag });
      await find(key, !isFlag(kept));
      if (isFlag(read)) await messages.markRead(key, read);
      if (isFlag(kept)) await messages.keep(key, kept);
    },
    async "POST /messages/read"(body) {
      const { keys, read } = membersOf(body, { keys: (value) => isListOf(value, isText), read: isFlag });
      await messages.markReadUnopened(keys, read);
    },
    async "DELETE /messages/:"(body, query, key) {
      await find(key);
      const removed = await messages.remove(key);
      if (removed) deleted = [...deleted, removed].slice(-maxDeleted);
    },
    async "POST /messages/:/restore"(body, query, key) {
      const message = findDeleted(key);
      if (!message) throw denied(404, `no message ${key.slice(0, 40)} was deleted lately`);
      await messages.restore(message);
    },
    async "GET /messages/:/calendar.ics"(body, query, key) {
      const { calendarFile, eventOf } = await import("./calendar.js");
      const { start, minutes } = eventOf(query);
      const message = await find(key);
      const names = (await everything()).subjects.get(message.topic_key)?.names ?? [text("message.unknown")];
      return { body: calendarFile(message, { names, start, minutes, now: clock.now() }),
        type: "text/calendar; charset=utf-8", name: "event.ics" };
    },
    async "GET /export"(body, query) {
      const { jsonFile, textFile } = await import("./export.js");
      const [key, channel] = [query.get("key"), query.get("channel")];
      const { all, subjects } = await everything();
      // The topic of a deleted subject begins with its channel.
      const wanted = all.filter(({ msi_key, topic_key }) => (key === null || msi_key === key)
        && (channel === null || channel === (subjects.get(topic_key)?.channel ?? topic_key.slice(0, 24))));
      return query.get("format") === "json"
        ? { body: jsonFile(wanted), type: "application/json", name: "messages.json" }
        : { body: textFile(wanted, subjects, text, clock), type: "text/plain; charset=utf-8", name: "messages.txt" };
    },
    async "PUT /subscriptions/:"(body, query, topic) {
      const { subscribed } = membersOf(body, { subscribed: isFlag });
      await subscriptions.choose(topic, subscribed);
      if (subscribed) refresh();
    },
    "PUT /subscriptions/:/mute": (body, query, topic) =>
      subscriptions.mute(topic, membersOf(body, { muted: isFlag }).muted),
    "POST /subscriptions/compare": lookNow,
    "PUT /settings": (body) => receipts.set(membersOf(body, { receipts: isFlag }).receipts),
    async "PUT /quiet-hours"(body) {
      const times = membersOf(body, { from: isText, to: isText });
      const [from, to] = [minutesOf(times.from), minutesOf(times.to)];
      if (from === undefined || to === undefined || from === to) {
        throw denied(400, "from, to: expected two different times, such as 22:00 and 07:00");
      }
      await database.write((tx) => tx.keep("quiet hours", { from, to }));
    },
    "DELETE /quiet-hours": () => database.write((tx) => tx.keep("quiet hours", undefined)),
    "POST /refresh": lookNow,
    async "PUT /broadcasts/channels/:"(body, query, channel) {
      await broadcasts.set(channel, membersOf(body, { on: isFlag }).on);
      refresh();
    },
    async "POST /broadcasts/:/close"(body, query, id) {
      const { version } = membersOf(body, { version: Number.isSafeInteger });
      const card = (await database.read(broadcasts.cards)).find((each) => each.id === id);
      if (!card) throw denied(404, `the app shows no broadcast ${id.slice(0, 40)}`);
      if (card.version !== version) {
        throw denied(409, `the app shows version ${card.version} of this broadcast, not ${version}`);
      }
      if (!card.cancellable) throw denied(409, "this broadcast cannot be closed; it stays until it expires");
      await broadcasts.close(card);
    },
  };

  const all = Object.entries(routes).map(([form, run]) => ({ run,
    pattern: new RegExp(`^${form.replaceAll(":", "([^/]+)")}$`) }));

  return async (method, path, body) => {
    const [place, query] = path.split("?");
    const { run, pattern } = all.find((route) => route.pattern.test(`${method} ${place}`)) ?? {};
    if (!run) return { status: 404, body: { error: `the app has no ${method} ${place.slice(0, 100)}` } };
    const names = pattern.exec(`${method} ${place}`).slice(1).map(decodeURIComponent);
    try {
      const file = await run(body, new URLSearchParams(query), ...names);
      if (!file) tell();
      return file ? { status: 200, ...file } : { status: 204, body: null };
    } catch (error) {
      if (error.kind !== "denied") failed(error);
      tell();
      return { status: error.status ?? (error.kind === "full" ? 507 : 500), body: { error: error.message } };
    }
  };
}
