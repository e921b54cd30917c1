// What the person has chosen about messages with others.

import { h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { act, waitingList } from "./actions.js";
import { loaded } from "./parts.js";
import { switchRow } from "../elements/switch.js";

/** What is chosen, or on its way to the hub. */
const chosen = () => state.people.waits.findLast(({ action }) => action === "messaging")?.about
  ?? state.people.messaging.choices;

/** The content of the settings' page. */
export function settings() {
  const waiting = waitingList();
  const marks = switchRow({ label: t("marks.label"), hint: t("marks.hint"),
    onchange: (isOn) => act("messaging", { ...chosen(), read_marks: isOn }) });
  const choices = loaded("messaging", h("div", { class: "group" }, marks), () => {});
  const element = h("div", { class: "stack" }, waiting, choices, h("p", { class: "secondary" },
    h("a", { href: "#people/rules" }, t("rules.heading"))));
  return Object.assign(element, { update: () => {
    waiting.update();
    choices.update();
    if (state.people.messaging) marks.checked = chosen().read_marks;
  } });
}
