// What the person does at the hub: it is kept until the hub has answered, and sent again with the same key. The hub
// does it once, however often somebody taps, and whatever is lost in between.

import { waitingActions } from "./database.js";
import { AppError } from "./errors.js";

/** How long the app waits for the hub, in milliseconds. */
export const patience = 60_000;
/** Refusals that may be over soon: those of a hub that is busy or partly away. */
const isTemporary = (status) => status >= 500 || status === 408 || status === 429;

/**
 * The actions of a store.
 *
 * - `lock` is the name of the lock under which one is sent, whichever tab does it.
 * - `requests` has a function for each action, which makes `[method, path, body]` of what it is `about`.
 * - `topic(action, about)` is the text of what an action sets as a whole: a later one of the same topic replaces an
 *   earlier one. `undefined` for other actions.
 * - `answer(method, path, {body, key, signal})` asks the hub, and throws an AppError for a refusal.
 * - `after(row, signal)` reads what an action was about, also after a refusal: what the app shows may be old.
 *
 * A row has the `action` and what it is `about`, its `key`, since when it waits (`at`), and the `error` of the last
 * attempt. With a `refusal`, the `status` and `field` of the hub's answer, it waits for the person.
 */
export function keptActions({ lock, store, database, clock, tell, failed, requests, topic, answer, after }) {
  const waiting = () => database.read(async (tx) => waitingActions(await tx.all(store)));

  async function over(row) {
    await database.write((tx) => tx.remove(store, row.name));
    tell();
  }

  async function keep(row, error, refused) {
    if (row.error === error.message && !row.refusal && !refused) return;
    await database.write(async (tx) => {
      if (await tx.get(store, row.name)) await tx.put(store, { ...row, error: error.message, refusal: refused });
    });
    tell();
  }

  /**
   * Sends an action that waits. Resolves to its `outcome`, "done" or "waits" if there was no answer, and with "done" to
   * the `body` of the answer, unless another tab has it; with "waits" to how long the hub asks to `wait`. What the hub
   * refuses rejects, and is over. If the app has sent it by itself (`isAlone`), it stays until the person has seen why.
   */
  const attempt = (row, signal, isAlone = false) => navigator.locks.request(lock, async () => {
    // Another tab may have sent it.
    const current = await database.read((tx) => tx.get(store, row.name));
    if (!current) return { outcome: "done" };
    const [method, path, body] = requests[row.action](row.about);
    let refused = null;
    let found;
    try {
      found = await answer(method, path, { body, key: method === "POST" ? row.key : undefined, signal });
    } catch (error) {
      if (error.kind === "signed out") throw error;
      if (error.kind !== "refused" || isTemporary(error.status)) {
        await keep(current, error);
        return { outcome: "waits", wait: error.wait };
      }
      refused = error;
    }
    if (refused && isAlone) await keep(current, refused, { status: refused.status, field: refused.field });
    else await over(row);
    // If this fails, an event or the next start brings it.
    await after(row, signal).catch(failed);
    if (refused) throw refused;
    return { outcome: "done", body: found };
  });

  /** Keeps an action. The same one is kept once, however often somebody taps. */
  const kept = (action, about) => database.write(async (tx) => {
    if (!(await tx.get("account", "device"))) throw new AppError("signed out", "nobody is signed in on this device");
    const rows = waitingActions(await tx.all(store));
    const text = JSON.stringify(about);
    const same = rows.find((row) => row.action === action && JSON.stringify(row.about) === text);
    if (same) return same;
    const set = topic(action, about);
    const replaced = rows.filter((row) => set !== undefined && topic(row.action, row.about) === set);
    for (const row of replaced) await tx.remove(store, row.name);
    const key = crypto.randomUUID();
    // Two within a millisecond have an order, too.
    const at = Math.max(clock.now(), (rows.at(-1)?.at ?? 0) + 1);
    const row = { name: `action ${key}`, key, action, about, at, error: null };
    await tx.put(store, row);
    return row;
  });

  async function find(key) {
    const row = (await waiting()).find((each) => each.key === key);
    if (!row) throw new AppError("denied", "this is not waiting any more", 404);
    return row;
  }

  return {
    /** The person does something. Resolves and rejects as an attempt. */
    async act(action, about) {
      const row = await kept(action, about);
      tell();
      return attempt(row, AbortSignal.timeout(patience));
    },

    /** Sends an action that waits once more, because the person asks. */
    again: async (key) => attempt(await find(key), AbortSignal.timeout(patience)),

    /** Forgets an action that waits. The hub may have done it, if only its answer was lost. */
    discard: async (key) => over(await find(key)),

    /** Sends what waits, by itself. Throws an AppError if something still waits. */
    async sendAll(signal) {
      for (const row of await waiting()) {
        if (row.refusal) continue;
        const { outcome, wait } = await attempt(row, signal, true);
        if (outcome === "waits") throw Object.assign(new AppError("timeout", "an action waits for the hub"), { wait });
      }
    },
  };
}
