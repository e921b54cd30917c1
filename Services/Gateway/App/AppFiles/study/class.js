// One of the person's classes.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { state } from "../lib/state.js";
import { formatNumber, t } from "../lib/text.js";
import { classOf } from "../core/study-state.js";
import { named } from "../people/parts.js";
import { switchRow } from "../elements/switch.js";
import { act, ask, sheet, studyOfApp, waitingStudy } from "./parts.js";

const fact = (name, value) => h("div", { class: "row" }, h("dt", null, name), h("dd", { class: "hint" }, h("bdi", null,
  value)));

/** The sheet of a class: what it is, whether its new sessions are told, and how to leave it. */
export function classView(id) {
  const waiting = waitingStudy();
  const description = h("p", { class: "text", dir: "auto" });
  const facts = h("dl", { class: "group facts" });
  const pushes = switchRow({ label: t("class.pushes"), hint: t("class.pushes.hint"),
    onchange: (on) => act("class pushes", { id, on, name: classOf(state.study, id)?.name }) });
  const show = h("button", { class: "button", type: "button", onclick: showSessions }, t("class.showSessions"));
  const mates = h("a", { class: "button", href: `#study/find/${id}` }, icon("people", "small"), t("find.heading"));
  const leave = h("button", { class: "button danger", type: "button", onclick: leaveClass }, t("do.leaveClass"));
  const content = h("div", { class: "stack" }, description, facts, h("div", { class: "group" }, pushes),
    h("div", { class: "actions" }, show, mates, leave));
  const none = h("p", { class: "notice", role: "status" });
  const element = sheet("", { back: "#study/classes", dir: "auto" }, waiting, none, content);
  let print = "";

  async function showSessions() {
    await (await studyOfApp()).choose([id]);
    location.hash = "#study";
  }

  async function leaveClass() {
    const { name } = classOf(state.study, id) ?? {};
    const isWanted = await ask(named("question.leaveClass", { name }), t("question.leaveClass.text"),
      t("question.leaveClass.do"));
    if (!isWanted) return;
    if (await act("leave class", { id, name }, named("done.leave class", { name }))) location.hash = "#study/classes";
  }

  return Object.assign(element, { update: () => {
    waiting.update();
    const found = classOf(state.study, id);
    content.hidden = !found;
    none.textContent = found || !state.study.classes ? "" : t("class.gone");
    const heading = element.querySelector("h2");
    if (!found) {
      if (!heading.textContent) heading.textContent = t("class.heading");
      return;
    }
    // A choice on its way counts.
    pushes.checked = state.study.waits.findLast(({ action, about, refusal }) => action === "class pushes"
      && about.id === id && !refusal)?.about.on ?? found.new_sessions;
    if (print === (print = JSON.stringify(found))) return;
    heading.textContent = found.name;
    description.textContent = found.description ?? "";
    description.hidden = !found.description;
    leave.hidden = found.role === "professor";
    fill(facts, fact(t("class.key"), found.identification_key), fact(t("class.professor"), found.professor
      ?? t("class.noProfessor")), fact(t("class.role"), t(`role.${found.role}`)),
      fact(t("class.members"), formatNumber(found.members)));
  } });
}
