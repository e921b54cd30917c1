// Fetches messages from the hub, from the last position.

import { isListOf, isObject, isText } from "./checks.js";
import { refused, unreadable } from "./errors.js";
import { messageOf } from "./messages.js";
import { joinedTopics, subscribedTopics } from "./subscriptions.js";

const path = "/message/since";
/** A page with fewer messages is the last one. */
const fullPage = 100;
/** A hub that always has more would keep the app busy for ever. */
const maxPages = 100;
/** The maximum number of topics of a request. */
const maxTopics = 800;
const any = () => true;

/** A position is a time and an identifier. */
const isPosition = (text) => isText(text) && /^\d{1,15}-[0-9a-f]{24}$/.test(text);
const comparable = (position) => position.padStart(40, "0");

/** Sorted, so that apps with the same subscriptions send the same requests. */
function partsOf(topics) {
  const sorted = [...topics].sort();
  return Array.from({ length: Math.ceil(sorted.length / maxTopics) }, (_, part) =>
    sorted.slice(part * maxTopics, (part + 1) * maxTopics));
}

/** What the app has missed. `failed` is called for each message that cannot be read: it is left out. */
export function missedOf({ database, hub, messages, subscriptions, failed }) {
  function readable(list) {
    const read = list.map(messageOf);
    if (read.includes(null)) failed(unreadable(path));
    return read.filter(Boolean);
  }

  /** One page, of which the app has stored everything. */
  async function page(topics, after, subscribed, signal) {
    const { status, body } = await hub.answer("POST", path, { body: { topics, after }, signal });
    if (status !== 200) throw refused(path, status);
    const { messages: found, next, waiting = [], recalled = [] } = isObject(body) ? body : {};
    const isRight = isListOf(found, any) && isPosition(next) && isListOf(waiting, any) && isListOf(recalled, isText);
    if (!isRight) throw unreadable(path);
    const hasNew = await messages.addMissed(readable(found), subscribed);
    if (recalled.length) await messages.removeRecalled(recalled);
    // An answer may still have an Alert that it also tells to be recalled.
    await messages.addWaiting(readable(waiting).filter(({ msi_key }) => !recalled.includes(msi_key)), subscribed);
    return { next, count: found.length, hasNew };
  }

  /** Fetches pages until the last one, and returns its position. `read` is called after each page with its position. */
  async function fetchPages(topics, { after, subscribed, signal, read }) {
    let position = after;
    for (let number = 0; number < maxPages; number += 1) {
      const { next, count, hasNew } = await page(topics, position, subscribed, signal);
      await read?.(next);
      // The last page has the messages of the last minute again.
      if (!count || next === position || (!hasNew && position && count < fullPage)) return next;
      position = next;
    }
    return position;
  }

  const keep = (position) => database.write((tx) => tx.keep("position", position));

  /** Fetches the messages of topics since a position. What came before a failure is stored. */
  async function fetchSince(topics, after, signal) {
    const parts = partsOf(topics);
    const ends = [];
    // The position is kept after the messages: one that comes again is dropped, but a skipped one would be lost.
    const read = parts.length === 1 ? keep : undefined;
    for (const part of parts) ends.push(await fetchPages(part, { after, subscribed: topics, signal, read }));
    // Parts are read one after another. None must miss what comes after its own end.
    if (ends.length > 1) await keep(ends.sort((a, b) => (comparable(a) < comparable(b) ? -1 : 1))[0]);
  }

  return {
    /** Fetches what is new in the person's subjects, and what the messages of the app still lack. */
    async fetch(signal) {
      const [position, topics, joined] = await database.read((tx) => Promise.all([tx.memory("position"),
        subscribedTopics(tx), joinedTopics(tx)]));
      await fetchSince(topics, position, signal);
      const incomplete = await messages.incomplete();
      const week = new Set(incomplete.map(({ topic_key }) => topic_key));
      // The first fetch was of the whole week.
      if (position) for (const topic of joined) if (topics.has(topic)) week.add(topic);
      // Those of subjects that the person has left only complete what the app has.
      for (const part of partsOf(week)) await fetchPages(part, { subscribed: topics, signal });
      if (joined.length) await subscriptions.weekFetched(joined);
      await messages.markLost(incomplete);
    },
  };
}
