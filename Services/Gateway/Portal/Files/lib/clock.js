// The hub's clock, and when the hub was last heard of. A browser whose clock is wrong would otherwise show the wrong
// state of a message that waits.

let offset = 0;
let heard = Date.now();

/** Keeps that the hub has given a sign of life: an answer, or an event. */
export function hear() {
  heard = Date.now();
}

/** When the hub last gave a sign of life, by the browser's clock. */
export const lastHeard = () => heard;

/** Learns the hub's time from the `Date` of an answer, which is exact to a second. */
export function learnTime(date) {
  hear();
  const difference = Date.parse(date) - Date.now();
  if (!Number.isNaN(difference)) offset = Math.abs(difference) > 5_000 ? difference : 0;
}

/** Now, in milliseconds, by the hub's clock. */
export const hubNow = () => Date.now() + offset;
