// The people of the app's core, with a hub in memory whose answers a test chooses, and whose events it sends.

import { deviceClock } from "/core/clock.js";
import { openDatabase } from "/core/database.js";
import { peopleOf } from "/core/people.js";
import { personEventsOf } from "/core/person-events.js";
import { stateOf } from "/core/state.js";
import { studyOf } from "/core/study.js";
import { personsOfHub } from "./persons.js";

const name = "people";
const stateParts = { hub: { state: "reachable" }, broadcasts: { cards: () => [], features: () => [], data: () => [] } };
const copyOf = (document) => JSON.parse(JSON.stringify(document));

/** The hub: `answers` by "METHOD /path" are functions of the body. Without one the answer is an empty list, or 404. */
function hubOfPeople(clock) {
  const persons = personsOfHub(clock);
  const asked = [];
  const streams = new Set();
  const empty = { "/user/friends": { friends: [] }, "/user/friends/requests": { received: [], asked: [] },
    "/user/blocked": { blocked: [] }, "/user/devices": { devices: [] }, "/user/profile": { visibility: {} },
    "/user/preferences": { pushes: {} } };
  /** The routes that check who asks by themselves. */
  const own = (method, path) => ["/user", "/user/token", "/user/challenge"].includes(path) || method === "DELETE";

  async function answer(request) {
    const { method, path, body } = request;
    const chosen = hub.answers[`${method} ${path}`];
    if (!chosen && own(method, path)) return persons.answer(request);
    const who = await persons.answer({ method: "GET", path: "/user", headers: request.headers });
    if (who.status !== 200) return who;
    if (chosen) return chosen(body);
    return method === "GET" && empty[path] ? { status: 200, body: empty[path] } : { status: 404, body: {} };
  }

  const hub = { answers: {}, isAway: false, changes: persons.changes, streams,
    /** What it was asked since the last call. */
    takeAsked: () => asked.splice(0),
    async request(method, path, body, headers = {}) {
      if (hub.isAway) throw new TypeError("the hub is away");
      const request = { method, path, body, headers };
      asked.push(request);
      return copyOf(await answer(request));
    },
    /** A stream of events, which `tell` and `end` are for. */
    async open(path, headers) {
      if (hub.isAway) throw new TypeError("the hub is away");
      const request = { method: "GET", path, headers };
      asked.push(request);
      const who = await persons.answer({ ...request, path: "/user" });
      if (who.status !== 200) return new Response("{}", { status: who.status });
      let controller;
      const body = new ReadableStream({ start: (made) => { controller = made; },
        cancel: () => streams.delete(controller) });
      streams.add(controller);
      return new Response(body);
    },
    /** Sends a text to all streams, in two pieces, as a network may. */
    tell(text) {
      const bytes = new TextEncoder().encode(text);
      for (const stream of streams) {
        stream.enqueue(bytes.slice(0, 7));
        stream.enqueue(bytes.slice(7));
      }
    },
    end() {
      for (const stream of streams) stream.close();
      streams.clear();
    },
  };
  return hub;
}

/**
 * People, of whom ann is signed in. `pace`: how many seconds pass in one. With `hasStudy` the loops also follow her
 * study sessions.
 */
export async function peopleWith({ hasStudy = false } = {}) {
  const database = await openDatabase(name, { fill: async () => {}, lost: () => {}, outdated: () => {} });
  const made = { database, failures: [], pace: 1, language: "en", skipped: 0, hasStudy };
  const clock = { ...deviceClock, now: () => Date.now() + made.skipped,
    sleep: (milliseconds, signal) => deviceClock.sleep(milliseconds / made.pace, signal) };
  const hub = made.hub = hubOfPeople(clock);
  const listeners = new Set();
  const tell = () => { for (const listener of listeners) listener(); };
  const failed = (error) => made.failures.push(error.message);
  const people = made.people = peopleOf({ name, database, hub, clock, tell, failed, language: () => made.language });
  const { account } = people;
  const study = made.study = studyOf({ name, database, account, clock, tell, failed });
  const changed = (...event) => Promise.all([people.happened(...event), made.hasStudy && study.happened(...event)]);
  const events = made.events = personEventsOf({ account, changed, failed, clock, classes: study.followed,
    inClass: study.changed });
  listeners.add(people.wake).add(study.wake).add(events.wake);
  made.tell = tell;
  made.whole = () => database.read((tx) => stateOf(tx, { ...stateParts, clock, database }));
  made.state = async () => (await made.whole()).people;
  /** The loops of the app, until the function that it returns is called. */
  made.start = () => {
    const end = new AbortController();
    const running = Promise.allSettled([people.run(end.signal), events.run(end.signal),
      ...(made.hasStudy ? [study.run(end.signal)] : [])]);
    return async () => { end.abort(); await running; };
  };
  hub.changes.accounts(["ann", "ben"]);
  await people.account.signIn({ provider: "password", account: "ann", password: "right" });
  hub.takeAsked();
  return made;
}

/** Waits until something is so, for at most a minute. */
export async function until(isSo) {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`after a minute, still not: ${isSo}`);
    await new Promise((next) => { setTimeout(next, 10); });
  }
}
