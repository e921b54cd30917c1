import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { currentHealth, waysOf } from "../elements/health-pill.js";

/** A text about FCM's limit, which is the hub's own where nothing goes by FCM. */
export function limitText(key, values) {
  const isOfFCM = ["google", "both"].includes(waysOf(currentHealth()));
  return t(isOfFCM ? key : `${key}.plain`, values);
}

/**
 * How much of FCM's limit a broadcast takes, while it is written. `say(count, text)` shows a number of bytes, and what
 * is wrong with it.
 */
export function byteBudget(limit) {
  const meter = h("div", { class: "meter" }, h("span"));
  const bytes = h("span");
  const wrong = h("span", { class: "below wrong", role: "alert" });
  const element = h("div", { class: "budget" }, meter, h("p", { class: "hint" }, bytes), wrong);
  element.say = (count, text) => {
    meter.firstChild.style.setProperty("inline-size", `${Math.min(100, (count / limit) * 100)}%`);
    meter.classList.toggle("over", count > limit);
    bytes.textContent = limitText("broadcasts.bytes", { bytes: count, limit });
    if (wrong.textContent !== text) wrong.textContent = text;
  };
  return element;
}
