/** A clock that stands still until a case moves it. `zone` is an offset, or a list of offsets with their beginnings. */
export function caseClock(time, zone) {
  const offsets = (typeof zone === "string" ? [{ offset: zone }] : zone).map(({ from, offset }) =>
    ({ from: from ? Date.parse(from) : -Infinity, offset: minutesOf(offset) * 60_000 }));
  let now = time;
  let sleepers = [];

  /** Waits until the app sleeps as often as before: it has done what was due. */
  async function settle(wanted) {
    const deadline = performance.now() + 1_000;
    while (sleepers.length < wanted && performance.now() < deadline) {
      await new Promise((next) => { setTimeout(next, 1); });
    }
  }

  return {
    now: () => now,
    offset: (moment) => offsets.findLast(({ from }) => from <= moment).offset,
    zone: () => offsets[0].offset,
    sleep: (milliseconds, signal) => new Promise((resolve, reject) => {
      const sleeper = { end: now + milliseconds, resolve };
      const stop = () => {
        sleepers = sleepers.filter((each) => each !== sleeper);
        reject(signal.reason);
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop, { once: true });
      sleepers.push(sleeper);
    }),
    /** Waits until the loops of an app that runs sleep: for the hub, for a moment, and for something to report. */
    idle: () => settle(3),
    /** Sets the clock, and wakes those that have slept enough. */
    async set(moment) {
      const before = sleepers.length;
      now = moment;
      const woken = sleepers.filter(({ end }) => end <= now);
      sleepers = sleepers.filter((each) => !woken.includes(each));
      for (const { resolve } of woken) resolve();
      if (woken.length) await settle(before);
    },
  };
}

function minutesOf(offset) {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset);
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
