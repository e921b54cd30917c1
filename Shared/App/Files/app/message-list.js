import { fill, h, newIdentifier } from "../lib/dom.js";
import { dayHeading, dayOf } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { messageCard } from "./card.js";

const pageSize = 40;
/** How long a message is seen in full before it counts as read. */
const readAfter = 2_000;

/**
 * Messages under their days, more of them as `scroller` comes near the end. `act` is what cards can do. `parts` are the
 * elements for the page; `show(messages, form, beside)` sets the messages, the newest first, and the key of the one
 * that is shown beside them; `start()` goes back to the first page.
 */
export function messageList(scroller, act) {
  const cards = new Map();
  const days = new Map();
  const open = { lines: new Set(), texts: new Set(), actions: new Set(), beside: "" };
  let shown = pageSize;
  let current = [[], ""];

  const list = h("div", { class: "days" });
  const more = h("button", { class: "button more-messages", type: "button", onclick: () => showMore() },
    t("messages.more"));
  new IntersectionObserver(([entry]) => { if (entry.isIntersecting && !more.hidden) showMore(); },
    { root: scroller, rootMargin: "600px" }).observe(more);

  function showMore(wanted = shown + pageSize) {
    shown = Math.max(shown, wanted);
    show(...current);
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
    if (message.read || form !== "") watcher.unobserve(card);
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
    if (section.title.textContent !== `${word} ${date}`) {
      fill(section.title, h("span", null, word), " ", h("span", null, date));
    }
    section.items.className = `plain ${form === "" ? "cards" : "group"}`;
    place(section.items, messages.map((message) => cardOf(message, form)));
    return section.element;
  }

  function show(messages, form, beside = "") {
    current = [messages, form, beside];
    open.beside = beside;
    more.hidden = messages.length <= shown;
    const ofDays = Map.groupBy(messages.slice(0, shown), (message) => dayOf(message.timestamp));
    place(list, [...ofDays].map(([day, each]) => daySection(day, each, form)));
    const known = new Set(state.messages.map((message) => message.msi_key));
    for (const key of cards.keys()) if (!known.has(key)) cards.delete(key);
  }

  const focusable = (card) => card.querySelector(".line") ?? card.querySelector(".card");

  /** Removes a message, and focuses the next one. Returns the key of that one; `undefined` without one. */
  function remove(key) {
    const all = [...list.querySelectorAll(".message")];
    const index = all.findIndex((card) => card.dataset.key === key);
    const neighbour = all[index + 1] ?? all[index - 1];
    all[index]?.remove();
    if (neighbour) focusable(neighbour).focus({ preventScroll: true });
    return neighbour?.dataset.key;
  }

  /** Focuses a message of those that are shown; opens its line if `isOpen`. */
  function reveal(key, isOpen) {
    showMore(current[0].findIndex((message) => message.msi_key === key) + 1);
    const card = cards.get(key);
    if (!card?.isConnected) return;
    if (isOpen && card.querySelector(".line")?.getAttribute("aria-expanded") === "false") {
      card.querySelector(".line").click();
    }
    card.scrollIntoView({ block: "center" });
    focusable(card).focus({ preventScroll: true });
  }

  return { parts: [list, more], show, remove, reveal, start: () => { shown = pageSize; } };
}
