// The persons of a class. Its staff sees them; the professor makes teaching assistants, and removes persons.

import { fill, h } from "../lib/dom.js";
import { formatNumber, hasAll, t, wordsOf } from "../lib/text.js";
import { ask, askAll, classPath } from "./hub.js";
import { classOf, readChanged } from "./my-classes.js";
import { askAndDo, doIt, refill, remote, smallButton } from "./parts.js";
import { formatDate } from "./times.js";

/** The most persons that the page reads at once. */
const max = 5_000;

/** The part of a class with its persons. */
export function rosterPart({ id }) {
  const path = classPath(id, "/roster");
  const mayChange = classOf(id)?.role === "professor";
  const search = h("input", { type: "search", dir: "auto", autocomplete: "off", spellcheck: false, oninput: filter,
    placeholder: t("prof.roster.search"), "aria-label": t("prof.roster.search") });
  const said = h("p", { class: "hint", role: "status" });
  const body = h("tbody", null);
  const columns = ["person", "role", "number", "joined"];
  const table = h("table", { class: "things" }, h("thead", null, h("tr", null,
    columns.map((name) => h("th", { scope: "col" }, t(`prof.roster.${name}`))),
    mayChange ? h("th", { scope: "col" }, h("span", { class: "unseen" }, t("prof.roster.actions"))) : null)), body);
  const members = remote({ isStill: true, load: () => askAll(path, "members", {}, max),
    content: h("div", { class: "stack" }, search, said, table), show });
  let all = { items: [], isCut: false };
  /** The number of the class's persons. With another one, they are read again. */
  let count = classOf(id)?.members;

  async function change(account, method, content) {
    await ask(method, `${path}/${encodeURIComponent(account)}`, content);
    await members.refresh();
    // How many there are is above, and in the list of classes.
    if (method === "DELETE") await readChanged();
  }

  function actions({ account, role }) {
    if (role === "professor") return null;
    const next = role === "ta" ? "student" : "ta";
    const name = `\u2068${account}\u2069`;
    const becomes = () => doIt(() => change(account, "PUT", { role: next }), t(`prof.roster.is.${next}`, { name }));
    const goes = () => askAndDo({ heading: t("prof.roster.remove.question", { name }),
      text: t("prof.roster.remove.text"), action: t("prof.roster.remove.do"), done: t("prof.roster.removed", { name }),
      work: () => change(account, "DELETE") });
    return [smallButton(t(`prof.roster.to.${next}`), account, becomes),
      smallButton(t("prof.roster.remove"), account, goes, "danger")];
  }

  const row = (member) => h("tr", { class: "thing", dataset: { account: member.account } },
    h("th", { scope: "row" }, h("bdi", null, member.account)),
    h("td", { dataset: { label: t("prof.roster.role") } }, h("span", { class: "tag" }, t(`prof.role.${member.role}`))),
    h("td", { dataset: { label: t("prof.roster.number") } }, formatNumber(member.number)),
    h("td", { dataset: { label: t("prof.roster.joined") } }, formatDate(member.joined)),
    mayChange ? h("td", { class: "row-actions" }, h("div", { class: "actions" }, actions(member))) : null);

  function filter() {
    const words = wordsOf(search.value);
    const found = all.items.filter(({ account }) => hasAll(words, account));
    const focused = document.activeElement?.closest("tr")?.dataset.account;
    refill(body, found.map(row));
    // The focus stays with the person.
    if (focused) [...body.rows].find(({ dataset }) => dataset.account === focused)?.querySelector("button")?.focus();
    fill(said, t(all.isCut ? "prof.roster.cut" : "prof.roster.count", { count: found.length }));
  }

  function show(value) {
    all = value;
    filter();
  }

  function update() {
    if (count !== (count = classOf(id)?.members)) members.refresh();
  }

  return Object.assign(h("div", { class: "stack" }, h("p", { class: "secondary" }, t("prof.roster.text")), members),
    { update });
}
