import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { formatMoment, momentsOf } from "../lib/time.js";
import { field } from "./field.js";

/**
 * A field for a local time. In the hour that comes twice, when clocks go back, it lets one choose which. `set(value,
 * isSecond)` shows a time, and `oninput` gets one.
 */
export function timeField({ label, oninput }) {
  const which = h("select",
    { "aria-label": t("time.which"), hidden: true, onchange: () => oninput(element.value, which.value === "1") });
  const element = field({
    label, type: "datetime-local", attributes: { dir: "ltr" },
    oninput: (value) => { element.set(value, false); oninput(value, false); },
  });
  element.control.after(which);
  element.set = (value, isSecond) => {
    if (element.value !== value) element.value = value;
    const moments = momentsOf(value);
    which.hidden = moments.length < 2;
    which.replaceChildren(...moments.map((moment, index) => h("option", { value: String(index) },
          formatMoment(moment))));
    which.value = isSecond && !which.hidden ? "1" : "0";
  };
  return element;
}
