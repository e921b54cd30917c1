// Why something about classes did not work, in words that say what to do.

import { hasText, t } from "../lib/text.js";
import { knownReason, reasonOf as reasonAboutPeople } from "../people/reasons.js";

/** The reason of an error of the app's core, for a professor. What the hub says itself is in English. */
export function reasonOf(error) {
  const { status, field, message } = error;
  // A professor cannot leave a class of their own.
  if (status === 409 && / is in \d+ classes,/.test(message)) return t("prof.why.classes");
  const known = knownReason(error);
  if (known) return known;
  const key = [`prof.why.${status}.${field}`, `study.${status}.${field}`, `prof.why.${status}`].find(hasText);
  return key ? t(key, { error: message }) : reasonAboutPeople(error);
}
