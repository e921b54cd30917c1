// The hub's clock. A browser whose clock is wrong would otherwise show the wrong state of a message that waits.

let offset = 0;

/** Learns the hub's time from the `Date` of an answer, which is exact to a second. */
export function learnTime(date) {
  const difference = Date.parse(date) - Date.now();
  if (!Number.isNaN(difference)) offset = Math.abs(difference) > 5_000 ? difference : 0;
}

/** Now, in milliseconds, by the hub's clock. */
export const hubNow = () => Date.now() + offset;
