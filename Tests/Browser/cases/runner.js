// Runs a case of Tests/AppCases with the web app: its core, a hub and a clock that the case drives.

import { accountOf } from "/core/account.js";
import { openApp } from "/core/app.js";
import { openDatabase } from "/core/database.js";
import { refusal } from "/core/errors.js";
import { peopleOf } from "/core/people.js";
import { studyOf } from "/core/study.js";
import { text } from "./app.js";
import { differences, lastInstallation } from "./checks.js";
import { caseClock } from "./clock.js";
import { caseHub } from "./hub.js";
import { identifierOf, sessionIdentifier, topicOf } from "./names.js";

const deadline = 60_000;
/** Whether the app does not allow something, or the hub does not. */
const isRefusal = ({ kind, status }) => ["denied", "signed out"].includes(kind) || (kind === "refused" && status < 500);
const soon = () => new Promise((next) => { setTimeout(next, 5); });

let last = 0;

/** Plays a case. Returns what was not as it says, or `null`. */
export async function runCase({ given, steps }) {
  const { time = "2026-11-24T12:00:00Z", zone = "+00:00", language = "en", ...hubMembers } = given;
  const player = playerOf(caseClock(Date.parse(time), zone), language, hubMembers);
  for (const [index, step] of steps.entries()) {
    if (step.library !== undefined) continue;
    const problem = await player.play(step);
    if (problem) {
      await player.end();
      return { step: index + 1, when: step.when, ...problem };
    }
  }
  await player.end();
  return null;
}

