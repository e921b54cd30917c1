// A message of a conversation, and what has become of it.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { linkified } from "../lib/linkify.js";
import { formatTime } from "../lib/phone-time.js";
import { t } from "../lib/text.js";
import { showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { directOfApp } from "./parts.js";
import { reasonOf } from "./reasons.js";
import { shownBlob } from "./shown-blob.js";

/** How much of a text a reader hears of a button about it. */
const shortLength = 40;

/** A picture of a message, which opens in full. `path` is its path at the hub, or its name on this device. */
function picture(path, alt) {
  const element = h("div", { class: "bubble-picture", "aria-busy": "true" });
  const say = (key) => h("p", { class: "hint" }, t(key));

  async function load() {
    const blob = await directOfApp().then(({ pictures }) => pictures.pictureOf(path)).catch(() => undefined);
    const hadFocus = element.contains(document.activeElement);
    element.removeAttribute("aria-busy");
    if (blob) {
      fill(element, h("button", { class: "picture-button", type: "button", onclick: () => open(blob) },
        shownBlob(blob, alt)));
    } else {
      fill(element, say(blob === null ? "picture.gone" : "picture.away"), blob === null ? null
        : h("button", { class: "link-button", type: "button", onclick: load }, t("people.again")));
    }
    if (hadFocus) element.querySelector("button")?.focus({ preventScroll: true });
  }

  const open = (blob) => showDialog({ heading: alt, kind: "picture-dialog", make: (close) => [shownBlob(blob, alt),
    h("button", { class: "button main", type: "button", onclick: () => close() }, t("bubble.close"))] });

  load();
  return element;
}

/** What a message of somebody by their `name`, or of the person, says or shows. `path` is that of its picture. */
export const contentOf = ({ text, path, isOwn, name }) => (text === null
  ? picture(path, isOwn ? t("bubble.picture.own") : t("bubble.picture", { name }))
  : h("p", { class: "bubble-text", dir: "auto" }, linkified(text)));

/** The beginning of a text, or that it is a picture. */
const shortOf = (text) => (text ? [...text].slice(0, shortLength).join("") : t("direct.picture"));

const from = (isOwn, name) => h("span", { class: "unseen" }, isOwn ? t("bubble.own") : t("bubble.from", { name }));

/**
 * A message that the hub has, with its `content`. `mark` is what has become of one of the person's; `""` says nothing
 * below it.
 */
export function bubble(letter, { name, mark, isLast, content, onreport }) {
  const { isOwn, at, text } = letter;
  const below = isLast ? [formatTime(at), isOwn ? t(`mark.${mark}`) : null].filter(Boolean).join(" · ") : "";
  return h("li", { class: `letter ${isOwn ? "is-own" : ""}` }, from(isOwn, name),
    h("div", { class: "bubble" }, content),
    isOwn ? null : h("button", { class: "round tiny letter-report", type: "button", title: t("report.action"),
      "aria-label": `${t("report.action")}: ${shortOf(text)}`, onclick: () => onreport(letter) },
    icon("more", "small")),
    below ? h("p", { class: `letter-state ${mark === "expired" ? "is-bad" : ""}` }, below) : null);
}

/** Does something with a message that waits, and says so if that does not work. */
const about = (key, action) => async () => {
  try {
    const outcome = await (await directOfApp())[action](key);
    if (outcome === "waits") toast(t("people.waits"));
  } catch (error) {
    // Of one that the hub refuses again, the message says why.
    if (error.kind !== "refused") toast(reasonOf(error));
  }
};

/** What is said of a message that waits: also why the hub does not take it. */
export const waitingText = ({ mark, error, refusal }) => (refusal
  ? t("bubble.refused", { reason: reasonOf({ kind: "refused", message: error, ...refusal }) }) : t(`mark.${mark}`));

/** A message that the hub does not have yet, or does not take, with its `content`. */
export function waitingBubble(waiting, content) {
  const { key, about: { text }, mark, refusal } = waiting;
  const button = (action, label) => h("button", { class: "link-button", type: "button", onclick: about(key, action) },
    t(label), h("span", { class: "unseen" }, `: ${shortOf(text)}`));
  return h("li", { class: "letter is-own is-waiting" }, from(true), h("div", { class: "bubble" }, content),
    h("p", { class: `letter-state ${refusal ? "is-bad" : ""}` }, waitingText(waiting)),
    mark === "sending" ? null : h("p", { class: "actions" }, button("again", "people.again"),
      button("discard", "waiting.discard")));
}
