// Times and lengths as professors read them. The zone is that of this device.

import { dateForm, formatNumber, t } from "../lib/text.js";

const moment = dateForm({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const date = dateForm({ day: "numeric", month: "short", year: "numeric" });
const dayOfYear = dateForm({ day: "numeric", month: "short" });
const time = dateForm({ hour: "2-digit", minute: "2-digit" });
const weekday = dateForm({ weekday: "short" });

/** Fri 27 Nov, 14:07 */
export const formatMoment = (milliseconds) => moment.format(milliseconds);
/** 27 Nov 2026 */
export const formatDate = (milliseconds) => date.format(milliseconds);
/** 27 Nov */
export const formatDayOfYear = (milliseconds) => dayOfYear.format(milliseconds);
/** 14:07 */
export const formatTime = (milliseconds) => time.format(milliseconds);
/** Fri */
export const formatWeekday = (milliseconds) => weekday.format(milliseconds);

/** 1 h 30 min */
export function formatMinutes(minutes) {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const parts = { hours: formatNumber(hours), minutes: formatNumber(rest) };
  return t(!hours ? "prof.length.minutes" : rest ? "prof.length.both" : "prof.length.hours", parts);
}

/** A day for an input of dates: 2026-11-27. */
export function dayOfInput(milliseconds) {
  const day = new Date(milliseconds);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** The beginning of the day that an input says, or of one some days later; `undefined` for an empty input. */
export function beginningOf(input, days = 0) {
  const [year, month, day] = input.split("-").map(Number);
  // While a year is typed, the input says one of long ago, for which the hub has no time.
  return input ? Math.max(0, new Date(year, month - 1, day + days).getTime()) : undefined;
}
