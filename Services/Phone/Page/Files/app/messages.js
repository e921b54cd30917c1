import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { dayHeading, dayOf } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { download, send } from "../lib/requests.js";
import { currentRoute, go, pathTo } from "../lib/route.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { chips } from "../elements/chips.js";
import { confirmAction } from "../elements/dialog.js";
import { pull } from "../elements/pull.js";
import { matches, roundButton, search } from "../elements/search.js";
import { segments } from "../elements/segments.js";
import { toast } from "../elements/toast.js";
import { addToCalendar } from "./calendar.js";
import { messageCard, namesOf } from "./card.js";

const pageSize = 40;
/** How long a message is seen in full before it counts as read. */
const readAfter = 2_000;

const unknown = "unknown";
/** The identifier of a message's channel, by which its topic begins. */
const channelOf = (message) => state.channels.find(({ id }) => message.topic_key.startsWith(id))?.id ?? unknown;

/** The messages by time or by channel. */
export function messagesPage() {
  const cards = new Map();
  const days = new Map();
  const open = { lines: new Set(), texts: new Set(), actions: new Set() };
  let shown = pageSize;
  let query = "";
  /** The messages that were unread when only those were asked for; they stay when they have been read. */
  let unread = null;

  const find = search({ label: t("messages.search"), onchange: (words) => { query = words.trim(); shown = pageSize; update(); } });
  const form = roundButton(phoneIcon("list"), t("messages.list"), () => go({ form: currentRoute().form === "list" ? "" : "list" }));
  const refresh = roundButton(icon("retry"), t("messages.refresh"), lookNow);
  const order = segments({ label: t("messages.order"), value: "time", onchange: (by) => go({ by: by === "time" ? "" : by, channel: "" }),
    options: [{ value: "time", label: t("messages.byTime") }, { value: "channel", label: t("messages.byChannel") }] });
  const channels = chips({ label: t("messages.channel"), onchange: (channel) => go({ channel }) });
  const onlyUnread = h("button", { class: "chip", type: "button", onclick: () => {
    unread = unread ? null : new Set(state.messages.filter((message) => !message.read).map((message) => message.msi_key));
    update();
  } }, t("messages.unread"));
  const heading = h("h1", { tabIndex: -1 }, t("messages.heading"));
  const list = h("div", { class: "days" });
  const more = h("button", { class: "button more-messages", type: "button", onclick: () => showMore() }, t("messages.more"));
  const count = h("p", { class: "hint found", role: "status" });
  const scroller = h("div", { class: "view" },
    h("header", { class: "head" }, h("div", { class: "head-line" }, heading, refresh, form, find.button), find.input, onlyUnread, order, channels),
    count, list, more);
  const element = h("section", { class: "page" }, scroller);
  pull(scroller, lookNow);
  new IntersectionObserver(([entry]) => { if (entry.isIntersecting && !more.hidden) showMore(); }, { root: scroller, rootMargin: "600px" }).observe(more);

  async function lookNow() {
    if (refresh.ariaBusy === "true") return;
    refresh.ariaBusy = "true";
    const isDone = await send("POST", "/refresh", undefined, { isQuiet: true });
    refresh.ariaBusy = "false";
    toast(t(isDone ? "messages.refreshed" : state.control.offline ? "messages.refresh.offline" : "messages.refresh.failed"), { seconds: 3 });
  }

  function showMore() {
    shown += pageSize;
    update();
  }

  const act = {
    add: addToCalendar,
    keep: async (message) => {
      if (await send("PATCH", `/messages/${message.msi_key}`, { kept: !message.kept })) toast(t(message.kept ? "message.keep.ended" : "message.kept"), { seconds: 3 });
    },
    exportOne: (message) => download(`/export?format=text&key=${message.msi_key}`, t("message.exported")),
    remove,
    reveal,
    read: (message) => { if (!message.read) send("PATCH", `/messages/${message.msi_key}`, { read: true }, { isQuiet: true }); },
  };

  async function remove(message) {
    const path = `/messages/${message.msi_key}`;
    const card = cards.get(message.msi_key);
    const neighbour = neighbourOf(card);
    if (!(await confirmAction({ heading: t("delete.question", { title: message.title }), text: t("delete.text"), action: t("delete.action") }))) return;
    if (!(await send("DELETE", path))) return;
    card.remove();
    (neighbour?.isConnected ? focusable(neighbour) : heading).focus({ preventScroll: true });
    toast(t("delete.done", { title: message.title }), { action: { label: t("undo"), run: () => send("POST", `${path}/restore`) } });
  }

  function neighbourOf(card) {
    const all = [...list.querySelectorAll(".message")];
    const index = all.indexOf(card);
    return all[index + 1] ?? all[index - 1];
  }

  const focusable = (card) => card.querySelector(".line") ?? card.querySelector(".card");

  /** Shows a message wherever it is, and focuses it. */
  function reveal(key) {
    const index = state.messages.findIndex((message) => message.msi_key === key);
    if (index < 0) return;
    find.input.value = query = "";
    unread = null;
    shown = Math.max(shown, index + 1);
    history.pushState(null, "", pathTo({ tab: "messages", form: currentRoute().form }));
    dispatchEvent(new Event("hashchange"));
    const card = cards.get(key);
    if (card.querySelector(".line")?.getAttribute("aria-expanded") === "false") card.querySelector(".line").click();
    card.scrollIntoView({ block: "center" });
    focusable(card).focus({ preventScroll: true });
    act.read(state.messages[index]);
  }

  // Cards that are seen in full for a while have been read.
  const timers = new Map();
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, intersectionRatio, intersectionRect, rootBounds } of entries) {
      const { key } = target.dataset;
      const isSeen = intersectionRatio > 0.98 || (rootBounds && intersectionRect.height > rootBounds.height * 0.7);
      if (!isSeen) {
        clearTimeout(timers.get(key));
        timers.delete(key);
      } else if (!timers.has(key)) {
        timers.set(key, setTimeout(() => {
          timers.delete(key);
          const message = state.messages.find((each) => each.msi_key === key);
          if (message && !message.read && !document.hidden && target.isConnected) act.read(message);
        }, readAfter));
      }
    }
  }, { root: scroller, threshold: [0.2, 0.4, 0.6, 0.8, 0.99] });

  function cardOf(message, form) {
    let card = cards.get(message.msi_key);
    if (!card) {
      card = messageCard(open, act);
      cards.set(message.msi_key, card);
    }
    card.update(message, form);
    if (message.read || form === "list") watcher.unobserve(card);
    else watcher.observe(card);
    return card;
  }

  function daySection(day, messages, form) {
    let section = days.get(day);
    if (!section) {
      const identifier = newIdentifier("day");
      const title = h("h2", { class: "day", id: identifier });
      const items = h("ul", { class: "plain" });
      section = { element: h("section", { "aria-labelledby": identifier }, title, items), title, items };
      days.set(day, section);
    }
    const { word, date } = dayHeading(messages[0].timestamp, phoneNow());
    if (section.title.textContent !== `${word} ${date}`) fill(section.title, h("span", null, word), " ", h("span", null, date));
    section.items.className = `plain ${form === "list" ? "group" : "cards"}`;
    place(section.items, messages.map((message) => cardOf(message, form)));
    return section.element;
  }

  /** Shows the state, as far as it is another one. */
  function update() {
    const { tab, by = "time", channel = "", form: shape = "" } = currentRoute();
    if (tab !== "messages") return;
    order.value = by;
    form.setAttribute("aria-pressed", String(shape === "list"));
    onlyUnread.setAttribute("aria-pressed", String(unread !== null));
    onlyUnread.hidden = !unread && (find.input.hidden || !state.messages.some((message) => !message.read));
    let messages = state.messages;
    channels.hidden = by !== "channel" || !messages.length;
    if (!channels.hidden) {
      const options = state.channels.map(({ id, name }) => ({ value: id, label: name }));
      if (messages.some((message) => channelOf(message) === unknown)) options.push({ value: unknown, label: t("message.unknown") });
      const chosen = options.some(({ value }) => value === channel) ? channel : channelOf(messages[0]);
      channels.show(options, chosen);
      messages = messages.filter((message) => channelOf(message) === chosen);
    }
    if (unread) messages = messages.filter((message) => !message.read || unread.has(message.msi_key));
    if (query) messages = messages.filter((each) => matches([each.title, each.desc, each.message, ...namesOf(each)].join(" "), query));
    more.hidden = messages.length <= shown;
    count.textContent = query ? t("messages.found", { count: messages.length }) : "";
    const ofDays = Map.groupBy(messages.slice(0, shown), (message) => dayOf(message.timestamp));
    if (messages.length) place(list, [...ofDays].map(([day, each]) => daySection(day, each, shape)));
    else if (list.firstChild?.dataset?.why !== why()) fill(list, emptyNote(why()));
    const known = new Set(state.messages.map((message) => message.msi_key));
    for (const key of cards.keys()) if (!known.has(key)) cards.delete(key);
  }

  const why = () => (query ? "search" : unread ? "unread" : state.messages.length ? "channel" : "none");

  function emptyNote(reason) {
    return h("div", { class: "empty", dataset: { why: reason } }, reason === "search" ? icon("search") : phoneIcon("bubble"),
      h("h2", null, t(`messages.empty.${reason}`)), h("p", null, t(`messages.empty.${reason}.text`)),
      reason === "none" ? h("a", { class: "button", href: "#subscriptions" }, t("messages.empty.action")) : null);
  }

  return Object.assign(element, { update, reveal });
}
