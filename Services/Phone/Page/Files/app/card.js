import { fill, h, newIdentifier } from "../lib/dom.js";
import { findDates } from "../lib/dates.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { formatDay, formatMoment, formatTime, local } from "../lib/phone-time.js";
import { phoneNow, state } from "../lib/state.js";
import { charactersOf, t } from "../lib/text.js";
import { swipe } from "../elements/swipe.js";

const shortLength = 260;
const lineLength = 44;

/** The names of a message's subject, as far as they are known. */
export const namesOf = (message) => (message.known ? message.names : [t("message.unknown")]);

/** Whether a text has more than about six lines. */
const isLong = (text) => text.split("\n").reduce((lines, line) => lines + Math.ceil((line.length || 1) / lineLength), 0) > 7;

/** The beginning of a text, up to a space or a character. */
function beginningOf(text) {
  const characters = charactersOf(text.split("\n").slice(0, 6).join("\n")).slice(0, shortLength);
  const space = characters.lastIndexOf(" ");
  // Not every language has spaces.
  return characters.slice(0, characters.length === shortLength && space > shortLength / 2 ? space : shortLength).join("");
}

/**
 * A message as a card, or in the list as a line that opens. `open` remembers which messages are open, by what: `lines`, `texts` and
 * `actions`. `act` has what can be done: `add(message, date)`, `keep`, `exportOne`, `remove`, `reveal(key)` and `read`.
 *
 * The element has `update(message, form)`, which changes only what is different.
 */
