// The fields that a new session and a changed one have.

import { t } from "../lib/text.js";
import { field } from "../people/parts.js";

/** The hub's limits, in characters of Unicode. */
const limits = { topics: 5, topic: 60, description: 500, place: 100 };
/** The shortest session, in minutes. */
const minMinutes = 5;

const folded = (topic) => topic.normalize("NFC").toLowerCase().toUpperCase().toLowerCase();

/**
 * The topics of a text: they are separated by commas, as people write them in both languages. Each is there once, as it
 * was written first; upper and lower case make no difference.
 */
export function topicsIn(text) {
  const topics = new Map();
  for (const topic of text.split(/[,،;\n]/).map((each) => each.trim().replace(/\s+/g, " ")).filter(Boolean)) {
    if (!topics.has(folded(topic))) topics.set(folded(topic), topic);
  }
  return [...topics.values()];
}

const lengthOf = (text) => [...text].length;

/** The field with the topics. It says by itself what is wrong. */
export function topicsField(topics) {
  const made = field({ label: t("session.topics"), hint: t("session.topics.hint"), dir: "auto", required: true,
    autocomplete: "off", value: topics.join(", ") });
  const check = () => {
    const found = topicsIn(made.input.value);
    const isWrong = found.length > limits.topics || found.some((topic) => lengthOf(topic) > limits.topic);
    made.input.setCustomValidity(isWrong
      ? t("session.topics.wrong", { max: limits.topics, length: limits.topic }) : "");
  };
  made.input.addEventListener("input", check);
  check();
  return Object.assign(made, { topics: () => topicsIn(made.input.value) });
}

export const placeField = (name) => field({ label: t("session.place"), hint: t("session.place.hint"), dir: "auto",
  autocomplete: "off", maxLength: limits.place, value: name });

export const descriptionField = (text) => field({ label: t("session.description"), hint: t("session.description.hint"),
  tag: "textarea", rows: 2, dir: "auto", maxLength: limits.description, value: text });

/** The planned duration in minutes. `max` is the hub's longest one. */
export const minutesField = (minutes, max, label = t("session.minutes")) => field({ label, type: "number",
  inputMode: "numeric", min: minMinutes, max, required: true, value: String(Math.min(minutes, max)) });
