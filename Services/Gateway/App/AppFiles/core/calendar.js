// A message as an event of a calendar app: an .ics file (RFC 5545).

import { denied } from "./errors.js";

/** The end of the year 9999, the last one that a calendar's file can say. */
const lastMoment = 253_402_300_799_999;
const maxMinutes = 10_080;

/** When an event is, as a query says: `start` in Unix milliseconds, and how many `minutes` it takes. */
export function eventOf(query) {
  const [start, minutes] = [Number(query.get("start") || NaN), Number(query.get("minutes") ?? 60)];
  if (!Number.isSafeInteger(start) || start < 0 || start > lastMoment) {
    throw denied(400, "start: expected a time in Unix milliseconds, up to the year 9999");
  }
  if (!Number.isSafeInteger(minutes) || minutes < 1 || minutes > maxMinutes) {
    throw denied(400, `minutes: expected 1 to ${maxMinutes}`);
  }
  return { start, minutes };
}

/** The file of an event. `names` are the path of the message's subject, and `now` is when the file is made. */
export function calendarFile(message, { names, start, minutes, now }) {
  const description = [names.join(" › "), message.desc, message.message].filter(Boolean).join("\n\n");
  const lines = [
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Mobile Student Intranet//EN", "BEGIN:VEVENT",
    // The same message at the same time is the same event, however often it is saved.
    `UID:${message.msi_key}-${start}@mobile-student-intranet`, `DTSTAMP:${timeOf(now)}`, `DTSTART:${timeOf(start)}`,
    `DTEND:${timeOf(Math.min(start + minutes * 60_000, lastMoment))}`, `SUMMARY:${escaped(message.title)}`,
    `DESCRIPTION:${escaped(description)}`, "END:VEVENT", "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
}

/** A moment in UTC (section 3.3.5), such as 20261124T071500Z. */
const timeOf = (moment) => new Date(moment).toISOString().replace(/[-:]|\.\d+/g, "");

/** A text value (section 3.3.11), without control characters, which are not allowed. */
const escaped = (text) => text.replace(/[\\;,]/g, "\\$&").replace(/\n/g, "\\n").replace(/(?!\t)\p{Cc}/gu, "");

/** A line in pieces of at most 75 bytes, without a cut in a character (section 3.1). */
function folded(line) {
  let [result, bytes] = ["", 0];
  for (const character of line) {
    const size = new TextEncoder().encode(character).length;
    [result, bytes] = bytes + size > 75 ? [`${result}\r\n `, 1 + size] : [result, bytes + size];
    result += character;
  }
  return result;
}
