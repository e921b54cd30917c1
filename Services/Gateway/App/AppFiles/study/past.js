// The sessions at which the person was. They do not say who else was there.

import { h } from "../lib/dom.js";
import { formatDay, formatTime } from "../lib/phone-time.js";
import { t } from "../lib/text.js";
import { hide } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { className, durationText, partsText, sheet, studyOfApp, topicsOf } from "./parts.js";

const row = ({ class: id, joined, minutes, hosted, ...session }) => h("li", { class: "row" },
  h("span", { class: "row-text" }, h("span", { class: "row-label" }, h("bdi", null, topicsOf(session)),
    hosted ? h("span", { class: "tag" }, t("past.hosted")) : null),
  h("span", { class: "hint" }, h("bdi", null, partsText([className(id), formatDay(joined), formatTime(joined)])))),
  h("span", { class: "hint" }, durationText(minutes)));

/** The sheet with the person's earlier sessions, the latest first. */
export function pastView() {
  const said = h("p", { class: "notice", role: "status" }, t("loading"));
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const list = h("ul", { class: "plain group", hidden: true });
  const more = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("past.more"));
  const element = sheet(t("past.heading"), { back: "#study/classes" }, h("p", { class: "secondary" }, t("past.text")),
    said, again, list, more);
  let next = null;

  async function load() {
    hide(again);
    hide(more);
    try {
      const found = await (await studyOfApp()).page("past", next);
      list.append(...found.list.map(row));
      next = found.next;
      more.hidden = next === null;
      list.hidden = !list.childElementCount;
      said.textContent = list.hidden && next === null ? t("past.none") : "";
    } catch (error) {
      if (error.kind === "signed out") return;
      said.textContent = reasonOf(error);
      again.hidden = false;
    }
  }

  load();
  return Object.assign(element, { update: () => {} });
}
