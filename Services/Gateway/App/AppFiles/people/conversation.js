// The conversation with one person. What this device has is shown at once, the newest at the end, and below it what
// waits to be sent.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { dayHeading, dayOf } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { pathTo } from "../lib/route.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { conversationWith, lacksLast, markOf, waitingFor } from "../core/direct-state.js";
import { pathOfMessage } from "../core/pictures.js";
import { avatar } from "./avatar.js";
import { bubble, contentOf, waitingBubble, waitingText } from "./bubble.js";
import { composer } from "./composer.js";
import { directOfApp, toFriends } from "./parts.js";
import { askToReport } from "./report.js";

/** How many messages are shown at first, and with each step back. */
const pageSize = 50;
/** Messages of one person within this time have one time below them, in milliseconds. */
const together = 300_000;
/** How near to its end a conversation counts as read to the end, in pixels. */
const nearEnd = 80;
const notification = { tag: "direct_message" };

/** What is read here needs no notification any more. */
async function closeNotifications() {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const each of await registration?.getNotifications(notification) ?? []) each.close();
}

/** The view of the conversation with `account`. `update()` shows the state. */
export function conversationView(account) {
  const name = conversationWith(state, account).account;
  const heading = h("h1", { tabIndex: -1, dir: "auto" }, name);
  const person = h("a", { class: "round", href: pathTo({ tab: "people", page: "person", account }),
    title: t("conversation.person"), "aria-label": t("conversation.person") }, icon("account"));
  const back = toFriends();
  const earlier = h("button", { class: "button", type: "button", hidden: true, onclick: showEarlier },
    t("conversation.earlier"));
  const list = h("ol", { class: "plain letters" });
  const none = h("p", { class: "hint", hidden: true }, t("conversation.none"));
  const scroller = h("div", { class: "letters-place", role: "region", tabIndex: 0, onscroll: scrolled,
    "aria-label": t("conversation.messages", { name }) }, earlier, none, list);
  const jump = h("button", { class: "pill conversation-jump", type: "button", hidden: true, onclick: goToEnd },
    icon("down", "small"), t("conversation.new"));
  /** Readers hear what comes, but not all that was there before. */
  const said = h("p", { class: "unseen", role: "status" });
  const below = composer(account, { onsend: () => { isSending = true; } });
  const element = h("div", { class: "view conversation" }, h("header", { class: "head-line" },
    h("a", { class: "round", href: back.href, title: back.label, "aria-label": back.label }, icon("back")),
    avatar(account), heading, person), scroller, jump, said, below);
  const items = new Map();
  /** What messages say and show. It stays when what is said below them changes, and when they wait no more. */
  const contents = new Map();
  /** The conversation as it was when the person came: what they had not read is marked. */
  const then = conversationWith(state, account);
  let limit = pageSize;
  let print = "";
  /** The number of the newest message that is shown; `null` before anything is. */
  let newest = null;
  /** The first message that is shown. */
  let first = null;
  /** What was last said of a message that waits. */
  let stuck = "";
  let isSending = false;
  /** Whether the end is in sight, and stays there. */
  let isFollowing = true;
  let isReading = false;
  let isOutdated = false;

  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearEnd;

  function goToEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    scrolled();
  }

  /** Marks as read what is shown. */
  function scrolled() {
    // Another tab of the app is open.
    if (!scroller.clientHeight) return;
    isFollowing = isAtEnd();
    if (newest === null || !isFollowing || !element.isConnected) return;
    jump.hidden = true;
    const { got, seen } = conversationWith(state, account);
    if (document.hidden || !got || got.number <= seen || got.number > newest) return;
    // If the hub refuses it, the two are no friends any more.
    directOfApp().then((direct) => direct.read(account)).catch(() => {});
    closeNotifications().catch(() => {});
  }

  async function showEarlier() {
    limit += pageSize;
    await read();
    scroller.focus({ preventScroll: true });
  }

  /** An item of the list. It is made again if what it shows changes. */
  function item(key, facts, make) {
    const now = JSON.stringify(facts);
    const known = items.get(key);
    if (known?.print === now) return known;
    const made = Object.assign(make(), { print: now });
    items.set(key, made);
    return made;
  }

  /** What a message shows, by the key with which it was sent here, or by its id. */
  function contentFor(key, facts) {
    if (!contents.has(key)) contents.set(key, contentOf({ name, ...facts }));
    return contents.get(key);
  }

  const note = (key, text, kind = "letters-note") => item(key, [text], () => h("li", { class: kind }, text));

  /** The heading of a day, before its first message. */
  function day({ id, at }) {
    const { word, date } = dayHeading(at, phoneNow());
    return item(`day ${id}`, [word, date], () => h("li", { class: "letters-note" },
      h("h2", null, word), h("span", null, ` ${date}`)));
  }

  function itemsOf({ letters, hasEarlier }, conversation, waits) {
    const gaps = conversation.gaps.filter((each) => !hasEarlier || each > letters[0].number);
    const unread = letters.findIndex(({ isOwn, number }) => !isOwn && number > then.seen
      && number <= (then.got?.number ?? 0));
    const found = [];
    letters.forEach((letter, index) => {
      const [before, next] = [letters[index - 1], letters[index + 1]];
      const mark = letter.isOwn ? markOf(conversation, letter.number) : "";
      if (!before || dayOf(before.at) !== dayOf(letter.at)) found.push(day(letter));
      const passed = gaps.filter((each) => each < letter.number);
      if (passed.length) found.push(note(`gap ${passed[0]}`, t("conversation.gap")));
      gaps.splice(0, passed.length);
      if (before && index === unread) {
        found.push(note("unread", t("conversation.unread"), "letters-note is-unread"));
      }
      const isLast = !next || next.isOwn !== letter.isOwn || next.at - letter.at > together
        || (letter.isOwn && markOf(conversation, next.number) !== mark);
      const { id, key = id, text, isOwn } = letter;
      found.push(item(id, [mark, isLast], () => bubble(letter, { name, mark, isLast,
        content: contentFor(key, { text, path: pathOfMessage(id), isOwn }),
        onreport: (each) => askToReport(each, name) })));
    });
    if (gaps.length || lacksLast(conversation, waits)) found.push(note("gap", t("conversation.gap")));
    for (const each of waits) {
      const { key, about: { text = null, picture } } = each;
      found.push(item(key, [each.mark, each.error], () => waitingBubble(each,
        contentFor(key, { text, path: picture, isOwn: true }))));
    }
    return found;
  }

  /** Shows what was `found` on this device since the app was in a state. What is sent by now waits no more. */
  function show(found, { direct }) {
    const { letters, hasEarlier } = found;
    const sent = new Set(letters.map(({ key }) => key));
    const waits = waitingFor(direct, account).filter(({ key }) => !sent.has(key));
    const [height, top] = [scroller.scrollHeight, scroller.scrollTop];
    const [isFirst, wasFollowing, hadFocus] = [newest === null, isFollowing, list.contains(document.activeElement)];
    const theirs = letters.findLast(({ isOwn, number }) => !isFirst && !isOwn && number > newest);
    place(list, itemsOf(found, conversationWith({ direct }, account), waits));
    if (hadFocus && !list.contains(document.activeElement)) scroller.focus({ preventScroll: true });
    earlier.hidden = !hasEarlier;
    newest = Math.max(newest ?? 0, letters.at(-1)?.number ?? 0);
    if (theirs) said.textContent = t("bubble.from", { name }) + (theirs.text ?? t("direct.picture"));
    sayWhatWaits(waits.findLast(({ mark }) => mark !== "sending"));
    const unread = isFirst ? list.querySelector(".is-unread") : null;
    if (unread) unread.scrollIntoView({ block: "start" });
    else if (isFirst || wasFollowing || isSending) goToEnd();
    else if (letters[0]?.id !== first) scroller.scrollTop = top + scroller.scrollHeight - height;
    else if (theirs) jump.hidden = false;
    first = letters[0]?.id;
    isSending = false;
    tellNone();
    scrolled();
  }

  /** Readers hear that the last message was not sent, and why, once. */
  function sayWhatWaits(waiting) {
    const text = waiting ? waitingText(waiting) : "";
    if (text === stuck) return;
    if (text || said.textContent === stuck) said.textContent = text;
    stuck = text;
  }

  /** Without messages: whether there are none. A device that does not have everything yet does not know. */
  function tellNone() {
    none.hidden = newest === null || list.childElementCount > 0 || !state.direct.position?.isComplete;
  }

  /** The messages of this device. What has come since does not push out those that somebody reads above the end. */
  async function lettersNow() {
    const direct = await directOfApp();
    const found = await direct.letters(account, limit);
    const fresh = isFollowing ? 0 : found.letters.filter(({ number }) => number > newest).length;
    limit += fresh;
    return fresh && found.hasEarlier ? direct.letters(account, limit) : found;
  }

  /** Reads what this device has, once more if something has come since. */
  async function read() {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isOutdated) {
        isOutdated = false;
        const known = state;
        const found = await lettersNow().catch(() => null);
        if (found && state.people.account) show(found, known);
      }
    } finally {
      isReading = false;
    }
  }

  // Pictures come later than their places, and a keyboard on the screen takes room.
  const follow = () => { if (isFollowing) goToEnd(); };
  list.addEventListener("load", follow, true);
  new ResizeObserver(follow).observe(scroller);
  // A device that does not have everything yet. Without an answer it comes with the rest.
  directOfApp().then((direct) => direct.open(account)).catch(() => {});
  return Object.assign(element, { update: () => {
    below.update();
    tellNone();
    const next = JSON.stringify([conversationWith(state, account), waitingFor(state.direct, account),
      dayOf(phoneNow())]);
    if (print !== (print = next)) read();
    else scrolled();
  } });
}
