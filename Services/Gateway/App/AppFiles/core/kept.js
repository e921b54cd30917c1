// What the person does at the hub: it is kept until the hub has answered, and sent again with the same key. The hub
// does it once, however often somebody taps, and whatever is lost in between.

import { backoff, wakeUps } from "./clock.js";
import { waitingActions } from "./database.js";
import { AppError } from "./errors.js";

/** How long the app waits for the hub, in milliseconds. */
export const patience = 60_000;
/** How long after a change of the app's state what waits is sent, in milliseconds. */
const settling = 2_000;
/** The longest pause after failures, in milliseconds, beside what the hub asks to wait. */
const maxPause = 30_000;
/** Without anything that waits, how often the app looks whether there is, in milliseconds. */
const day = 86_400_000;
/** Refusals that may be over soon: those of a hub that is busy or partly away. */
const isTemporary = (status) => status >= 500 || status === 408 || status === 429;

/**
 * The actions of a store.
 *
 * - `lock` is the name of the lock under which one is sent, whichever tab does it.
 * - `requests` has a function for each action, which makes `[method, path, body]` of what it is `about`.
 * - `topic(action, about)` is the text of what an action sets as a whole: a later one of the same topic replaces an
 *   earlier one. `undefined` for other actions.
 * - `line(action, about)` is the text of what actions stand in line for: they are sent in their order, and the first
 *   that waits holds the later ones. `undefined` for other actions.
 * - `stays(action, isAlone)` says whether an action that the hub has refused stays until the person has seen why.
 *   `isAlone`: the app has sent it by itself.
 * - `done(tx, row, body)` stores what the hub has answered, in the transaction in which the action is over.
 * - `answer(method, path, {body, key, signal})` asks the hub, and throws an AppError for a refusal.
 * - `after(row, signal)` reads what an action was about, also after a refusal: what the app shows may be old.
 *
 * A row has the `action` and what it is `about`, its `key`, since when it waits (`at`), and the `error` of the last
 * attempt, with the `status` of the hub's answer if there was one. With a `refusal`, the `status` and `field` of the
 * answer, it waits for the person.
 */
export function keptActions({ lock, store, database, clock, tell, failed, requests, topic, answer, after,
  line = () => undefined, stays = (action, isAlone) => isAlone, done = () => {} }) {
  const wakes = wakeUps(clock);
  const retries = wakeUps(clock);
  const waiting = () => database.read(async (tx) => waitingActions(await tx.all(store)));

  async function over(row, last = () => {}) {
    await database.write(async (tx) => {
      // The person may have signed out.
      if (!(await tx.get(store, row.name))) return;
      await last(tx);
      await tx.remove(store, row.name);
    });
    tell();
  }

  /** Whether an action stands behind another one that waits. */
  async function isHeld({ action, about, at }) {
    const place = line(action, about);
    return place !== undefined && (await waiting()).some((each) => each.at < at && !each.refusal
      && line(each.action, each.about) === place);
  }

  async function keep(row, error, refused) {
    if (row.error === error.message && !row.refusal && !refused) return;
    await database.write(async (tx) => {
      if (!(await tx.get(store, row.name))) return;
      await tx.put(store, { ...row, error: error.message, status: error.status, refusal: refused });
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
    if (await isHeld(current)) return { outcome: "waits" };
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
    if (refused && stays(row.action, isAlone)) {
      await keep(current, refused, { status: refused.status, field: refused.field });
    } else await over(row, (tx) => (refused ? undefined : done(tx, row, found)));
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

  /** Sends what waits, by itself. Throws an AppError if something still waits. */
  async function sendAll(signal) {
    for (const row of await waiting()) {
      if (row.refusal) continue;
      const { outcome, wait } = await attempt(row, signal, true);
      if (outcome === "waits") throw Object.assign(new AppError("timeout", "an action waits for the hub"), { wait });
    }
  }

  return {
    sendAll,

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

    /** The app's state has changed. */
    wake: wakes.add,

    /** The hub can be reached: a pause after failures ends. */
    retry: retries.add,

    /** Sends what waits, until the signal is aborted. */
    async run(signal) {
      const pauses = backoff(maxPause);
      for (;;) {
        try {
          wakes.clear();
          retries.clear();
          await sendAll(signal);
          pauses.succeeded();
          await wakes.next(signal, day);
          // What the person has just done is on its way, and its page waits for the answer.
          await clock.sleep(settling, signal);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          await clock.sleep(error.wait ?? 0, signal);
          await retries.next(signal, pauses.failed());
        }
      }
    },
  };
}
