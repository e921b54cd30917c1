// Where the person writes: a text, or a picture. Before the first message they read what may be sent.

import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { mayWrite } from "../core/direct-state.js";
import { toast } from "../elements/toast.js";
import { directOfApp, loadQuietly } from "./parts.js";
import { pictureField } from "./picture-field.js";
import { reasonOf } from "./reasons.js";
import { shownBlob } from "./shown-blob.js";

/** The maximum length of a text, in characters of Unicode. */
const maxLength = 2_000;
/** With a keyboard on the screen, Enter begins another line. */
const isTouched = matchMedia("(pointer: coarse)");
/** What was typed and not sent, by the account of the other one, and who has typed it. */
const drafts = new Map();
let author = null;

/** The part below a conversation. `onsend()` is called when something is sent. `update()` shows the state. */
export function composer(account, { onsend }) {
  const hint = h("p", { class: "unseen", id: newIdentifier("hint") }, t("composer.hint"));
  const count = h("p", { class: "below composer-count" });
  const label = t("composer.label");
  // Nothing of the person before is left.
  if (author !== (author = state.people.account)) drafts.clear();
  const input = h("textarea", { rows: 1, dir: "auto", value: drafts.get(account) ?? "", placeholder: label,
    "aria-label": label, "aria-describedby": hint.id, oninput: typed, onkeydown: (event) => {
      const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing && !isTouched.matches;
      if (!isSend) return;
      event.preventDefault();
      send();
    } });
  const button = h("button", { class: "round composer-send", type: "submit", title: t("composer.send"),
    "aria-label": t("composer.send") }, icon("send"));
  const chosen = h("div", { class: "composer-picture", hidden: true });
  const choose = pictureField({ onpicture: showChosen });
  const form = h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); send(); } }, chosen,
    h("div", { class: "composer-line" }, choose, input, button), hint, count);
  const closed = h("p", { class: "hint" }, t("composer.closed"));
  const rules = h("section", { class: "stack composer-rules", "aria-label": t("rules.first") },
    h("h2", null, t("rules.first")), h("p", null, t("rules.first.text")),
    h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: accept },
      t("rules.accept")), h("a", { href: "#people/rules" }, t("rules.heading"))));
  const element = h("div", { class: "composer-place" }, rules, form, closed);
  let blob = null;
  /** Whether the person has just read the rules, and is about to write. */
  let hasAccepted = false;

  function typed() {
    const { length } = [...input.value.trim()];
    drafts.set(account, input.value);
    const text = length > maxLength * 0.8 ? t("composer.count", { length, max: maxLength }) : "";
    count.classList.toggle("wrong", length > maxLength);
    if (count.textContent !== text) count.textContent = text;
    input.setCustomValidity(length > maxLength ? t("composer.long", { max: maxLength }) : "");
  }

  function showChosen(picture) {
    blob = picture;
    chosen.hidden = !blob;
    if (!blob) return fill(chosen);
    fill(chosen, shownBlob(blob, t("composer.picture")), h("button", { class: "pill", type: "button",
      onclick: () => { showChosen(null); input.focus(); } }, icon("cross", "small"), t("composer.remove")));
    return button.focus();
  }

  /** Sends what was written. What the hub refuses stays in the conversation; what cannot be kept stays here. */
  async function send() {
    if (!form.reportValidity()) return;
    const [text, picture] = [input.value.trim(), blob];
    if (!text && !picture) return;
    input.value = "";
    typed();
    showChosen(null);
    input.focus({ preventScroll: true });
    onsend();
    let key = null;
    try {
      const direct = await directOfApp();
      key = picture && await direct.pictures.keepPicture(picture);
      // The hub gets them in this order, whichever of them is answered first.
      const work = [...(key ? [direct.send(account, { picture: key })] : []),
        ...(text ? [direct.send(account, { text })] : [])];
      const failed = (await Promise.allSettled(work)).map(({ reason }) => reason).find(Boolean);
      if (failed && failed.kind !== "refused") throw failed;
    } catch (error) {
      toast(reasonOf(error));
      if (!input.value) input.value = text;
      if (picture && !key && !blob) showChosen(picture);
      typed();
    }
  }

  async function accept() {
    hasAccepted = true;
    await (await directOfApp()).acceptRules().catch((error) => toast(reasonOf(error)));
  }

  // Whether classmates may write to each other.
  if (!state.people.messaging) loadQuietly("messaging");
  typed();
  return Object.assign(element, { update: () => {
    const isOpen = mayWrite(state, account);
    closed.hidden = isOpen;
    rules.hidden = !isOpen || Boolean(state.direct.rules);
    form.hidden = !isOpen || !state.direct.rules;
    if (form.hidden || !hasAccepted) return;
    hasAccepted = false;
    input.focus();
  } });
}
