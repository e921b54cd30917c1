import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { confirmAction } from "../elements/dialogs.js";
import { launchCard } from "./preview.js";
import { arePushed, effectOf, languageName, listOf } from "./words.js";

/**
 * Asks whether a broadcast may go out to everyone, and shows what phones will show. `action` is the word of its button.
 * Returns whether it may.
 */
export function askBeforeBroadcast(draft, action) {
  const starts = draft.starts(hubNow());
  const expires = starts + draft.lasts * 60_000;
  const form = draft.broadcast ? "version" : draft.begins === "later" ? "later" : "now";
  const others = Object.keys(draft.translations).filter((tag) => tag !== draft.language);
  return confirmAction({
    heading: t(`broadcasts.confirm.${draft.isSwitch ? "switch" : "card"}.${form}`),
    content: [
      draft.isSwitch
        ? h("p", { class: "notice" }, icon("toggle"), h("span", null, effectOf(draft.content())))
        : launchCard(draft, draft.language, expires),
      others.length && !draft.isSwitch
        ? h("p", null, t("broadcasts.confirm.languages", { languages: listOf(others.map(languageName)) })) : null,
      h("p", null, t(draft.isDowntime && draft.popup && arePushed()
          ? "broadcasts.confirm.everyone.popup" : "broadcasts.confirm.everyone"), " ",
        t(draft.begins === "now" ? "broadcasts.confirm.until" : "broadcasts.confirm.span",
          { begins: formatMoment(starts), ends: formatMoment(expires) })),
    ],
    action, isCautious: true,
  });
}
