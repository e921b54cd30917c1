import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { choice, field } from "../elements/field.js";
import { radioGroup } from "../elements/radio-group.js";

const maxChannels = 20;
/** From so many channels on, they can be searched. */
const searchedFrom = 9;

/**
 * Who gets a broadcast. `channels` are those of the cube, `null` if they could not be read. The element has
 * `error(text)`, `isComplete()` and `show()`.
 */
export function audienceFields(draft, channels, changed) {
  const below = h("p", { class: "below", role: "alert" });
  const options = h("div", { class: "group channel-list" });
  const count = h("p", { class: "hint", role: "status" });
  const listed = channels ?? [];
  const search = field({ label: t("broadcasts.audience.search"), type: "search", oninput: () => filter() });
  search.hidden = listed.length < searchedFrom;
  const list = h("fieldset", { class: "channels" }, h("legend", null, t("broadcasts.audience.channels.which")), search,
    options, count);
  const condition = field({ label: t("broadcasts.audience.condition"), hint: t("broadcasts.audience.condition.example"),
      value: draft.condition, attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" },
      oninput: (value) => { draft.condition = value; error(""); changed(); } });
  const group = radioGroup({
    label: t("broadcasts.audience"), value: draft.audience,
    options: ["everyone", "channels", "condition"].map((value) =>
      ({ value, label: t(`broadcasts.audience.${value}.label`), hint: t(`broadcasts.audience.${value}.hint`) })),
    onchange: () => { draft.audience = group.value; error(""); changed(); },
  });

  const known = new Set(listed.map((channel) => channel._id));
  const unknown = (id) =>
    (channels ? h("span", null, icon("info", "small"), " ", t("broadcasts.audience.gone")) : h("code", null, id));
  const all = [...listed.map((channel) => [channel._id, h("bdi", null, channel.name), channel.name]),
    ...draft.channels.filter((id) => !known.has(id)).map((id) => [id, unknown(id), ""])];
  const choices = all.map(([id, label, name]) =>
      ({ name, element: choice({ label, value: id, checked: draft.channels.includes(id), onchange: () => {
    draft.channels = [...options.querySelectorAll("input:checked")].map((input) => input.value);
    error("");
    changed();
  } }) }));
  fill(options, choices.length ? choices.map(({ element }) => element) : h("p", { class: "hint none" },
      t(channels ? "broadcasts.audience.noChannels" : "broadcasts.audience.unread")));
  function filter() {
    const words = wordsOf(search.value);
    for (const { name, element } of choices) element.hidden = !hasAll(words, name);
  }

  function error(text) {
    condition.error("");
    below.classList.toggle("wrong", Boolean(text));
    below.textContent = text;
  }

  const element = h("div", { class: "stack audience" }, group, list, condition, below);
  element.error = (text) => {
    if (draft.audience === "condition") {
      condition.error(text);
      condition.control.focus();
    } else {
      error(text);
      ((draft.audience === "channels" && options.querySelector("input")) || group.querySelector("input:checked"))
        .focus();
    }
  };
  element.show = () => {
    list.hidden = draft.audience !== "channels";
    condition.hidden = draft.audience !== "condition";
    count.textContent = draft.channels.length ? t("broadcasts.audience.count", { count: draft.channels.length }) : "";
  };
  element.isComplete = () => {
    if (draft.audience === "channels" && !draft.channels.length) element.error(t("broadcasts.audience.missing"));
    else if (draft.audience === "channels" && draft.channels.length > maxChannels)
      element.error(t("broadcasts.audience.tooMany", { max: maxChannels }));
    else if (draft.audience === "condition" && !draft.condition.trim()) element.error(t("field.missing"));
    else return true;
    return false;
  };
  return element;
}
