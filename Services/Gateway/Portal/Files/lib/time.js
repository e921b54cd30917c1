import { dateForm as form, language, t } from "./text.js";

/** 2026-11-23T14:07, the local time for a control of the type "datetime-local". */
export const formatInput = (milliseconds) => new Date(milliseconds - new Date(milliseconds)
  .getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The moments of a local time: two in the hour that comes twice, when clocks go back. */
export function momentsOf(local) {
  const first = new Date(local).getTime();
  if (Number.isNaN(first)) return [];
  const back = (new Date(first + 10_800_000).getTimezoneOffset() - new Date(first).getTimezoneOffset()) * 60_000;
  return back > 0 && formatInput(first + back) === formatInput(first) ? [first, first + back] : [first];
}

/**
 * The moment of a local time, or of its second occurrence. A field has no seconds: `known` is taken if it is in this
 * minute.
 */
export function momentOf(local, isSecond, known) {
  const moment = momentsOf(local).at(isSecond ? -1 : 0) ?? Number.NaN;
  return known >= moment && known < moment + 60_000 ? known : moment;
}

/** The local time of a moment: `at`, and `isSecond` for the second of two. */
export function localOf(milliseconds) {
  const at = formatInput(milliseconds);
  const [first, second] = momentsOf(at);
  return { at, isSecond: second !== undefined && milliseconds - first >= second - first };
}

// A form with the time of day. In the hour that comes twice it has the offset as well.
function formOfTime(options) {
  const usual = form(options);
  const withOffset = form({ ...options, timeZoneName: "shortOffset" });
  const chosen = (...moments) => (moments.some((each) => momentsOf(formatInput(Number(each))).length > 1)
    ? withOffset : usual);
  return { format: (moment) => chosen(moment).format(moment), formatRange: (from, to) => chosen(from, to)
    .formatRange(from, to) };
}

const time = formOfTime({ hour: "2-digit", minute: "2-digit" });
const clock = formOfTime({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const exact = formOfTime({ day: "numeric", month: "short", year: "numeric", hour: "2-digit",
    minute: "2-digit", second: "2-digit" });
const date = form({ dateStyle: "medium" });
const moment = formOfTime({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const momentOfYear = formOfTime({ weekday: "short", day: "numeric", month: "short", year: "numeric",
    hour: "2-digit", minute: "2-digit" });
const day = form({ weekday: "long", day: "numeric", month: "long" });
const dayOfYear = form({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const units = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];

/** 14:07 */
export const formatTime = (milliseconds) => time.format(milliseconds);
/** 14:07:31 */
export const formatClock = (milliseconds) => clock.format(milliseconds);
/** 23 Nov 2026, 14:07:31 */
export const formatExact = (milliseconds) => exact.format(milliseconds);
/** 23 Nov 2026 */
export const formatDate = (milliseconds) => date.format(milliseconds);
/** Mon 23 Nov, 14:07; in another year with the year. */
export const formatMoment = (milliseconds, now = Date.now()) =>
  (new Date(milliseconds).getFullYear() === new Date(now).getFullYear() ? moment : momentOfYear).format(milliseconds);

/** Mon 23 Nov, 14:07 – 16:07; in another year with the year. */
export const formatSpan = (from, to, now = Date.now()) =>
  ([from, to].every((each) => new Date(each).getFullYear() === new Date(now).getFullYear()) ? moment : momentOfYear)
    .formatRange(from, to);

/** The local day of a time, as a key for groups: 2026-11-23. */
export function dayKey(milliseconds) {
  const date = new Date(milliseconds);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"))
    .join("-");
}

/** Today, Monday 23 November */
export function formatDay(milliseconds, now = Date.now()) {
  const key = dayKey(milliseconds);
  const text = (new Date(milliseconds).getFullYear() === new Date(now).getFullYear() ? day : dayOfYear)
    .format(milliseconds);
  if (key === dayKey(now)) return t("day.today", { day: text });
  if (key === dayKey(now - 86_400_000)) return t("day.yesterday", { day: text });
  return text;
}

/** 3 minutes ago, in 2 hours */
export function formatAgo(milliseconds, now = Date.now()) {
  const seconds = (milliseconds - now) / 1000;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1);
  return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(Math.round(seconds / length), unit);
}

/** 24 hours, 4 weeks: a length of time in the largest unit that fits. */
export function formatLength(seconds) {
  const [unit, length] = [["week", 604_800], ...units].find(([, length]) => seconds >= length &&
    seconds % length === 0) ?? ["second", 1];
  const count = seconds / length;
  // Two days and less are hours for people.
  const [amount, name] = unit === "day" && count <= 2 ? [count * 24, "hour"] : [count, unit];
  return new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "long" }).format(amount);
}
