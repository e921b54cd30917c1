// The list of the person's conversations: who, the last message, when, and how many are unread.

import { fill, h } from "../lib/dom.js";
import { dayHeading, dayOf, formatTime } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { phoneNow, state } from "../lib/state.js";
import { formatNumber, t } from "../lib/text.js";
import { conversationsOf, keyOf, lacksLast, markOf } from "../core/direct-state.js";
import { avatar } from "./avatar.js";
import { pathToConversation } from "./parts.js";

/** 14:07, Yesterday, or 20 November. */
function whenText(moment) {
  const now = phoneNow();
  if (dayOf(moment) === dayOf(now)) return formatTime(moment);
  const { word, date } = dayHeading(moment, now);
  return dayOf(now) - dayOf(moment) === 1 ? word : date;
}

/** What has become of a message: one sign for sent, two for delivered. Readers hear the word. */
const sign = (mark) => [h("span", { "aria-hidden": "true" }, mark === "sent" ? "✓ " : "✓✓ "),
  h("span", { class: "unseen" }, `${t(`mark.${mark}`)}: `)];

/** The last message in a line. */
function lastOf(conversation) {
  const { newest, waits } = conversation;
  const textOf = (text) => h("bdi", null, text ?? t("direct.picture"));
  const waiting = waits.at(-1);
  if (waiting) return [h("span", { class: "line-state" }, t(`mark.${waiting.mark}`)), " ", textOf(waiting.about.text)];
  if (!newest || lacksLast(conversation, waits)) return t("direct.elsewhere");
  if (!newest.isOwn) return textOf(newest.text);
  const mark = markOf(conversation, newest.number);
  return mark === "expired" ? t("mark.expired") : [sign(mark), textOf(newest.text)];
}

/** The list. `update()` shows the state. */
export function conversationList() {
  const element = h("ul", { class: "plain conversations" });
  const items = new Map();

  function itemFor(account) {
    const text = h("span", { class: "row-text" });
    const end = h("span", { class: "conversation-end" });
    return Object.assign(h("li", null, h("a", { class: "row", href: pathToConversation(account) }, avatar(account),
      text, end)), { text, end });
  }

  function show(conversation) {
    const { account, newest, unread, waits, last } = conversation;
    const key = keyOf(account);
    const item = items.get(key) ?? itemFor(account);
    items.set(key, item);
    const when = waits.length ? "" : whenText(newest?.at ?? last);
    const print = JSON.stringify([conversation, when]);
    if (item.print === print) return item;
    item.print = print;
    item.classList.toggle("is-unread", unread > 0);
    fill(item.text, h("bdi", { class: "row-label" }, account),
      h("span", { class: "conversation-last hint" }, lastOf(conversation)));
    fill(item.end, h("time", null, when), unread ? h("span", { class: "badge" },
      h("span", { "aria-hidden": "true" }, formatNumber(unread)),
      h("span", { class: "unseen" }, t("tab.unread", { count: unread }))) : null);
    return item;
  }

  return Object.assign(element, { update: () => {
    const found = conversationsOf(state);
    place(element, found.map(show));
    element.hidden = !found.length;
  } });
}
