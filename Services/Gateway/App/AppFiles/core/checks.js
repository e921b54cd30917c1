// What the hub sends is checked before the app uses it.

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isText = (value) => typeof value === "string";
/** An identifier of 24 hexadecimal digits. */
export const isIdentifier = (value) => isText(value) && /^[0-9a-f]{24}$/.test(value);
/** Three identifiers joined by "-". */
export const isTopicKey = (value) => isText(value) && /^[0-9a-f]{24}(-[0-9a-f]{24}){2}$/.test(value);
/** The name of an account. */
export const isName = (value) => isText(value) && /^[\x21-\x7e]{1,64}$/.test(value);
/** A time in Unix milliseconds, up to the year 9999: the last days that a date can have are in no zone's local time. */
export const isMoment = (value) => Number.isSafeInteger(value) && Math.abs(value) <= 253_402_300_799_999;
/** Whether a value is absent, or passes a check. */
export const isMaybe = (value, check) => value === undefined || value === null || check(value);
/** Whether a value is a list of which each element passes a check. */
export const isListOf = (value, check) => Array.isArray(value) && value.every(check);

const maxLinkLength = 1_000;
const phone = /^tel:\+?[().-]*[0-9][0-9().-]*(;ext=[0-9]{1,15})?$/;
const mail = new RegExp("^mailto:[A-Za-z0-9.!$'*+\\-_~]+@[A-Za-z0-9.-]+"
  + "(\\?(subject|body)=[^&#\"<>]*(&(subject|body)=[^&#\"<>]*)?)?$");

/** An address that a message may lead to: of https without a user, of a telephone to call, or of one mailbox. */
export function isSafeLink(text) {
  if (!isText(text) || text.length > maxLinkLength || /\s/.test(text)) return false;
  if (text.startsWith("tel:")) return phone.test(text);
  if (text.startsWith("mailto:")) return /^[\x21-\x7e]*$/.test(text) && mail.test(text);
  // A backslash is a slash for browsers.
  const [, host] = /^https:\/\/([^/?#\\]*)/.exec(text) ?? [];
  return Boolean(host) && !host.includes("@");
}
