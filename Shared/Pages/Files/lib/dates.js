// Finds dates and times in the text of a message, in English, Arabic and ISO form.

const day = 86_400_000;
const weekdays = [
  "sunday|sun|الأحد|الاحد", "monday|mon|الاثنين|الإثنين", "tuesday|tues|tue|الثلاثاء",
  "wednesday|wed|الأربعاء|الاربعاء", "thursday|thurs|thu|الخميس",
  "friday|fri|الجمعة", "saturday|sat|السبت",
];
const months = [
  "january|jan|يناير|كانون الثاني", "february|feb|فبراير|شباط", "march|mar|مارس|آذار",
  "april|apr|أبريل|ابريل|إبريل|نيسان", "may|مايو|أيار", "june|jun|يونيو|يونيه|حزيران",
  "july|jul|يوليو|يوليه|تموز", "august|aug|أغسطس|اغسطس|آب", "september|sept|sep|سبتمبر|أيلول",
  "october|oct|أكتوبر|اكتوبر|تشرين الأول",
  "november|nov|نوفمبر|تشرين الثاني", "december|dec|ديسمبر|كانون الأول",
];
const relatives = ["today|tonight|اليوم", "tomorrow|غدًا|غداً|غدا", "the day after tomorrow|day after tomorrow|بعد غد"];

const any = (words) => words.join("|");
/** The number of the list's entry that has the word. */
const indexIn = (words, word) => words.findIndex((entry) => entry.split("|").includes(word.toLowerCase()));

// The pieces of the patterns. `$` in a name is replaced, since a name can be in a pattern only once.
const half = "am|pm|a\\.m\\.|p\\.m\\.|صباحًا|صباحاً|صباحا|مساءً|مساءا|مساء|ص|م";
const clock = `(?:(?<hour$>\\d{1,2}):(?<minute$>\\d{2})(?!:?\\d)(?:\\s?(?<half$>${half})(?![\\p{L}\\p{N}]))?`
  + `|(?<onlyHour$>\\d{1,2})\\s?(?<onlyHalf$>${half}))`;
const range = (name = "") =>
  `${clock.replaceAll("$", name)}(?:\\s?(?:-|–|—|to|until|till|إلى|حتى)\\s?${clock.replaceAll("$", `${name}End`)})?`;
// The full stop of "Nov. 23", not that of a sentence.
const stop = "(?:\\.(?=\\s\\d))?";
const weekday = `(?:يوم\\s)?(?<weekday>${any(weekdays)})${stop}`;
const dayNumber = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
const month = `(?<month>${any(months)})${stop}`;
const year = "(?:,?\\s(?<year>\\d{4})(?!:?\\d))?";
const at = "(?:\\s?[,،])?\\s(?:(?:at|from|by|until|till|الساعة|في الساعة|من|حتى|عند)\\s)?";
const named = `(?:${weekday}[,،]?\\s(?:the\\s)?)?(?:${dayNumber}\\s(?:of\\s|من\\s)?${month}${year})`;
const monthFirst = `(?:${weekday}[,،]?\\s)?${month}\\s${dayNumber}${year}`;
const relative = `(?<relative>${any([...relatives].reverse())})`;
const numeric = "(?<isoYear>\\d{4})-(?<isoMonth>\\d{2})-(?<isoDay>\\d{2})";
const dotted = "(?<day>\\d{1,2})(?<mark>[./])(?<number>\\d{1,2})\\k<mark>(?<year>\\d{4})";
const maybeTime = `(?:${at}${range()})?`;

const patterns = [
  `${numeric}(?:(?:T|${at})${range()})?`,
  `${dotted}${maybeTime}`,
  `${named}${maybeTime}`,
  `${monthFirst}${maybeTime}`,
  `${relative}${maybeTime}`,
  `${weekday}${at}${range()}`,
  ...[named, monthFirst, relative, weekday].map((date) => `(?:at\\s|الساعة\\s)?${range()},?\\s(?:on\\s)?${date}`),
  // A time alone needs a word before it, a half of the day behind it, or four digits: "1:10" may be a ratio.
  `(?:at|from|until|till|before|after|by|الساعة|حتى|قبل|بعد|عند)\\s${range()}`,
  `(?=\\d{2}:)${range()}`,
  `(?<onlyHour>\\d{1,2})\\s?(?<onlyHalf>${half})`,
].map((source) => new RegExp(`(?<![\\p{L}\\p{N}:./-])${source}(?![\\p{L}\\p{N}])`, "giu"));

