import { explain, get, getAll } from "../lib/api.js";
import { append, fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { offersProvider } from "../lib/sign-in.js";
import { formatNumber, hasAll, language, t, wordsOf } from "../lib/text.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { toast } from "../elements/toast.js";
import { pathOf } from "./actions.js";
import { addAccount } from "./add.js";
import { accountEditor } from "./editor.js";
import { accountRow } from "./row.js";
import { Students } from "./students.js";

const pageSize = 100;
/** The staff is read as a whole, and filtered here. The students are found by the gateway. */
const views = {
  staff: () => true,
  super_user: (account) => account.role === "super_user",
  communicator: (account) => account.role === "communicator",
  noFactor: (account) => account.second_factor === "none",
  invited: (account) => account.invitation !== undefined,
  disabled: (account) => account.disabled,
};
const columns = { staff: ["role", "factor", "tokens", "lastSignIn"], students: ["role"] };

const nameOf = (account) => account.display_name ?? account.account;
const main = document.getElementById("main");
await ready;

/** The accounts of the staff by name, in their order. */
let accounts = new Map();
/** How many tokens each account has. `null` if they could not be read. */
let tokens = null;
let hasProvider = false;
/** The account whose editor is open, and the editor. */
let open = null;
/** One of `views`, or "students". */
let view = "staff";
let limit = pageSize;
const students = new Students(() => { if (view === "students") showStudents(); });

const search = h("input", { type: "search", oninput: find });
const chips = h("div", { class: "chips", role: "group", "aria-label": t("people.filters") });
const status = h("p", { class: "unseen", role: "status" });
const list = h("div", { "aria-busy": "true" });
const more = h("button", { class: "button", type: "button", hidden: true, onclick: showMore }, t("people.more"));
const add = h("button", { class: "button main", type: "button", onclick: async () => {
  const added = await addAccount(hasProvider);
  if (added) changed(added, { isNew: true });
} }, icon("plus", "small"), t("people.add"));
const forStudents = h("div", { class: "actions", hidden: true },
  h("button", { class: "button", type: "button", onclick: importList }, icon("people", "small"), t("people.import")),
  h("button", { class: "button", type: "button", onclick: async () => (await import("./codes.js")).showCodes() },
    icon("key", "small"), t("people.codes")));

if (may("administer")) {
  append(main, pageHead({ heading: t("people.heading"), intro: t("people.intro"), action: add }),
    h("div", { class: "filters" }, search, chips, forStudents), status, list, h("div", { class: "more-line" }, more));
  sayWhatIsFound();
  fill(list, skeleton());
  offersProvider().then((offers) => { hasProvider = offers; });
  read();
  // Accounts have no events: what others have changed is read when somebody comes back to the page.
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") readAgain(); });
  let isFirst = true;
  listen("reset", () => { if (!isFirst) readAgain(); isFirst = false; });
  listen("health", (health) => {
    if (health.services?.people === "ok" && list.querySelector(".notice")) readAgain();
  });
  new IntersectionObserver(([entry]) => { if (entry.isIntersecting && !more.hidden) more.click(); },
    { rootMargin: "600px" }).observe(more);
} else {
  append(main, pageHead({ heading: t("people.heading") }),
    emptyPage({ name: "lock", heading: t("people.forbidden"), text: t("people.forbidden.text") }));
}
main.focus();

function readAgain() {
  read();
  if (view !== "students") return;
  // A new list might not have the account that somebody is about to change.
  if (open) readOpen(open.name);
  else students.readAgain();
}

async function read() {
  try {
    const [all, allTokens] =
      await Promise.all([getAll("/account?limit=200", "accounts"),
        getAll("/token?limit=200", "tokens").catch(() => null)]);
    const compare = new Intl.Collator(language, { numeric: true }).compare;
    accounts = new Map(all.sort((a, b) => compare(nameOf(a), nameOf(b))).map((account) => [account.account, account]));
    tokens = allTokens && Map.groupBy(allTokens, (token) => token.account);
    if (view === "students") return showChips();
    if (open && accounts.has(open.name)) open.editor.update(accounts.get(open.name));
    else open = null;
    show();
  } catch (error) {
    if (!accounts.size && view !== "students") showProblem(error);
  }
  return undefined;
}

async function readOpen(name) {
  try {
    changed(await get(pathOf(name)));
  } catch (error) {
    if (error.kind === "not-found" && open?.name === name) removed(name);
  }
}

function showProblem(error) {
  more.hidden = true;
  fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"),
      h("p", null, error.status === 503 ? t("people.away") : explain(error)),
    h("button", { class: "button small", type: "button", onclick: () => { fill(list, skeleton()); readAgain(); } },
      t("retry"))));
}

const tokenCount = (name) => tokens?.get(name)?.length ?? 0;

/** The search is in all words of the staff, and in the beginnings of the students' accounts. */
function sayWhatIsFound() {
  const text = t(view === "students" ? "people.search.students" : "people.search");
  search.setAttribute("aria-label", text);
  search.placeholder = text;
}

function find() {
  limit = pageSize;
  if (view === "students") students.find(search.value);
  else show();
}

function showMore() {
  if (view === "students") return students.more();
  limit += pageSize;
  return show();
}

function choose(name) {
  view = name;
  limit = pageSize;
  open = null;
  forStudents.hidden = view !== "students";
  sayWhatIsFound();
  if (view === "students") {
    more.hidden = true;
    status.textContent = "";
    fill(list, skeleton());
    showChips();
    students.find(search.value);
  } else {
    show();
  }
}

