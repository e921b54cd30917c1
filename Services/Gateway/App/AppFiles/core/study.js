// The person's classes and study sessions: what the hub tells of them, and what the person does.
//
// Posts, invitations and what concerns classes are kept until the hub has answered (kept.js). Who starts, joins or
// leaves a session is told at once whether that worked: an hour later it would be wrong. No position of the person is
// kept, not even until the hub has answered.

import { backoff, deviceClock, wakeUps } from "./clock.js";
import { readDocument } from "./documents.js";
import { refusal, unreadable } from "./errors.js";
import { keptActions, patience } from "./kept.js";
import { isSame, presenceAt } from "./presence.js";
import { presenceOf, sessionOf } from "./study-documents.js";
import { direct, kept, pages, parts, sessionPath, single } from "./study-requests.js";
import { ownSessions } from "./study-state.js";

const store = "study";
/** How often the app looks at the hub while a page about sessions is in front, in milliseconds, and how they differ. */
const interval = 30_000;
const variation = 0.2;
/** An event comes to all of a class at once. It is followed within this random time, in milliseconds. */
const spread = 2_000;
/** How long after a change the app looks whether something waits, in milliseconds. */
const settling = 2_000;
/** The longest pause after failures, in milliseconds, beside what the hub asks to wait. */
const maxPause = 30_000;
/** Without anything to do, how often the app looks whether there is, in milliseconds. */
const day = 86_400_000;

/** The parts that an event about the person is about. Only friends' invitations are shown. */
const partsOfEvents = { classes: ["classes", "own"], session: ["own"], invites: ["own"], friends: ["own"] };
/** The services that know something of these parts. While people is away, the hub shows no invitations. */
const services = ["study", "people"];

/**
 * The classes and sessions of the person of an `account`, that of `accountOf`. The other parameters are as those of
 * `peopleOf`.
 *
 * The store `study` has a row for each part, `own` or `posts CLASS SESSION`, with its `value`, and one for each action
 * that waits. `ahead` is by how many milliseconds the hub's clock is ahead of this device's, `chosen` are the classes
 * whose sessions are shown, `last` is what the person has started last (`{class, topics, place}`, with the place's
 * name), `presence` has what the hub made of the person's last report about each session that they host, by its
 * identifier, with the `host` and the `place` of then, and `gone` is the session in which the person was until
 * something else than this app has ended that.
 */
