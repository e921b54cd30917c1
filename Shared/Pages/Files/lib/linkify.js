// Links, phone numbers and mail addresses in texts that people wrote. Only https, tel and mailto become links, and a
// link shows where it leads: never a text that hides its address.

import { h } from "./dom.js";

// An address ends at a space, a quotation mark, a character that turns the writing direction, and the punctuation of
// Chinese.
const ending = "\\s<>\"\\p{Cc}\\p{Bidi_Control}«»“”„。，、；：！？「」『』【】（）〈〉《》";
const addressPart = `(?<![a-z0-9+-])(?:https://|www\\.)[^${ending}]+`;
const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const mailPart = `(?<![\\p{L}\\p{N}._%+'@/-])[a-z0-9](?:[a-z0-9._%+'-]*[a-z0-9])?`
  + `@(?:${label}\\.)+[a-z]{2,63}(?![\\p{L}\\p{N}_-]|\\.\\p{L})`;
// The groups of a number are apart by a space, one other character, or both. A point before a space ends a sentence.
const gap = "[ \\u00a0]?(?:\\.|[()/\\u2010\\u2011-]{0,2}[ \\u00a0]?)\\(?";
const phonePart = `(?<![\\p{L}\\p{N}.,:/#_=-])(?:tel:\\+?|\\+|\\((?=\\p{Nd}{1,6}\\)))?`
  + `\\p{Nd}(?:${gap}\\p{Nd})+(?![\\p{L}\\p{N}_:=]|[.,/-]\\p{N})`;
const parts = new RegExp(`(${addressPart})|(${mailPart})|(${phonePart})`, "giu");

/** The pieces of a text for `h`: texts, and links for the addresses and numbers in it. */
export function linkified(text) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(parts)) {
    const [all, address, mail, phone] = match;
    const written = address ? withoutEnding(address) : all;
    const link = address ? linkTo(written) : mail ? mailLink(mail) : phoneLink(phone);
    if (!link) continue;
    pieces.push(text.slice(end, match.index), link);
    end = match.index + written.length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== "");
}

/**
 * Where a message's main link leads: `{href, shown, place}`, or `null` if it is no address that may be opened. `place`
 * is what people can judge: the host of a page, the number, or the mail address.
 */
export function mainLink(address) {
  const link = linkTo(address);
  if (!link) return null;
  const [, host] = /^https:\/\/([^/?#]+)/i.exec(link.textContent) ?? [];
  return { href: link.href, shown: link.textContent, place: host ?? link.textContent.split("?")[0] };
}

/**
 * A link to an address as somebody has written it: of the web, or with the scheme tel or mailto. `null` for other
 * schemes, and for a web address with a name or a password in it.
 */
export function linkTo(written) {
  const direct = /^(?:tel:[\d+().-]+(?:;ext=\d+)?|mailto:[^\s<>"]+)$/i.test(written);
  if (direct) return h("a", { href: written, dir: "ltr" }, written.slice(written.indexOf(":") + 1));
  const address = /^www\./i.test(written) ? `https://${written}` : written;
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const host = /^https:\/\/([^/?#\\:[\]]+)/i.exec(address)?.[1];
  if (url.protocol !== "https:" || url.username || url.password || !host || host.includes("@")) return null;
  const isHonest = host.toLowerCase() === url.hostname ||
    (url.hostname.includes("xn--") && isOneAlphabet(host.toLowerCase()));
  const shown = isHonest ? written : written.replace(host, url.hostname);
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", dir: "ltr" }, shown);
}

// Letters of the same alphabet can be told apart. Chinese, Japanese and Korean are written together with Latin letters.
const east = ["Latin", "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"].map((name) => `\\p{sc=${name}}`).join("");
const others = ["Arabic", "Hebrew", "Cyrillic", "Greek", "Devanagari", "Thai"].map((name) => `\\p{sc=${name}}`);
const alphabets = [`${east}ー々`, ...others].map((letters) => new RegExp(`^[${letters}\\p{M}\\p{Nd}-]+$`, "u"));
const lookalikes = /[\p{sc=Cyrillic}\p{sc=Greek}]/u;

/** Whether no letter of a host can be taken for one of another alphabet, such as the Cyrillic а for the Latin a. */
const isOneAlphabet = (host) => host.split(".").every((label) => alphabets.some((alphabet) => alphabet.test(label)))
  && !(lookalikes.test(host) && /\p{sc=Latin}/u.test(host));

const brackets = { ")": "(", "]": "[", "}": "{" };

/** An address without the punctuation of its sentence. A closing bracket belongs to it if it has the opening one. */
function withoutEnding(address) {
  let rest = address;
  for (;;) {
    const last = rest.at(-1);
    const isLoose = brackets[last] && rest.split(last).length > rest.split(brackets[last]).length;
    if (!isLoose && !/[.,;:!?'’‘…*_~،؛؟]/u.test(last)) return rest;
    rest = rest.slice(0, -1);
  }
}

function mailLink(mail) {
  const [name, host] = mail.split("@");
  return h("a", { href: `mailto:${encodeURIComponent(name)}@${host}`, dir: "ltr" }, mail);
}

// Dates, and times such as 0900-1130, look like numbers of a town.
const isTime = (digits) => /^(?:\d{1,2}([-/. ])\d{1,2}\1\d{2,4}|\d{4} ?- ?\d{4})$/.test(digits);

/**
 * An international number, one that begins with 0, one of the form (555) 123-4567, or any after "tel:"; else `null`.
 */
function phoneLink(written) {
  const text = written.replace(/\p{Nd}/gu, westernDigit);
  const number = text.replace(/^tel:/i, "");
  const isInternational = /^(?:\+|00[1-9])/.test(number);
  // +49 (0)30 is dialled without the 0.
  const dialled = (isInternational ? number.replace("(0)", "") : number).replace(/[^\d+]/g, "");
  const count = dialled.replace("+", "").length;
  const isNational = /^(?:\(?0\d{1,5}\)?[ /\u00a0-]?\d|\(?\d{3}\)?[ -]\d{3}-\d{4}$)/.test(number) &&
    !number.includes(".") && !isTime(number);
  const isNumber = number !== text ? count >= 3 : isInternational ? count >= 8 : isNational &&
    count >= (/\D/.test(number) ? 7 : 9);
  return isNumber && count <= 15 ? h("a", { href: `tel:${dialled}`, dir: "ltr" }, written) : null;
}

/** 3 for ٣: the digits of every writing are ten in a row. */
function westernDigit(digit) {
  let zero = digit.codePointAt(0);
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && digit.codePointAt(0) - zero < 9) zero -= 1;
  return String(digit.codePointAt(0) - zero);
}
