// The messages of this device: what comes, what the person marks, and what goes.

import { isMoment, isObject, isSafeLink, isText } from "./checks.js";
import { beginningOfDay } from "./clock.js";
import { noteReceipt } from "./receipts.js";

/** How long the app remembers what it has removed, in milliseconds: copies come up to four weeks late. */
const removedMemory = 35 * 86_400_000;
/** How many days the app shows, today included. */
const shownDays = 7;
/** After this time a text that the hub does not have is given up: the hub may learn of a message later than the app. */
const hubDelay = 3_600_000;

/** Reads a message of the hub; `null` if it cannot be read. A link that the app does not open is left out. */
export function messageOf(document) {
  if (!isObject(document)) return null;
  const text = (name) => (typeof document[name] === "number" ? String(document[name]) : document[name]);
  const omitted = isText(document.omitted) ? document.omitted.split(",").filter(Boolean) : [];
  const message = { omitted, timestamp: /^-?\d+$/.test(text("timestamp")) ? Number(text("timestamp")) : NaN };
  for (const name of ["msi_key", "topic_key", "dist", "title", "desc", "message"]) {
    message[name] = text(name) ?? (omitted.includes(name) ? "" : undefined);
    if (!isText(message[name])) return null;
  }
  if (!message.msi_key || !isMoment(message.timestamp)) return null;
  message.corrects = isText(document.corrects) ? document.corrects : null;
  message.link = isSafeLink(document.link) ? document.link : null;
  return message;
}

const corrected = (corrections) => new Map(corrections.map(({ msi_key, corrects }) => [msi_key, corrects]));

/**
 * All messages, the newest first, each with what it `corrects` and the newest correction of it (`corrected_by`).
 * Corrections of one message are all named by it, so the newest one corrects also the others.
 */
export async function allMessages(tx) {
  const corrections = (await tx.all("corrections")).sort((a, b) => b.timestamp - a.timestamp);
  const own = corrected(corrections);
  const others = Map.groupBy(corrections, ({ corrects }) => corrects);
  const rows = await tx.all("messages");
  return rows.sort((a, b) => b.timestamp - a.timestamp || b.id - a.id).map((row) => {
    const corrects = own.get(row.msi_key) ?? null;
    const newest = others.get(corrects ?? row.msi_key)?.find((other) => other.msi_key !== row.msi_key
      && (corrects === null || other.timestamp > row.timestamp));
    return { ...row, corrects, corrected_by: newest?.msi_key ?? null };
  });
}

/** Removes rows of messages. Later copies are dropped. */
async function removeRows(tx, rows, at) {
  for (const { id, msi_key } of rows) {
    await tx.remove("messages", id);
    await tx.put("removed", { msi_key, at });
  }
}

async function mark(tx, key, marks) {
  const row = await tx.message(key);
  if (row) await tx.put("messages", { ...row, ...marks });
}

/** Stores a message once: "added", "completed" if a text that was missing has come, or "dropped". */
async function store(tx, { corrects, ...message }, isNew, now) {
  const { msi_key, desc, message: text, omitted, timestamp } = message;
  // Before the correction is noted: it may have been recalled.
  if (await tx.get("removed", msi_key)) return "dropped";
  if (corrects && !(await tx.get("corrections", msi_key))) {
    await tx.put("corrections", { msi_key, corrects, timestamp, at: now });
  }
  const present = await tx.message(msi_key);
  if (present ? omitted.length >= present.omitted.length : !isNew) return "dropped";
  if (present) {
    await tx.put("messages", { ...present, desc, message: text, omitted });
    return "completed";
  }
  // The app had it before the browser evicted its data.
  const { [msi_key]: marks } = (await tx.memory("had")) ?? {};
  await tx.put("messages", { ...message, read: false, kept: false, lost: false, ...marks, timestamp });
  if (!marks) await noteReceipt(tx, "received", msi_key, now);
  return "added";
}

