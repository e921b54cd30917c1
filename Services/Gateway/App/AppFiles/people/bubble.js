// A message of a conversation, and what has become of it.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { linkified } from "../lib/linkify.js";
import { formatTime } from "../lib/phone-time.js";
import { t } from "../lib/text.js";
import { showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { pathOfMessage } from "../core/pictures.js";
import { directOfApp } from "./parts.js";
import { reasonOf } from "./reasons.js";

/** How much of a text a reader hears of a button about it. */
const shortLength = 40;

/** A picture of this device. The browser forgets its address once it is shown. `alt` is what readers hear of it. */
function shown(blob, alt) {
  const address = URL.createObjectURL(blob);
  const forget = () => URL.revokeObjectURL(address);
  return h("img", { alt, onload: forget, onerror: forget, src: address });
}

/** A picture of a message, which opens in full. `path` is its path at the hub, or its name on this device. */
function picture(path, alt) {
  const element = h("div", { class: "bubble-picture", "aria-busy": "true" });
  const say = (key) => h("p", { class: "hint" }, t(key));

  async function load() {
    try {
      const blob = await (await directOfApp()).pictures.pictureOf(path);
      fill(element, blob ? h("button", { class: "picture-button", type: "button", onclick: () => open(blob) },
        shown(blob, alt)) : say("picture.gone"));
    } catch {
      fill(element, say("picture.away"), h("button", { class: "link-button", type: "button", onclick: load },
        t("people.again")));
    }
    element.removeAttribute("aria-busy");
  }

  const open = (blob) => showDialog({ heading: alt, kind: "picture-dialog", make: (close) => [shown(blob, alt),
    h("button", { class: "button main", type: "button", onclick: () => close() }, t("bubble.close"))] });

  load();
  return element;
}

const content = ({ text, path, alt }) => (text === null ? picture(path, alt)
  : h("p", { class: "bubble-text", dir: "auto" }, linkified(text)));

const from = (isOwn, name) => h("span", { class: "unseen" }, isOwn ? t("bubble.own") : t("bubble.from", { name }));

/** A message that the hub has. `mark` is what has become of one of the person's; `""` says nothing below it. */
export function bubble(letter, { name, mark, isLast, onreport }) {
  const { id, isOwn, at, text } = letter;
  const below = isLast ? [formatTime(at), isOwn ? t(`mark.${mark}`) : null].filter(Boolean).join(" · ") : "";
  const short = (text ?? t("direct.picture")).slice(0, shortLength);
  return h("li", { class: `letter ${isOwn ? "is-own" : ""}` }, from(isOwn, name),
    h("div", { class: "bubble" }, content({ text, path: pathOfMessage(id),
      alt: isOwn ? t("bubble.picture.own") : t("bubble.picture", { name }) })),
    isOwn ? null : h("button", { class: "round tiny letter-report", type: "button", title: t("report.action"),
      "aria-label": `${t("report.action")}: ${short}`, onclick: () => onreport(letter) }, icon("more", "small")),
    below ? h("p", { class: `letter-state ${mark === "expired" ? "is-bad" : ""}` }, below) : null);
}

/** Does something with a message that waits, and says so if that does not work. */
const about = (key, action) => async () => {
  try {
    await (await directOfApp())[action](key);
  } catch (error) {
    // Of one that the hub refuses again, the message says why.
    if (error.kind !== "refused") toast(reasonOf(error));
  }
};

/** A message that the hub does not have yet, or does not take. */
export function waitingBubble({ key, about: { text, picture: path }, mark, error, refusal }) {
  const why = refusal ? t("bubble.refused", { reason: reasonOf({ kind: "refused", message: error, ...refusal }) })
    : t(`mark.${mark}`);
  const button = (action, label) => h("button", { class: "link-button", type: "button", onclick: about(key, action) },
    t(label), h("span", { class: "unseen" }, `: ${(text ?? t("direct.picture")).slice(0, shortLength)}`));
  return h("li", { class: "letter is-own is-waiting", dataset: { key } }, from(true),
    h("div", { class: "bubble" }, content({ text: text ?? null, path, alt: t("bubble.picture.own") })),
    h("p", { class: `letter-state ${refusal ? "is-bad" : ""}` }, why),
    mark === "sending" ? null : h("p", { class: "actions" }, button("again", "people.again"),
      button("discard", "waiting.discard")));
}
