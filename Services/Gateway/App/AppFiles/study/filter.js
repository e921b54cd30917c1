// Which classes' sessions are shown: any number of them, or all. This device keeps the choice.

import { h } from "../lib/dom.js";
import { place } from "../lib/place.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { toneOf } from "../core/study-state.js";
import { classSign } from "./parts.js";

/** The chips, of which any number is chosen. `update()` shows the person's classes. */
export function classFilter() {
  const chips = new Map();
  const element = h("div", { class: "chips scrolled", role: "group", "aria-label": t("filter.label") });

  const choose = async (ids) => (await app.people()).study.choose(ids);
  const chosen = () => (state.study.chosen ?? []).filter((id) => state.study.classes?.some((each) => each.id === id));

  function toggle(id) {
    const ids = chosen();
    choose(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
  }

  /** A chip, made once for each class. */
  function chip(id, name, tone, isChosen) {
    const button = chips.get(id) ?? h("button", { class: "chip", type: "button",
      onclick: () => (id ? toggle(id) : choose([])) }, tone ? classSign(tone) : null, h("bdi", null));
    chips.set(id, button);
    button.lastChild.textContent = name;
    if (tone) button.firstChild.dataset.tone = tone;
    button.setAttribute("aria-pressed", String(isChosen));
    return button;
  }

  return Object.assign(element, { update: () => {
    const { classes = [] } = state.study;
    const ids = chosen();
    element.hidden = classes.length < 2;
    place(element, [chip("", t("filter.all"), null, !ids.length),
      ...classes.map(({ id, name }) => chip(id, name, toneOf(state.study, id), ids.includes(id)))]);
  } });
}
