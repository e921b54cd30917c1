// The student's app without a screen, by the rules of the library for native apps (Shared/MobileApp).

import { periodOf, quietHours } from "./badge.js";
import { askedChannels, broadcastsOf } from "./broadcasts.js";
import { backoff, deviceClock, wakeUps } from "./clock.js";
import { openDatabase } from "./database.js";
import { denied } from "./errors.js";
import { connectionTo, gateway } from "./hub.js";
import { fill, keepsakeIn, textOf } from "./keepsake.js";
import { messagesOf } from "./messages.js";
import { missedOf } from "./missed.js";
import { receiptsOf } from "./receipts.js";
import { stateOf } from "./state.js";
import { subscriptionsOf } from "./subscriptions.js";
import { tabsOf } from "./tabs.js";

/** How often the app looks at the hub, in milliseconds. */
const interval = 60_000;
/** The longest pause between checks whether a broadcast begins or ends, since the clock may be changed. */
const clockCheck = 30_000;

/** The outcome of work: `{value}` or `{error}`. */
const settled = (work) => work.then((value) => ({ value }), (error) => ({ error }));

/**
 * Opens the app.
 *
 * - `hub` has `request` as `gateway`, and `clock` is as `deviceClock`.
 * - `language()` is the person's language tag, and `text(key)` a text in it.
 * - `database` is the name of the data, which tabs share.
 * - `keepsake` has `load()` and `save(text)`, for what outlives an eviction of the data; `null` for nothing.
 * - `failed(error)` is called after each failure, and for what cannot be read. The app tries again.
 *
 * Throws an AppError if the data cannot be used.
 */
