// What the pages for professors are made of.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { reasonOf } from "./reasons.js";

/** How often the page reads again what it shows, in milliseconds. Each pause is up to a fifth longer or shorter. */
const interval = 30_000;

/** The head of a page. `back` is a link above it: `{href, label}`. */
export function pageHead({ heading, intro, action, back }) {
  const title = h("h1", { tabIndex: -1 });
  const below = h("p", null);
  const element = h("div", { class: "page-top" },
    back ? h("a", { class: "back", href: back.href }, icon("back", "small"), h("bdi", null, back.label)) : null,
    h("header", { class: "page-head" }, title, below, action ? h("div", { class: "head-action" }, action) : null));
  element.say = (name, text) => {
    fill(title, h("bdi", null, name));
    fill(below, text);
    below.hidden = !text;
    document.title = `${name} · ${t("product")}`;
  };
  element.say(heading, intro);
  return element;
}

/** The focus goes to the heading of the page, since what had it is gone. */
export const focusHeading = () => document.querySelector("main h1")?.focus({ preventScroll: true });

/** Replaces the content of a list. The focus goes to the heading if it was on what is gone. */
export function refill(list, ...content) {
  const hadFocus = list.contains(document.activeElement);
  fill(list, content);
  if (hadFocus) focusHeading();
}

/** What a page shows instead of a list that is empty. */
export const emptyPage = ({ sign, heading, text, action }) =>
  h("div", { class: "empty" }, icon(sign), h("h2", null, heading), h("p", null, text), action);

/** What could not be done, where it is announced. `say(text, next)` shows it; `next()` tries again. */
export function problemNotice() {
  const said = h("p", { class: "notice bad", role: "alert" });
  let repeat = null;
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: () => repeat?.() },
    t("people.again"));
  return Object.assign(h("div", { class: "stack problem" }, said, again), { say: (text, next = null) => {
    if (said.textContent !== text) said.textContent = text;
    repeat = next;
    if (!next && again === document.activeElement) focusHeading();
    again.hidden = !next;
  } });
}

/**
 * A part of a page that comes from the hub. `load()` reads it, and `show(value)` shows it; `printOf(value)` is what a
 * change of it would change. While the part is on the page and the page is seen, it is read again about every 30
 * seconds, unless it is something that seldom changes (`isStill`). `refresh()` reads it at once.
 */
export function remote({ load, show, content, printOf = (value) => value, isStill = false }) {
  const problem = problemNotice();
  const bones = h("div", { class: "stack", "aria-busy": "true", role: "status", "aria-label": t("loading") },
    h("span", { class: "skeleton bone-bar" }), h("span", { class: "skeleton bone-card" }));
  content.hidden = true;
  const element = h("div", { class: "stack" }, problem, bones, content);
  let print = null;
  let turn = 0;
  let timer = null;

  async function refresh() {
    clearTimeout(timer);
    const mine = turn += 1;
    content.setAttribute("aria-busy", "true");
    try {
      const value = await load();
      // A later answer comes.
      if (mine !== turn) return;
      content.removeAttribute("aria-busy");
      problem.say("");
      bones.remove();
      content.hidden = false;
      if (print !== (print = JSON.stringify(printOf(value)))) show(value);
    } catch (error) {
      if (mine !== turn || error.kind === "signed out") return;
      content.removeAttribute("aria-busy");
      bones.remove();
      problem.say(reasonOf(error), refresh);
    }
    if (!isStill) timer = setTimeout(next, interval * (0.8 + Math.random() * 0.4));
  }

  function next() {
    // It is not on the page any more.
    if (!element.isConnected) document.removeEventListener("visibilitychange", next);
    // A hidden page reads when it is seen again.
    else if (!document.hidden) refresh();
  }

  if (!isStill) document.addEventListener("visibilitychange", next);
  refresh();
  return Object.assign(element, { refresh, update: () => {} });
}

/** Asks a question that names the thing, and does `work()` after a yes. Returns whether it was done. */
export async function askAndDo({ heading, text, action, work, done }) {
  const yes = (close) => h("button", { class: "button danger", type: "button", onclick: () => close(true) }, action);
  const isWanted = await showDialog({ heading, role: "alertdialog", make: (close) => [
    h("p", { class: "secondary" }, text), dialogButtons(close, yes(close))] });
  return isWanted === true && doIt(work, done);
}

/** Does `work()` and says `done`, or why not. Returns whether it was done. */
export async function doIt(work, done) {
  try {
    await work();
  } catch (error) {
    toast(reasonOf(error));
    return false;
  }
  if (done) toast(done);
  return true;
}

/** A small button; a reader hears what it is about. */
export const smallButton = (label, about, onclick, kind = "") => h("button", { class: `button small ${kind}`,
  type: "button", onclick }, label, about ? h("span", { class: "unseen" }, `: ${about}`) : null);
