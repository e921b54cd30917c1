// The first page about people: statuses, conversations, requests, and the ways to everything else.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { pathTo } from "../lib/route.js";
import { state } from "../lib/state.js";
import { formatNumber, t, tn } from "../lib/text.js";
import { act, waitingList } from "./actions.js";
import { avatar } from "./avatar.js";
import { conversationList } from "./conversations.js";
import { loadQuietly, refill, view } from "./parts.js";
import { statusRow } from "./statuses.js";

/** How many requests are shown here. */
const maxRequests = 3;

/** Somebody who asks to be a friend, with the two answers. */
function requestCard(name) {
  const button = (action, kind) => h("button", { class: `button ${kind}`, type: "button",
    onclick: () => act(action, name) }, t(`do.${action}`), h("span", { class: "unseen" }, `: ${name}`));
  return h("li", { class: "card request" }, h("a", { class: "person",
    href: pathTo({ tab: "people", page: "person", account: name }) }, avatar(name),
  h("span", null, tn("direct.asks", { name: h("bdi", { class: "account" }, name) }))),
  h("div", { class: "dialog-buttons" }, button("accept", "main"), button("decline", "")));
}

/** The page's first view. `update()` shows the state. */
export function overview() {
  const statuses = statusRow();
  const waiting = waitingList();
  const conversations = conversationList();
  const requests = h("ul", { class: "plain requests" });
  const none = h("div", { class: "empty" });
  const counts = { friends: h("span", { class: "hint" }), requests: h("span", { class: "badge" }) };
  const link = (page, sign, label) => h("li", null, h("a", { class: "row", href: `#people/${page}` }, sign,
    h("span", { class: "row-text" }, label), counts[page], icon("next", "small")));
  const search = h("a", { class: "round", href: "#people/friends", title: t("friends.search"),
    "aria-label": t("friends.search") }, icon("search"));
  const element = view(t("friends.heading"), { beside: search }, statuses, waiting, conversations, none, requests,
    h("ul", { class: "plain group" }, link("friends", icon("people"), t("friends.all")),
      link("requests", icon("plus"), t("requests.heading")), link("blocked", icon("cross"), t("blocked.heading")),
      link("rules", icon("info"), t("rules.heading"))));
  let asking = "";
  let empty = null;

  function showEmpty() {
    const isKnown = state.people.friends !== undefined;
    const kind = !isKnown || !conversations.hidden ? "" : state.people.friends.length ? "direct" : "friends";
    none.hidden = !kind;
    if (empty === (empty = kind) || !kind) return;
    fill(none, kind === "direct" ? phoneIcon("bubble") : icon("people"), h("h2", null, t(`${kind}.none`)),
      h("p", null, t(`${kind}.none.text`)),
      h("a", { class: "button main", href: "#people/friends" }, t(`${kind}.none.action`)));
  }

  // Whom the person has blocked has no conversation here.
  loadQuietly("blocked");
  return Object.assign(element, { update: () => {
    statuses.update();
    waiting.update();
    conversations.update();
    showEmpty();
    const { friends = [], requests: { received } = { received: [] } } = state.people;
    counts.friends.textContent = friends.length ? formatNumber(friends.length) : "";
    counts.requests.hidden = received.length === 0;
    counts.requests.textContent = formatNumber(received.length);
    const names = received.slice(0, maxRequests).map(({ account }) => account);
    requests.hidden = !names.length;
    if (asking !== (asking = JSON.stringify(names))) {
      refill(requests, () => element.querySelector("h1"), names.map(requestCard));
    }
  } });
}
