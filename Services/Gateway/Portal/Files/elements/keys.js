import { h } from "../lib/dom.js";
import { areKeysOn, signOf } from "../lib/keys.js";
import { may } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { isApple, isCovered, showDialog } from "./dialogs.js";

const typing = 'input:not([type="checkbox"], [type="radio"], [type="button"]), select, textarea, [contenteditable], '
  + '[role="combobox"], [role="menu"]';
/** Rows of lists. Arrows reach the first link or button of each, and in a table the button at its end. */
const rows = "main :is(.message-row, .template-card, .broadcast, tr.thing, ol.group > li)";
const history = "/portal/messages/";

const shownKeys = () => [
  may("read") ? [["/"], "search"] : null, may("send") ? [["c"], "write"] : null,
  [[isApple ? "⌘" : "Ctrl", "↵"], "submit"], [["↑", "↓"], "rows"], [["↵"], "open"], [["Esc"], "close"], [["?"], "show"],
].filter(Boolean);

/** Follows the keys of all pages. None counts while somebody types. */
export function followKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) ? event.key === "Enter" && submit(event) : act(event)) event.preventDefault();
  });
  if (location.hash === "#search") focusSearch();
}

function act(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step && !event.shiftKey) return move(event.target, step);
  if (event.repeat || !areKeysOn() || event.target.closest(typing) || isCovered()) return false;
  return { "/": search, c: write, "?": showKeys }[signOf(event)]?.() ?? false;
}

/** Submits the form in which somebody types. A button and a link have these keys themselves. */
function submit({ target, repeat }) {
  const form = target.closest("form") ?? target.closest("dialog")?.querySelector("form");
  if (!form || target.closest("a, button, summary")) return false;
  if (!repeat && !form.querySelector("[type=submit]:disabled")) form.requestSubmit();
  return true;
}

/** From the link of a row to that of the next or previous one. */
function move(target, step) {
  const row = target.closest(rows);
  const linkOf = (each) => each.querySelector(".end button") ??
    each.querySelector("a[href], summary, button:not(:disabled)");
  if (!row || target !== linkOf(row)) return false;
  const links = [...document.querySelectorAll(rows)].map(linkOf).filter(Boolean);
  links[links.indexOf(target) + step]?.focus();
  return true;
}

const firstShown = (selector) => [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
const searchField = () => firstShown('main input[type="search"]');

/** While a message can be undone, no key leaves the page that says so. */
const isUndoing = () => Boolean(firstShown("main .sent .undo"));

function search() {
  if (isUndoing()) return true;
  const field = searchField();
  if (field) field.select();
  else if (may("read") && !location.pathname.startsWith(history)) location.assign(`${history}#search`);
  field?.focus();
  return true;
}

/** Waits for the field of a page that is still reading. */
function focusSearch(tries = 50) {
  if (searchField()) search();
  else if (tries) setTimeout(focusSearch, 100, tries - 1);
}

function write() {
  if (!may("send")) return false;
  if (isUndoing()) return true;
  const isHere = location.pathname === "/portal/send/" && !firstShown("main .sent");
  // A form that is still loading is waited for.
  if (isHere) firstShown("main form :is(input, textarea)")?.focus();
  else location.assign("/portal/send/");
  return true;
}

/** Shows all keys. */
export function showKeys() {
  showDialog((close) => h("div", { class: "stack" }, h("h2", null, t("keys.heading")),
    h("dl", { class: "keys" },
      shownKeys().map(([keys, name]) => h("div", null, h("dt", { dir: "ltr" }, keys.map((key) => h("kbd", null, key))),
          h("dd", null, t(`keys.${name}`))))),
    h("p", { class: "hint" },
      tn(areKeysOn() ? "keys.on" : "keys.off",
        { account: h("a", { href: "/portal/account/#settings" }, t("nav.account")) })),
    h("div", { class: "actions" },
      h("button", { class: "button", type: "button", autofocus: true, onclick: () => close() }, t("close")))));
  return true;
}
