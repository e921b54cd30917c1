// Templates are texts with blanks: {{room}}. The message log fills them in the same way
// (Services/MessageLog/Templates).

const blank = /\{\{([A-Za-z0-9_-]{1,40})\}\}/g;
const textFields = ["title", "desc", "message"];

/** The names of a template's blanks, in the order in which people meet them. */
export const blanksOf = (template) =>
  [...new Set(textFields.flatMap((name) => [...template[name].matchAll(blank)].map((match) => match[1])))];

/** The template's texts with the values; a blank without a value stays as it is. */
export const filled = (template, values) =>
  Object.fromEntries(textFields.map((name) =>
      [name, template[name].replace(blank, (all, key) => values[key]?.trim() || all)]));

/** A text as pieces: `{text}` or `{blank}`, for those who show the blanks. */
export const piecesOf = (text) =>
  text.split(/(\{\{[A-Za-z0-9_-]{1,40}\}\})/).filter(Boolean).map((piece) =>
    piece.startsWith("{{") && piece.endsWith("}}") ? { blank: piece.slice(2, -2) } : { text: piece });

/** Something between double braces that is no blank, as the person has typed it; `null` if there is none. */
export const badBlankIn = (text) => (text.match(/\{\{[^{}]*\}\}/g) ?? [])
  .find((each) => !/^\{\{[A-Za-z0-9_-]{1,40}\}\}$/.test(each)) ?? null;
