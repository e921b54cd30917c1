import { h } from "../lib/dom.js";
import { payloadBytes, payloadLimit } from "../lib/payload.js";
import { t } from "../lib/text.js";

/** The share of FCM's limit from which its use is shown. */
const shownFrom = 0.75;

/** How much of FCM's limit a message takes, once that begins to matter. The element has `show(message)`. */
export function payloadBudget() {
  const meter = h("div", { class: "meter" }, h("span"));
  const words = h("span");
  const element = h("div", { class: "budget" }, meter, h("p", { class: "hint" }, words));
  element.show = (message) => {
    const { data, popup } = payloadBytes(message);
    const bytes = Math.max(data, popup);
    element.hidden = bytes < payloadLimit * shownFrom;
    meter.firstChild.style.setProperty("inline-size", `${Math.min(100, (bytes / payloadLimit) * 100)}%`);
    meter.classList.toggle("over", bytes > payloadLimit);
    words.textContent = popup > payloadLimit ? t("send.bytes.cut") : data > payloadLimit
      ? t("send.bytes.over") : t("send.bytes", { bytes, limit: payloadLimit });
  };
  return element;
}
