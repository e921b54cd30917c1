// A browser that needs space evicts the app's database. Some keep localStorage then: a copy of what the hub does not
// have is in it, so that the app begins again without showing old things twice. The hub has the messages.

import { newTopic } from "./plan.js";

const form = 1;
const remembered = ["installation", "last report", "receipts off", "quiet hours", "broadcasts off", "push subjects"];

/** Where a page keeps the copy; `null` where there is no localStorage, as in a worker. */
export function keepsakeIn(name) {
  try {
    const storage = globalThis.localStorage;
    return storage ? { load: () => storage.getItem(name), save: (text) => storage.setItem(name, text) } : null;
  } catch {
    // The person has blocked it.
    return null;
  }
}

/** What is kept, as a text. */
export async function textOf(tx) {
  const memory = {};
  for (const name of remembered) memory[name] = await tx.memory(name);
  const had = { ...(await tx.memory("had")) };
  for (const { msi_key, timestamp, read, kept } of await tx.all("messages")) had[msi_key] = { timestamp, read, kept };
  // A subscription by an earlier level stays, although the student has not chosen it.
  const topics = (await tx.all("subscriptions")).filter(({ choice, subscribed }) => choice || subscribed)
    .map(({ topic_key, choice, muted, subscribed }) => ({ topic_key, choice, muted, subscribed }));
  const over = (await tx.all("broadcasts")).filter(({ closed, document }) => closed || !document)
    .map(({ id, version, expires }) => ({ id, version, expires }));
  return JSON.stringify({ form, memory, had, topics, over, removed: await tx.all("removed") });
}

/** Writes into new data what was kept, if anything was, and the random identifier of the installation. */
export async function fill(tx, text) {
  // It names no person.
  const digits = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0"));
  await tx.keep("installation", digits.join(""));
  const kept = JSON.parse(text ?? "null");
  if (kept?.form !== form) return;
  for (const name of remembered) if (name in kept.memory) await tx.keep(name, kept.memory[name]);
  await tx.keep("had", kept.had);
  for (const topic of kept.topics) {
    await tx.put("subscriptions", { ...newTopic(topic.topic_key), ...topic, present: false, week_pending: true });
  }
  for (const row of kept.removed) await tx.put("removed", row);
  for (const each of kept.over) await tx.put("broadcasts", { ...each, document: null, closed: true });
}
