import { h } from "../lib/dom.js";
import { textByWay } from "./words.js";

/**
 * How much of FCM's limit a broadcast takes, while it is written; where nothing goes by FCM it is the hub's own.
 * `say(count, text)` shows a number of bytes, and what is wrong with it.
 */
export function byteBudget(limit) {
  const meter = h("div", { class: "meter" }, h("span"));
  const bytes = h("span");
  const wrong = h("span", { class: "below wrong", role: "alert" });
  const element = h("div", { class: "budget" }, meter, h("p", { class: "hint" }, bytes), wrong);
  element.say = (count, text) => {
    meter.firstChild.style.setProperty("inline-size", `${Math.min(100, (count / limit) * 100)}%`);
    meter.classList.toggle("over", count > limit);
    bytes.textContent = textByWay("broadcasts.bytes", { bytes: count, limit });
    if (wrong.textContent !== text) wrong.textContent = text;
  };
  return element;
}
