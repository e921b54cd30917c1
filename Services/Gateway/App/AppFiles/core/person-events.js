// What happens to the person and in their classes, as the hub tells it while the app is in front (GET /user/events).
// The events are hints: the app fetches what they are about.

import { isIdentifier, isObject, isText } from "./checks.js";
import { backoff, deviceClock, wakeUps, within } from "./clock.js";
import { refusal } from "./errors.js";
import { waitOf } from "./hub.js";

/** The events of the person, and those of these classes. */
const pathTo = (classes) => `/user/events${classes.length ? `?classes=${classes.join(",")}` : ""}`;
/** The hub says every 4 seconds that it is there. After this time without a word it is asked again, in milliseconds. */
const silence = 10_000;
/** How long the beginning of the stream may take, in milliseconds. */
const patience = 30_000;
/** The longest pause after failures, in milliseconds. */
const maxPause = 60_000;
/** A stream that has ended is opened again within this random time, in milliseconds. */
const spread = 500;
/** A service that was away is there for all apps at once. It is asked within this random time, in milliseconds. */
const spreadOfResets = 2_000;
/** Without a change, how often the app looks whether it is to follow the events, in milliseconds. */
const interval = 86_400_000;

/** Server-sent events of a text that comes in pieces: `take(piece)` returns those that are complete. */
export function eventReader() {
  let rest = "";
  const eventOf = (block) => {
    const event = { type: "message", data: "" };
    for (const line of block.split("\n")) {
      const [, field, value] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
      if (field === "event") event.type = value;
      else if (field === "data") event.data += value;
      else if (field === "id") event.id = value;
    }
    return event;
  };
  return {
    take(piece) {
      const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      return blocks.map(eventOf);
    },
  };
}

/** The document of an event; an empty one if it cannot be read. */
function documentOf(data) {
  try {
    const event = JSON.parse(data);
    return isObject(event) ? event : {};
  } catch {
    return {};
  }
}
const isOfClass = (event) => isText(event.kind) && isIdentifier(event.class) && isIdentifier(event.session);

/**
 * The events of the person. `account` is that of `accountOf`. `changed(kind, signal, service)` is called for each one;
 * with `null` if some may be missing, and with the `service`, "people" or "study", if only those of one. `failed` is
 * called after each failure. `classes` resolves to those whose events the app follows, and `inClass(event)` is called
 * for each of these.
 */
export function personEventsOf({ account, changed, failed, clock = deviceClock, classes = async () => [],
  inClass = () => {} }) {
  const wakes = wakeUps(clock);
  let isInFront = true;
  /** The device and the path of the stream that is open, and what ends it. */
  let open = null;
  /** The position after the last event, of the device to which it came. */
  let last = null;

  const deviceNow = async () => (await account.device().catch(() => null))?.id ?? null;
  const pathNow = async () => pathTo(await classes().catch(() => []));

  async function handle({ type, data, id }, device, signal) {
    const event = documentOf(data);
    // After a failure the next connection brings the event again.
    if (type === "person") await changed(isText(event.kind) ? event.kind : null, signal);
    if (type === "reset") {
      if (event.service) await clock.sleep(spreadOfResets * Math.random(), signal);
      await changed(null, signal, event.service);
    }
    if (type === "class" && isOfClass(event)) inClass(event);
    if (id) last = { device, id };
    // The hub no longer follows the classes for this stream.
    if (type === "person" && event.kind === "classes") open?.end();
  }

  /** Reads a stream until it ends. Tells the `turn` that it `isOpen`, and when it `works`. */
  async function read({ device, path }, signal, turn) {
    const known = last?.device === device ? last.id : null;
    const stream = await within(clock, patience, () =>
      account.open(path, known ? { "Last-Event-ID": known } : {}, signal), signal);
    if (stream.status !== 200) throw refusal(path, { status: stream.status, wait: waitOf(stream.headers) });
    turn.isOpen = true;
    const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = eventReader();
    try {
      // What has happened before there was a stream.
      if (!known) await changed(null, signal);
      // Those in classes are not sent again.
      else if (path !== pathTo([])) inClass(null);
      for (;;) {
        const { done, value } = await within(clock, silence, () => reader.read(), signal);
        if (done) return;
        for (const event of events.take(value)) {
          await handle(event, device, signal);
          // A gateway opens streams also while it can answer nothing else. This one has lasted, and all reads worked.
          if (event.type === "alive") turn.works();
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** Follows the events of a device for one stream, and pauses after it. */
  async function follow(stream, signal, pauses) {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    open = { ...stream, end: () => ended.abort() };
    let hasWorked = false;
    let wait = 0;
    const turn = { isOpen: false, works: () => { hasWorked = true; pauses.succeeded(); } };
    try {
      await read(stream, both, turn);
    } catch (error) {
      signal.throwIfAborted();
      if (!both.aborted && error.kind !== "signed out") failed(error);
      // A hub without a place for a stream still answers questions.
      if (!turn.isOpen && error.kind === "refused") await changed(null, signal).catch(failed);
      hasWorked = false;
      wait = error.wait ?? 0;
    }
    await clock.sleep(hasWorked ? spread * Math.random() : wait + pauses.failed(), both).catch(() => {});
    // Whatever was still on its way to or from the hub.
    ended.abort();
    open = null;
    signal.throwIfAborted();
  }

  return {
    /** Whether the app is in front. Only then there is a stream. It begins at once, whatever has failed before. */
    show(isShown) {
      isInFront = isShown;
      open?.end();
      wakes.add();
    },

    /** The app's state has changed: perhaps another person is signed in, or nobody, or they have other classes. */
    async wake() {
      wakes.add();
      const [device, path] = open ? await Promise.all([deviceNow(), pathNow()]) : [];
      if (open && device !== undefined && (open.device !== device || open.path !== path)) open.end();
    },

    /** Follows the events until the signal is aborted. */
    async run(signal) {
      const pauses = backoff(maxPause);
      for (;;) {
        const [device, path] = await Promise.all([deviceNow(), pathNow()]);
        if (isInFront && device) await follow({ device, path }, signal, pauses);
        else await wakes.next(signal, interval);
      }
    },
  };
}
