// The gateway's live events (GET /events). All tabs of an account share one stream, because a browser keeps only six connections to
// a server: the tab that holds the lock reads it, and tells the others.

const listeners = new Map();
let channel = null;
let isLeading = false;
/** "connecting", "open" or "lost". */
export let streamState = "connecting";

/**
 * Calls `listener` for each event of a type: "message", "cube", "health", "reset" (read the lists again) with its document, and
 * "stream" with the state of the stream. Returns a function that ends it.
 */
export function listen(type, listener) {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(listener);
  return () => listeners.get(type).delete(listener);
}

function deliver(type, document) {
  if (type === "stream") streamState = document;
  for (const listener of listeners.get(type) ?? []) listener(document);
}

function tellAll(type, document) {
  deliver(type, document);
  channel.postMessage({ type, document });
}

/** Begins to follow the events of the signed-in account. */
export function follow(account) {
  channel = new BroadcastChannel(`msi-events-${account}`);
  channel.onmessage = ({ data }) => {
    if (data.type === "hello") isLeading && channel.postMessage({ type: "stream", document: streamState });
    else deliver(data.type, data.document);
  };
  channel.postMessage({ type: "hello" });
  const lead = () => new Promise(() => read(true));
  // Without locks, as in a browser without a secure connection, each tab has a stream of its own.
  if (navigator.locks) navigator.locks.request(`msi-events-${account}`, lead);
  else read(false);
}

function read(isFollowed) {
  const tell = isFollowed ? tellAll : deliver;
  let isNew = true;
  isLeading = isFollowed;
  const source = new EventSource("/events");
  for (const type of ["message", "cube", "health", "reset"]) {
    source.addEventListener(type, (event) => tell(type, JSON.parse(event.data)));
  }
  source.onopen = () => {
    // Between the reading of the lists and the beginning of the stream, or between two tabs' streams, events may be missing.
    if (isNew) tell("reset", {});
    isNew = false;
    tell("stream", "open");
  };
  source.onerror = () => {
    tell("stream", "lost");
    // The browser tries again by itself, unless the gateway has refused: then it is asked again more slowly.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => read(isFollowed), 5_000);
  };
}