const afternoon = /^(pm|p\.m\.|م)/iu;

/** The minutes of the day that a pattern's clock says; `null` without one, `NaN` if there is no such time. */
function minutesOf(groups, name = "") {
  const hour = groups[`hour${name}`] ?? groups[`onlyHour${name}`];
  if (hour === undefined) return null;
  const half = groups[`half${name}`] ?? groups[`onlyHalf${name}`];
  let hours = Number(hour);
  const minutes = Number(groups[`minute${name}`] ?? 0);
  if (minutes > 59 || hours > (half ? 12 : 23) || (half && hours === 0)) return NaN;
  if (half) hours = (hours % 12) + (afternoon.test(half) ? 12 : 0);
  return hours * 60 + minutes;
}

/** The start of a day; `NaN` if the month has no such day. */
function dayAt(year, month, number) {
  const start = Date.UTC(year, month, number);
  return month < 12 && new Date(start).getUTCDate() === number ? start : NaN;
}

/** The start of the day that a match names. */
function dayOf(groups, sent, minutes) {
  const today = Math.floor(sent / day) * day;
  const isOver = minutes !== null && today + minutes * 60_000 <= sent;
  if (groups.isoYear) return dayAt(Number(groups.isoYear), Number(groups.isoMonth) - 1, Number(groups.isoDay));
  if (groups.number) return dayAt(Number(groups.year), Number(groups.number) - 1, Number(groups.day));
  if (groups.relative) return today + indexIn(relatives, groups.relative) * day;
  if (groups.month) {
    // "may" and "march" are words, too.
    if (/^[a-z]/.test(groups.month)) return NaN;
    const month = indexIn(months, groups.month);
    const number = Number(groups.day);
    if (groups.year) return dayAt(Number(groups.year), month, number);
    // Without a year it is the next such day, or one of the last months.
    const thisYear = new Date(sent).getUTCFullYear();
    const candidates = [thisYear - 1, thisYear, thisYear + 1].map((year) => dayAt(year, month, number));
    return candidates.find((start) => start > sent - 90 * day) ?? NaN;
  }
  if (groups.weekday) {
    const ahead = (indexIn(weekdays, groups.weekday) - new Date(today).getUTCDay() + 7) % 7;
    return today + (ahead === 0 && isOver ? 7 : ahead) * day;
  }
  return today + (isOver ? day : 0);
}

/**
 * The dates in a text: `[{start, end, at, hasTime, minutes}]`, in their order.
 *
 * `start` and `end` are positions in the text. `at` is the start of the day if the text names no time. `minutes` is the
 * length, if the text also gives the end time. `sent` is when the message was sent; `tomorrow` is the day after it.
 * Both are local times (see phone-time.js), so that no date depends on the zone's offset.
 */
export function findDates(text, sent) {
  // Arabic digits are one unit each, so positions stay.
  const plain = text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 0xf)).replace(/\u00a0/g, " ");
  const found = [];
  for (const pattern of patterns) {
    for (const match of plain.matchAll(pattern)) {
      const { groups } = match;
      const minutes = minutesOf(groups);
      const end = minutesOf(groups, "End");
      const at = dayOf(groups, sent, minutes) + (minutes ?? 0) * 60_000;
      if (Number.isNaN(at) || Number.isNaN(end)) continue;
      found.push({ start: match.index, end: match.index + match[0].length, at, hasTime: minutes !== null,
        ...(end === null ? {} : { minutes: (end - minutes + 1_440) % 1_440 || 60 }) });
    }
  }
  // Of two that overlap the longer one is meant.
  found.sort((a, b) => (b.end - b.start) - (a.end - a.start));
  return found.filter((one, index) => !found.slice(0, index)
    .some((other) => one.start < other.end && other.start < one.end))
    .sort((a, b) => a.start - b.start);
}
