// A message is reported to the super users, who then see this one and no other.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { directOfApp, field, form } from "./parts.js";

/** The maximum length of a reason, in characters of Unicode. */
const maxLength = 500;
/** What the hub can say about a message, as far as this version knows. */
const verdicts = ["genuine", "forged"];

/** Asks why, and reports a `letter` of somebody by its `name`. */
export function askToReport(letter, name) {
  // All attempts are one report.
  const key = crypto.randomUUID();
  const reason = field({ label: t("report.reason"), hint: t("report.reason.hint"), tag: "textarea", rows: 3,
    dir: "auto", autofocus: true });
  reason.input.addEventListener("input", () => reason.input.setCustomValidity(
    [...reason.input.value.trim()].length > maxLength ? t("composer.long", { max: maxLength }) : ""));
  return showDialog({ heading: t("report.question", { name }), make: (close) => form({
    fields: [h("p", { class: "secondary" }, t("report.text", { name })),
      h("blockquote", { class: "bubble", dir: "auto" }, letter.text ?? t("direct.picture")), reason],
    action: t("report.confirm"), isDangerous: true,
    extra: [h("button", { class: "button", type: "button", onclick: () => close() }, t("cancel"))],
    onsubmit: async () => {
      const verdict = await (await directOfApp()).report(letter, name, reason.input.value.trim(), key);
      close();
      toast(t(`report.${verdicts.includes(verdict) ? verdict : "unverifiable"}`));
    } }) });
}
