import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { app, state } from "../lib/state.js";
import { t, tn } from "../lib/text.js";
import { waitingList } from "./actions.js";
import { pathToConversation, refill, toFriends, view } from "./parts.js";
import { personRow } from "./person-row.js";
import { reasonOf } from "./reasons.js";

/** The hub searches from so many characters on. */
const minSearch = 3;
/** How long the app waits for the next key before it asks the hub, in milliseconds. */
const pause = 400;

/** The person's friends, with the search for others. */
export function friendsView() {
  const input = h("input", { type: "search", dir: "auto", autocomplete: "off", autocapitalize: "none",
    spellcheck: false, maxLength: 64, placeholder: t("friends.search"), "aria-label": t("friends.search"),
    oninput: () => { clearTimeout(timer); timer = setTimeout(search, pause); } });
  const said = h("p", { class: "hint", role: "status" });
  const found = h("ul", { class: "plain group", hidden: true });
  const waiting = waitingList();
  const list = h("ul", { class: "plain group" });
  const none = h("div", { class: "empty" }, icon("people"), h("h2", null, t("friends.none")),
    h("p", null, t("friends.none.text")));
  const friends = h("section", { "aria-label": t("friends.all") }, list, none);
  const own = h("p", { class: "hint" }, tn("friends.self", { account: h("bdi", null, state.people.account) }));
  const write = (name) => h("a", { class: "round", href: pathToConversation(name), title: t("direct.write"),
    "aria-label": `${t("direct.write")}: ${name}` }, phoneIcon("bubble"));
  const element = view(t("friends.all"), { back: toFriends() },
    h("div", { class: "stack search" }, own, input, said, found), waiting, friends);
  let timer = null;
  let asked = "";
  let print = "";

  async function search() {
    const text = asked = input.value.trim();
    if (text.length < minSearch) {
      said.textContent = text ? t("friends.search.short") : "";
      found.hidden = true;
      return;
    }
    let names = [];
    let outcome;
    try {
      names = await (await app.people()).search(text);
      outcome = t("friends.found", { count: names.length });
    } catch (error) {
      outcome = reasonOf(error);
    }
    // Something else was typed since.
    if (text !== asked) return;
    said.textContent = outcome;
    found.hidden = !names.length;
    refill(found, () => input, names.map((name) => personRow(name)));
  }

  return Object.assign(element, { update: () => {
    waiting.update();
    const { friends: names = [] } = state.people;
    none.hidden = names.length > 0 || state.people.friends === undefined;
    list.hidden = !names.length;
    if (print === (print = JSON.stringify(names))) return;
    refill(list, () => element.querySelector("h1"), names.map((name) => personRow(name, write(name))));
  } });
}
