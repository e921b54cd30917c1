import { h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { actionButton, waitingList } from "./actions.js";
import { loaded, personRow, refill, toFriends, view } from "./parts.js";

/** The requests that nobody has answered: those of others, and the person's own. */
export function requestsView() {
  const waiting = waitingList();
  const parts = Object.fromEntries(["received", "asked"].map((side) => [side, {
    list: h("ul", { class: "plain group" }), none: h("p", { class: "hint" }, t(`requests.${side}.none`)) }]));
  const section = (side) => h("section", null, h("h2", { class: "day" }, t(`requests.${side}`)), parts[side].list,
    parts[side].none);
  const content = h("div", { class: "stack" }, section("received"), section("asked"));
  const buttons = { received: (name) => [actionButton("accept", name), actionButton("decline", name, "danger")],
    asked: (name) => [actionButton("withdraw", name, "danger")] };

  const requests = loaded("requests", content, (value) => {
    for (const [side, { list, none }] of Object.entries(parts)) {
      list.hidden = !value[side].length;
      none.hidden = value[side].length > 0;
      refill(list, () => element.querySelector("h1"),
        value[side].map(({ account }) => personRow(account, h("span", { class: "actions" }, buttons[side](account)))));
    }
  });
  const element = view(t("requests.heading"), { back: toFriends() }, waiting, requests);
  return Object.assign(element, { update: () => {
    waiting.update();
    if (state.people.account) requests.update();
  } });
}
