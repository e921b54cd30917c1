import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { mainLink } from "../lib/linkify.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { formatDay, formatMoment, formatTime, local } from "../lib/phone-time.js";
import { datesOf, isLong, piecesOf } from "../lib/pieces.js";
import { phoneNow, state } from "../lib/state.js";
import { isMutable, namesOf, subjectOf } from "../lib/subjects.js";
import { t, tn } from "../lib/text.js";
import { subjectPath } from "../elements/subject-path.js";
import { swipe } from "../elements/swipe.js";

/**
 * A message in one of four forms: a card (""), a line that opens ("list"), a line that shows it beside the list
 * ("line"), and there all of it ("whole"). `open` remembers which messages are open, by what: `lines`, `texts` and
 * `actions`, and which one is `beside`. `act` has what can be done: `add(message, date)`, `keep`, `exportOne`, `mute`,
 * `remove`, `askToRemove`, `reveal(key)`, `show` and `read`.
 *
 * The element has `update(message, form)`, which changes only what is different.
 */
export function messageCard(open, act) {
  const dot = h("span", { class: "dot" }, h("span", { class: "unseen" }, t("message.unread")));
  const keptMark = h("span", { class: "kept-mark", title: t("message.kept.mark") }, icon("bookmark", "small"),
    h("span", { class: "unseen" }, t("message.kept.mark")));
  const keepButton = h("button", { class: "pill", type: "button", dataset: { part: "keep" },
      onclick: () => act.keep(message) }, icon("bookmark", "small"), t("message.keep"));
  const article = h("article", { class: "card", onkeydown: (event) => {
    if (event.key === "Delete") act.remove(message);
  } });
  const element = h("li", { class: "message" }, h("div", { class: "behind", "aria-hidden": "true" }, icon("trash")),
    article);
  swipe(article, () => act.askToRemove(message));
  let message = null;
  let subject;
  let form = "";
  let print = "";

  element.update = (next, nextForm) => {
    message = next;
    subject = subjectOf(message.topic_key);
    form = nextForm;
    element.classList.toggle("is-unread", !message.read);
    dot.hidden = message.read;
    keptMark.hidden = !message.kept;
    keepButton.setAttribute("aria-pressed", String(message.kept));
    const { read, kept, ...rest } = message;
    const nextPrint = JSON.stringify([rest, form, state.zone, state.control.offline && rest.omitted.length > 0,
        subject && isMutable(subject), subject?.muted, form === "line" && open.beside === message.msi_key]);
    if (nextPrint === print) return;
    print = nextPrint;
    element.dataset.key = message.msi_key;
    build();
  };

  /** Replaces the content. The focus stays on the same part. */
  function build() {
    const part = article.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    const isLine = form === "list" || form === "line";
    element.className = ["message", isLine ? "is-line" : "", message.dist === "Alert" ? "is-alert" : "",
      message.corrected_by ? "is-corrected" : "", message.read ? "" : "is-unread"].join(" ");
    const title = newIdentifier("title");
    article.tabIndex = isLine ? -1 : 0;
    article.dataset.part = "card";
    article.setAttribute("aria-labelledby", title);
    fill(article, form === "list" ? openingLine(title) : form === "line" ? line(title) : card(title));
    if (part) article.parentElement.querySelector(`[data-part="${part}"]`)?.focus({ preventScroll: true });
  }

  const alertTag = () =>
    (message.dist === "Alert" ? h("span", { class: "tag alert" }, icon("alert", "small"), t("message.alert")) : null);
  const clock = () => h("time", { class: "at", dateTime: new Date(message.timestamp).toISOString(),
      title: formatMoment(message.timestamp) }, formatTime(message.timestamp));
  /** The day and the time of an open message, whose heading may be out of sight. */
  const moment = () => h("p", { class: "hint moment" },
    t("message.moment", { date: formatDay(message.timestamp), time: formatTime(message.timestamp) }));
  const path = () => subjectPath(namesOf(message));
  /** In a line, where nothing else but the struck-out title tells it. */
  const correctedMark = () => (message.corrected_by ? h("span", { class: "line-state" }, t("message.corrected"),
    h("span", { class: "unseen" }, ", ")) : null);

  function card(title) {
    const isWhole = form === "whole";
    const isOpen = isWhole || open.actions.has(message.msi_key) || open.texts.has(message.msi_key);
    return [
      h("p", { class: "meta" }, dot, alertTag(), path(), keptMark, clock(), isWhole ? null : actionsButton()),
      h("h3", { class: "title", id: title, dir: "auto" }, message.title),
      relation(), body(), isOpen ? moment() : null, actions(),
    ];
  }

  const lineButton = (title, onclick) =>
    h("button", { class: "line", type: "button", dataset: { part: "line" }, onclick },
      dot, message.dist === "Alert" ? h("span", { class: "alert-mark" }, icon("alert", "small"),
        h("span", { class: "unseen" }, t("message.alert"))) : null,
      h("span", { class: "line-text" }, h("span", { class: "line-title", dir: "auto", id: title }, message.title),
        h("span", { class: "unseen" }, ", "), h("span", { class: "line-detail" }, correctedMark(), path())), keptMark,
      clock());

  function line(title) {
    const button = lineButton(title, () => act.show(message));
    if (open.beside === message.msi_key) button.setAttribute("aria-current", "true");
    return h("h3", null, button);
  }

  function openingLine(title) {
    const content = h("div", { class: "line-body" });
    const show = (isOpen) => {
      button.setAttribute("aria-expanded", String(isOpen));
      content.hidden = !isOpen;
      fill(content, isOpen ? [h("p", { class: "meta" }, alertTag(), path(), actionsButton()), relation(), body(),
          moment(), actions()] : null);
      if (isOpen) act.read(message);
    };
    const button = lineButton(title, () => show(toggle(open.lines)));
    show(open.lines.has(message.msi_key));
    return [h("h3", null, button), content];
  }

  function toggle(set) {
    const key = message.msi_key;
    return set.has(key) ? !set.delete(key) : Boolean(set.add(key));
  }

  /** Says that a message was corrected, or corrects another one. */
  function relation() {
    const other = message.corrected_by ?? message.corrects;
    if (!other) return null;
    const key = message.corrected_by ? "message.corrected" : "message.correction";
    return h("p", { class: "relation" }, h("span", { class: "tag" }, icon("edit", "small"), t(key)),
      state.messages.some((each) => each.msi_key === other)
        ? h("button", { class: "link-button", type: "button", dataset: { part: "relation" },
              onclick: () => act.reveal(other) }, t(`${key}.show`)) : null);
  }

  /**
   * The text, whose dates are buttons. A long text is cut in the document, not only on the screen: a hidden date must
   * not get the focus.
   */
  function body() {
    const isMissing = message.omitted.includes("message");
    const text = message.message || message.desc;
    const mayBeCut = form !== "whole" && isLong(text);
    const isCut = mayBeCut && !open.texts.has(message.msi_key);
    const mark = (date, words, part) => h("button", {
      class: "date", type: "button", title: t("message.add"), dataset: { part }, onclick: () => act.add(message, date),
    }, words, h("span", { class: "unseen" }, ` (${t("message.add")})`));
    return [
      text ? h("p", { class: "text", dir: "auto" }, piecesOf(text, local(message.timestamp), isCut, mark),
        isCut ? "…" : null) : null,
      mayBeCut ? h("button", { class: "link-button more", type: "button", "aria-expanded": String(!isCut),
          dataset: { part: "more" }, onclick: () => {
        toggle(open.texts);
        act.read(message);
        build();
      } }, t(isCut ? "message.more" : "message.less"), h("span", { class: "unseen" }, `: ${message.title}`)) : null,
      isMissing ? h("p", { class: "hint missing" }, icon(message.lost ? "info" : "clock", "small"),
        t(message.lost ? "message.omitted.gone" : state.control.offline
          ? "message.omitted.offline" : "message.omitted")) : null,
      linkButton(),
    ];
  }

  /** The address that the message leads to: a button that says whose it is. */
  function linkButton() {
    const link = message.link && mainLink(message.link);
    if (!link) return null;
    return h("a", {
      class: "button main-link", href: link.href, target: link.href.startsWith("https:") ? "_blank" : null,
      rel: "noopener noreferrer", title: link.href, draggable: false,
      dataset: { part: "link" }, onclick: () => act.read(message),
    }, phoneIcon("leave", "small"),
    h("span", null, tn("message.open", { host: h("bdi", { dir: "ltr" }, link.place) })));
  }

  function actionsButton() {
    return h("button", {
      class: "round tiny", type: "button", title: t("message.actions"),
      "aria-expanded": String(open.actions.has(message.msi_key)), dataset: { part: "actions" },
      "aria-label": t("message.actions.of", { title: message.title }),
      onclick: () => {
        toggle(open.actions);
        build();
      },
    }, icon("more", "small"));
  }

  /** The actions: all of them if the person has opened them, and the likely ones for an Alert with a date. */
  function actions() {
    const [date] = datesOf(message.message || message.desc, local(message.timestamp));
    const isOpen = form === "whole" || open.actions.has(message.msi_key);
    const isAlert = message.dist === "Alert" && date && !message.corrected_by && date.at > local(phoneNow());
    const pill = (part, sign, run, { kind = "", label = t(`message.${part}`) } = {}) =>
      h("button", { class: `pill ${kind}`, type: "button", dataset: { part }, onclick: run }, sign, label);
    const mute = () => pill("mute", phoneIcon(subject.muted ? "bell" : "bellOff", "small"), () => act.mute(subject),
      { label: t(subject.muted ? "mute.end" : "mute.begin") });
    return h("div", { class: `card-actions ${isOpen ? "is-open" : ""}`, role: "group",
        "aria-label": t("message.actions"), hidden: !isOpen && !isAlert },
      isOpen || isAlert ? [pill("add", phoneIcon("calendar", "small"), () => act.add(message, date)), keepButton]
        : null,
      isOpen ? [pill("export", icon("download", "small"), () => act.exportOne(message)),
        pill("delete", icon("trash", "small"), () => act.remove(message), { kind: "danger" }),
        subject && isMutable(subject) ? mute() : null] : null);
  }

  return element;
}
