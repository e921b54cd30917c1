// The statuses as a row: the person's own first, then those of friends.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { place } from "../lib/place.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { avatar } from "./avatar.js";
import { endText, everySecond, followStatuses, statusesNow } from "./status-parts.js";

/** The address of a friend's status, or of one's own. */
const pathOf = (account) => `#people/status${account ? `/${encodeURIComponent(account)}` : ""}`;

/** The row. `update()` shows the state. It hides what has ended by itself. */
export function statusRow() {
  const list = h("ul", { class: "plain statuses" });
  const element = h("section", { "aria-label": t("status.heading") }, list);
  const items = new Map();

  /** An entry of the row. It is made again if what it says has changed. */
  function itemOf(key, print, make) {
    const item = items.get(key) ?? h("li");
    items.set(key, item);
    const text = JSON.stringify(print);
    if (item.print === text) return item;
    item.print = text;
    const hadFocus = item.contains(document.activeElement);
    fill(item, make());
    if (hadFocus) item.firstChild.focus({ preventScroll: true });
    return item;
  }

  const ownItem = (own, hub) => itemOf("", own && endText(own, hub), () => h("a", { class: "status", href: pathOf("") },
    h("span", { class: `status-ring ${own ? "is-own" : "is-none"}` },
      avatar(state.people.account, { size: "large" }), own ? null : h("span", { class: "status-add" },
        icon("plus", "small"))),
    h("span", { class: "status-name" }, t(own ? "status.own" : "status.add")),
    own ? h("span", { class: "status-end" }, endText(own, hub)) : null));

  const friendsItem = ({ id, account, seen }) => itemOf(account, [id, seen], () => h("a", { class: "status",
    href: pathOf(account) }, h("span", { class: `status-ring ${seen ? "" : "is-new"}` },
    avatar(account, { size: "large" })), h("bdi", { class: "status-name" }, account),
  seen ? h("span", { class: "unseen" }, t("status.seen")) : h("span", { class: "status-end" }, t("status.new"))));

  function update() {
    if (!state.people.account) return;
    const { own, list: friends, hub } = statusesNow();
    place(list, [ownItem(own, hub), ...friends.map(friendsItem)]);
    const accounts = new Set(friends.map(({ account }) => account));
    for (const key of items.keys()) if (key && !accounts.has(key)) items.delete(key);
  }

  followStatuses();
  everySecond(element, update);
  return Object.assign(element, { update });
}
