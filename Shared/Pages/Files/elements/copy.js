import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";

/**
 * A button that copies a text. `copied` is called after that; `shown` is selected if the browser does not allow
 * copying.
 */
export function copyButton(text, { label = t("copy"), copied, shown } = {}) {
  const write = (name, word) => fill(button, icon(name, "small"), h("span", { "aria-live": "polite" }, word));
  const button = h("button", { class: "button small", type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      write("check", t("copied"));
      copied?.();
    } catch {
      // Without a secure connection a browser does not copy: the keys can.
      if (shown) getSelection().selectAllChildren(shown);
      write("copy", t("copy.byKeys"));
    }
    setTimeout(() => write("copy", label), 4_000);
  } });
  write("copy", label);
  return button;
}

/** A text to copy, with its label and a button. */
export function copyBox({ label, text, copied }) {
  const shown = h("pre", { dir: "ltr", tabIndex: 0, role: "textbox", "aria-readonly": "true", "aria-multiline": "true",
      "aria-label": label }, text);
  return h("div", { class: "copy-box" },
    h("div", { class: "copy-head" }, h("span", null, label), copyButton(() => text, { copied, shown })), shown);
}