/** The messages. Every function is one transaction. `reportable` is called after something is to be reported. */
export function messagesOf({ database, clock, reportable, needsText }) {
  const firstShown = () => beginningOfDay(clock, 1 - shownDays);

  async function storeAll(messages, isNew) {
    if (!messages.length) return false;
    const additions = new Set();
    await database.write(async (tx) => {
      for (const message of messages) additions.add(await store(tx, message, isNew(message), clock.now()));
    });
    if (additions.has("added")) reportable();
    return additions.has("added") || additions.has("completed");
  }

  return {
    /**
     * Stores messages. One that is older than what the app shows, or whose subject the person has left, only completes
     * a message that the app has. Returns whether there was anything new.
     */
    addMissed(messages, subscribed) {
      const first = firstShown();
      return storeAll(messages, ({ topic_key, timestamp }) => subscribed.has(topic_key) && timestamp >= first);
    },

    /** Stores Alerts that wait to be delivered, unless the person has left the subject. */
    addWaiting: (alerts, subscribed) => storeAll(alerts, ({ topic_key }) => subscribed.has(topic_key)),

    /**
     * Removes Alerts that were recalled, even kept ones. A later copy is dropped, and what one of them was to correct
     * is no longer marked as corrected.
     */
    removeRecalled: (keys) => database.write(async (tx) => {
      for (const key of keys) {
        const row = await tx.message(key);
        if (row) await removeRows(tx, [row], clock.now());
        else if (!(await tx.get("removed", key))) await tx.put("removed", { msi_key: key, at: clock.now() });
        await tx.remove("corrections", key);
      }
    }),

    /** Deletes a message. A later copy is dropped. Returns it for `restore`, or `undefined` if there was none. */
    remove: (key) => database.write(async (tx) => {
      const row = await tx.message(key);
      if (row) await removeRows(tx, [row], clock.now());
      return row;
    }),

    /** Undoes a deletion. A text that the message lacks is fetched: the hub may have it by now. */
    async restore({ id, ...row }) {
      await database.write(async (tx) => {
        await tx.remove("removed", row.msi_key);
        if (!(await tx.message(row.msi_key))) await tx.put("messages", { ...row, lost: false });
      });
      if (row.omitted.length) needsText();
    },

    /** The messages that lack a text which the hub may have. */
    incomplete: () => database.read(async (tx) => (await tx.all("messages"))
      .filter(({ omitted, lost }) => omitted.length && !lost)),

    /** The hub was asked for the whole week, and does not have the texts that these messages still lack. */
    async markLost(messages) {
      const old = messages.filter(({ timestamp }) => timestamp < clock.now() - hubDelay);
      if (old.length) await database.write(async (tx) => {
        for (const { msi_key } of old) {
          if ((await tx.message(msi_key))?.omitted.length) await mark(tx, msi_key, { lost: true });
        }
      });
    },

    /**
     * Deletes what is older than a week, counted from the end of the current day, except what the person keeps, and
     * forgets what is needed no longer.
     */
    clearOld: () => database.write(async (tx) => {
      const [now, first] = [clock.now(), firstShown()];
      const rows = await tx.all("messages");
      const isOld = ({ timestamp, kept }) => timestamp < first && !kept;
      await removeRows(tx, rows.filter(isOld), now);
      const had = Object.entries((await tx.memory("had")) ?? {}).filter(([, { timestamp }]) => timestamp >= first);
      await tx.keep("had", had.length ? Object.fromEntries(had) : undefined);
      const forgotten = async (name) => (await tx.all(name)).filter(({ at }) => at < now - removedMemory);
      for (const { msi_key } of await forgotten("removed")) await tx.remove("removed", msi_key);
      for (const { msi_key, kind } of await forgotten("receipts")) await tx.remove("receipts", [msi_key, kind]);
      // A correction is in use while there is the corrected message, or another correction of it.
      const own = corrected(await tx.all("corrections"));
      const used = new Set(rows.filter((row) => !isOld(row)).map(({ msi_key }) => own.get(msi_key) ?? msi_key));
      for (const { msi_key, corrects } of await forgotten("corrections")) {
        if (!used.has(corrects)) await tx.remove("corrections", msi_key);
      }
    }),

    keep: (key, kept) => database.write((tx) => mark(tx, key, { kept })),

    /** Marks a message as read, which is reported as opened, or as unread. */
    async markRead(key, read) {
      await database.write(async (tx) => {
        await mark(tx, key, { read });
        if (read) await noteReceipt(tx, "opened", key, clock.now());
      });
      if (read) reportable();
    },

    /** Marks messages as read or unread without their having been opened: nothing is reported. */
    markReadUnopened: (keys, read) => database.write(async (tx) => {
      for (const key of keys) await mark(tx, key, { read });
    }),
  };
}
