// Classmates who show themselves to their class. A request from here is one as from everywhere.

import { fill, h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { classOf } from "../core/study-state.js";
import { actionButton } from "../people/actions.js";
import { hide, isSame } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { portrait, sheet, studyOfApp } from "./parts.js";

/** The sheet with the people of a class; without one, of the class that is chosen on it. */
export function findFriendsView(id) {
  const choice = h("select", { onchange: () => { location.hash = `#study/find/${choice.value}`; } });
  const chosen = h("label", { class: "field", hidden: true }, h("span", { class: "label" }, t("session.class")),
    choice);
  const said = h("p", { class: "notice", role: "status" }, t("loading"));
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const list = h("ul", { class: "plain group", hidden: true });
  const more = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("find.more"));
  const element = sheet(t("find.heading"), { back: "#study/classes" }, h("p", { class: "secondary" }, t("find.text")),
    chosen, said, again, list, more);
  let people = [];
  let next = null;
  let isComplete = false;
  let print = "";
  let hasBegun = false;

  const isIn = (names, name) => (names ?? []).some((each) => isSame(each, name));

  /** What the person may do about somebody, by what the app knows now. */
  function doable({ account }) {
    const { friends, requests } = state.people;
    if (isIn(friends, account)) return h("span", { class: "tag good" }, t("study.friend"));
    if (isIn(requests?.asked.map((each) => each.account), account)) return h("span", { class: "tag" }, t("find.asked"));
    const action = isIn(requests?.received.map((each) => each.account), account) ? "accept" : "ask";
    return actionButton(action, account);
  }

  const row = (person) => h("li", { class: "row person" },
    portrait(person.account, isIn(state.people.friends, person.account)),
    h("a", { class: "row-text", href: `#people/person?account=${encodeURIComponent(person.account)}` },
      h("bdi", null, person.account), person.first_name || person.last_name
        ? h("span", { class: "hint" }, h("bdi", null, [person.first_name, person.last_name].filter(Boolean).join(" ")))
        : null), h("span", { class: "actions" }, doable(person)));

  async function load() {
    hide(again);
    hide(more);
    try {
      // Pages may be short, or empty, although more follow.
      const found = await (await studyOfApp()).page("mates", next, [id]);
      people = [...people, ...found.list];
      next = found.next;
      isComplete = next === null;
      more.hidden = isComplete;
      said.textContent = isComplete && !people.length ? t("find.none") : "";
      update();
    } catch (error) {
      if (error.kind === "signed out") return;
      said.textContent = reasonOf(error);
      again.hidden = false;
    }
  }

  /** The classes may come after the sheet. */
  function begin() {
    const { classes } = state.study;
    hasBegun = true;
    id ??= classes[0]?.id;
    fill(choice, classes.map((each) => h("option", { value: each.id }, each.name)));
    choice.value = id ?? "";
    chosen.hidden = classes.length < 2;
    if (id && classOf(state.study, id)) load();
    else said.textContent = t("classes.none");
  }

  function update() {
    if (!hasBegun && state.study.classes) begin();
    list.hidden = !people.length;
    const { friends, requests } = state.people;
    if (print === (print = JSON.stringify([people.length, friends, requests]))) return;
    const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
    fill(list, people.map(row));
    if (focused >= 0) (list.querySelectorAll("button")[focused] ?? element.querySelector("h2")).focus();
  }

  return Object.assign(element, { update });
}
