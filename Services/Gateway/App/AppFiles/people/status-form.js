import { fill, h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { field, form } from "./parts.js";
import { pictureField, pictureReason, upload } from "./picture-field.js";
import { reasonOf } from "./reasons.js";
import { shownBlob } from "./shown-blob.js";
import { statusesOfApp } from "./status-parts.js";

/** The hub's limit, in characters of Unicode. */
const maxLength = 500;

/**
 * The form for another status: a text or a picture. `done()` is called after the hub has it. With `replaces` its button
 * says that there is one.
 */
export function statusForm({ done }) {
  const input = field({ label: t("status.text"), hint: t("status.text.hint"), tag: "textarea", rows: 3, dir: "auto" });
  const count = h("span", { class: "count" });
  input.firstChild.after(count);
  const preview = h("div", { class: "status-picture" });
  const remove = h("button", { class: "button", type: "button", onclick: () => {
    choose(null);
    picture.querySelector("button").focus();
  } }, t("status.picture.remove"));
  const chosen = h("div", { class: "stack", hidden: true }, preview, h("div", { class: "actions" }, remove));
  const picture = pictureField({ onpicture: async (blob) => choose(blob), label: t("status.picture.choose") });
  const sent = form({ fields: [input, chosen, picture, h("p", { class: "hint" }, t("status.who"), " ",
    h("a", { href: "#people/rules" }, t("status.rules")))], action: t("status.set"), onsubmit: send,
  reason: (error) => (blob ? pictureReason : reasonOf)(error) });
  const element = h("section", { class: "stack", "aria-label": t("status.new.heading") },
    h("h2", { class: "day" }, t("status.new.heading")), sent);
  let blob = null;
  /** What is sent: the same, with the same key, until something else is written. */
  let attempt = null;

  input.input.addEventListener("input", () => { attempt = null; show(); });

  function show() {
    const { length } = [...input.input.value.trim()];
    const isOver = length > maxLength;
    count.textContent = length > maxLength * 0.8 ? t("status.count", { length, max: maxLength }) : "";
    count.classList.toggle("over", isOver);
    input.input.setCustomValidity(!blob && isOver ? t("status.long", { max: maxLength }) : "");
    input.input.required = !blob;
    // One of both: what was written stays, and comes back without the picture.
    input.hidden = Boolean(blob);
    chosen.hidden = !blob;
    picture.hidden = Boolean(blob);
  }

  function choose(next) {
    [blob, attempt] = [next, null];
    fill(preview, blob ? shownBlob(blob, t("status.picture.chosen")) : null);
    show();
  }

  async function send() {
    const text = input.input.value.trim();
    if (!blob && !text) return input.input.focus();
    const current = attempt ??= { key: crypto.randomUUID() };
    if (blob) current.picture ??= await upload(blob);
    // The person has taken the picture out.
    if (attempt !== current) return undefined;
    try {
      await (await statusesOfApp()).set(blob ? { picture: current.picture } : { text }, current.key);
    } catch (error) {
      // The picture has waited for too long at the hub, or the key was used for something else: sent again, it is new.
      if (attempt === current && (error.status === 404 || error.status === 422)) attempt = null;
      throw error;
    }
    toast(t("status.done"));
    // What was written since stays.
    if (attempt !== current) return undefined;
    input.input.value = "";
    choose(null);
    return done();
  }

  show();
  Object.defineProperty(element, "replaces", { set: (isThere) => {
    const text = t(isThere ? "status.replace" : "status.set");
    const button = sent.querySelector("button[type=submit]");
    if (button.textContent !== text) button.textContent = text;
  } });
  return element;
}
