import { state } from "./state.js";
import { language, t } from "./text.js";

// All times are in the zone of the phone, not in that of the browser: a time is moved by the zone's offset and written as UTC.
const locale = language === "en" ? "en-GB" : language;
const form = (options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
const time = form({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const weekday = form({ weekday: "long" });
const date = form({ day: "numeric", month: "long" });
const dateOfYear = form({ day: "numeric", month: "long", year: "numeric" });
const weekdayAndDate = form({ weekday: "long", day: "numeric", month: "long" });
const moment = form({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

const dayLength = 86_400_000;
const offset = () => (state?.utc_offset ?? 0) * 1_000;
const local = (milliseconds) => milliseconds + offset();

/** 14:07 */
export const formatTime = (milliseconds) => time.format(local(milliseconds));
/** Monday 23 November */
export const formatDay = (milliseconds) => weekdayAndDate.format(local(milliseconds));
/** Mon 23 Nov, 14:07 */
export const formatMoment = (milliseconds) => moment.format(local(milliseconds));

/** The number of a time's day in the phone's zone. */
export const dayOf = (milliseconds) => Math.floor(local(milliseconds) / dayLength);

/** A day as a heading: `{word, date}`, such as Today and Monday 23 November, or Friday and 20 November. */
export function dayHeading(milliseconds, now) {
  const ago = dayOf(now) - dayOf(milliseconds);
  if (ago === 0 || ago === 1) return { word: t(ago ? "day.yesterday" : "day.today"), date: formatDay(milliseconds) };
  const isFar = Math.abs(ago) > 300;
  return { word: weekday.format(local(milliseconds)), date: (isFar ? dateOfYear : date).format(local(milliseconds)) };
}

/** A time for inputs: `{date: "2026-11-23", time: "14:07"}`. */
export function inputValues(milliseconds) {
  const [date, time] = new Date(local(milliseconds)).toISOString().split("T");
  return { date, time: time.slice(0, 5) };
}

/** The time that inputs say, in milliseconds. */
export const fromInputs = (date, time) => Date.parse(`${date}T${time}Z`) - offset();
