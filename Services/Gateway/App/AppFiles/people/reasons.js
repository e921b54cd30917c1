// Why something did not work, in words that say what to do.

import { hasText, t } from "../lib/text.js";

/** By the field that the hub names beside the status 401, 403 or 409. */
const byField = { password: "password", id_token: "token", access_token: "token", authorization_code: "token",
  current: "current", code: "code", access_code: "access_code", name: "account",
  account: "full" };

/** What the hub tells apart by its sentence alone, which is in English. */
const bySentence = [
  [400, /expected a password that is not among those/, "people.password.common"],
  [400, /expected a password of \d+ to \d+ characters/, "people.password.length"],
  [401, /email address is not verified/, "people.token.email"],
  [401, /person is of another organisation/, "people.token.domain"],
  [401, /^the account .* is disabled$/, "people.disabled"],
  [409, /^somebody else signs in this way/, "people.ways.elsewhere"],
  [409, /^you sign in with \w+ already/, "people.ways.already"],
  [409, /^it is your only way to sign in/, "people.ways.last"],
  [409, /^you have an account already/, "people.registered"],
  [409, /^the class has \d+ persons,/, "study.why.classFull"],
  [409, /^the class is closed:/, "study.why.classClosed"],
  [409, /^\S+ is in \d+ classes,/, "study.why.classes"],
  [409, /^the class has \d+ open sessions,/, "study.why.sessions"],
  [409, /^the class has \d+ keys,/, "study.why.keys"],
  [409, /^you are its professor:/, "study.why.itsProfessor"],
];

/** The reason of a refusal that its sentence alone tells apart; `undefined` for any other error. */
export function knownReason({ status, message }) {
  const known = bySentence.find(([of, sentence]) => of === status && sentence.test(message));
  return known && t(known[2]);
}

/**
 * The reason of an error of the app's core, for a person. `provider` is where they sign in, if it may be about that.
 * What the hub says itself is in English.
 */
export function reasonOf(error, provider = error.provider) {
  const { kind, status, field, message, name } = error;
  if (kind === "timeout" || name === "TypeError" || name === "TimeoutError") return t("people.away");
  if (kind === "signed out") return t("people.signedOut");
  if (["insecure", "strange", "cancelled"].includes(kind)) return t(`people.${kind}`);
  if (kind === "provider") return t("people.provider");
  if (status === 429) return t("people.busy");
  if (status === 503 && provider && message.includes(" cannot be used: ")) {
    return t("people.provider.away", { provider: providerName(provider) });
  }
  if (status === 503 || status === 504) return t("people.away");
  const known = knownReason(error);
  if (known) return known;
  const keys = [`study.${status}.${field}`, `people.${status}.${byField[field]}`, `people.${status}.other`];
  const key = keys.find(hasText);
  return key ? t(key) : t("error.refused", { error: message });
}

/** The name of a way to sign in. */
export const providerName = (provider) => (hasText(`provider.${provider}`) ? t(`provider.${provider}`) : provider);
