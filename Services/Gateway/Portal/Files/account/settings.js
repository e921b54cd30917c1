import { fill, h } from "../lib/dom.js";
import { keep, kept } from "../lib/store.js";
import { language, t } from "../lib/text.js";
import { may } from "../lib/session.js";
import { choice } from "../elements/field.js";
import { showKeys } from "../elements/keys.js";
import { toast } from "../elements/toast.js";

function store(name, value) {
  const isKept = keep(name, value);
  if (!isKept) toast(t("account.settings.blocked"));
  return isKept;
}
const save = (changes) => store("settings", { ...kept("settings", {}), ...changes });

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

/** A setting that is on or off. `allow` may refuse to switch it on; `write(isOn)` keeps it. */
function toggle(name, checked, { allow = () => true, write = (isOn) => save({ [name]: isOn }) } = {}) {
  return choice({
    label: h("b", null, t(`account.${name}`)), hint: t(`account.${name}.hint`), checked,
    onchange: async ({ target }) => {
      if (target.checked && !(await allow())) {
        target.checked = false;
        toast(t(`account.${name}.denied`), { seconds: 10 });
      } else if (write(target.checked)) toast(t(`account.${name}.${target.checked ? "on" : "off"}`));
    },
  });
}

/** What this browser keeps: language, colours, whether an Alert waits, keys, and notifications. */
export function settingsForm() {
  const settings = kept("settings", {});
  const mayNotify = "Notification" in window && may("read") && may("send");
  return fill(h("div", { class: "stack" }),
    segments(t("account.language"), [["en", "English", "en"], ["ar", "العربية", "ar"]], language, (value) => {
      if (value !== language && save({ language: value })) location.reload();
    }),
    segments(t("account.theme"), ["", "light", "dark"].map((theme) => [theme, t(`account.theme.${theme || "system"}`)]),
        settings.theme ?? "", (theme) => {
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
      save({ theme: theme || undefined });
    }),
    toggle("undo", settings.undo !== false),
    toggle("keys", settings.keys !== false),
    h("button", { class: "button small", type: "button", onclick: showKeys }, t("account.keys.show")),
    // Each account of a browser decides for itself.
    mayNotify ? toggle("approvals", kept("approvals") === true && Notification.permission === "granted",
      { allow: async () => (await Notification.requestPermission()) === "granted",
        write: (isOn) => store("approvals", isOn || null) }) : null);
}
