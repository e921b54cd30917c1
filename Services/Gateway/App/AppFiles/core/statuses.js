// Statuses: those of friends, which last a day, and the person's own one. The hub tells no events about them: they are
// asked for while a page shows them.

import { isIdentifier, isListOf, isMaybe, isMoment, isName, isObject, isText } from "./checks.js";
import { backoff, deviceClock, wakeUps } from "./clock.js";
import { refusal, unreadable } from "./errors.js";

const store = "direct";
/** The row with what the hub has told, and that with the ids of statuses that were seen and that it does not know. */
const [row, unsaid] = ["statuses", "statuses seen"];
/** How long a request may take, in milliseconds. */
const patience = 60_000;
/** The pause between looks at the hub in seconds, if it has not said yet which one it wants, and how they differ. */
const defaultPoll = 30;
const variation = 0.2;
/** The longest pause after failures, in milliseconds. */
const maxPause = 60_000;
/** Without anything to do, how often the app looks whether there is, in milliseconds. */
const day = 86_400_000;
/** How many statuses one request marks as seen. */
const maxAtOnce = 200;

/** The path of a status's picture at the hub. */
export const pathOfStatus = (id) => `/user/statuses/${id}/picture`;

const idsOf = ({ list, own }) => [...list, ...(own ? [own] : [])].map(({ id }) => id);
const isFlag = (value) => typeof value === "boolean";
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const hasContent = (value) => isMaybe(value.text, isText) && isMaybe(value.picture, isObject)
  && Boolean(value.text) !== Boolean(value.picture);
const isStatus = (value) => isObject(value) && isIdentifier(value.id) && hasContent(value) && isMoment(value.at)
  && isMoment(value.expires);
const isOwn = (value) => isStatus(value) && isCount(value.seen);
const isFriends = (value) => isStatus(value) && isName(value.account) && isFlag(value.seen);
const isList = (body) => isObject(body) && isListOf(body.statuses, isFriends) && isMaybe(body.own, isOwn)
  && isMoment(body.now);

/**
 * The statuses of the person of an `account`, that of `accountOf`. The other parameters are as those of `peopleOf`.
 *
 * The row `statuses` of the store `direct` has the `list` of those of friends, the person's `own` one, by how many
 * milliseconds the hub's clock is `ahead` of this device's, `at` which time of the hub that was known, and when this
 * device has `asked` for all of it.
 */