function showChips() {
  const chip = (name, number) => h("button", { class: "chip", type: "button", "aria-pressed": String(name === view),
      onclick: () => {
        choose(name);
        chips.querySelector("[aria-pressed=true]").focus();
      } }, t(`people.view.${name}`), number);
  fill(chips, Object.entries(views).map(([name, fits]) => {
    const count = [...accounts.values()].filter(fits).length;
    return name === "staff" || count || name === view
      ? chip(name, [" ", h("span", { class: "number" }, formatNumber(count))]) : null;
  }), chip("students"));
}

function show() {
  if (view === "students") return showStudents();
  const words = wordsOf(search.value);
  const fitting = [...accounts.values()].filter((account) => {
    const text = `${account.account} ${account.display_name ?? ""} ${account.oidc ?? ""} ${t(`role.${account.role}`)}`;
    return views[view](account) && hasAll(words, text);
  });
  showChips();
  status.textContent = t("people.count", { count: fitting.length });
  more.hidden = fitting.length <= limit;
  return fitting.length ? showTable(fitting.slice(0, limit)) : showNone("people.none", [
    h("button", { class: "button", type: "button",
        onclick: () => { search.value = ""; choose("staff"); search.focus(); } }, t("people.none.action")),
    h("button", { class: "button", type: "button", onclick: () => { choose("students"); search.focus(); } },
      t("people.none.students"))]);
}

function showStudents() {
  const { problem } = students;
  showChips();
  // The shape of what comes is shown.
  if (!students.isKnown && !problem) return undefined;
  if (problem && !students.accounts.size) return showProblem(problem);
  if (problem) {
    toast(explain(problem));
    // It is said once, not again with each change of the table.
    students.problem = null;
  }
  const shown = [...students.accounts.values()];
  status.textContent = t(students.next ? "people.students.some" : "people.students.all", { count: shown.length });
  more.hidden = !students.next;
  if (shown.length) return showTable(shown);
  return students.isFiltered ? showNone("people.noStudent", h("button", { class: "button", type: "button",
      onclick: () => { search.value = ""; find(); search.focus(); } }, t("people.noStudent.action")))
    : showNone("people.noStudents");
}

function showNone(key, action) {
  list.setAttribute("aria-busy", "false");
  fill(list, emptyPage({ name: "search", heading: t(`${key}.heading`), text: t(`${key}.text`),
      action: action && h("div", { class: "actions" }, action) }));
}

function showTable(shown) {
  list.setAttribute("aria-busy", "false");
  const names = columns[view] ?? columns.staff;
  const column = (name) => h("th", { scope: "col" }, t(`people.column.${name}`));
  const focused = document.activeElement;
  const rows = shown.flatMap((account) => {
    const isOpen = open?.name === account.account;
    return [
      accountRow(account, { columns: names, tokens: tokens && tokenCount(account.account), isOpen,
          toggle: () => toggle(account) }),
      isOpen ? h("tr", { class: "editor" }, h("td", { colSpan: names.length + 2 }, open.editor)) : null,
    ];
  });
  fill(list, h("table", { class: "things people" },
    h("caption", { class: "unseen" }, t("people.heading")),
    h("thead", null, h("tr", null, ["account", ...names].map(column),
        h("th", { class: "end" }, h("span", { class: "unseen" }, t("people.column.actions"))))),
    h("tbody", null, rows)));
  // An editor that was moved into the new table keeps its focus.
  if (focused !== document.activeElement && list.contains(focused)) focused.focus({ preventScroll: true });
}

const rowOf = (name) => list.querySelector(`tr[data-account="${CSS.escape(name)}"]`);

function toggle(account) {
  const name = account.account;
  const isOpen = open?.name === name;
  open = isOpen ? null : { name, editor: accountEditor(account, {
    tokens: () => tokenCount(name), hasProvider, changed, removed, leave: () => toggle(account),
  }) };
  show();
  if (isOpen) rowOf(name)?.querySelector("button").focus();
  else open.editor.querySelector("h2").focus();
}

/** An account was added or changed here. */
function changed(account, { isNew = false, closes = isNew, endsTokens = false } = {}) {
  const name = account.account;
  const isStudent = account.role === "student";
  // With another role it may be in the other list.
  (isStudent ? accounts : students.accounts).delete(name);
  (isStudent ? students.accounts : accounts).set(name, account);
  if (endsTokens) tokens?.delete(name);
  if (closes) open = null;
  else if (open?.name === name) open.editor.update(account);
  if (isNew && isStudent) {
    search.value = name;
    choose("students");
    students.showOnly(account);
  } else if (isNew) {
    search.value = "";
    choose("staff");
    // It is seen at once, before the next reading sorts it in.
    accounts = new Map([[name, account], ...accounts]);
  }
  show();
  if (closes) (rowOf(name)?.querySelector("button") ?? search).focus();
}

function removed(name) {
  const known = view === "students" ? students.accounts : accounts;
  const names = [...known.keys()];
  const neighbour = names[names.indexOf(name) + 1] ?? names[names.indexOf(name) - 1];
  known.delete(name);
  open = null;
  show();
  (rowOf(neighbour)?.querySelector("button") ?? search).focus();
}

async function importList() {
  const { importStudents } = await import("./import.js");
  // Asked again: the page's own question may still be on its way.
  if (await importStudents(await offersProvider())) students.readAgain();
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 5 }, () =>
    h("div", { class: "bone" }, h("span", { class: "skeleton circle" }), h("span", { class: "skeleton" }),
      h("span", { class: "skeleton" }))));
}
