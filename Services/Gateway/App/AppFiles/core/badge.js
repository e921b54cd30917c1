// The number on the app's badge: how many messages are unread. In the person's quiet hours new Information waits until
// their end; Alerts always count.

const minutesOfDay = 1_440;
const minute = 60_000;

/**
 * The quiet hours in which a moment lies: `[begin, end]` in Unix milliseconds; `null` outside of them. `hours` are in
 * minutes of the local day. Those that end before they begin go over midnight.
 */
export function periodOf(hours, moment, clock) {
  if (!hours) return null;
  const offset = clock.offset(moment);
  const localMinute = Math.floor((moment + offset) / minute);
  const since = (localMinute % minutesOfDay - hours.from + minutesOfDay) % minutesOfDay;
  const length = (hours.to - hours.from + minutesOfDay) % minutesOfDay;
  if (since >= length) return null;
  // The offset at that time may differ from the current one.
  const timeOf = (local) => local * minute - clock.offset(local * minute - offset);
  const begin = timeOf(localMinute - since);
  // In the night of a change of the clocks the hours may have no length.
  return [begin, Math.max(begin, timeOf(localMinute - since + length))];
}

/** The quiet hours in minutes of the day: `{from, to}`; `undefined` for none. */
export const quietHours = (tx) => tx.memory("quiet hours");

/** How many of these messages count. */
export function badgeOf(messages, hours, clock) {
  const [begin] = periodOf(hours, clock.now(), clock) ?? [Infinity];
  return messages.filter(({ read, dist, timestamp }) => !read && (dist === "Alert" || timestamp < begin)).length;
}

/** The minutes of a time such as 22:00; `undefined` if the text is none. */
export function minutesOf(text) {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/** 22:00 */
export const timeText = (minutes) => [Math.floor(minutes / 60), minutes % 60]
  .map((number) => String(number).padStart(2, "0")).join(":");
