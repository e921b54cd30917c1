import { findDates } from "./dates.js";
import { linkified } from "./linkify.js";
import { charactersOf } from "./text.js";

const shortLength = 260;
const shortLines = 6;
const lineLength = 44;

/** Whether a text has more than about six lines. */
export const isLong = (text) => text.split("\n")
  .reduce((lines, line) => lines + Math.ceil((line.length || 1) / lineLength), 0) > shortLines + 1;

/** The dates of a text that are in no link, as `findDates` has them. */
export const datesOf = (text, sent) => linkified(text)
  .flatMap((piece) => (typeof piece === "string" ? findDates(piece, sent) : []));

/** The beginning of a text, up to a space or a character. */
function cut(text, room, lines) {
  const wanted = text.split("\n").slice(0, lines).join("\n");
  const characters = charactersOf(wanted);
  if (characters.length <= room) return wanted;
  const space = characters.slice(0, room).lastIndexOf(" ");
  // Not every language has spaces.
  return characters.slice(0, space > room / 2 ? space : room).join("");
}

/**
 * The pieces of a text for `h`: texts, links, and what `mark(date, text, part)` makes of a date. With `isCut` only the
 * beginning; no link and no date is cut.
 */
export function piecesOf(text, sent, isCut, mark) {
  const pieces = [];
  let [room, lines] = isCut ? [shortLength, shortLines] : [Infinity, Infinity];
  for (const [number, piece] of linkified(text).entries()) {
    if (typeof piece !== "string") {
      if (piece.textContent.length > room && pieces.length) break;
      room -= piece.textContent.length;
      piece.dataset.part = `link-${number}`;
      // A swipe that begins on it would drag it.
      piece.draggable = false;
      pieces.push(piece);
      continue;
    }
    const shown = isCut ? cut(piece, room, lines) : piece;
    let end = 0;
    for (const date of findDates(piece, sent)) {
      if (date.end > shown.length) break;
      pieces.push(shown.slice(end, date.start),
        mark(date, shown.slice(date.start, date.end), `date-${number}-${date.start}`));
      end = date.end;
    }
    pieces.push(shown.slice(end));
    if (shown.length < piece.length) break;
    room -= piece.length;
    lines -= piece.split("\n").length - 1;
  }
  return pieces;
}
