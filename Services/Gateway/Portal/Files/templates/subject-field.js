import { fill, h } from "../lib/dom.js";
import { maySendTo } from "../lib/session.js";
import { t } from "../lib/text.js";
import "../elements/subject-picker.js";

/**
 * The subject that a template chooses, or none. `subjects` are those of the cube, `null` if they could not be read:
 * then the subject stays as it is. The element has `value`, the topic key, and `error(text)`.
 */
export function subjectField({ subjects, value, onchange }) {
  const picker = h("subject-picker", { "input-id": "template-subject", "below-id": "template-subject-below" });
  const below = h("div", { class: "below", id: "template-subject-below", "aria-live": "polite" });
  const none = h("button",
    { class: "button small plain", type: "button", onclick: () => { choose(null); picker.focus(); } },
    t("templates.subject.none"));
  const element = h("div", { class: "field" }, h("label", { htmlFor: "template-subject" }, t("templates.subject")),
    none, h("div", { class: "control" }, picker), below);
  element.value = value;

  function say(text, isWrong) {
    below.classList.toggle("wrong", isWrong);
    picker.input?.setAttribute("aria-invalid", String(isWrong));
    fill(below, text);
  }

  function show() {
    const chosen = subjects?.find((subject) => subject.key === element.value) ?? null;
    picker.value = chosen;
    none.hidden = !element.value;
    say(t(element.value && subjects && !chosen ? "templates.subject.gone" : "templates.subject.hint"), false);
  }

  function choose(subject) {
    element.value = subject?.key;
    show();
    onchange();
  }

  element.error = (text) => {
    say(text, true);
    picker.focus();
  };
  // The picker is alive only in the page.
  queueMicrotask(() => {
    picker.subjects = (subjects ?? []).filter((subject) => maySendTo(subject.key));
    picker.addEventListener("hub-choose", ({ detail }) => choose(detail));
    show();
  });
  return element;
}