export async function openApp({ hub = gateway, clock = deviceClock, language, text, database: name = "msi-app",
  keepsake = keepsakeIn(name), failed = console.warn }) {
  const listeners = new Set();
  const refreshes = wakeUps(clock);
  /** A broadcast that has arrived, or another setting, may begin or end sooner. */
  const moments = wakeUps(clock);
  const ended = new AbortController();
  /** Callers that wait for the outcome of a look; `null` while the app does not run. */
  let waiting = null;
  let saved = null;
  /** Modules that a start does not need, as promises. They are loaded when they are first used. */
  let pushes = null;
  let requests = null;
  let people = null;
  let isInFront = true;

  const deliver = () => { for (const listener of listeners) listener(); };

  /** Tells this tab and the others that something has changed. */
  function tell() {
    if (ended.signal.aborted) return;
    deliver();
    moments.add();
    tabs.tell({ hub: connection.state, isFull: database.isFull });
    save();
  }

  function save() {
    if (keepsake) settled(database.read(textOf).then((next) => { if (next !== saved) keepsake.save(saved = next); }));
  }

  const connection = connectionTo(hub, clock);
  const tabs = tabsOf(name, (news) => {
    if (news.hub !== "unknown") connection.state = news.hub;
    database.isFull = news.isFull;
    moments.add();
    deliver();
  });
  const database = await openDatabase(name, {
    fill: (tx) => fill(tx, keepsake?.load()),
    lost: () => { app.refresh(); },
    outdated: deliver,
  });
  const receipts = receiptsOf({ database, clock, hub: connection, reported: save });
  const messages = messagesOf({ database, clock, reportable: receipts.wake, needsText: refreshes.add });
  const subscriptions = subscriptionsOf({ database, hub: connection });
  const broadcasts = broadcastsOf({ database, clock, hub: connection, language, failed, arrived: tell });
  const missed = missedOf({ database, hub: connection, messages, subscriptions, failed });

  /** Joins what is Forced or Recommended. After a failure it may be repeated. */
  async function initialize(signal) {
    await subscriptions.follow(signal);
    await database.write((tx) => tx.keep("initialized", true));
  }

  /** One look at the hub. Broadcasts come whatever else cannot be reached: one may be about this outage. */
  async function lookOnce(signal) {
    const channels = await database.read(askedChannels);
    const first = settled(broadcasts.refresh(channels, signal));
    const joining = await settled(initialize(signal).then(tell));
    const joined = await database.read(askedChannels);
    const asked = await first;
    const isSame = String(joined) === String(channels);
    const outcomes = [joining, isSame ? asked : await settled(broadcasts.refresh(joined, signal)),
      await settled(missed.fetch(signal))];
    for (const { error } of outcomes) if (error) throw error;
  }

  /** Looks at the hub at once and about every minute, until another tab takes the lead. */
  async function keepInStep(signal) {
    const pauses = backoff(interval);
    for (let hasLooked = false; ; hasLooked = true) {
      const callers = waiting.splice(0);
      refreshes.clear();
      const { error } = await settled(lookOnce(signal));
      // The next look of this tab answers them.
      if (signal.aborted) waiting?.push(...callers);
      signal.throwIfAborted();
      if (!error) database.isFull = false;
      tell();
      for (const { resolve, reject } of callers) if (error) reject(error); else resolve();
      // Spreads the requests of apps that were started at the same moment.
      let pause = interval * (hasLooked ? 0.75 + Math.random() / 2 : Math.random());
      if (error) {
        failed(error);
        pause = pauses.failed();
      } else pauses.succeeded();
      await refreshes.next(signal, pause);
    }
  }

  /** A card appears when its broadcast begins, and goes when it expires. The badge changes when quiet hours end. */
  async function watchClock(signal) {
    for (let checked = clock.now(); ;) {
      const now = clock.now();
      // The clock may have been set back.
      const since = Math.min(checked, now);
      const { value = [] } = await settled(database.read(async (tx) => {
        const [, end] = periodOf(await quietHours(tx), since, clock) ?? [];
        return [...await broadcasts.moments(tx, since), ...(end ? [end] : [])];
      }));
      if (value.some((moment) => moment <= Math.max(checked, now))) deliver();
      checked = now;
      const next = Math.min(...value.filter((moment) => moment > now), now + clockCheck);
      await moments.next(signal, next - now);
    }
  }

  const app = {
    /** Everything that the pages show. */
    state: () => database.read((tx) => stateOf(tx, { clock, hub: connection, database, broadcasts })),

    /** Calls `listener` after each change, also by other tabs. Returns a function that ends it. */
    changes(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    /** Looks at the hub at once, such as when the app comes to the front or is online again. */
    refresh() {
      refreshes.add();
      tabs.take();
    },

    /** The same when the person asks; completes with the outcome of the look. */
    async look() {
      if (!waiting) throw denied(409, "the app does not run");
      await new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        app.refresh();
      });
    },

    /** Reports at once what was received and opened, such as before the app leaves the screen. */
    report: () => receipts.send(ended.signal),

    /** Asks the browser not to evict the app's data. Returns whether it agrees; `null` if it cannot be asked. */
    async persist() {
      const { storage } = navigator;
      return storage?.persist ? (await storage.persisted()) || storage.persist() : null;
    },

    /** Does what happens by itself, until `close`: clears old messages, and follows the hub and the clock. */
    async run() {
      waiting = [];
      const { signal } = ended;
      const { error } = await settled(messages.clearOld().then(broadcasts.started));
      if (error) failed(error);
      const leading = (turn) => Promise.all([keepInStep(turn), receipts.run(turn, failed)]);
      const outcome = await settled(Promise.all([tabs.lead(signal, leading), watchClock(signal)]));
      if (!signal.aborted) failed(outcome.error);
    },

    /** Does what the person does, and answers it: see requests.js. */
    async request(...request) {
      requests ??= import("./requests.js").then(({ requestsOf }) => requestsOf({ database, clock, messages,
        subscriptions, broadcasts, receipts, text, tell, failed, look: app.look, refresh: app.refresh }));
      const { value, error } = await settled(requests);
      if (value) return value(...request);
      // The module could not be loaded. The next request tries again.
      requests = null;
      return { status: 503, body: { error: error.message } };
    },

    /** The pushes to this browser: see pushes.js. From then on the hub is told what changes. */
    async pushes() {
      pushes ??= import("./pushes.js").then(({ pushesOf }) => {
        const made = pushesOf({ name, database, hub, clock, language, tell });
        listeners.add(made.wake);
        settled(made.run(ended.signal, failed));
        return made;
      });
      return pushes.catch((error) => { pushes = null; throw error; });
    },

    /**
     * The person's account, the people that they know, and their study sessions: `account` is that of account.js,
     * `study` that of study.js, and the rest that of people.js. From then on they are kept in step with the hub.
     */
    async people() {
      people ??= Promise.all([import("./people.js"), import("./study.js"), import("./person-events.js")])
        .then(([{ peopleOf }, { studyOf }, { personEventsOf }]) => {
          const made = peopleOf({ name, database, hub, clock, language, tell, failed });
          const { account } = made;
          const study = studyOf({ name, database, account, clock, tell, failed });
          const changed = (...event) => Promise.all([made.happened(...event), study.happened(...event)]);
          const events = personEventsOf({ account, changed, failed, clock, classes: study.followed,
            inClass: study.changed });
          const lead = tabsOf(`${name} people`, () => {});
          listeners.add(() => { made.wake(); study.wake(); events.wake(); });
          ended.signal.addEventListener("abort", lead.close);
          events.show(isInFront);
          settled(lead.lead(ended.signal,
            (turn) => Promise.all([made.run(turn), study.run(turn), events.run(turn)])));
          // Of two windows beside each other, the one in which sessions are looked at follows them.
          const watch = (rows) => { if (rows) lead.take(); study.watch(rows); };
          return { ...made, study: { ...study, watch }, show() {
            if (isInFront) lead.take();
            events.show(isInFront);
          } };
        });
      return people.catch((error) => { people = null; throw error; });
    },

    /** The app comes to the front, or leaves it. */
    show(isShown) {
      isInFront = isShown;
      if (people) settled(people.then((made) => made.show()));
    },

    /** Ends the app. What was stored stays. */
    close() {
      ended.abort();
      for (const { reject } of waiting ?? []) reject(denied(409, "the app does not run"));
      waiting = null;
      tabs.close();
      database.close();
    },
  };
  return app;
}
