import { fill, h } from "../lib/dom.js";
import { keep, kept } from "../lib/store.js";
import { language, t } from "../lib/text.js";
import { choice } from "../elements/field.js";
import { toast } from "../elements/toast.js";

function save(changes) {
  const isKept = keep("settings", { ...kept("settings", {}), ...changes });
  if (!isKept) toast(t("account.settings.blocked"));
  return isKept;
}

/** A choice between few words, which applies at once. `options` are `[value, label, language]`. */
function segments(label, options, value, choose) {
  const buttons = options.map(([each, text, lang]) => h("button", {
    type: "button", lang, "aria-pressed": String(each === value),
    onclick: (event) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
      choose(each);
    },
  }, text));
  return h("fieldset", { class: "setting" }, h("legend", null, label), h("div", { class: "segments" }, buttons));
}

/** What this browser keeps: language, colours, and whether an Alert waits. */
export function settingsForm() {
  const settings = kept("settings", {});
  const undo = choice({
    label: h("b", null, t("account.undo")), hint: t("account.undo.hint"), checked: settings.undo !== false,
    onchange: (event) => save({ undo: event.target.checked }) && toast(t(event.target.checked ? "account.undo.on" : "account.undo.off")),
  });
  return fill(h("div", { class: "stack" }),
    segments(t("account.language"), [["en", "English", "en"], ["ar", "العربية", "ar"]], language, (value) => {
      if (value !== language && save({ language: value })) location.reload();
    }),
    segments(t("account.theme"), ["", "light", "dark"].map((theme) => [theme, t(`account.theme.${theme || "system"}`)]), settings.theme ?? "", (theme) => {
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
      save({ theme: theme || undefined });
    }), undo);
}