export function statusesOf({ database, account, clock = deviceClock, tell, failed }) {
  const wakes = wakeUps(clock);
  let isWatched = false;

  async function answer(method, path, { signal = AbortSignal.timeout(patience), ...more } = {}) {
    const found = await account.authorized(method, path, { signal, ...more });
    if (found.status >= 400) throw refusal(path, found);
    return found.body;
  }

  /** Changes what the app has, unless somebody else is signed in by now. `change(value, seen)` makes the new value. */
  async function keep(device, change) {
    await database.write(async (tx) => {
      if ((await tx.get("account", "device"))?.id !== device?.id) return;
      const seen = (await tx.get(store, unsaid))?.value ?? [];
      const before = (await tx.get(store, row))?.value ?? { list: [] };
      const value = change(before, seen);
      await tx.put(store, { name: row, value });
      // The pictures of those that are gone.
      const ids = idsOf(value);
      for (const id of idsOf(before)) if (!ids.includes(id)) await tx.remove("pictures", pathOfStatus(id));
    });
    tell();
  }

  /** Nothing of what has ended is left on the device, even if nobody opens a page with statuses. */
  async function forgetEnded(device) {
    const value = (await database.read((tx) => tx.get(store, row)))?.value;
    const isThere = (status) => status.expires > clock.now() + (value.ahead ?? 0);
    if (!value || [...value.list, ...(value.own ? [value.own] : [])].every(isThere)) return;
    await keep(device, (known) => ({ ...known, list: known.list.filter(isThere),
      own: known.own && isThere(known.own) ? known.own : null }));
  }

  /** How long it is until the hub takes the next look, in milliseconds. */
  async function timeToLook() {
    const [known, messaging] = await database.read((tx) => Promise.all([tx.get(store, row),
      tx.get("people", "messaging")]));
    const since = clock.now() - (known?.value.asked ?? -Infinity);
    // The clock may have been set back.
    return since < 0 ? 0 : Math.max(0, (messaging?.value.rules.poll ?? defaultPoll) * 1_000 - since);
  }

  async function look(device, signal) {
    const found = await account.authorized("GET", "/user/statuses", { signal });
    const asked = clock.now();
    // This device has asked before it lost its data; or the person has no statuses, such as the staff.
    if ([403, 404, 429].includes(found.status)) return keep(device, (value) => ({ ...value, asked }));
    if (found.status >= 400) throw refusal("/user/statuses", found);
    const { body } = found;
    if (!isList(body)) throw unreadable("/user/statuses");
    return keep(device, (value, seen) => ({ asked, own: body.own ?? null, ahead: body.now - asked, at: body.now,
      list: body.statuses.map((each) => ({ ...each, seen: each.seen || seen.includes(each.id) })) }));
  }

  /** Tells the hub what the person has seen. What it refuses is not told again. */
  async function tellSeen(signal) {
    const ids = (await database.read((tx) => tx.get(store, unsaid)))?.value ?? [];
    if (!ids.length) return;
    const told = ids.slice(0, maxAtOnce);
    const found = await account.authorized("PUT", "/user/statuses/seen", { body: { statuses: told }, signal });
    if (found.status >= 500 || found.status === 429) throw refusal("/user/statuses/seen", found);
    await database.write(async (tx) => {
      const left = ((await tx.get(store, unsaid))?.value ?? []).filter((id) => !told.includes(id));
      if (left.length) await tx.put(store, { name: unsaid, value: left });
      else await tx.remove(store, unsaid);
    });
  }

  return {
    /** The person has another status: a `text`, or the id of an uploaded `picture`. A repetition has the same key. */
    async set(draft, key) {
      const device = await account.device();
      const own = await answer("POST", "/user/status", { body: draft, key });
      if (!isOwn(own)) throw unreadable("/user/status");
      await keep(device, (value) => ({ ahead: own.at - clock.now(), at: own.at, ...value, own }));
    },

    /** The person has no status any more. */
    async remove() {
      const device = await account.device();
      await answer("DELETE", "/user/status");
      await keep(device, (value) => ({ ...value, own: null }));
    },

    /** Reads the person's own status: by how many it was seen. */
    async readOwn(signal = AbortSignal.timeout(patience)) {
      const device = await account.device();
      const body = await answer("GET", "/user/status", { signal });
      if (!isObject(body) || !isMaybe(body.status, isOwn) || !isMoment(body.now)) throw unreadable("/user/status");
      await keep(device, (value) => ({ ...value, own: body.status ?? null, ahead: body.now - clock.now(),
        at: body.now }));
    },

    /** The person has seen a friend's status. */
    async see(id) {
      const isNew = await database.write(async (tx) => {
        const value = (await tx.get(store, row))?.value;
        if (!value?.list.some((each) => each.id === id && !each.seen)) return false;
        const ids = (await tx.get(store, unsaid))?.value ?? [];
        await tx.put(store, { name: row, value: { ...value,
          list: value.list.map((each) => (each.id === id ? { ...each, seen: true } : each)) } });
        await tx.put(store, { name: unsaid, value: [...ids.filter((each) => each !== id), id] });
        return true;
      });
      if (isNew) tell();
    },

    /** Whether a page shows statuses. Only then the hub is asked for them. */
    watch(isShown) {
      isWatched = isShown;
      wakes.add();
    },

    /** The app's state has changed. */
    wake: wakes.add,

    /**
     * Asks for statuses while a page shows them, tells what was seen, and forgets what has ended, until the signal is
     * aborted.
     */
    async run(signal) {
      const pauses = backoff(maxPause);
      for (;;) {
        try {
          wakes.clear();
          let wait = day;
          const device = await account.device();
          if (device) {
            await forgetEnded(device);
            await tellSeen(signal);
            if (isWatched && (await timeToLook()) === 0) await look(device, signal);
            if (isWatched) wait = (await timeToLook()) * (1 + variation * Math.random());
          }
          pauses.succeeded();
          await wakes.next(signal, wait);
        } catch (error) {
          signal.throwIfAborted();
          if (error.kind !== "signed out") failed(error);
          await clock.sleep((error.wait ?? 0) + pauses.failed(), signal);
        }
      }
    },
  };
}
