import { h } from "../lib/dom.js";
import { post, put } from "../lib/api.js";
import { folded, t, tn } from "../lib/text.js";
import { choice, field } from "../elements/field.js";
import { pathOf } from "../elements/tags.js";
import { change } from "./change.js";
import { cube, namesOf, pathTo, refresh, siblingsOf } from "./model.js";
import { panel, panelHead } from "./panel.js";

const limits = { name: 200, desc: 2_000 };
const levels = ["Forced", "Recommended", ""];
const distributions = ["Alert", "Information"];
const word = { level: (value) => t(`cube.level.${value || "none"}`),
  distribution: (value) => t(`distribution.${value}`) };

let radios = 0;

// Radio buttons, each with a sentence of what it means.
function choices(label, name, values, value) {
  const group = `${name}-${(radios += 1)}`;
  const options = values.map((each) => choice({
    type: "radio", name: group, value: each, checked: each === value, label: h("b", null, word[name](each)),
    hint: t(`cube.${name}.${each || "none"}.means`),
  }));
  return {
    element: h("fieldset", null, h("legend", null, label), h("div", { class: "options" }, options)),
    get value() { return options.find((option) => option.control.checked).control.value; },
    set value(next) { for (const option of options) option.control.checked = option.control.value === next; },
  };
}

const storedValues = ({ data }, kind) =>
  ({ name: data.name, desc: data.desc,
    ...(kind === "subject" ? { opt: { level: data.opt.level, distribution: data.opt.distribution } } : {}) });

/**
 * The form that edits a thing, or adds one of a kind to `parent`. `added` tells of one that was added while the form
 * stays for another.
 */
export function editPanel({ thing, kind = thing.kind, parent = null, added, done, leave }) {
  const before = thing ? storedValues(thing, kind) : { name: "", desc: "",
    opt: { level: "", distribution: "Information" } };
  const partsNow = () => (parent ? cube.things.get(parent.id)?.parts : cube.roots) ?? [];
  const idsNow = () => new Set(partsNow().map((part) => part.id));
  let idsBefore = idsNow();
  const another = thing ? null : choice({ label: t("cube.another") });
  const name = field({ label: t("cube.name"), value: before.name, max: limits.name, hint: t(`cube.name.${kind}`),
      attributes: { required: true } });
  const desc = field({ label: t("cube.desc"), type: "textarea", value: before.desc, max: limits.desc,
      attributes: { rows: 2 } });
  const level = kind === "subject" ? choices(t("cube.level"), "level", levels, before.opt.level) : null;
  const distribution = kind === "subject" ? choices(t("cube.distribution"), "distribution", distributions,
    before.opt.distribution) : null;
  name.control.addEventListener("input", () => {
    const others = (thing ? siblingsOf(thing) : partsNow()).filter((part) => part.id !== thing?.id);
    const isTaken = others.some((part) => folded(part.data.name) === folded(name.value.trim()));
    name.hint(t(isTaken ? "cube.name.taken" : `cube.name.${kind}`));
  });
  const read = () => ({
    name: name.value.trim(), desc: desc.value.trim(),
    ...(level ? { opt: { level: level.value, distribution: distribution.value } } : {}),
  });

  async function add(values, hasUnknownResult) {
    if (hasUnknownResult) {
      // An earlier try may have added it.
      await refresh();
      const found = partsNow().find((part) => !idsBefore.has(part.id) && part.data.name === values.name);
      if (found) return found.data;
    }
    return post(parent ? `/${kind}/${parent.ids.join("/")}` : "/channel", values);
  }

  // Level and distribution stay for the next one.
  function startAnother(result) {
    [name.value, desc.value, idsBefore] = ["", "", idsNow()];
    added(result);
    element.restart();
  }

  const heading = (make, wrap) => (thing ? make("cube.editNamed", { name: wrap([thing.data.name]) })
    : parent ? make(`cube.addTo.${kind}`, { name: wrap(namesOf(parent)) }) : t("cube.add.channel"));
  const element = panel({
    heading: heading(t, (names) => names.join(" › ")),
    name: () => (thing ?? parent)?.data.name ?? "",
    content: [panelHead(heading(tn, pathOf), namesOf(thing?.parent)), name, desc,
      level ? [level.element, distribution.element] : null],
    action: thing ? t("save") : t(`cube.add.${kind}`),
    extra: another,
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
      change(() => (thing ? put(pathTo(cube.things.get(thing.id) ?? thing), values,
            { headers: { "If-Match": tag } }) : add(values, hasUnknownResult))),
    describe: (values) => [[t("cube.name"), values.name], [t("cube.desc"), values.desc],
      ...(level ? [[t("cube.level"), word.level(values.opt.level)],
          [t("cube.distribution"), word.distribution(values.opt.distribution)]] : [])],
    done: (result) => (another?.control.checked ? startAnother(result) : done(result)),
    leave,
    fieldOf: (wrong) => ({ name, desc })[wrong] ?? null,
  });
  return element;
}
