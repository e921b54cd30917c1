import { t } from "../lib/text.js";
import { field } from "../people/parts.js";

/** For how many days a class keeps names unless its professor says something else, and the limits. */
const [usualDays, minDays, maxDays] = [365, 1, 3_650];

/**
 * The fields of what a class says about itself, with those of an existing one. `value()` is the body of a request: an
 * empty description is one that is taken away.
 */
export function classFields(group) {
  const name = field({ label: t("prof.class.name"), value: group?.name ?? "", required: true, maxLength: 100,
    autocomplete: "off", dir: "auto" });
  const key = field({ label: t("prof.class.key"), hint: t("prof.class.key.hint"), required: true, maxLength: 40,
    value: group?.identification_key ?? "", pattern: "[A-Za-z0-9._\\-]+", title: t("prof.class.key.hint"),
    autocomplete: "off", spellcheck: false, dir: "ltr" });
  const description = field({ label: t("prof.class.description"), tag: "textarea", value: group?.description ?? "",
    maxLength: 1_000, rows: 3, dir: "auto" });
  const days = field({ label: t("prof.class.days"), hint: t("prof.class.days.hint"), type: "number", required: true,
    value: String(group?.name_days ?? usualDays), min: minDays, max: maxDays, step: 1, inputMode: "numeric" });
  return { fields: [name, key, description, days], value: () => {
    const text = description.input.value.trim();
    return { name: name.input.value.trim(), identification_key: key.input.value.trim(),
      ...(text || group ? { description: text } : {}), name_days: Number(days.input.value) };
  } };
}
