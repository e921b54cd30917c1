import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { app, state } from "../lib/state.js";
import { formatNumber, t, tn } from "../lib/text.js";
import { waitingList } from "./actions.js";
import { personRow, refill, view } from "./parts.js";
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
  const count = h("span", { class: "badge" });
  const link = (page, sign, label, ...more) => h("li", null, h("a", { class: "row", href: `#people/${page}` }, sign,
    h("span", { class: "row-text" }, label), more, icon("next", "small")));
  const list = h("ul", { class: "plain group" });
  const none = h("div", { class: "empty" }, icon("people"), h("h2", null, t("friends.none")),
    h("p", null, t("friends.none.text")));
  const friends = h("section", { "aria-label": t("friends.heading") }, list, none);
  const own = h("p", { class: "hint" }, tn("friends.self", { account: h("bdi", null, state.people.account) }));
  const element = view(t("friends.heading"), {}, h("div", { class: "stack search" }, own, input, said, found), waiting,
    h("ul", { class: "plain group" }, link("requests", icon("plus"), t("requests.heading"), count),
      link("blocked", icon("cross"), t("blocked.heading"))), friends);
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
    const { friends: names = [], requests } = state.people;
    const received = requests?.received.length ?? 0;
    count.hidden = received === 0;
    count.textContent = formatNumber(received);
    none.hidden = names.length > 0 || state.people.friends === undefined;
    list.hidden = !names.length;
    if (print === (print = JSON.stringify(names))) return;
    refill(list, () => element.querySelector("h1"), names.map((name) => personRow(name)));
  } });
}
