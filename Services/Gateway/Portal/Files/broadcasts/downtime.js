import { ApiError, newKey, post } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { dateForm, language, t } from "../lib/text.js";
import { formatLength } from "../lib/time.js";
import { showForm } from "../elements/dialogs.js";
import { byteBudget } from "./budget.js";
import { broadcastBytes } from "./size.js";
import { segmentedChoice } from "./switch.js";
import { languageTexts } from "./texts.js";
import { textByWay } from "./words.js";

/** The languages of the portal, whose catalogues have a text for a downtime. */
const languages = ["en", "ar"];
/** Minutes. */
const lengths = [30, 60, 120, 240];

const read = Promise.all(languages.map((each) => fetch(new URL(`../text/${each}/broadcasts.json`, import.meta.url))
    .then((answer) => answer.json()))).catch(() => null);

/** The prepared texts of each language, with the time at which the system should be back. */
async function preparedTexts(fixed, ends) {
  const catalogues = await read;
  const texts = Object.fromEntries(languages.flatMap((each, index) => {
    const catalogue = catalogues?.[index];
    if (!catalogue) return [];
    const isToday = new Date(ends).toDateString() === new Date(hubNow()).toDateString();
    const day = isToday ? {} : { weekday: "long" };
    const time = dateForm({ ...day, hour: "2-digit", minute: "2-digit" }, each).format(ends);
    return [[each, { title: catalogue["broadcasts.downtime.title"],
          msg: catalogue["broadcasts.downtime.msg"].replace("{time}", time) }]];
  }));
  const { [fixed]: first = texts.en ?? { title: "", msg: "" }, ...others } = texts;
  return { [fixed]: { ...first }, ...others };
}

/**
 * "The system is going down" in two clicks: this opens the dialog, and its button sends the broadcast. Returns the
 * broadcast, or `null`. `language` is the default one, `limit` the size that a broadcast may have.
 */
export async function announceDowntime({ language: fixed, limit }) {
  let minutes = 60;
  const end = () => hubNow() + minutes * 60_000;
  const translations = await preparedTexts(fixed, end());
  let prepared = structuredClone(translations);
  let attempt = null;
  const texts = languageTexts({ translations, fixed, changed: sayBytes });
  const budget = byteBudget(limit);
  const clean = () => Object.fromEntries(Object.entries(translations)
    .map(([tag, { title, msg }]) => [tag, { title: title.trim(), msg: msg.trim() }]));
  const body = () => ({ type: 1, expiry: minutes, actiondata: { translations: clean(), cancellable: false } });
  function sayBytes() {
    const count = broadcastBytes(body(), { language: fixed });
    budget.say(count, count > limit ? textByWay("broadcasts.bytes.over") : "");
    return count <= limit;
  }
  /** The texts with the time at which it ends if it begins now. What was written by hand stays. */
  async function prepare() {
    const next = await preparedTexts(fixed, end());
    for (const [tag, text] of Object.entries(next)) {
      if (translations[tag]?.msg === prepared[tag]?.msg && translations[tag]) {
        translations[tag].msg = text.msg;
      }
    }
    prepared = next;
    texts.show(texts.chosen);
    sayBytes();
  }
  function setLength(value) {
    minutes = Number(value);
    return prepare();
  }
  texts.show(language);
  sayBytes();
  const length = segmentedChoice({
    label: t("broadcasts.downtime.length"), value: String(minutes), choose: setLength, autofocus: true,
    options: lengths.map((each) => [String(each), formatLength(each * 60)]),
  });

  return showForm({
    heading: t("broadcasts.downtime.heading"), action: textByWay("broadcasts.downtime.action"),
    fields: [h("p", { class: "notice downtime-notice" }, icon("phone"),
        h("span", null, textByWay("broadcasts.downtime.intro"))), length, texts, budget],
    submit: async () => {
      if (!texts.isComplete()) throw Object.assign(new Error(), { isShown: true });
      // The dialog may have been open for a while. A repetition after a lost answer says what the first attempt said.
      if (!attempt) await prepare();
      if (!sayBytes()) throw Object.assign(new Error(), { isShown: true });
      const print = JSON.stringify(body());
      // After a lost answer, the same text is sent once.
      if (attempt?.print !== print) attempt = { key: newKey(), print };
      try {
        return await post("/broadcast", body(), { headers: { "Idempotency-Key": attempt.key } });
      } catch (error) {
        throw shownAtItsField(error, texts);
      }
    },
  });
}

/** The error of the hub, which is shown at the text that it names, if it names one. */
export function shownAtItsField(error, texts) {
  const [, tag, part] = /^actiondata\.translations\.([A-Za-z0-9-]+)(?:\.(title|msg))?/.exec(error.field ?? "") ?? [];
  if (!(error instanceof ApiError) || !tag) return error;
  texts.error(tag, part ?? "title", t("broadcasts.refused", { detail: error.message }));
  return Object.assign(error, { isShown: true });
}