export function studyOf({ name, database, account, clock = deviceClock, tell, failed }) {
  const sends = wakeUps(clock);
  const looks = wakeUps(clock);
  const tries = wakeUps(clock);
  /** The rows that a page shows, while it is in front; `null` without one. */
  let watched = null;
  let hasWatched = false;
  let hasRules = false;
  /** What the next look reads: rows, and whether everything. */
  let due = new Set();
  let isAllDue = false;
  /** Whether an event has asked for it, which others have got as well. */
  let isShared = false;
  /** The session that the person is leaving by this app. */
  let leaving = null;
  let reading = Promise.resolve();
  /** Why the app's last look has failed. Until one succeeds, what happens is read with the next one, after a pause. */
  let problem = null;

  const valueOf = async (row) => (await database.read((tx) => tx.get(store, row)))?.value;

  async function answer(method, path, { signal = AbortSignal.timeout(patience), ...more } = {}) {
    const found = await account.authorized(method, path, { signal, ...more });
    if (found.status >= 400) throw refusal(path, found);
    return found.body;
  }

  /** Keeps a value of this app. Nothing is kept after the person has signed out. */
  const keep = (row, value) => database.write(async (tx) => {
    if (await tx.get("account", "device")) await tx.put(store, { name: row, value });
  });

  /** The sessions that the person hosts. */
  async function hostedOf(tx) {
    const me = (await tx.get("account", "device"))?.account;
    const own = (await tx.get(store, "own"))?.value;
    return ownSessions(own).filter((each) => me && isSame(each.host, me));
  }

  /** Keeps what the hub made of reports, as long as the person hosts the sessions at the same places. */
  const keepPresence = (made = {}) => database.write(async (tx) => {
    const presence = { ...(await tx.get(store, "presence"))?.value, ...made };
    const left = (await hostedOf(tx)).map((each) => [each.id, presenceAt({ presence }, each)])
      .filter(([, { state }]) => state);
    if (left.length) await tx.put(store, { name: "presence", value: Object.fromEntries(left) });
    else await tx.remove(store, "presence");
  });

  const drop = (isStale) => database.write(async (tx) => {
    for (const row of await tx.all(store)) if (!row.action && isStale(row.name)) await tx.remove(store, row.name);
  });

  /** Reads one part. */
  async function readPart(part, about, signal) {
    const [path, read] = parts[part](...about);
    const row = [part, ...about].join(" ");
    const value = await readDocument({ account, database, store, name: row, path, gone: [403, 404], signal,
      read: (body) => {
        const found = read(body);
        return found && !Array.isArray(found) ? { ...found, read: clock.now() } : found;
      } });
    if (single.includes(part)) await drop((each) => each.startsWith(`${part} `) && each !== row);
    if (part === "classes") {
      const open = new Set((value ?? []).filter(({ sessions }) => sessions > 0).map(({ id }) => `sessions ${id}`));
      await drop((each) => each.startsWith("sessions ") && !open.has(each));
    }
    if (value?.now !== undefined) await keep("ahead", value.now - value.read);
    return value;
  }

  /** Reads the person's own sessions, and if one is gone by something else than this app, why. */
  async function readOwn(signal) {
    const before = (await valueOf("own"))?.current;
    const own = await readPart("own", [], signal);
    if (await valueOf("presence")) await keepPresence();
    const lost = own && before && before.id !== own.current?.id && before.id !== leaving ? before : null;
    if (!lost) return own;
    const path = sessionPath({ class: lost.class, session: lost.id });
    // Without an answer the person learns that it is over, and not why: the next read knows nothing of it.
    const found = await account.authorized("GET", path, { signal }).then(({ status, body }) => (status === 200
      ? sessionOf(body)?.sessions[0] : undefined), () => undefined);
    await keep("gone", { session: found ?? lost, at: clock.now() });
    return own;
  }

  /** Reads a part. The person's own sessions are read one after another, so that each change is told once. */
  function read(part, about = [], signal = AbortSignal.timeout(patience)) {
    if (part !== "own") return readPart(part, about, signal);
    reading = reading.catch(() => {}).then(() => readOwn(signal));
    return reading;
  }

  const readRow = (row, signal) => {
    const [part, ...about] = row.split(" ");
    return read(part, about, signal);
  };

  async function readAll(signal) {
    if (!hasRules || !(await valueOf("rules"))) hasRules = (await read("rules", [], signal)) !== undefined;
    const [classes] = await Promise.all([read("classes", [], signal), read("own", [], signal)]);
    const open = (classes ?? []).filter(({ sessions }) => sessions > 0).map(({ id }) => `sessions ${id}`);
    await Promise.all([...open, ...(watched ?? [])].map((row) => readRow(row, signal)));
  }

  /** Reads several parts after each other, and tells what came. Resolves to the value of the last one. */
  async function load(rows, signal) {
    let value;
    try {
      for (const row of rows) value = await readRow(row, signal);
    } finally {
      tell();
    }
    return value;
  }

  /** Everything is read at once, if a page shows it. */
  function lookSoon() {
    isAllDue ||= watched !== null;
    if (isAllDue || due.size) looks.add();
  }

  const rowsOf = (action, about) => ({ "join class": ["classes"], "leave class": ["classes", "own"],
    "class pushes": ["classes"], post: [`posts ${about.class} ${about.session}`],
    "remove post": [`posts ${about.class} ${about.session}`], invite: [] }[action]);

  const waiting = keptActions({ lock: `${name} study actions`, store, database, clock, tell, failed, requests: kept,
    answer, topic: (action, { id }) => (action === "class pushes" ? `${action} ${id}` : undefined),
    after: async ({ action, about }, signal) => {
      await load(rowsOf(action, about), signal);
      if (action.endsWith("class")) lookSoon();
    } });

  /** Does what is worth nothing later. */
  async function act(action, about, key) {
    const [method, path, body] = direct[action](about);
    const options = { body, key: method === "POST" ? key : undefined };
    if (action === "report") {
      // By the time of the answer it may be elsewhere.
      const session = (await database.read(hostedOf)).find(({ id }) => id === about.session);
      const presence = presenceOf(await answer(method, path, options));
      if (!presence) throw unreadable(path);
      if (session) {
        await keepPresence({ [session.id]: { ...presence, host: session.host, place: session.place } });
      }
      tell();
      return presence;
    }
    const current = (await valueOf("own"))?.current;
    const classes = new Set([about.class, ...(current ? [current.class] : [])]);
    const rows = ["own", ...[...classes].map((id) => `sessions ${id}`),
      ...(about.session ? [`session ${about.class} ${about.session}`] : [])];
    leaving = current?.id ?? null;
    try {
      const found = await answer(method, path, options);
      if (action === "start") {
        const { topics, place } = about.draft;
        await keep("last", { class: about.class, topics, place: place.name ?? "" }).catch(failed);
      }
      await load(rows).catch(failed);
      return found;
    } catch (error) {
      // What the app shows may be old.
      if (error.kind === "refused") await load(rows).catch(failed);
      throw error;
    } finally {
      leaving = null;
    }
  }

  async function send(signal) {
    const pauses = backoff(maxPause);
    for (;;) {
      try {
        sends.clear();
        await waiting.sendAll(signal);
        pauses.succeeded();
        await sends.next(signal, day);
        // What the person has just done is on its way, and its page waits for the answer.
        await clock.sleep(settling, signal);
      } catch (error) {
        signal.throwIfAborted();
        failed(error);
        await clock.sleep((error.wait ?? 0) + pauses.failed(), signal);
      }
    }
  }

  /** Pauses after a failure. Only a page that somebody opens ends it early, and not before the hub is ready for it. */
  async function rest(pauses, signal) {
    await clock.sleep(problem.wait ?? 0, signal);
    await tries.next(signal, pauses.failed());
  }

  /** Reads what is due: while a page is in front everything from time to time, and what events are about. */
  async function look(signal) {
    const pauses = backoff(maxPause);
    isAllDue ||= watched !== null;
    for (;;) {
      looks.clear();
      tries.clear();
      const [rows, isAll] = [due, isAllDue];
      [due, isAllDue, isShared] = [new Set(), false, false];
      const known = problem;
      let pause = day;
      try {
        if (isAll) await readAll(signal);
        for (const row of rows) await readRow(row, signal);
        pauses.succeeded();
        // What an event was about may have been refused since.
        if (problem === known) problem = null;
        if (watched) pause = interval * (1 - variation + 2 * variation * Math.random());
      } catch (error) {
        signal.throwIfAborted();
        failed(error);
        for (const row of rows) due.add(row);
        isAllDue ||= isAll;
        problem = error;
      }
      if (isAll || rows.size) tell();
      if (!problem) await looks.next(signal, pause);
      if (problem) await rest(pauses, signal);
      else if (isShared) await clock.sleep(spread * Math.random(), signal);
      // Nobody has asked for anything: it is time.
      if (!due.size) isAllDue ||= watched !== null;
    }
  }

  return {
    /** Reads a part at once, such as `load("posts", [class, session])`. Resolves to it; `undefined` without one. */
    load: (part, about = [], signal = AbortSignal.timeout(patience)) => load([[part, ...about].join(" ")], signal),

    /** Reads everything that the map and the list show. */
    look: (signal = AbortSignal.timeout(patience)) => readAll(signal).finally(tell),

    /** A page of a list, and where the `next` one begins: `posts` and `mates` of `about`, `past` of the person. */
    async page(list, next, about = []) {
      const [path, readPage] = pages[list](next, ...about);
      const found = readPage(await answer("GET", path));
      if (!found) throw unreadable(path);
      return found;
    },

    /** The hub's answer to anything else that the person does. A page that tries again sends the same key. */
    ask: (method, path, body, key) => answer(method, path, { body, key }),

    /**
     * The person does something. Resolves to its `outcome`: "done" with the `body` of the hub's answer, or "waits" for
     * what is kept until there is one. What the hub refuses rejects. A page that tries to start a session again sends
     * the same key.
     */
    act: async (action, about, key = crypto.randomUUID()) => (Object.hasOwn(kept, action)
      ? waiting.act(action, about) : { outcome: "done", body: await act(action, about, key) }),

    again: waiting.again,

    /** Forgets an action that waits. The hub may have done it, if only its answer was lost. */
    async discard(key) {
      await waiting.discard(key);
      lookSoon();
    },

    /** Chooses the classes whose sessions are shown; none for all. */
    async choose(ids) {
      await keep("chosen", ids);
      tell();
    },

    /** A page with these rows is in front, or with `null` none is. Only then everything is followed. */
    watch(rows) {
      const isFirst = rows !== null && watched === null;
      const more = isFirst || rows === null ? [] : rows.filter((row) => !watched.includes(row));
      for (const row of more) due.add(row);
      watched = rows;
      hasWatched ||= isFirst;
      if (isFirst) lookSoon();
      else if (due.size) looks.add();
      if (isFirst || more.length) tries.add();
    },

    /** The classes whose events the app follows: those of the person, once a page has shown sessions. */
    followed: async () => (hasWatched ? ((await valueOf("classes")) ?? []).map(({ id }) => id).sort() : []),

    /** Something has happened to the person: see people.js. */
    async happened(kind, signal, service) {
      if (service && !services.includes(service)) return;
      const rows = kind === null ? ["own"] : partsOfEvents[kind] ?? [];
      try {
        if (!problem && rows.length) await load(rows, signal);
      } catch (error) {
        signal?.throwIfAborted();
        failed(error);
        problem = error;
      }
      if (problem) for (const row of rows) due.add(row);
      if (kind === null && service !== "people") lookSoon();
      else if (due.size) looks.add();
    },

    /** Something has happened in a class that is followed: the hub's event, or `null` if some may be missing. */
    changed(event) {
      if (!watched) return;
      if (event === null) return lookSoon();
      const { class: id, session, kind } = event;
      const rows = { sessions: [`sessions ${id}`, `session ${id} ${session}`], posts: [`posts ${id} ${session}`] };
      for (const row of rows[kind] ?? []) if (row.startsWith("sessions ") || watched.includes(row)) due.add(row);
      isShared ||= due.size > 0;
      if (due.size) looks.add();
    },

    /** The app's state has changed. */
    wake: sends.add,

    /** Sends what waits, and follows the hub, until the signal is aborted. */
    run: (signal) => Promise.all([send(signal), look(signal)]),
  };
}
