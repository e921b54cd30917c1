import { h, newIdentifier } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { field } from "../elements/field.js";
import { effectOf } from "./words.js";

/** The largest share of a group, in percent. */
const maxGroup = 50;

/** Few choices beside each other, one of them chosen. `options` are `[value, label]`. */
export function segmentedChoice({ label, options, value, choose, autofocus = false }) {
  const name = newIdentifier("segment");
  return h("fieldset", { class: "segmented" }, h("legend", null, label),
    h("div", { class: "segments" }, options.map(([each, text]) => h("label", null,
      h("input", { type: "radio", name, value: each, checked: each === value, autofocus: autofocus && each === value,
          onchange: () => choose(each) }), h("span", null, text)))));
}

/** What a feature switch does. The element has `error(field, text)`, `isComplete()` and `show()`. */
export function switchFields(draft, changed) {
  const set = (name) => (value) => { draft[name] = value; changed(); };
  const feature = field({ label: t("broadcasts.feature"), hint: t("broadcasts.feature.hint"), max: 64,
      value: draft.feature, attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" },
      oninput: set("feature") });
  const direction = segmentedChoice({ label: t("broadcasts.direction"),
      options: [["on", t("broadcasts.direction.on")], ["off", t("broadcasts.direction.off")]],
      value: draft.isOn ? "on" : "off", choose: (value) => set("isOn")(value === "on") });
  const share = field({ label: t("broadcasts.share"), hint: t("broadcasts.share.hint"), type: "number",
      value: draft.share, attributes: { min: 1, max: 100, step: 1, inputMode: "numeric", dir: "ltr" },
      oninput: set("share") });
  const group = segmentedChoice({ label: t("broadcasts.group"),
      options: [["", t("broadcasts.group.none")], ["A", "A"], ["B", "B"]], value: draft.group, choose: set("group") });
  const groupHint = h("p", { class: "below", role: "status" });
  group.append(groupHint);
  const data = field({ label: t("broadcasts.data"), hint: t("broadcasts.data.hint"), type: "textarea", max: 2_000,
      value: draft.data, attributes: { spellcheck: false }, oninput: set("data") });
  const effect = h("p", { class: "effect", role: "status" });
  const parts = { feature, share, data };

  const element = h("div", { class: "switch-fields" }, h("div", { class: "two" }, feature, direction),
    h("div", { class: "two" }, share, group), data, effect);
  element.error = (name, text) => {
    const part = parts[name] ?? (name === "group" ? null : feature);
    if (part) {
      part.error(text);
      part.control.focus();
    } else {
      sayOfGroup(text, true);
      group.querySelector("input:checked").focus();
    }
  };
  const sayOfGroup = (text, isWrong = false) => {
    groupHint.classList.toggle("wrong", isWrong);
    if (groupHint.textContent !== text) groupHint.textContent = text;
  };
  element.show = () => {
    group.disabled = draft.share === "";
    sayOfGroup(t(group.disabled ? "broadcasts.group.needsShare" : draft.group
        ? "broadcasts.group.hint" : "broadcasts.group.hint.none"));
    const words = effectOf(draft.content());
    if (effect.textContent !== words) effect.textContent = words;
  };
  element.isComplete = () => {
    const name = draft.feature.trim();
    if (!name && !draft.data.trim()) element.error("feature", t("broadcasts.feature.missing"));
    else if (name && !/^[A-Za-z0-9_.-]{1,64}$/.test(name)) element.error("feature", t("broadcasts.feature.wrong"));
    else if (share.control.validity.badInput ||
      (draft.share !== "" && !(Number.isInteger(Number(draft.share)) && draft.share >= 1 &&
          draft.share <= 100))) element.error("share", t("broadcasts.share.wrong"));
    else if (draft.group && draft.share > maxGroup)
      element.error("share", t("broadcasts.share.wrong.group", { max: maxGroup }));
    else if (data.isTooLong()) element.error("data", t("field.tooLong", { max: 2_000 }));
    else return true;
    return false;
  };
  return element;
}
