import { fill, h } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { install, wayToInstall } from "./lib/installation.js";
import { t } from "./lib/text.js";

/** How to install the app in this browser. `update()` shows the way that there is now. */
export function installation() {
  const element = h("div", { class: "stack install" });
  let shown = "";
  return Object.assign(element, {
    update: () => {
      const way = wayToInstall();
      if (way === shown) return;
      shown = way;
      fill(element, h("p", { class: way === "insecure" ? "notice" : "secondary" }, t(`install.${way}`)),
        way === "button" ? h("button", { class: "button", type: "button", onclick: install },
          icon("download", "small"), t("install.action")) : null);
    },
  });
}