export function messageCard(open, act) {
  const dot = h("span", { class: "dot" }, h("span", { class: "unseen" }, t("message.unread")));
  const keptMark = h("span", { class: "kept-mark", title: t("message.kept.mark") }, icon("bookmark", "small"), h("span", { class: "unseen" }, t("message.kept.mark")));
  const keepButton = h("button", { class: "pill", type: "button", dataset: { part: "keep" }, onclick: () => act.keep(message) }, icon("bookmark", "small"), t("message.keep"));
  const article = h("article", { class: "card", onkeydown: (event) => {
    if (event.key === "Delete") act.remove(message);
  } });
  const element = h("li", { class: "message" }, h("div", { class: "behind", "aria-hidden": "true" }, icon("trash")), article);
  swipe(article, () => act.remove(message));
  let message = null;
  let form = "";
  let print = "";

  element.update = (next, nextForm) => {
    message = next;
    form = nextForm;
    element.classList.toggle("is-unread", !message.read);
    dot.hidden = message.read;
    keptMark.hidden = !message.kept;
    keepButton.setAttribute("aria-pressed", String(message.kept));
    const { read, kept, ...rest } = message;
    const nextPrint = JSON.stringify([rest, form, state.zone, state.control.offline && rest.omitted.length > 0]);
    if (nextPrint === print) return;
    print = nextPrint;
    element.dataset.key = message.msi_key;
    build();
  };

  /** Makes the content anew; the focus stays at the part where it was. */
  function build() {
    const part = article.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    const isLine = form === "list";
    element.className = ["message", isLine ? "is-line" : "", message.dist === "Alert" ? "is-alert" : "", message.corrected_by ? "is-corrected" : "", message.read ? "" : "is-unread"].join(" ");
    const title = newIdentifier("title");
    article.tabIndex = isLine ? -1 : 0;
    article.dataset.part = "card";
    article.setAttribute("aria-labelledby", title);
    fill(article, isLine ? line(title) : card(title));
    if (part) article.parentElement.querySelector(`[data-part="${part}"]`)?.focus({ preventScroll: true });
  }

  const alertTag = () => (message.dist === "Alert" ? h("span", { class: "tag alert" }, icon("alert", "small"), t("message.alert")) : null);
  const clock = () => h("time", { class: "at", dateTime: new Date(message.timestamp).toISOString(), title: formatMoment(message.timestamp) }, formatTime(message.timestamp));
  /** The day and the time of an open message, whose heading may be out of sight. */
  const moment = () => h("p", { class: "hint moment" }, t("message.moment", { date: formatDay(message.timestamp), time: formatTime(message.timestamp) }));
  const path = () => h("span", { class: "path" }, namesOf(message).flatMap((name, index) => [index ? h("span", { class: "path-separator" }, " › ") : null, h("bdi", null, name)]));

  function card(title) {
    return [
      h("p", { class: "meta" }, dot, alertTag(), path(), keptMark, clock(), actionsButton()),
      h("h3", { class: "title", id: title, dir: "auto" }, message.title),
      relation(), body(), open.actions.has(message.msi_key) || open.texts.has(message.msi_key) ? moment() : null, actions(),
    ];
  }

  function line(title) {
    const content = h("div", { class: "line-body" });
    const show = (isOpen) => {
      button.setAttribute("aria-expanded", String(isOpen));
      content.hidden = !isOpen;
      fill(content, isOpen ? [h("p", { class: "meta" }, alertTag(), path(), actionsButton()), relation(), body(), moment(), actions()] : null);
      if (isOpen) act.read(message);
    };
    const button = h("button", { class: "line", type: "button", dataset: { part: "line" }, onclick: () => show(toggle(open.lines)) },
      dot, message.dist === "Alert" ? h("span", { class: "alert-mark" }, icon("alert", "small"), h("span", { class: "unseen" }, t("message.alert"))) : null,
      h("span", { class: "line-title", dir: "auto", id: title }, message.title), keptMark, clock());
    show(open.lines.has(message.msi_key));
    return [h("h3", null, button), content];
  }

  function toggle(set) {
    const key = message.msi_key;
    return set.has(key) ? !set.delete(key) : Boolean(set.add(key));
  }

  /** That a message was corrected, or corrects another one. */
  function relation() {
    const other = message.corrected_by ?? message.corrects;
    if (!other) return null;
    const key = message.corrected_by ? "message.corrected" : "message.correction";
    return h("p", { class: "relation" }, h("span", { class: "tag" }, icon("edit", "small"), t(key)),
      state.messages.some((each) => each.msi_key === other)
        ? h("button", { class: "link-button", type: "button", dataset: { part: "relation" }, onclick: () => act.reveal(other) }, t(`${key}.show`)) : null);
  }

  /** The text, whose dates are buttons. A long text is cut in the document, not only on the screen: a hidden date must not get the focus. */
  function body() {
    const isMissing = message.omitted.includes("message");
    const text = message.message || message.desc;
    const isCut = isLong(text) && !open.texts.has(message.msi_key);
    const shown = isCut ? beginningOf(text) : text;
    const pieces = [];
    let end = 0;
    for (const date of findDates(text, local(message.timestamp))) {
      if (date.end > shown.length) break;
      pieces.push(shown.slice(end, date.start), h("button", {
        class: "date", type: "button", title: t("message.add"), dataset: { part: `date-${date.start}` }, onclick: () => act.add(message, date),
      }, shown.slice(date.start, date.end), h("span", { class: "unseen" }, ` (${t("message.add")})`)));
      end = date.end;
    }
    return [
      shown ? h("p", { class: "text", dir: "auto" }, pieces, shown.slice(end), isCut ? "…" : null) : null,
      isLong(text) ? h("button", { class: "link-button more", type: "button", "aria-expanded": String(!isCut), dataset: { part: "more" }, onclick: () => {
        toggle(open.texts);
        act.read(message);
        build();
      } }, t(isCut ? "message.more" : "message.less"), h("span", { class: "unseen" }, `: ${message.title}`)) : null,
      isMissing ? h("p", { class: "hint missing" }, icon(message.lost ? "info" : "clock", "small"), t(message.lost ? "message.omitted.gone" : state.control.offline ? "message.omitted.offline" : "message.omitted")) : null,
    ];
  }

  function actionsButton() {
    return h("button", {
      class: "round tiny", type: "button", title: t("message.actions"), "aria-expanded": String(open.actions.has(message.msi_key)), dataset: { part: "actions" },
      "aria-label": t("message.actions.of", { title: message.title }),
      onclick: () => {
        toggle(open.actions);
        build();
      },
    }, icon("more", "small"));
  }

  /** What can be done: all if it was asked for, and for an Alert with a date what is likely. */
  function actions() {
    const [date] = findDates(message.message || message.desc, local(message.timestamp));
    const isOpen = open.actions.has(message.msi_key);
    const isAlert = message.dist === "Alert" && date && !message.corrected_by && date.at > local(phoneNow());
    const pill = (part, sign, run, kind = "") => h("button", { class: `pill ${kind}`, type: "button", dataset: { part }, onclick: run }, sign, t(`message.${part}`));
    return h("div", { class: `card-actions ${isOpen ? "is-open" : ""}`, role: "group", "aria-label": t("message.actions"), hidden: !isOpen && !isAlert },
      isOpen || isAlert ? [pill("add", phoneIcon("calendar", "small"), () => act.add(message, date)), keepButton] : null,
      isOpen ? [pill("export", icon("download", "small"), () => act.exportOne(message)), pill("delete", icon("trash", "small"), () => act.remove(message), "danger")] : null);
  }

  return element;
}

