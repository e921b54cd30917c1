// Parts of the app about people. Their modules and texts are loaded when somebody opens one of them.

import { h } from "./dom.js";
import { addTexts, t } from "./text.js";

let texts = null;

/** Loads a module about people, and its texts. After a failure it may be repeated. */
export async function withTexts(load) {
  texts ??= addTexts("people").catch((error) => { texts = null; throw error; });
  return (await Promise.all([load(), texts]))[0];
}

/** Stands for content until `make()` has resolved to it. `update()` shows the state. */
export function later(make) {
  const element = h("div", { class: "stack", "aria-busy": "true" });
  const said = h("p", { class: "notice bad", role: "alert", hidden: true });
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("problem.reload"));
  let made = null;

  async function load() {
    said.hidden = again.hidden = true;
    try {
      made = await make();
    } catch {
      said.textContent = t("page.failed");
      said.hidden = again.hidden = false;
      return;
    }
    element.replaceChildren(made);
    element.removeAttribute("aria-busy");
    made.update();
  }

  element.append(said, again);
  load();
  return Object.assign(element, { update: () => made?.update() });
}
