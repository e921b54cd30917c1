// Why something did not work, in words that say what to do.

import { hasText, t } from "../lib/text.js";

/** By the field that the hub names beside the status 401, 403 or 409. */
const byField = { password: "password", id_token: "token", access_token: "token", authorization_code: "token",
  current: "current", code: "code", access_code: "access_code", name: "account" };

/** The reason of an error of the app's core, for a person. What the hub says itself is in English. */
export function reasonOf({ kind, status, field, message, name }) {
  if (kind === "timeout" || name === "TypeError" || name === "TimeoutError") return t("people.away");
  if (kind === "signed out") return t("people.signedOut");
  if (["insecure", "strange", "cancelled"].includes(kind)) return t(`people.${kind}`);
  if (kind === "provider") return t("people.provider", { error: message });
  if (status === 429) return t("people.busy");
  if (status === 503 || status === 504) return t("people.away");
  const key = `people.${status}.${byField[field] ?? "other"}`;
  return hasText(key) ? t(key, { error: message }) : t("error.refused", { error: message });
}

/** The name of a way to sign in. */
export const providerName = (provider) => (hasText(`provider.${provider}`) ? t(`provider.${provider}`) : provider);
