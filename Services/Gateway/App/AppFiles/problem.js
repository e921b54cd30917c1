import { fill, h } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { t } from "./lib/text.js";

/** Why the app cannot use its data in this browser, and what to do: by the `kind` of the core's error. */
export function problemScreen() {
  const kinds = ["outdated", "newer", "full"];
  const element = h("div", { class: "welcome" });
  let shown = "";
  return Object.assign(element, {
    update: ({ kind, message }) => {
      if (shown === (shown = `${kind} ${message}`)) return;
      const known = kinds.includes(kind) ? kind : "failed";
      fill(element, h("div", { class: "welcome-text", role: "alert" },
        h("span", { class: "app-icon large" }, icon("info")),
        h("h1", { tabIndex: -1 }, t(`problem.${known}`)), h("p", { class: "secondary" }, t(`problem.${known}.text`)),
        known === "failed" ? h("p", { class: "hint", dir: "auto" }, message) : null,
        h("button", { class: "button main", type: "button", onclick: () => location.reload() }, t("problem.reload"))));
    },
  });
}
