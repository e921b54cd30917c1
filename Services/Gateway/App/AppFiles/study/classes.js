// The person's classes, and what else there is about studying: joining a class, classmates, earlier sessions.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { toneOf } from "../core/study-state.js";
import { refill } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { classSign, partsText, sheet, studyOfApp, waitingStudy } from "./parts.js";

const row = ({ id, name, role, sessions, closed }) => h("li", null, h("a", { class: "row", href: `#study/class/${id}` },
  classSign(toneOf(state.study, id)), h("span", { class: "row-text" },
    h("span", { class: "row-label" }, h("bdi", null, name),
      closed ? h("span", { class: "tag" }, t("class.closed")) : null),
    h("span", { class: "hint" }, partsText([t(`role.${role}`), t("class.sessions", { count: sessions })]))),
  icon("next", "small")));

/** The sheet with the classes. */
export function classesView() {
  const waiting = waitingStudy();
  const said = h("p", { class: "notice bad", role: "alert", hidden: true });
  const list = h("ul", { class: "plain group" });
  const none = h("p", { class: "hint" }, t("classes.none"));
  const link = (page, sign, label) => h("li", null, h("a", { class: "row", href: `#study/${page}` }, sign,
    h("span", { class: "row-text" }, label), icon("next", "small")));
  const find = link("find", icon("people"), t("find.heading"));
  const professor = h("li", null, h("a", { class: "row", href: "/portal/classes/" }, icon("cube"),
    h("span", { class: "row-text" }, t("classes.professor")), icon("next", "small")));
  const element = sheet(t("classes.heading"), {}, waiting, said, list, none, h("ul", { class: "plain group" },
    link("join", icon("key"), t("join.heading")), find, link("past", phoneIcon("calendar"), t("past.heading")),
    professor));
  let print = "";

  studyOfApp().then((study) => study.load("classes")).catch((error) => {
    if (error.kind === "signed out") return;
    said.textContent = reasonOf(error);
    said.hidden = false;
  });
  return Object.assign(element, { update: () => {
    waiting.update();
    const { classes } = state.study;
    list.hidden = !classes?.length;
    none.hidden = !classes || classes.length > 0;
    find.hidden = !classes?.length;
    professor.hidden = !state.people.person?.professor && !classes?.some(({ role }) => role !== "student");
    if (print === (print = JSON.stringify(classes))) return;
    refill(list, () => element.querySelector("h2"), (classes ?? []).map(row));
  } });
}
