import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { copyButton } from "../elements/copy.js";
import { passwordField, refusal } from "../elements/field.js";

// Without characters that look alike. 20 of 31 characters are 99 bits.
const letters = "abcdefghjkmnpqrstuvwxyz23456789";

/** A strong password in groups that can be read out. */
export function strongPassword() {
  const characters = [];
  while (characters.length < 20) {
    // Without the bytes that would make the first characters more likely.
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      if (byte < 248 && characters.length < 20) {
        characters.push(letters[byte % 31]);
      }
    }
  }
  return characters.join("").match(/.{5}/g).join("-");
}

/**
 * A field for a new password of somebody, with a button that suggests one and shows it. `check` throws if it cannot be
 * one.
 */
export function newPasswordField() {
  const element = passwordField({ label: t("people.password"), hint: t("people.password.hint"),
      attributes: { autocomplete: "new-password" } });
  const copy = copyButton(() => element.value);
  copy.hidden = true;
  const suggest = h("button", { class: "button small", type: "button", onclick: () => {
    element.value = strongPassword();
    element.error("");
    element.hint(t("people.password.suggested"));
    element.see(true);
    copy.hidden = false;
  } }, icon("key", "small"), t("people.password.suggest"));
  element.control.classList.add("code");
  element.control.parentElement.after(h("div", { class: "control actions" }, suggest, copy));
  element.control.addEventListener("input", () => { copy.hidden = !element.value; });
  element.check = () => {
    const { length } = [...element.value];
    if (length < 8 || length > 256) throw refusal(element, t("people.password.rule"));
  };
  return element;
}
