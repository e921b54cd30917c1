import { fill, h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { act, actAfterQuestion, waitingList } from "./actions.js";
import { hide, isSame, personRow, toFriends, view } from "./parts.js";
import { profileFacts } from "./facts.js";
import { reasonOf } from "./reasons.js";

/** What can be done about a person, by how the two stand to each other. */
const doable = { none: ["ask"], classmates: ["ask"], asked: ["withdraw"], received: ["accept", "decline"],
  friends: ["remove"], self: [] };
/** What is asked about before it is done. */
const asked = ["remove", "block"];

/** Another person, as far as they show themself to this one. */
export function personView(name) {
  const said = h("p", { class: "notice", role: "status" });
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const content = h("div", { class: "stack" });
  const waiting = waitingList();
  const element = view(name, { back: toFriends(), dir: "auto" }, waiting,
    h("div", { class: "stack landing" }, said, again, content));
  let print = null;

  /** What the app knows of the two. If it changes, the hub is asked again. */
  function standing() {
    const { friends = [], blocked = [], requests = { received: [], asked: [] } } = state.people;
    const isIn = (names) => names.some((each) => isSame(each, name));
    return JSON.stringify([isIn(friends), isIn(blocked), ...[requests.received, requests.asked]
      .map((list) => isIn(list.map(({ account }) => account)))]);
  }

  const button = (action) => h("button", { class: `button ${action === "block" ? "danger" : ""}`, type: "button",
    onclick: async () => {
      const outcome = await (asked.includes(action) ? actAfterQuestion : act)(action, name);
      if (action === "block" && outcome === "done") location.hash = "#people";
    } }, t(`do.${action}`));

  function show(person) {
    const hadFocus = content.contains(document.activeElement);
    const isOther = person.relation !== "self";
    fill(content, h("p", { class: "secondary" }, t(`relation.${person.relation in doable ? person.relation : "none"}`)),
      profileFacts(person),
      person.mutual_friends.length ? h("section", null, h("h2", { class: "day" }, t("person.mutual")),
        h("ul", { class: "plain group" }, person.mutual_friends.map((each) => personRow(each)))) : null,
      isOther ? h("div", { class: "actions" },
        [...(doable[person.relation] ?? doable.none), "block"].map(button)) : null);
    if (hadFocus) element.querySelector("h1").focus({ preventScroll: true });
  }

  async function load() {
    const wanted = print;
    hide(again);
    try {
      const person = await (await app.people()).view(name);
      // A later answer comes.
      if (wanted !== print) return;
      said.textContent = person ? "" : t("person.nobody");
      if (person) show(person);
      else fill(content);
    } catch (error) {
      if (error.kind === "signed out") return;
      said.textContent = reasonOf(error);
      again.hidden = false;
    }
  }

  return Object.assign(element, { update: () => {
    waiting.update();
    if (print === (print = standing())) return;
    load();
  } });
}
