import { h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { act, waitingList } from "./actions.js";
import { loaded } from "./parts.js";
import { switchRow } from "../elements/switch.js";

/** The kinds of pushes that this version knows. The hub keeps what a later version has set about others. */
const kinds = ["friend_request", "friend_accepted", "session_invite", "session_join", "session_post", "session_host",
  "session_ending", "session_ended", "session_new"];

/** What is chosen, or on its way to the hub: a choice replaces all of them. */
const chosen = () => state.people.waits.findLast(({ action }) => action === "preferences")?.about
  ?? state.people.preferences;

/**
 * Which pushes about people and study sessions come to the person's devices. A kind about which nothing was said is on.
 */
export function settings() {
  const waiting = waitingList();
  const rows = Object.fromEntries(kinds.map((kind) => [kind, switchRow({ label: t(`kind.${kind}`),
    onchange: (isOn) => act("preferences", { ...chosen(), [kind]: isOn }) })]));
  const preferences = loaded("preferences", h("div", { class: "group" }, Object.values(rows)), (value) => {
    for (const kind of kinds) rows[kind].checked = value[kind] !== false;
  });
  const element = h("div", { class: "stack" }, h("p", { class: "secondary" }, t("kinds.text")), waiting, preferences);
  return Object.assign(element, { update: () => {
    waiting.update();
    preferences.update();
  } });
}
