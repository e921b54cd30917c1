// The person who is signed in, and the people that they know: what the hub tells of them, and what the person does.
//
// What the person does is kept until the hub has answered, and sent again with the same key: the hub does it once, and
// nobody is asked twice.

import { isIdentifier, isListOf, isMaybe, isMoment, isObject, isText } from "./checks.js";
import { backoff, deviceClock, wakeUps } from "./clock.js";
import { accountOf } from "./account.js";
import { AppError, refusal, unreadable } from "./errors.js";

/** How long the app waits for the hub, in milliseconds. */
const patience = 60_000;
/** Changes within this time are told together, in milliseconds. */
const settling = 2_000;
/** The longest pause after failures, in milliseconds. */
const maxPause = 60_000;
/** Without a change, how often the app looks whether it has something to tell, in milliseconds. */
const interval = 86_400_000;
/** Refusals that may be over soon: those of a hub that is busy or partly away. */
const isTemporary = (status) => status >= 500 || status === 408 || status === 429;

const isName = (value) => isText(value) && /^[\x21-\x7e]{1,64}$/.test(value);
const isRequest = (value) => isObject(value) && isName(value.account) && isMoment(value.at);
const isIdentity = (value) => isObject(value) && isText(value.provider) && isMaybe(value.email, isText);
const isDevice = (value) => isObject(value) && isIdentifier(value.id) && isText(value.platform)
  && isMaybe(value.name, isText) && isMoment(value.created) && isMoment(value.seen);
const texts = ["first_name", "last_name", "born", "gender", "bio", "email"];
const hasTexts = (value) => isObject(value) && texts.every((field) => isMaybe(value[field], isText));

/** What the app keeps of the hub: the path, and what of its document. `undefined` if that is not as expected. */
const parts = {
  person: ["/user", (body) => (isObject(body) && isName(body.account) && isMaybe(body.display_name, isText)
    && isListOf(body.identities, isIdentity) ? body : undefined)],
  friends: ["/user/friends", (body) => (isListOf(body?.friends, isName) ? body.friends : undefined)],
  requests: ["/user/friends/requests", (body) => (isListOf(body?.received, isRequest)
    && isListOf(body.asked, isRequest) ? { received: body.received, asked: body.asked } : undefined)],
  blocked: ["/user/blocked", (body) => (isListOf(body?.blocked, isName) ? body.blocked : undefined)],
  devices: ["/user/devices", (body) => (isListOf(body?.devices, isDevice) ? body.devices : undefined)],
  profile: ["/user/profile", (body) => (hasTexts(body) && isObject(body.visibility) ? body : undefined)],
  preferences: ["/user/preferences", (body) => (isObject(body?.pushes) ? body.pushes : undefined)],
};

/** What is told of a person who is signed in before anybody opens a page about them. */
const first = ["person", "friends", "requests"];

/** The parts that an event of the hub is about. */
const partsOfEvents = { account: ["person"], devices: ["devices"], profile: ["profile"], preferences: ["preferences"],
  friends: ["friends", "requests", "blocked"], requests: ["requests", "friends"] };

const friend = (who) => `/user/friends/${encodeURIComponent(who)}`;
const blocked = (who) => `/user/blocked/${encodeURIComponent(who)}`;

/** What a person does: the request, by what it is about. */
const actions = {
  ask: (who) => ["POST", "/user/friends", { account: who }],
  accept: (who) => ["PUT", friend(who), { accept: true }],
  decline: (who) => ["PUT", friend(who), { accept: false }],
  remove: (who) => ["DELETE", friend(who)],
  withdraw: (who) => ["DELETE", friend(who)],
  block: (who) => ["PUT", blocked(who)],
  unblock: (who) => ["DELETE", blocked(who)],
  "end device": ({ id }) => ["DELETE", `/user/devices/${id}`],
  profile: (profile) => ["PUT", "/user/profile", profile],
  preferences: (pushes) => ["PUT", "/user/preferences", { pushes }],
};
/** Those of which a later one replaces an earlier one. */
const whole = ["profile", "preferences"];
const partsOf = (action) => ({ "end device": ["devices"], profile: ["profile"], preferences: ["preferences"] }[action]
  ?? partsOfEvents.friends);

/** Of the rows of the store, the actions that wait, in their order. */
const waitingActions = (rows) => rows.filter(({ action }) => action).sort((one, other) => one.at - other.at);

/**
 * The people that a person knows. The parameters are those of `accountOf`, and `failed`, which is called after each
 * failure of what the app does by itself.
 *
 * The store `people` has a row for each part, with its `value`, and one for each action that waits: the `action` and
 * what it is `about`, its `key`, since when (`at`), and the `error` of the last attempt. With a `refusal`, the `status`
 * and `field` of the hub's answer, it waits for the person.
 */
