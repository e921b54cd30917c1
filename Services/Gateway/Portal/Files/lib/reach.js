import { get, withQuery } from "./api.js";
import { t } from "./text.js";

/**
 * How many phones a message to a subject reaches, as far as the hub knows: `{phones, sure, ask_above}`. `null` if the
 * hub does not say: nothing depends on it.
 */
export const readReach = (topicKey) => get(withQuery("/reach", { topic: topicKey }), { timeout: 5_000, remedy: false })
  .catch(() => null);

/** The reach in a sentence that says how sure it is; "" if the hub does not say. */
export function reachWords(reach) {
  if (!reach) return "";
  const { phones: count, sure, installations } = reach;
  if (!count) return t("reach.unknown");
  // Without a message of the subject's own, that of a Required one is the number of installations.
  return t(sure === "reported" ? "reach.reported" : !reach.message && count === installations
    ? "reach.installed" : "reach.estimated", { count });
}
