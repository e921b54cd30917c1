// The sessions at which the person was. They do not say who else was there.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { formatDay, formatTime } from "../lib/phone-time.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { classOf } from "../core/study-state.js";
import { hide, refill } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { className, durationText, partsOf, pathOf, sheet, studyOfApp, topicsOf } from "./parts.js";

/** A session. It leads to its posts, which the hub shows to those who are still in the class. */
function row({ joined, minutes, hosted, ...session }) {
  const isInClass = Boolean(classOf(state.study, session.class));
  return h("li", null, h(isInClass ? "a" : "div", { class: "row", href: isInClass ? pathOf(session, "posts") : null },
    h("span", { class: "row-text" }, h("span", { class: "row-label" }, h("bdi", null, topicsOf(session)),
      hosted ? h("span", { class: "tag" }, t("past.hosted")) : null),
    h("span", { class: "hint" }, partsOf([className(session.class), formatDay(joined), formatTime(joined)]))),
    h("span", { class: "hint" }, durationText(minutes)), isInClass ? icon("next", "small") : null));
}

/** The sheet with the person's earlier sessions, the latest first. */
export function pastView() {
  const said = h("p", { class: "notice", role: "status" }, t("loading"));
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const list = h("ul", { class: "plain group", hidden: true });
  const more = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("past.more"));
  const element = sheet(t("past.heading"), { back: "#study/classes" }, h("p", { class: "secondary" }, t("past.text")),
    said, again, list, more);
  let sessions = [];
  let next = null;
  let print = "";

  async function load() {
    hide(again);
    hide(more);
    try {
      const found = await (await studyOfApp()).page("past", next);
      sessions = [...sessions, ...found.list];
      next = found.next;
      more.hidden = next === null;
      list.hidden = !sessions.length;
      said.textContent = list.hidden && next === null ? t("past.none") : "";
      update();
    } catch (error) {
      if (error.kind === "signed out") return;
      said.textContent = reasonOf(error);
      again.hidden = false;
    }
  }

  /** The classes may come after the sessions. */
  function update() {
    const names = state.study.classes?.map(({ id, name }) => [id, name]);
    if (print === (print = JSON.stringify([sessions.length, names]))) return;
    refill(list, () => element.querySelector("h2"), sessions.map(row));
  }

  load();
  return Object.assign(element, { update });
}