export function peopleOf({ failed, ...given }) {
  const { name, database, clock = deviceClock, tell } = given;
  const account = accountOf(given);
  const wakes = wakeUps(clock);
  /** The parts that a page has shown since the start. Events about others are left alone. */
  const opened = new Set(first);

  async function answer(method, path, more) {
    const found = await account.authorized(method, path, more);
    if (found.status >= 400) throw refusal(path, found);
    return found.body;
  }

  /** Reads parts from the hub. */
  async function load(names, signal = AbortSignal.timeout(patience)) {
    const own = await account.device();
    if (!own) return;
    try {
      for (const part of names) {
        opened.add(part);
        const [path, read] = parts[part];
        const found = await account.authorized("GET", path, { signal });
        // The staff have no friends here.
        if (found.status === 403) continue;
        if (found.status >= 400) throw refusal(path, found);
        const value = read(found.body);
        if (value === undefined) throw unreadable(path);
        await database.write(async (tx) => {
          // The person may have signed out.
          if ((await tx.get("account", "device"))?.id === own.id) await tx.put("people", { name: part, value });
        });
      }
    } finally {
      // Those before a failure are there.
      tell();
    }
  }

  const waiting = () => database.read(async (tx) => waitingActions(await tx.all("people")));

  async function over(row) {
    await database.write((tx) => tx.remove("people", row.name));
    tell();
  }

  async function keep(row, error, refused) {
    if (row.error === error.message && !row.refusal && !refused) return;
    await database.write(async (tx) => {
      if (await tx.get("people", row.name)) await tx.put("people", { ...row, error: error.message, refusal: refused });
    });
    tell();
  }

  /**
   * Sends an action that waits. Resolves to "done", or to "waits" if there was no answer. What the hub refuses rejects,
   * and is over. If the app has sent it by itself (`isAlone`), it stays until the person has seen why.
   */
  const attempt = (row, signal, isAlone = false) => navigator.locks.request(`${name} actions`, async () => {
    // Another tab may have sent it.
    const current = await database.read((tx) => tx.get("people", row.name));
    if (!current) return "done";
    const [method, path, body] = actions[row.action](row.about);
    let refused = null;
    try {
      await answer(method, path, { body, key: method === "POST" ? row.key : undefined, signal });
    } catch (error) {
      if (error.kind === "signed out") throw error;
      if (error.kind !== "refused" || isTemporary(error.status)) {
        await keep(current, error);
        return "waits";
      }
      refused = error;
    }
    if (refused && isAlone) await keep(current, refused, { status: refused.status, field: refused.field });
    else await over(row);
    // Also after a refusal: what the app shows may be old. If this fails, an event or the next start brings it.
    await load(partsOf(row.action).filter((part) => opened.has(part)), signal).catch(failed);
    if (refused) throw refused;
    return "done";
  });

  /** Keeps an action. The same one is kept once, however often somebody taps. */
  const kept = (action, about) => database.write(async (tx) => {
    if (!(await tx.get("account", "device"))) throw new AppError("signed out", "nobody is signed in on this device");
    const rows = waitingActions(await tx.all("people"));
    const alike = rows.filter((row) => row.action === action);
    const text = JSON.stringify(about);
    const same = alike.find((row) => JSON.stringify(row.about) === text);
    if (same) return same;
    if (whole.includes(action)) for (const row of alike) await tx.remove("people", row.name);
    const key = crypto.randomUUID();
    // Two within a millisecond have an order, too.
    const at = Math.max(clock.now(), (rows.at(-1)?.at ?? 0) + 1);
    const row = { name: `action ${key}`, key, action, about, at, error: null };
    await tx.put("people", row);
    return row;
  });

  async function find(key) {
    const row = (await waiting()).find((each) => each.key === key);
    if (!row) throw new AppError("denied", "this is not waiting any more", 404);
    return row;
  }

  return {
    account, load,

    /** The person does something. Resolves and rejects as an attempt. */
    async act(action, about) {
      const row = await kept(action, about);
      tell();
      return attempt(row, AbortSignal.timeout(patience));
    },

    /** Sends an action that waits once more, because the person asks. */
    again: async (key) => attempt(await find(key), AbortSignal.timeout(patience)),

    /** Forgets an action that waits. The hub may have done it, if only its answer was lost. */
    async discard(key) {
      await over(await find(key));
      await load(first).catch(failed);
    },

    /** Another person, as far as they show themself; `null` if there is none for this person, perhaps not any more. */
    async view(who, signal = AbortSignal.timeout(patience)) {
      const path = `/users/${encodeURIComponent(who)}`;
      const found = await account.authorized("GET", path, { signal });
      if (found.status === 404) {
        // They may still be in the lists, or blocked: then the page hears when they are unblocked.
        load(partsOfEvents.friends).catch(failed);
        return null;
      }
      if (found.status !== 200) throw refusal(path, found);
      const { body } = found;
      if (!hasTexts(body) || !isName(body.account) || !isText(body.relation)) throw unreadable(path);
      return { ...body, mutual_friends: isListOf(body.mutual_friends, isName) ? body.mutual_friends : [] };
    },

    /** The names of persons that begin with a text. */
    async search(text, signal = AbortSignal.timeout(patience)) {
      const path = `/users?q=${encodeURIComponent(text)}`;
      const body = await answer("GET", path, { signal });
      if (!isListOf(body?.accounts, isName)) throw unreadable("/users");
      return body.accounts;
    },

    /**
     * The hub's answer to what is not kept, since it has a secret or takes long: a page that tries again sends the same
     * key.
     */
    ask: (method, path, body, key) => answer(method, path, { body, key }),

    /** Something has happened to the person: the `kind` of the hub's event, or `null` for anything. */
    happened: (kind, signal) => load(kind === null ? [...opened]
      : (partsOfEvents[kind] ?? []).filter((part) => opened.has(part)), signal),

    /** The app's state has changed. */
    wake: wakes.add,

    /** Tells the hub how the device is reached, and sends what waits, until the signal is aborted. */
    async run(signal) {
      const pauses = backoff(maxPause);
      for (;;) {
        try {
          wakes.clear();
          // What waits is sent even if this fails.
          const problem = await account.registerDevice(signal).then(() => null, (error) => error);
          for (const row of await waiting()) {
            if (row.refusal) continue;
            const outcome = await attempt(row, signal, true);
            if (outcome === "waits") throw new AppError("timeout", "an action waits for the hub");
          }
          if (problem) throw problem;
          pauses.succeeded();
          await wakes.next(signal, interval);
          await clock.sleep(settling, signal);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          await clock.sleep(pauses.failed(), signal);
        }
      }
    },
  };
}
