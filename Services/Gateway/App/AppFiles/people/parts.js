// What the pages about people are made of.

import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { pathTo, replaceRoute } from "../lib/route.js";
import { app, state } from "../lib/state.js";
import { charactersOf, t, tn } from "../lib/text.js";
import { reasonOf } from "./reasons.js";

/** What could not be read is read again after a change of the app's state, but not before so many milliseconds. */
const pause = 5_000;

/** A view with its heading. `back` is the route that the link above it leads to: `{href, label}`. */
export const view = (heading, { back = null, dir = null } = {}, ...content) => h("div", { class: "view" },
  h("header", { class: "head" },
    back && h("a", { class: "back", href: back.href }, icon("back", "small"), back.label),
    h("div", { class: "head-line" }, h("h1", { tabIndex: -1, dir }, heading))), content);

/** The link from a page about people to the list of friends. */
export const toFriends = () => ({ href: "#people", label: t("friends.heading") });

/** The heading of the page on which an element is. It can have the focus. */
export const pageHeading = (element) => element.closest(".view")?.querySelector(".head-line > [tabindex]");

/** Hides an element, such as a button. The focus goes to the page's heading if it was there. */
export function hide(element) {
  if (element.contains(document.activeElement)) pageHeading(element)?.focus({ preventScroll: true });
  element.hidden = true;
}

/** Shows the page of who is not signed in, in the place of one that is not there any more. */
export function goToLanding() {
  replaceRoute({ tab: "people", page: "" });
  document.querySelector("main").focus({ preventScroll: true });
}

/** A picture in the place of the person's one. */
const portrait = (name) => h("span", { class: "portrait", "aria-hidden": "true" },
  charactersOf(name)[0].toUpperCase());

/** A person in a list, with a link to the page about them, and buttons behind it. */
export const personRow = (name, ...actions) => h("li", { class: "row person" }, portrait(name),
  h("a", { class: "row-text", href: pathTo({ tab: "people", page: "person", account: name }) }, h("bdi", null, name)),
  actions);

/** Like `t`, as the content of an element in which each value, such as a name, keeps its own direction. */
export const named = (key, values) => tn(key, Object.fromEntries(Object.entries(values).map(([name, value]) =>
  [name, h("bdi", null, value)])));

/** Whether two texts are names of the same account. */
export const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();

/** A field with its label; its `input` has the properties. `hint` is below it, and `tag` is for another element. */
export function field({ label, hint, tag = "input", ...properties }) {
  const below = hint ? h("p", { class: "below", id: newIdentifier("hint") }, hint) : null;
  const input = h(tag, { id: newIdentifier("field"), ...properties, "aria-describedby": below?.id });
  return Object.assign(h("div", { class: "field" }, h("label", { htmlFor: input.id }, label), input, below), { input });
}

/**
 * A form. `onsubmit()` does what its main button says, and the form waits for it. A failure is shown below the fields,
 * as `reason(error)` says it. `extra` are further buttons.
 */
export function form({ fields, action, isDangerous = false, onsubmit, extra = [], reason = reasonOf }) {
  const said = h("p", { class: "below wrong", role: "alert" });
  const button = h("button", { class: `button ${isDangerous ? "danger" : "main"}`, type: "submit" }, action);
  let isBusy = false;
  const element = h("form", { class: "form", onsubmit: async (event) => {
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    said.textContent = "";
    button.setAttribute("aria-busy", "true");
    try {
      await onsubmit();
    } catch (error) {
      said.textContent = reason(error);
    }
    isBusy = false;
    button.removeAttribute("aria-busy");
  } }, fields, said, h("div", { class: "actions" }, button, extra));
  // The browser refuses what is in a field now, and says so. What the hub has said is about an earlier attempt.
  element.addEventListener("invalid", () => { said.textContent = ""; }, true);
  return Object.assign(element, { say: (text) => { said.textContent = text; } });
}

/**
 * A part of what the hub knows of the person, such as "devices": it is loaded when it is opened, and `show(value)`
 * shows each later state of it. What the app has from an earlier time is shown at once. After a failure it is read
 * again when the app's state changes, as it does when the hub works again.
 */
export function loaded(part, content, show) {
  const said = h("p", { class: "notice bad", role: "alert", hidden: true });
  const again = h("button", { class: "button", type: "button", hidden: true,
    onclick: () => { calm(); load(); } }, t("people.again"));
  const element = h("div", { class: "stack" }, said, again, content);
  let print = "";
  /** When the last attempt has failed, if it has. */
  let failed = Infinity;

  /** Nothing is wrong, as far as is known. */
  function calm() {
    failed = Infinity;
    said.hidden = true;
    hide(again);
  }

  async function load() {
    failed = Infinity;
    try {
      await (await app.people()).load([part]);
      calm();
    } catch (error) {
      if (error.kind === "signed out") return;
      failed = performance.now();
      const reason = reasonOf(error);
      // Readers hear it once.
      if (said.textContent !== reason) said.textContent = reason;
      said.hidden = again.hidden = false;
    }
  }

  function update() {
    const value = state.people[part];
    content.hidden = value === undefined;
    if (performance.now() - failed > pause) load();
    if (value === undefined || print === (print = JSON.stringify(value))) return;
    if (!said.hidden) calm();
    show(value);
  }

  update();
  load();
  return Object.assign(element, { update });
}

/** Replaces the content of a list. The focus goes to `heading` if it was on what is gone. */
export function refill(list, heading, ...content) {
  const hadFocus = list.contains(document.activeElement);
  fill(list, content);
  if (hadFocus) heading()?.focus({ preventScroll: true });
}
