// Parts of the app about people and study sessions. Their modules and texts are loaded when somebody opens one of them.

import { h } from "./dom.js";
import { addTexts, t } from "./text.js";

const texts = new Map();

function textsOf(part) {
  if (!texts.has(part)) texts.set(part, addTexts(part).catch((error) => { texts.delete(part); throw error; }));
  return texts.get(part);
}

/**
 * Loads a module with the texts about people, and further parts of the catalogue. After a failure it may be repeated.
 */
export async function withTexts(load, ...parts) {
  return (await Promise.all([load(), ...["people", ...parts].map(textsOf)]))[0];
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
