import { fill, h, newIdentifier } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { languageName } from "./words.js";

export const textLimits = { title: 500, msg: 1_500 };
const common = ["ar", "bn", "de", "el", "en", "es", "fa", "fr", "hi", "id", "it", "ja", "ko", "ku", "nl", "pl", "ps",
  "pt", "ro", "ru", "sw", "tr", "uk", "ur", "vi", "zh"];

/**
 * Titles and texts by language, a tab each. `translations` is changed in place; `fixed` is the language that must be
 * there.
 *
 * The element has `chosen` (the language that is shown), `error(language, part, text)`, `show(language)` and
 * `isComplete()`, which shows what is missing. `changed` is called after each change, also of the chosen language.
 */
export function languageTexts({ translations, fixed, changed }) {
  const panelID = newIdentifier("texts");
  const tabs = h("div", { class: "segments", role: "tablist", "aria-label": t("broadcasts.languages") });
  const panel = h("div", { class: "stack", role: "tabpanel", id: panelID });
  const add = h("button", { class: "button small plain", type: "button", onclick: addLanguage }, icon("plus", "small"),
    t("broadcasts.languages.add"));
  const removal = h("button",
    { class: "button small plain", type: "button", onclick: () => removeLanguage(element.chosen) });
  const note = h("p", { class: "hint" }, t("broadcasts.languages.fixed"));
  const element = h("div", { class: "language-texts" },
    h("div", { class: "language-bar" }, tabs, h("div", { class: "language-actions" }, removal, add)), note, panel);
  const errors = {};
  let fields = {};
  element.chosen = fixed;

  const tags = () => Object.keys(translations);

  function showTabs() {
    fill(tabs, tags().map((tag) => {
      const isWrong = Object.values(errors[tag] ?? {}).some(Boolean);
      return h("button", {
        type: "button", role: "tab", id: `${panelID}-${tag}`, "aria-controls": panelID,
        "aria-selected": String(tag === element.chosen), tabIndex: tag === element.chosen ? 0 : -1,
        class: isWrong ? "wrong" : null, onclick: () => choose(tag, true), onkeydown: key,
      }, languageName(tag), isWrong ? h("span", { class: "wrong-mark" }, icon("info", "small"),
        h("span", { class: "unseen" }, " ", t("broadcasts.languages.wrong"))) : null);
    }));
    panel.setAttribute("aria-labelledby", `${panelID}-${element.chosen}`);
  }

  function showPanel() {
    const tag = element.chosen;
    const text = translations[tag];
    fields = Object.fromEntries(Object.keys(textLimits).map((part) => [part, field({
      label: t(`broadcasts.text.${part}`), max: textLimits[part], type: part === "msg" ? "textarea" : "text",
      value: text[part], attributes: { lang: tag },
      oninput: (value) => {
        text[part] = value;
        if (errors[tag]?.[part]) { delete errors[tag][part]; showTabs(); }
        changed();
      },
    })]));
    for (const [part, wrong] of Object.entries(errors[tag] ?? {})) fields[part].error(wrong);
    fill(panel, fields.title, fields.msg);
    removal.hidden = tag === fixed;
    fill(removal, icon("trash", "small"), t("broadcasts.languages.remove", { language: languageName(tag) }));
    note.hidden = tag !== fixed || tags().length < 2;
  }

  function choose(tag, focuses = false) {
    element.chosen = tag;
    showTabs();
    showPanel();
    changed();
    if (focuses) tabs.querySelector("[aria-selected=true]").focus();
  }

  function key(event) {
    const isRightToLeft = document.documentElement.dir === "rtl";
    const step = { ArrowLeft: isRightToLeft ? 1 : -1, ArrowRight: isRightToLeft ? -1 : 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = tags();
    choose(all[(all.indexOf(element.chosen) + step + all.length) % all.length], true);
  }

  async function addLanguage() {
    const compare = new Intl.Collator(document.documentElement.lang).compare;
    const options = common.filter((tag) => !translations[tag])
      .sort((a, b) => compare(languageName(a), languageName(b)));
    const other = "other";
    const select = field({ label: t("broadcasts.languages.which"), hint: t("broadcasts.languages.which.hint"),
      control: h("select", { onchange: () => { code.hidden = select.value !== other; } },
        options.map((tag) => h("option", { value: tag }, languageName(tag))),
        h("option", { value: other }, t("broadcasts.languages.other"))) });
    const code = field({ label: t("broadcasts.languages.tag"), hint: t("broadcasts.languages.tag.hint"),
        attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" } });
    code.hidden = true;
    const tag = await showForm({
      heading: t("broadcasts.languages.add"), fields: [select, code], action: t("broadcasts.languages.add.action"),
      submit: () => {
        const wanted = select.value === other ? code.value.trim() : select.value;
        let name;
        try { [name] = Intl.getCanonicalLocales(wanted); } catch { /* no language tag */ }
        if (!name) throw refusal(code, t("broadcasts.languages.tag.wrong"));
        if (translations[name]) throw refusal(code, t("broadcasts.languages.tag.taken"));
        return name;
      },
    });
    if (!tag) return;
    translations[tag] = { title: "", msg: "" };
    choose(tag);
    fields.title.control.focus();
  }

  function removeLanguage(tag) {
    delete translations[tag];
    delete errors[tag];
    choose(fixed, true);
  }

  element.show = (tag) => choose(translations[tag] ? tag : fixed);
  element.error = (tag, part, text, focuses = true) => {
    translations[tag] ??= { title: "", msg: "" };
    (errors[tag] ??= {})[part] = text;
    if (!focuses) return showTabs();
    choose(tag);
    fields[part].control.focus();
  };
  /** Shows what is missing, and moves to the first of it. */
  element.isComplete = () => {
    let first = null;
    for (const tag of tags()) {
      for (const [part, max] of Object.entries(textLimits)) {
        const text = translations[tag][part].trim();
        const wrong = !text ? t("field.missing") : [...text].length > max ? t("field.tooLong", { max }) : "";
        if (!wrong) continue;
        element.error(tag, part, wrong, false);
        // The tab that is open comes first.
        if (!first || (first[0] !== element.chosen && tag === element.chosen)) first = [tag, part, wrong];
      }
    }
    if (first) element.error(...first);
    return !first;
  };
  showTabs();
  showPanel();
  return element;
}
