// The gateway's live events (GET /events). All tabs of an account share one stream, because a browser keeps only six
// connections to a server: the tab that holds the lock reads it, and tells the others.

import { hear } from "./clock.js";

/**
 * After this time without an event the stream is silent, in milliseconds: the gateway sends `alive` every 4 seconds.
 */
const silence = 8_000;
/** How long a tab waits for the one that reads the stream, before it reads the stream itself. */
const patience = 2_000;

const listeners = new Map();
let name = "";
let channel = null;
let waiting = null;
let source = null;
let isRenewing = false;
let isAlive = false;
let lastEvent = 0;
/** "connecting", "open" or "lost". */
export let streamState = "connecting";

/** Whether this tab reads the stream, so that of all tabs it alone does what is to happen once. */
export const isReader = () => source !== null;

/** Whether an open stream tells nothing. A gateway that sends no `alive` is never silent. */
export const isSilent = () => streamState === "open" && isAlive && Date.now() - lastEvent > silence;

/**
 * Calls `listener` for each event of a type: "message", "cube", "health", "reset" (read the lists again) with its
 * document, and "stream" with the state of the stream. Returns a function that ends it.
 */
export function listen(type, listener) {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(listener);
  return () => listeners.get(type).delete(listener);
}

function deliver(type, document) {
  if (type === "alive") isAlive = true;
  if (type === "stream") streamState = document;
  if (document !== "lost") {
    lastEvent = Date.now();
    hear();
  }
  for (const listener of listeners.get(type) ?? []) listener(document);
}

function tell(type, document) {
  deliver(type, document);
  // Without locks, as in a browser without a secure connection, each tab opens its own stream.
  if (navigator.locks) channel.postMessage({ type, document });
}

/** Begins to follow the events of the signed-in account. */
export function follow(account) {
  name = `msi-events-${account}`;
  channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => {
    if (data.type === "hello") isReader() && channel.postMessage({ type: "stream", document: streamState });
    else if (data.type === "renew") isReader() && isSilent() && read();
    else deliver(data.type, data.document);
  };
  channel.postMessage({ type: "hello" });
  if (navigator.locks) lead();
  else read();
}

/** Reads the stream once no other tab does, or instead of that tab. */
function lead(steal = false) {
  waiting?.abort();
  const { signal } = waiting = new AbortController();
  navigator.locks.request(name, steal ? { steal } : { signal }, () => new Promise(read)).catch(() => {
    if (signal.aborted) return;
    // Another tab reads the stream, since this one was frozen.
    source?.close();
    source = null;
    lead();
  });
}

/** Replaces a silent stream. If the tab that reads it is frozen, this one takes its place. */
export function renew() {
  if (isRenewing) return;
  if (isReader()) return read();
  isRenewing = true;
  channel.postMessage({ type: "renew" });
  setTimeout(() => {
    isRenewing = false;
    if (isSilent()) lead(true);
  }, patience);
}

function read() {
  source?.close();
  const stream = source = new EventSource("/events");
  let isNew = true;
  lastEvent = Date.now();
  for (const type of ["message", "cube", "health", "reset", "alive"]) {
    stream.addEventListener(type, (event) => tell(type, JSON.parse(event.data)));
  }
  stream.onopen = () => {
    // Between the reading of the lists and the beginning of the stream, or between two tabs' streams, events may be
    // missing.
    if (isNew) tell("reset", {});
    isNew = false;
    tell("stream", "open");
  };
  stream.onerror = () => {
    tell("stream", "lost");
    // The browser tries again by itself, unless the gateway has refused: then it is asked again more slowly.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => { if (source === stream) read(); }, 5_000);
  };
}
