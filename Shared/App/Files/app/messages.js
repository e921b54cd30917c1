import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { send } from "../lib/requests.js";
import { currentRoute, go, pathTo, replaceRoute } from "../lib/route.js";
import { state } from "../lib/state.js";
import { channelOf, namesOf } from "../lib/subjects.js";
import { hasAll, searchable, t, wordsOf } from "../lib/text.js";
import { pull } from "../elements/pull.js";
import { roundButton, search } from "../elements/search.js";
import { segments } from "../elements/segments.js";
import { toast } from "../elements/toast.js";
import { channelList, channelsNow } from "./channels.js";
import { messageDetail } from "./detail.js";
import { messageActions } from "./message-actions.js";
import { messageList } from "./message-list.js";

/**
 * The messages: by time, or those of one channel that is opened from the list of channels. While `wide` matches, they
 * are lines, and one message is beside them. `arrived` has those that do not wait. `isLinking()` says whether this page
 * leads to the subscriptions, because the bar has no tab of them.
 */
export function messagesPage(wide, arrived, isLinking) {
  let query = "";
  /** The messages that were unread when only those were asked for; they stay when they have been read. */
  let unread = null;
  /** What was shown last: "time", "channels", or a channel's identifier. */
  let view = null;
  /** What the address said besides the view: the form of the list, and the message beside it. */
  let rest = {};
  /** The message to reveal once the state has it, such as a restored one, and whether that marks it as read. */
  let awaited = null;

  const find = search({ label: t("messages.search"),
      onchange: (words) => { query = words.trim(); list.start(); update(); } });
  const form = roundButton(phoneIcon("list"), t("messages.list"),
    () => go({ form: currentRoute().form === "list" ? "" : "list" }));
  const refresh = roundButton(icon("retry"), t("messages.refresh"), lookNow);
  const order = segments({ label: t("messages.order"), value: "time",
      onchange: (by) => go({ by: by === "time" ? "" : by, channel: "" }),
    options: [{ value: "time", label: t("messages.byTime") }, { value: "channel", label: t("messages.byChannel") }] });
  const onlyUnread = h("button", { class: "chip", type: "button", onclick: () => {
    unread = unread ? null : new Set(state.messages.filter((message) => !message.read)
      .map((message) => message.msi_key));
    update();
  } }, t("messages.unread"));
  const allRead = h("button", { class: "chip all-read", type: "button", onclick: () => {
    actions.markAllRead(inView());
    heading.focus({ preventScroll: true });
  } }, icon("check", "small"), t("messages.markAll"));
  const choose = h("a", { class: "chip", href: "#subscriptions" }, phoneIcon("bell", "small"), t("tab.subscriptions"));
  const filters = h("div", { class: "head-line filters" }, onlyUnread, choose, allRead);
  const back = h("a", { class: "back" }, icon("back", "small"), t("messages.channels"));
  const heading = h("h1", { tabIndex: -1, dir: "auto" });
  const everywhere = h("button", { class: "link-button", type: "button", onclick: () => {
    // Keeps the search words and the focus.
    view = "channels";
    go({ channel: "" });
    find.input.focus();
  } }, t("messages.search"));
  const count = h("p", { class: "hint", role: "status" });
  const found = h("div", { class: "found" }, count, everywhere);
  const note = h("div", { class: "note-place" });
  const channels = channelList();
  const scroller = h("div", { class: "view" });
  const actions = { ...messageActions({ removed, reveal }),
    show: ({ msi_key: key }) => replaceRoute({ message: key }) };
  const list = messageList(scroller, actions);
  const detail = wide ? messageDetail(actions) : null;
  scroller.append(h("header", { class: "head" }, back,
      h("div", { class: "head-line" }, heading, refresh, form, find.button), find.input, order, filters),
    found, note, channels, ...list.parts);
  const element = h("section", { class: "page", onkeydown: (event) => {
    if (event.key === "z" && (event.ctrlKey || event.metaKey) && !event.target.closest("input")) actions.undo();
  } }, scroller, detail);
  pull(scroller, lookNow);

  /** After a deletion the next message has the focus, and its place beside the list. */
  function removed(key) {
    const next = list.remove(key);
    if (!next) heading.focus({ preventScroll: true });
    if (currentRoute().message === key) replaceRoute({ message: next });
  }

  async function lookNow() {
    if (refresh.ariaBusy === "true") return;
    refresh.ariaBusy = "true";
    const isDone = await send("POST", "/refresh", undefined, { isQuiet: true });
    refresh.ariaBusy = "false";
    arrived.letNextIn();
    toast(t(isDone ? "messages.refreshed" : state.control.offline
        ? "messages.refresh.offline" : "messages.refresh.failed"), { seconds: 3 });
  }

  /** Shows a message wherever it is, and focuses it. `isRead`: as if it was opened. */
  function reveal(key, isRead = true) {
    const message = state.messages.find((each) => each.msi_key === key);
    awaited = message ? null : [key, isRead];
    if (!message) return;
    arrived.letIn();
    find.close();
    unread = null;
    const { by, channel, form: shape } = currentRoute();
    // Stays in the open view if the message is in it.
    const place = by === "channel" && channel === channelOf(message) ? { by, channel } : {};
    history.pushState(null, "", pathTo({ tab: "messages", form: shape, ...place,
      message: wide?.matches ? key : "" }));
    dispatchEvent(new Event("hashchange"));
    list.reveal(key, isRead);
    if (isRead) actions.read(message);
  }

  /** Shows the list from its beginning. */
  function showNewest() {
    find.close();
    unread = null;
    history.pushState(null, "", pathTo({ tab: "messages", ...rest }));
    dispatchEvent(new Event("hashchange"));
    scroller.scrollTop = 0;
    heading.focus({ preventScroll: true });
  }

  /** The messages of the channel that is open, or all. */
  const inView = () =>
    (view === "time" || view === "channels"
    ? arrived.messages() : arrived.messages().filter((message) => channelOf(message) === view));

  /** What searches compare, which takes time for thousands of messages. */
  const texts = new Map();
  function has(message, words) {
    const source = [message.title, message.desc, message.message, ...namesOf(message)].join(" ");
    let text = texts.get(message.msi_key);
    if (text?.source !== source) texts.set(message.msi_key, text = { source, forms: searchable(source) });
    return hasAll(words, text.forms);
  }

  /**
   * Shows the view that the address names. The focus follows: to an opened channel's heading, and from it back to its
   * row.
   */
  function turnTo(next) {
    const before = view;
    if (next === before) return null;
    // Who opens another view sees all of it.
    arrived.letIn();
    view = next;
    unread = null;
    list.start();
    if (before === null) return null;
    const { activeElement } = document;
    // After a click beside all controls it is something around the view.
    const isFocused = element.contains(activeElement) || activeElement.contains(element);
    find.close();
    scroller.scrollTop = 0;
    if (!isFocused || next === "time" || before === "time") return null;
    return next === "channels" ? () => channels.focusRow(before) : () => heading.focus({ preventScroll: true });
  }

  /** Shows what has changed in the state. */
  function update() {
    const { tab, by = "time", channel = "", form: shape = "", message: beside = "" } = currentRoute();
    if (tab !== "messages") return;
    rest = { form: shape, message: beside };
    const isBeside = Boolean(wide?.matches);
    const opened = by === "channel" && channel ? channelsNow(state.messages).find(({ id }) => id === channel) : null;
    const settle = turnTo(by !== "channel" ? "time" : opened ? channel : "channels");
    const isList = view === "channels" && !query;
    heading.textContent = opened ? opened.name : t("messages.heading");
    back.hidden = !opened;
    back.href = pathTo({ tab: "messages", by: "channel", form: shape });
    order.hidden = Boolean(opened);
    order.value = by;
    form.hidden = isList || isBeside;
    form.setAttribute("aria-pressed", String(shape === "list"));
    find.label = opened ? t("search.channel", { channel: opened.name }) : t("messages.search");

    const all = inView();
    onlyUnread.hidden = isList;
    onlyUnread.setAttribute("aria-pressed", String(unread !== null));
    // It keeps its space when it is hidden, so that nothing moves when the last message has been read.
    allRead.classList.toggle("is-out", Boolean(query) || all.every(({ read }) => read));
    choose.hidden = !isLinking();
    filters.hidden = !arrived.messages().length;

    let messages = all;
    if (unread) messages = messages.filter((message) => !message.read || unread.has(message.msi_key));
    const words = wordsOf(query);
    if (query) messages = messages.filter((message) => has(message, words));
    const scope = [opened ? opened.name : t("subscriptions.everywhere"), unread
      ? t("messages.unread") : ""].filter(Boolean).join(" · ");
    count.textContent = query ? `${t("messages.found", { count: messages.length })} · ${scope}` : "";
    everywhere.hidden = !query || !opened;
    channels.hidden = !isList || !all.length;
    if (isList) channels.show(all, shape);
    list.show(isList ? [] : messages, isBeside ? "line" : shape, beside);
    element.classList.toggle("is-beside", isBeside);
    if (detail) {
      detail.hidden = !isBeside;
      if (isBeside) detail.show(beside);
    }
    showNote((isList ? all : messages).length ? "" : query ? "search" : unread ? "unread"
      : arrived.messages().length ? "channel" : "none");
    settle?.();
    if (awaited && state.messages.some((message) => message.msi_key === awaited[0])) reveal(...awaited);
  }

  function showNote(reason) {
    if ((note.firstChild?.dataset.why ?? "") === reason) return;
    fill(note, reason ? h("div", { class: "empty", dataset: { why: reason } },
        reason === "search" ? icon("search") : phoneIcon("bubble"),
      h("h2", null, t(`messages.empty.${reason}`)), h("p", null, t(`messages.empty.${reason}.text`)),
      reason === "none" ? h("a", { class: "button", href: "#subscriptions" },
        t("messages.empty.action")) : null) : null);
  }

  return Object.assign(element, { update, reveal, showNewest });
}
