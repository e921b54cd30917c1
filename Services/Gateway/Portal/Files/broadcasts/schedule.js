import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { formatLength, formatMoment, localOf, momentOf } from "../lib/time.js";
import { field } from "../elements/field.js";
import { row } from "../elements/row.js";
import { timeField } from "../elements/time-field.js";
import { epochOf } from "./epoch.js";
import { arePushed, repeatWords } from "./words.js";

/** Minutes. */
const lengths = [30, 60, 120, 240, 1_440, 10_080, 40_320];
const repeats = [0, 15, 60, 360, 1_440];
const units = { minutes: 1, hours: 60, days: 1_440 };
const maxLength = 525_600;
const length = (minutes) => formatLength(minutes * 60);
const option = (value, text) => h("option", { value }, text);

/**
 * When a broadcast begins, how long it lasts, how often its push is repeated and whether a downtime has a pop-up, where
 * there are pushes, and whether its card can be closed. The element has `show()`, `error(field, text)` and
 * `isComplete()`.
 */
export function scheduleRows(draft, changed) {
  const kept = draft.broadcast;
  const when = h("select", {
    onchange: () => {
      draft.begins = when.value;
      if (when.value === "later") proposeTime();
      changed();
      if (when.value === "later") at.control.focus();
    } },
    kept ? option("kept", t(kept.starts > hubNow() ? "broadcasts.when.kept" : "broadcasts.when.since",
        { time: formatMoment(kept.starts) })) : null,
    option("now", t("broadcasts.when.now")), option("later", t("broadcasts.when.later")));
  const at = timeField({ label: t("broadcasts.when.at"),
      oninput: (value, isSecond) => { Object.assign(draft, { at: value, isSecond }); changed(); } });

  const isFree = () => !lengths.includes(draft.lasts);
  let choosesFreely = isFree();
  const lasts = h("select", { onchange: () => {
    choosesFreely = lasts.value === "free";
    if (!choosesFreely) draft.expiry = Number(lasts.value);
    showFree();
    changed();
    if (choosesFreely) number.control.focus();
  } }, lengths.map((minutes) => option(String(minutes), length(minutes))), option("free", t("broadcasts.lasts.free")));
  const readFree = () => { draft.expiry = Math.round(Number(number.value) * units[unit.value]); changed(); };
  const number = field({ label: t("broadcasts.lasts.number"), type: "number",
      attributes: { min: 1, dir: "ltr", inputMode: "numeric" }, oninput: readFree });
  const unit = field({ label: t("broadcasts.lasts.unit"),
      control: h("select", { onchange: readFree }, Object.keys(units)
        .map((name) => option(name, t(`broadcasts.lasts.${name}`)))) });
  const free = h("div", { class: "two free-length" }, number, unit);
  const ending = h("p", { class: "below ending" });
  const repeat = h("select", { onchange: () => { draft.repeat = Number(repeat.value); sayRepeat(""); changed(); } },
    [...new Set([...repeats, draft.repeat])].sort((a, b) => a - b)
      .map((minutes) => option(String(minutes), repeatWords(minutes))));
  const repeatBelow = h("p", { class: "below", role: "alert" });
  const closable = h("input",
    { type: "checkbox", role: "switch", onchange: () => { draft.cancellable = closable.checked; changed(); } });
  const popup = h("input",
    { type: "checkbox", role: "switch", onchange: () => { draft.popup = popup.checked; changed(); } });
  const repeatRow = row(t("broadcasts.repeat"), repeat, repeatBelow, t("broadcasts.repeat.hint"));
  const popupRow = row(t("broadcasts.popup"), popup, null, t("broadcasts.popup.hint"));
  const closableRow = row(t("broadcasts.closable"), closable, null, t("broadcasts.closable.hint"));

  function proposeTime() {
    // An hour from now, at a full quarter.
    if (!draft.at || momentOf(draft.at, draft.isSecond) < hubNow()) {
      Object.assign(draft, localOf(Math.ceil((hubNow() + 3_600_000) / 900_000) * 900_000));
    }
  }
  function showFree() {
    const name = Object.keys(units).findLast((each) => draft.lasts % units[each] === 0) ?? "minutes";
    unit.control.value = name;
    number.value = String(draft.lasts / units[name]);
    number.error("");
  }
  function sayRepeat(text) {
    repeatBelow.classList.toggle("wrong", Boolean(text));
    repeatBelow.textContent = text;
  }
  function sayEnding(text, isWrong = false) {
    ending.classList.toggle("wrong", isWrong);
    ending.setAttribute("role", isWrong ? "alert" : "status");
    if (ending.textContent !== text) ending.textContent = text;
  }

  const element = h("div", { class: "group rows" }, row(t("broadcasts.when"), when, at),
    row(t("broadcasts.lasts"), lasts, [free, ending]),
    repeatRow, popupRow, closableRow);
  element.error = (name, text) => {
    if (name === "epoch" && draft.begins === "later") {
      at.error(text);
      at.control.focus();
    } else if (name === "repeat") {
      sayRepeat(text);
      repeat.focus();
    } else {
      sayEnding(text, true);
      (choosesFreely ? number.control : name === "epoch" ? when : lasts).focus();
    }
  };
  element.show = () => {
    when.value = draft.begins;
    at.hidden = draft.begins !== "later";
    at.set(draft.at, draft.isSecond);
    const starts = draft.starts(hubNow());
    at.hint(draft.at && !Number.isNaN(starts)
      ? t("broadcasts.when.tell", { time: formatMoment(starts), zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          offset: epochOf(starts).slice(19).replace(/(..)$/, ":$1") }) : "");
    lasts.value = choosesFreely ? "free" : String(draft.lasts);
    free.hidden = !choosesFreely;
    sayEnding(draft.lasts > 0 && draft.lasts <= maxLength && !Number.isNaN(starts)
      ? t("broadcasts.lasts.until", { time: formatMoment(starts + draft.lasts * 60_000) }) : "");
    repeat.value = String(draft.repeat);
    popup.checked = draft.popup;
    popupRow.hidden = !draft.isDowntime || !arePushed();
    // A repetition that was chosen before can be taken back.
    repeatRow.hidden = !arePushed() && !draft.repeat;
    closable.checked = draft.cancellable;
    closableRow.hidden = draft.isSwitch;
  };
  element.isComplete = () => {
    const starts = draft.starts(hubNow());
    if (draft.begins === "later" && !(starts > 0)) element.error("epoch", t("field.missing"));
    else if (draft.begins === "later" && starts < hubNow() - 60_000) element.error("epoch", t("broadcasts.when.past"));
    else if (!(Number.isInteger(draft.lasts) && draft.lasts >= 1 && draft.lasts <= maxLength))
      element.error("expiry", t("broadcasts.lasts.wrong"));
    else if (starts + draft.lasts * 60_000 <= hubNow()) element.error("expiry", t("broadcasts.lasts.past"));
    else return true;
    return false;
  };
  showFree();
  return element;
}
