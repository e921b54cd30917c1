// Time on this device, and the pauses of the app's loops.

import { AppError } from "./errors.js";

const day = 86_400_000;

/**
 * The device's clock: `now` in Unix milliseconds, the `offset` of local time at a moment in milliseconds, the name of
 * the `zone`, and `sleep`, which rejects when its signal is aborted.
 */
export const deviceClock = {
  now: () => Date.now(),
  offset: (moment) => -new Date(moment).getTimezoneOffset() * 60_000,
  zone: () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    // Some browsers name a zone that they do not take, such as Etc/Unknown.
    try { return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone; } catch { return "UTC"; }
  },
  sleep: (milliseconds, signal) => new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => { clearTimeout(timer); reject(signal.reason); };
    const timer = setTimeout(() => { signal.removeEventListener("abort", stop); resolve(); }, milliseconds);
    signal.addEventListener("abort", stop);
  }),
};

/** The beginning of a local day in Unix milliseconds: 0 for today, -1 for yesterday. */
export function beginningOfDay(clock, days) {
  const offset = clock.offset(clock.now());
  const midnight = (Math.floor((clock.now() + offset) / day) + days) * day;
  // The offset of that night may differ from today's.
  return midnight - clock.offset(midnight - offset);
}

/** Calls `work` with a signal that is aborted when another one is, and at the end. */
async function during(signal, work) {
  const end = new AbortController();
  try {
    return await work(AbortSignal.any([signal, end.signal]));
  } finally {
    end.abort();
  }
}

/** Ends work that takes too long. `work` gets a signal. */
export const within = (clock, limit, work, signal) => during(signal, (both) => Promise.race([work(both),
  clock.sleep(limit, both).then(() => { throw new AppError("timeout", "there was no answer in time"); })]));

/** Wakes a loop before its time. Several wake-ups before it waits count as one. */
export function wakeUps(clock) {
  let isPending = false;
  let wake = null;
  return {
    add() {
      if (wake) wake();
      else isPending = true;
    },
    /** Forgets wake-ups: what they asked for begins now. */
    clear: () => { isPending = false; },
    /** Waits for a wake-up, at most for a time. Rejects when the signal is aborted. */
    async next(signal, milliseconds) {
      if (!isPending) {
        const woken = new Promise((resolve) => { wake = resolve; });
        await during(signal, (both) => Promise.race([woken, clock.sleep(milliseconds, both)]))
          .finally(() => { wake = null; });
      }
      isPending = false;
    },
  };
}

/** Growing pauses after failures, with a random part, so that many apps do not return at the same time. */
export function backoff(max) {
  let failures = 0;
  return {
    failed: () => Math.min(1_000 * 2 ** failures++, max) * (0.5 + Math.random() / 2),
    succeeded: () => { failures = 0; },
  };
}
