import { h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { actionButton, waitingList } from "./actions.js";
import { loaded, refill, toFriends, view } from "./parts.js";

/** Whom the person has blocked. They are not found, so there is no link to them. */
export function blockedView() {
  const waiting = waitingList();
  const list = h("ul", { class: "plain group" });
  const none = h("p", { class: "hint" }, t("blocked.none"));
  const blocked = loaded("blocked", h("div", null, list, none), (names) => {
    list.hidden = !names.length;
    none.hidden = names.length > 0;
    refill(list, () => element.querySelector("h1"), names.map((name) => h("li", { class: "row" },
      h("span", { class: "row-text" }, h("bdi", null, name)), actionButton("unblock", name))));
  });
  const element = view(t("blocked.heading"), { back: toFriends() },
    h("p", { class: "secondary" }, t("blocked.text")), waiting, blocked);
  return Object.assign(element, { update: () => {
    waiting.update();
    if (state.people.account) blocked.update();
  } });
}
