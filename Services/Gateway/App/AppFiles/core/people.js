// The person who is signed in, and the people that they know: what the hub tells of them, and what the person does,
// which is kept until the hub has answered (kept.js).

import { isIdentifier, isListOf, isMaybe, isMoment, isName, isObject, isText } from "./checks.js";
import { backoff, deviceClock, wakeUps } from "./clock.js";
import { accountOf } from "./account.js";
import { readDocument } from "./documents.js";
import { refusal, unreadable } from "./errors.js";
import { keptActions, patience } from "./kept.js";

/** Changes within this time are told together, in milliseconds. */
const settling = 2_000;
/** The longest pause after failures, in milliseconds. */
const maxPause = 60_000;
/** Without a change, how often the app looks whether it has something to tell, in milliseconds. */
const interval = 86_400_000;

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

/**
 * The people that a person knows. The parameters are those of `accountOf`, and `failed`, which is called after each
 * failure of what the app does by itself.
 *
 * The store `people` has a row for each part, with its `value`, and one for each action that waits.
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

  /** Reads parts from the hub. The staff have no friends here. */
  async function load(names, signal = AbortSignal.timeout(patience)) {
    if (!(await account.device())) return;
    try {
      for (const part of names) {
        opened.add(part);
        const [path, read] = parts[part];
        await readDocument({ account, database, store: "people", name: part, path, read, signal });
      }
    } finally {
      // Those before a failure are there.
      tell();
    }
  }

  const kept = keptActions({ lock: `${name} actions`, store: "people", database, clock, tell, failed,
    requests: actions, answer, topic: (action) => (whole.includes(action) ? action : undefined),
    after: ({ action }, signal) => load(partsOf(action).filter((part) => opened.has(part)), signal) });

  return {
    account, load,

    /** The person does something. Resolves to "done" or "waits"; what the hub refuses rejects. */
    act: async (action, about) => (await kept.act(action, about)).outcome,

    /** Sends an action that waits once more, because the person asks. */
    again: async (key) => (await kept.again(key)).outcome,

    /** Forgets an action that waits. The hub may have done it, if only its answer was lost. */
    async discard(key) {
      await kept.discard(key);
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

    /**
     * Something has happened to the person: the `kind` of the hub's event, or `null` for anything, or anything that one
     * `service` knows.
     */
    async happened(kind, signal, service) {
      if (service && service !== "people") return;
      await load(kind === null ? [...opened] : (partsOfEvents[kind] ?? []).filter((part) => opened.has(part)), signal);
    },

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
          await kept.sendAll(signal);
          if (problem) throw problem;
          pauses.succeeded();
          await wakes.next(signal, interval);
          await clock.sleep(settling, signal);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          await clock.sleep((error.wait ?? 0) + pauses.failed(), signal);
        }
      }
    },
  };
}
