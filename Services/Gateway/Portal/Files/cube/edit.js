import { h } from "../lib/dom.js";
import { post, put } from "../lib/api.js";
import { folded, t } from "../lib/text.js";
import { choice, field } from "../elements/field.js";
import { change } from "./change.js";
import { cube, pathTo, refresh, siblingsOf } from "./model.js";
import { panel } from "./panel.js";

const limits = { name: 200, desc: 2_000 };
const levels = ["Forced", "Recommended", ""];
const distributions = ["Alert", "Information"];
const word = { level: (value) => t(`cube.level.${value || "none"}`), distribution: (value) => t(`distribution.${value}`) };

let radios = 0;

// Radio buttons, each with a sentence of what it means.
function choices(label, name, values, value) {
  const group = `${name}-${(radios += 1)}`;
  const options = values.map((each) => choice({
    type: "radio", name: group, value: each, checked: each === value, label: h("b", null, word[name](each)), hint: t(`cube.${name}.${each || "none"}.means`),
  }));
  return {
    element: h("fieldset", null, h("legend", null, label), h("div", { class: "options" }, options)),
    get value() { return options.find((option) => option.control.checked).control.value; },
    set value(next) { for (const option of options) option.control.checked = option.control.value === next; },
  };
}

const storedValues = ({ data }, kind) => ({ name: data.name, desc: data.desc, ...(kind === "subject" ? { opt: { level: data.opt.level, distribution: data.opt.distribution } } : {}) });

/** The form that edits a thing, or adds one of a kind to `parent`. */
export function editPanel({ thing, kind = thing.kind, parent = null, done, leave }) {
  const before = thing ? storedValues(thing, kind) : { name: "", desc: "", opt: { level: "", distribution: "Information" } };
  const partsNow = () => (parent ? cube.things.get(parent.id)?.parts : cube.roots) ?? [];
  const idsBefore = new Set(partsNow().map((part) => part.id));
  const name = field({ label: t("cube.name"), value: before.name, max: limits.name, hint: t(`cube.name.${kind}`), attributes: { required: true } });
  const desc = field({ label: t("cube.desc"), type: "textarea", value: before.desc, max: limits.desc, attributes: { rows: 2 } });
  const level = kind === "subject" ? choices(t("cube.level"), "level", levels, before.opt.level) : null;
  const distribution = kind === "subject" ? choices(t("cube.distribution"), "distribution", distributions, before.opt.distribution) : null;
  name.control.addEventListener("input", () => {
    const others = (thing ? siblingsOf(thing) : partsNow()).filter((part) => part.id !== thing?.id);
    const isTaken = others.some((part) => folded(part.data.name) === folded(name.value.trim()));
    name.hint(t(isTaken ? "cube.name.taken" : `cube.name.${kind}`));
  });
  const read = () => ({
    name: name.value.trim(), desc: desc.value.trim(), ...(level ? { opt: { level: level.value, distribution: distribution.value } } : {}),
  });

  async function add(values, hasUnknownResult) {
    if (hasUnknownResult) {
      // A former try may have added it.
      await refresh();
      const added = partsNow().find((part) => !idsBefore.has(part.id) && part.data.name === values.name);
      if (added) return added.data;
    }
    return post(parent ? `/${kind}/${parent.ids.join("/")}` : "/channel", values);
  }

  return panel({
    heading: thing ? t("cube.editNamed", { name: thing.data.name }) : parent ? t(`cube.addTo.${kind}`, { name: parent.data.name }) : t("cube.add.channel"),
    name: () => (thing ?? parent)?.data.name ?? "",
    content: [name, desc, level ? [level.element, distribution.element] : null],
    action: thing ? t("save") : t(`cube.add.${kind}`),
    read,
    write: (values) => {
      [name.value, desc.value] = [values.name, values.desc];
      if (level) [level.value, distribution.value] = [values.opt.level, values.opt.distribution];
    },
    stored: () => {
      if (!thing) return !parent || cube.things.has(parent.id) ? {} : null;
      const now = cube.things.get(thing.id);
      return now ? storedValues(now, kind) : null;
    },
    check: (values) => {
      name.error(values.name ? (name.isTooLong() ? t("field.tooLong", { max: limits.name }) : "") : t("field.missing"));
      desc.error(desc.isTooLong() ? t("field.tooLong", { max: limits.desc }) : "");
      return !values.name || name.isTooLong() ? name.control : desc.isTooLong() ? desc.control : null;
    },
    save: (values, tag, base, hasUnknownResult) =>
      change(() => (thing ? put(pathTo(thing), values, { headers: { "If-Match": tag } }) : add(values, hasUnknownResult))),
    describe: (values) => [[t("cube.name"), values.name], [t("cube.desc"), values.desc],
      ...(level ? [[t("cube.level"), word.level(values.opt.level)], [t("cube.distribution"), word.distribution(values.opt.distribution)]] : [])],
    done, leave,
    fieldOf: (wrong) => ({ name, desc })[wrong] ?? null,
  });
}
