// The phone's state, as its process tells it (GET /events).

/** Whether the app has pop-ups, of which a subject's can be muted. */
export const hasPopUps = true;

/** The last state, or `null` before the first one. */
export let state = null;
let receivedAt = 0;

/** Now, in milliseconds, by the phone's clock. */
export const phoneNow = () => (state ? state.now + performance.now() - receivedAt : Date.now());

/** Follows the state. `changed` is called after each change; `lost` with whether the process is away. */
export function follow({ changed, lost }) {
  const source = new EventSource("/events");
  source.addEventListener("state", (event) => {
    state = JSON.parse(event.data);
    receivedAt = performance.now();
    lost(false);
    changed();
  });
  source.onerror = () => {
    lost(true);
    // The browser tries again by itself, unless it got an answer that is not a stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow({ changed, lost }), 2_000);
  };
}
