import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { dayHeading, dayOf, formatTime } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { pathTo } from "../lib/route.js";
import { phoneNow, state } from "../lib/state.js";
import { channelOf } from "../lib/subjects.js";
import { formatNumber, t } from "../lib/text.js";

/**
 * The channels that have some of these messages, the one with the newest first, and then those with a subject of the
 * student's.
 */
export function channelsNow(messages) {
  const byChannel = Map.groupBy(messages, channelOf);
  const known = new Map(state.channels.map((channel) => [channel.id, channel]));
  const withMessages = [...byChannel].map(([id, each]) =>
    ({ id, name: known.get(id)?.name ?? t("message.unknown"), messages: each }));
  const others = state.channels.filter(({ id, areas }) => !byChannel.has(id) &&
    areas.some(({ subjects }) => subjects.some(({ subscribed }) => subscribed)));
  return [...withMessages, ...others.map(({ id, name }) => ({ id, name, messages: [] }))];
}

/** The channels as rows that lead to their messages, with the newest message and how many are unread. */
export function channelList() {
  const rows = new Map();
  const element = h("ul", { class: "plain group" });

  function row({ id, name, messages }, form) {
    const item = rows.get(id) ?? h("li", null);
    rows.set(id, item);
    const [newest] = messages;
    const unread = messages.filter(({ read }) => !read).length;
    const at = newest && whenOf(newest.timestamp);
    const href = pathTo({ tab: "messages", by: "channel", channel: id, form });
    const print = JSON.stringify([name, newest?.title, unread, at, href]);
    if (item.print === print) return item;
    item.print = print;
    const hadFocus = item.contains(document.activeElement);
    fill(item, h("a", { class: "row channel", href, dataset: { channel: id } },
      h("span", { class: "row-text" },
        h("span", { class: "channel-line" }, h("span", { class: "channel-name" }, h("bdi", null, name)),
          at ? h("time", { class: "at" }, at) : null),
        h("span", { class: "channel-line hint" },
          h("span", { class: "channel-newest" }, h("bdi", null, newest ? newest.title : t("channels.none"))))),
      unread ? h("span", { class: "badge" }, h("span", { "aria-hidden": "true" }, formatNumber(unread)),
        h("span", { class: "unseen" }, t("tab.unread", { count: unread }))) : null,
      icon("next", "small")));
    if (hadFocus) item.firstChild.focus();
    return item;
  }

  return Object.assign(element, {
    show: (messages, form) => place(element, channelsNow(messages).map((channel) => row(channel, form))),
    focusRow: (id) => (rows.get(id)?.firstChild ?? element.querySelector("a"))?.focus(),
  });
}

/** The time of a message of today, or the day. */
function whenOf(timestamp) {
  const now = phoneNow();
  const ago = dayOf(now) - dayOf(timestamp);
  const { word, date } = dayHeading(timestamp, now);
  return ago === 0 ? formatTime(timestamp) : ago < 7 ? word : date;
}

