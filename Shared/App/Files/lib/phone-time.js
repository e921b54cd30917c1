import { state } from "./state.js";
import { dateForm, t } from "./text.js";

// All times are in the zone of the phone, not in that of the browser. A local time is a moment moved by the zone's
// offset at that moment, so that it is written as if it were UTC.
const form = (options) => dateForm({ timeZone: "UTC", ...options });
const time = form({ hour: "2-digit", minute: "2-digit" });
const weekday = form({ weekday: "long" });
const date = form({ day: "numeric", month: "long" });
const dateOfYear = form({ day: "numeric", month: "long", year: "numeric" });
const weekdayAndDate = form({ weekday: "long", day: "numeric", month: "long" });
const moment = form({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

const dayLength = 86_400_000;

let zone = null;
let zoneClock = null;

/** The zone's difference from UTC at a moment, in milliseconds. Summer time has another one. */
function offset(milliseconds) {
  if (zone !== (zone = state?.zone ?? "UTC")) {
    zoneClock = new Intl.DateTimeFormat("en",
      { timeZone: zone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23",
      year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
  }
  const { year, month, day, hour, minute, second } = Object.fromEntries(zoneClock.formatToParts(milliseconds)
    .map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(milliseconds / 1_000) * 1_000;
}

/** The local time of a moment. */
export const local = (milliseconds) => milliseconds + offset(milliseconds);

/** The moment of a local time. One that the beginning of summer time skips counts from the time before. */
function momentOf(localTime) {
  const candidates = [-dayLength, dayLength].map((shift) => localTime - offset(localTime + shift));
  return candidates.find((moment) => local(moment) === localTime) ?? candidates[0];
}

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

/** A local time for inputs: `{date: "2026-11-23", time: "14:07"}`. */
export function inputValues(localTime) {
  const [date, time] = new Date(localTime).toISOString().split("T");
  return { date, time: time.slice(0, 5) };
}

/** The moment that inputs say. */
export const fromInputs = (date, time) => momentOf(Date.parse(`${date}T${time}Z`));
