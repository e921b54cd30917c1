import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/** The pointer or the focus holds a message at most this long, in seconds. */
const longest = 30;
/** The distance to what is under a message, and between the points at which that is looked for, in pixels. */
const gap = 8;
/** What a message does not cover: if there is room no control at all, and otherwise no button. */
const kinds = ["button, .button, input, select, textarea, .choice, .actions", ".actions, .button"];

let region = null;
let isKeeping = false;

/**
 * The region in which short messages of the page appear. It is there from the beginning, so that screen readers
 * announce them.
 */
export function toastRegion() {
  if (region) return region;
  region = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  for (const type of ["scrollend", "resize"]) window.addEventListener(type, place);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    const inside = event.target.closest(".toast");
    // Elsewhere Escape may have another meaning.
    if (inside || !event.target.closest("input, select, textarea, dialog, [popover]")) {
      (inside ?? region.lastElementChild)?.dismiss();
    }
  });
  return region;
}

/** Sets whether messages stay until they are closed. Then one without an action takes the place of another such one. */
export function keepToasts(isWanted) { isKeeping = isWanted; }

/** Closes the messages without an action. */
export function closePlainToasts() {
  for (const each of toastRegion().querySelectorAll(".toast:not(:has(.link-button))")) each.dismiss();
}

/**
 * Shows a short message, such as "Storms was renamed." With `action` (`{label, run}`) it has a button, such as Undo,
 * and stays longer. One without an action takes the place of an equal one. `content` is a text, or texts and elements.
 * Returns a function that removes it.
 */
export function toast(content, { action, seconds = action ? 10 : 5 } = {}) {
  let before = null;
  let timer = null;
  const said = h("span", null, content);
  const text = said.textContent;
  const element = h("div", { class: "toast" }, said,
    action ? h("button", { class: "link-button", type: "button", onclick: () => { dismiss(); action.run(); } },
      action.label) : null,
    h("button", { class: "toast-close", type: "button", "aria-label": t("toast.hide"), onclick: dismiss },
      icon("cross", "small")));
  if (isKeeping && !action) closePlainToasts();
  const equal = action ? [] : [...toastRegion().children].filter((each) => each.text === text);
  for (const each of equal) each.dismiss();
  const end = isKeeping ? null : setTimeout(dismiss, Math.max(longest, seconds) * 1_000);
  const hold = () => clearTimeout(timer);
  const wait = () => { hold(); if (end) timer = setTimeout(dismiss, seconds * 1_000); };
  function dismiss() {
    hold();
    clearTimeout(end);
    if (element.contains(document.activeElement)) {
      (before?.isConnected ? before : document.querySelector("main"))?.focus();
    }
    element.remove();
    place();
  }
  Object.assign(element, { dismiss, text: action ? null : text });
  // It stays while somebody is about to use it.
  for (const type of ["pointerenter", "focusin"]) element.addEventListener(type, hold);
  for (const type of ["pointerleave", "focusout"]) element.addEventListener(type, wait);
  element.addEventListener("focusin",
    ({ relatedTarget }) => { if (!element.contains(relatedTarget)) before = relatedTarget; });
  toastRegion().append(element);
  wait();
  place();
  return dismiss;
}

/** Lifts the messages above what they would cover, at most to the middle of the window. */
function place() {
  region.style.removeProperty("--lift");
  const boxes = [...region.children].map((each) => each.getBoundingClientRect());
  if (!boxes.length) return;
  const edge = (name, choose) => choose(...boxes.map((box) => box[name]));
  const [left, right, top, bottom] = [edge("left", Math.min), edge("right", Math.max), edge("top", Math.min),
    edge("bottom", Math.max)];
  for (const kind of kinds) {
    // A control may be drawn outside of its box, above its upper edge: each look begins higher than the last one.
    for (let lift = 0; top - lift >= window.innerHeight / 2;) {
      const covered = topOf(kind, left, right, top - lift, bottom - lift);
      if (covered === null) {
        region.style.setProperty("--lift", `${lift}px`);
        return;
      }
      lift = Math.max(lift, bottom - covered) + gap;
    }
  }
}

/**
 * The upper edge of the highest element of a kind under a part of the window; `null` if there is none, or no such part.
 */
function topOf(kind, left, right, top, bottom) {
  let highest = null;
  for (let y = top - gap / 2; y < bottom + gap; y += gap) {
    for (let x = left; x < right + gap; x += gap) {
      for (const under of document.elementsFromPoint(Math.min(x, right), Math.min(y, bottom))) {
        const found = region.contains(under) ? null : under.closest(kind);
        if (found) highest = Math.min(highest ?? Infinity, found.getBoundingClientRect().top);
      }
    }
  }
  return highest;
}
