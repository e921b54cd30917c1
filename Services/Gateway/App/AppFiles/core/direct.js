// Messages between persons. What the hub brings is kept on this device, since the hub removes what was read; what the
// person writes waits until the hub has it (kept.js).

import { deviceClock } from "./clock.js";
import { isMessage, verdictOf } from "./direct-documents.js";
import { inboxOf } from "./direct-inbox.js";
import { lettersBefore, takeLetters } from "./direct-letters.js";
import { keyOf, letterOf, rowOf } from "./direct-state.js";
import { AppError, refusal } from "./errors.js";
import { keptActions } from "./kept.js";
import { pathOfMessage, picturesOf } from "./pictures.js";

const store = "direct";

/** What a person does, and what is kept until the hub has answered. A nonce makes equal texts two messages. */
const requests = {
  message: ({ to, text, picture }) => ["POST", "/user/messages", { to, text, picture }],
  read: ({ message }) => ["PUT", `/user/messages/${message}/read`],
};

/** Stores what the person has sent, in the transaction in which it waits no more. */
async function sent(tx, { action, about, key }, body) {
  if (action !== "message") return;
  const picture = about.picture ? await tx.get("pictures", about.picture) : null;
  if (picture) await tx.remove("pictures", picture.name);
  // An answer that cannot be read comes with what is new.
  if (!isMessage(body)) return;
  if (picture) await tx.put("pictures", { name: pathOfMessage(body.id), blob: picture.blob, at: picture.at });
  const { account } = await tx.get("account", "device");
  // The answer to a repeated request may come after the hub has removed the text.
  const message = { ...body, text: about.text, picture: about.picture && (body.picture ?? {}) };
  await takeLetters(tx, [{ ...letterOf(message, account), key }], []);
}

/**
 * The messages of the person of an `account`, that of `accountOf`. The other parameters are as those of `peopleOf`.
 * `isCutOff()` says whether the app is in front and hears of no events, so that it has to ask.
 *
 * The store `direct` has the row `position` (direct-inbox.js); a row for each conversation (direct-state.js); `rules`,
 * once the person has read what may be sent; and one for each action that waits. The messages are in `letters`, by the
 * key of the other person, those that were sent here with the `key` of their action, and their bytes in `pictures`.
 */
export function directOf({ name, database, account, clock = deviceClock, tell, failed, isCutOff = () => false }) {
  const pictures = picturesOf({ database, account, clock });
  const inbox = inboxOf({ name, database, account, pictures, clock, tell, failed, isCutOff });
  const kept = keptActions({ lock: `${name} direct actions`, store, database, clock, tell, failed, requests, done: sent,
    answer: pictures.answer, after: async () => {},
    topic: (action, about) => (action === "read" ? `read ${about.account}` : undefined),
    line: (action, about) => (action === "message" ? keyOf(about.to) : undefined),
    // A message that the hub does not take stays in its conversation. Nobody misses a mark.
    stays: (action) => action === "message" });

  return {
    pictures, fetch: inbox.fetch, open: inbox.open, happened: inbox.happened, wake: kept.wake, retry: kept.retry,

    /**
     * The person writes a `text`, or sends a `picture`, the name that `keepPicture` has given it. Resolves to "done" or
     * "waits"; one that the hub refuses rejects, and stays until it is discarded.
     */
    send: async (to, { text, picture }) => (await kept.act("message",
      { to, text, picture, nonce: crypto.randomUUID() })).outcome,

    /** Sends a message that waits once more, because the person asks. */
    again: async (key) => (await kept.again(key)).outcome,

    /** Forgets a message that waits. The hub may have it, if only its answer was lost. */
    async discard(key) {
      const row = await database.read((tx) => tx.get(store, `action ${key}`));
      await kept.discard(key);
      if (row?.about.picture) await pictures.drop(row.about.picture);
    },

    /** The last messages of a conversation before a number, in their order, and whether there are earlier ones here. */
    letters: (other, limit, before = Infinity) => database.read((tx) => lettersBefore(tx, other, limit, before)),

    /** The person has read everything in a conversation that this device has. */
    async read(other) {
      const message = await database.write(async (tx) => {
        const { value } = (await tx.get(store, rowOf(other))) ?? {};
        if (!value?.got || value.got.number <= value.seen) return null;
        await tx.put(store, { name: rowOf(other), value: { ...value, seen: value.got.number, unread: 0 } });
        return value.got.id;
      });
      if (message) await kept.act("read", { account: keyOf(other), message });
    },

    /** The person has read what may be sent where. */
    async acceptRules() {
      await database.write(async (tx) => {
        if (await tx.get("account", "device")) await tx.put(store, { name: "rules", value: true });
      });
      tell();
    },

    /**
     * Reports a message to the super users. Resolves to what the hub can say about it. A page that tries again sends
     * the same key.
     */
    async report({ id, text }, sender, reason, key) {
      const path = "/user/reports";
      const shown = text === null ? await pictures.pictureOf(pathOfMessage(id)) : null;
      if (text === null && !shown) throw new AppError("denied", "the picture is not there any more", 404);
      const picture = shown ? await pictures.evidence(shown) : undefined;
      const found = await account.authorized("POST", path, { key,
        body: { message: id, account: sender, text: text ?? undefined, picture, reason: reason || undefined } });
      if (found.status !== 201) throw refusal(path, found);
      return verdictOf(found.body);
    },

    /** Sends what waits, and follows the hub, until the signal is aborted. */
    run: (signal) => Promise.all([kept.run(signal), inbox.run(signal)]),
  };
}