function playerOf(clock, firstLanguage, hubMembers) {
  const hub = caseHub(clock);
  hub.change(hubMembers);
  const database = `case-${last += 1}`;
  let language = firstLanguage;
  let app = null;
  /** The data as the account has them, which works without the app's loops. */
  let data = null;
  let isRunning = false;
  let running = null;
  let file = null;
  let installation;

  /** The app, which shows what it has stored even while it does not run. */
  async function opened() {
    app ??= await openApp({ hub, clock, database, text, language: () => language, keepsake: null });
    return app;
  }

  async function end() {
    app?.close();
    data?.close();
    await running;
    app = null;
    data = null;
    running = null;
    isRunning = false;
  }

  /** The outcome of something that the app does. While the hub leaves a request without an answer, time passes. */
  async function outcomeOf(work) {
    let outcome = null;
    work.then(() => { outcome = "done"; },
      (error) => { outcome = isRefusal(error) ? "refused" : "failed"; });
    while (outcome === null) {
      if (hub.isHanging) await clock.set(clock.now() + 1_000);
      await soon();
    }
    return outcome;
  }

  async function request(method, path, body) {
    const answer = await (await opened()).request(method, path, body);
    file = answer;
    return answer.status < 300 ? "done" : answer.status < 500 ? "refused" : "failed";
  }

  async function account() {
    await opened();
    data ??= await openDatabase(database, { fill: async () => {}, lost: () => {}, outdated: () => {} });
    return accountOf({ name: database, database: data, hub, clock, language: () => language, tell: () => {} });
  }

  /** The person's people and study sessions, without the loops of the app: each step reads what it is about. */
  async function study() {
    await account();
    const nothing = () => {};
    const given = { name: database, database: data, hub, clock, language: () => language, tell: nothing,
      failed: nothing };
    const people = peopleOf(given);
    return { people, study: studyOf({ ...given, account: people.account }) };
  }

  /** Does something about classes or sessions. Without an answer of the hub it waits, and has failed so far. */
  async function act(action, about) {
    const done = (await study()).study.act(action, about);
    return outcomeOf(done.then(({ outcome }) => { if (outcome === "waits") throw new Error("it waits"); }));
  }

  /** The class and the session of a topic. */
  const aboutSession = ({ session, class: name }) => ({ class: identifierOf(name),
    session: sessionIdentifier(session) });

  /** Shows who the person is: the bearer of an ID token, or who knows the password. */
  const credentialOf = ({ account: name, token, password }) => (token ? { provider: "google", id_token: token }
    : { provider: "password", account: name, password });

  /** The topic key of a subject's path: that of the cube, or the one that follows from the path. */
  async function topic(path) {
    const names = path.split("/");
    const { channels } = await (await opened()).state();
    const inside = (list, name) => list?.find((each) => each.name === name);
    const subject = inside(inside(inside(channels, names[0])?.areas, names[1])?.subjects, names[2]);
    return subject?.topic_key ?? topicOf(path);
  }

  const actions = {
    async start(step) {
      await end();
      language = step.language ?? language;
      await opened();
      running = app.run();
      isRunning = true;
      return outcomeOf(app.look());
    },
    end: async () => { await end(); },
    async clear() {
      if (isRunning) throw new Error("the app must not run");
      await end();
      await new Promise((resolve, reject) => {
        Object.assign(indexedDB.deleteDatabase(database), { onsuccess: resolve, onerror: reject });
      });
    },
    look: async () => outcomeOf((await opened()).look()),
    time: async ({ to }) => { if (to) await clock.set(Date.parse(to)); },
    hub: ({ when, then, ...members }) => hub.change(members),
    subscribe: async ({ subject }) => request("PUT", `/subscriptions/${await topic(subject)}`, { subscribed: true }),
    leave: async ({ subject }) => request("PUT", `/subscriptions/${await topic(subject)}`, { subscribed: false }),
    mute: async ({ subject }) => request("PUT", `/subscriptions/${await topic(subject)}/mute`, { muted: true }),
    unmute: async ({ subject }) => request("PUT", `/subscriptions/${await topic(subject)}/mute`, { muted: false }),
    read: ({ message }) => request("PATCH", `/messages/${message}`, { read: true }),
    unread: ({ message }) => request("PATCH", `/messages/${message}`, { read: false }),
    "read all": ({ messages }) => request("POST", "/messages/read", { keys: messages, read: true }),
    "unread all": ({ messages }) => request("POST", "/messages/read", { keys: messages, read: false }),
    keep: ({ message }) => request("PATCH", `/messages/${message}`, { kept: true }),
    release: ({ message }) => request("PATCH", `/messages/${message}`, { kept: false }),
    delete: ({ message }) => request("DELETE", `/messages/${message}`),
    restore: ({ message }) => request("POST", `/messages/${message}/restore`),
    async close({ broadcast }) {
      const { broadcasts } = await (await opened()).state();
      const { version } = broadcasts.find(({ id }) => id === `hub-${broadcast}`) ?? { version: 0 };
      return request("POST", `/broadcasts/hub-${broadcast}/close`, { version });
    },
    "channel broadcasts": ({ channel, on }) => request("PUT", `/broadcasts/channels/${identifierOf(channel)}`, { on }),
    "quiet hours": ({ from, to }) => (from === undefined && to === undefined ? request("DELETE", "/quiet-hours")
      : request("PUT", "/quiet-hours", { from, to })),
    receipts: ({ on }) => request("PUT", "/settings", { receipts: on }),
    report: async () => outcomeOf((await opened()).report()),
    "sign in": async (step) => outcomeOf((await account()).signIn(credentialOf(step))),
    register: async (step) => outcomeOf((await account()).register(step.account, credentialOf(step), undefined,
      crypto.randomUUID())),
    "sign out": async () => outcomeOf((await account()).signOut()),
    async person() {
      const asked = (await account()).authorized("GET", "/user");
      return outcomeOf(asked.then((answer) => { if (answer.status !== 200) throw refusal("/user", answer); }));
    },
    async "open study"() {
      const { people, study: own } = await study();
      return outcomeOf(people.load(["friends"]).then(() => own.look()));
    },
    "choose classes": async ({ classes }) => outcomeOf((await study()).study.choose(classes.map(identifierOf))),
    "join class": ({ key }) => act("join class", key),
    "leave class": ({ class: name }) => act("leave class", { id: identifierOf(name), name }),
    "start session": ({ class: name, topics, minutes, leave }) => act("start", { class: identifierOf(name), draft: {
      topics, minutes, place: { latitude: 45, longitude: -30 }, leave,
      position: { latitude: 45, longitude: -30, accuracy: 10 } } }),
    "join session": (step) => act("join", { ...aboutSession(step), leave: step.leave }),
    "leave session": (step) => act("leave", aboutSession(step)),
    "read posts": async (step) => {
      const { class: id, session } = aboutSession(step);
      return outcomeOf((await study()).study.load("posts", [id, session]));
    },
    post: (step) => act("post", { ...aboutSession(step), text: step.text }),
    async "try again"() {
      const { study: own } = await study();
      const { waits } = (await (await opened()).state()).study;
      return outcomeOf(Promise.all(waits.map(({ key }) => own.again(key))));
    },
    export: ({ format, message, channel }) => request("GET", `/export?${new URLSearchParams({ format,
      ...(message && { key: message }), ...(channel && { channel: identifierOf(channel) }) })}`),
    calendar: ({ message, start, minutes }) => request("GET", `/messages/${message}/calendar.ics?start=${
      Date.parse(start)}&minutes=${minutes}`),
  };

  async function wrong(then) {
    if (!then) return null;
    const state = await (await opened()).state();
    return differences(then, { state, asked: hub.asked, file, installation });
  }

  return {
    end,
    /** Does a step, and waits until what it says is true. Returns what is wrong, or `null`. */
    async play(step) {
      const { when, outcome: expected = "done", then, within = 0 } = step;
      if (!actions[when]) throw new Error(`unknown: when ${when}`);
      installation = lastInstallation(hub.takeAsked()) ?? installation;
      const outcome = (await actions[when](step)) ?? "done";
      if (outcome !== expected) return { outcome, answer: file };
      for (let passed = 0; passed < within && await wrong(then); passed += 1) await clock.set(clock.now() + 1_000);
      const end = performance.now() + deadline;
      let found = await wrong(then);
      while (found && performance.now() < end) {
        await soon();
        found = await wrong(then);
      }
      return found && { wrong: found };
    },
  };
}
