import { explain, getAll } from "../lib/api.js";
import { append, fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { offersProvider } from "../lib/sign-in.js";
import { formatNumber, hasAll, language, t, wordsOf } from "../lib/text.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { addAccount } from "./add.js";
import { accountEditor } from "./editor.js";
import { accountRow } from "./row.js";

const pageSize = 100;
const views = {
  all: () => true,
  super_user: (account) => account.role === "super_user",
  communicator: (account) => account.role === "communicator",
  noFactor: (account) => account.second_factor === "none",
  invited: (account) => account.invitation !== undefined,
  disabled: (account) => account.disabled,
};

const nameOf = (account) => account.display_name ?? account.account;
const main = document.getElementById("main");
await ready;

/** The accounts by name, in their order. */
let accounts = new Map();
/** How many tokens each account has. `null` if they could not be read. */
let tokens = null;
let hasProvider = false;
/** The account whose editor is open, and the editor. */
let open = null;
let view = "all";
let limit = pageSize;

const search = h("input", { type: "search", "aria-label": t("people.search"), placeholder: t("people.search"),
    oninput: () => { limit = pageSize; show(); } });
const chips = h("div", { class: "chips", role: "group", "aria-label": t("people.filters") });
const status = h("p", { class: "unseen", role: "status" });
const list = h("div", { "aria-busy": "true" });
const more = h("button",
  { class: "button", type: "button", hidden: true, onclick: () => { limit += pageSize; show(); } }, t("people.more"));
const add = h("button", { class: "button main", type: "button", onclick: async () => {
  const added = await addAccount(hasProvider);
  if (added) changed(added, { isNew: true });
} }, icon("plus", "small"), t("people.add"));

if (may("administer")) {
  append(main, pageHead({ heading: t("people.heading"), intro: t("people.intro"), action: add }),
    h("div", { class: "filters" }, search, chips), status, list, h("div", { class: "more-line" }, more));
  fill(list, skeleton());
  offersProvider().then((offers) => { hasProvider = offers; });
  read();
  // Accounts have no events: what others have changed is read when somebody comes back to the page.
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") read(); });
  let isFirst = true;
  listen("reset", () => { if (!isFirst) read(); isFirst = false; });
  listen("health", (health) => { if (health.services?.people === "ok" && list.querySelector(".notice")) read(); });
  new IntersectionObserver(([entry]) => { if (entry.isIntersecting && !more.hidden) more.click(); },
    { rootMargin: "600px" }).observe(more);
} else {
  append(main, pageHead({ heading: t("people.heading") }),
    emptyPage({ name: "lock", heading: t("people.forbidden"), text: t("people.forbidden.text") }));
}
main.focus();

async function read() {
  try {
    const [all, allTokens] =
      await Promise.all([getAll("/account?limit=200", "accounts"),
        getAll("/token?limit=200", "tokens").catch(() => null)]);
    const compare = new Intl.Collator(language, { numeric: true }).compare;
    accounts = new Map(all.sort((a, b) => compare(nameOf(a), nameOf(b))).map((account) => [account.account, account]));
    tokens = allTokens && Map.groupBy(allTokens, (token) => token.account);
    if (open && accounts.has(open.name)) open.editor.update(accounts.get(open.name));
    else open = null;
    show();
  } catch (error) {
    if (accounts.size) return;
    fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, error.status === 503 ? t("people.away") : explain(error)),
      h("button", { class: "button small", type: "button", onclick: () => { fill(list, skeleton()); read(); } },
        t("retry"))));
  }
}

const tokenCount = (name) => tokens?.get(name)?.length ?? 0;

function show() {
  const words = wordsOf(search.value);
  const fitting = [...accounts.values()].filter((account) => {
    const text = `${account.account} ${account.display_name ?? ""} ${account.oidc ?? ""} ${t(`role.${account.role}`)}`;
    return views[view](account) && hasAll(words, text);
  });
  list.setAttribute("aria-busy", "false");
  fill(chips, Object.entries(views).map(([name, fits]) => {
    const count = [...accounts.values()].filter(fits).length;
    return name === "all" || count || name === view
      ? h("button", { class: "chip", type: "button", "aria-pressed": String(name === view),
            onclick: () => {
              view = name;
              limit = pageSize;
              show();
              chips.querySelector("[aria-pressed=true]").focus();
            } },
        t(`people.view.${name}`), " ", h("span", { class: "number" }, formatNumber(count)))
      : null;
  }));
  status.textContent = t("people.count", { count: fitting.length });
  more.hidden = fitting.length <= limit;
  if (!fitting.length) {
    fill(list, emptyPage({ name: "search", heading: t("people.none.heading"),
          text: t("people.none.text"), action: h("button", {
      class: "button", type: "button", onclick: () => { search.value = ""; view = "all"; show(); search.focus(); },
    }, t("people.none.action")) }));
    return;
  }
  const column = (name) => h("th", { scope: "col" }, t(`people.column.${name}`));
  const focused = document.activeElement;
  const rows = fitting.slice(0, limit).flatMap((account) => {
    const isOpen = open?.name === account.account;
    return [
      accountRow(account, { tokens: tokens && tokenCount(account.account), isOpen,
          toggle: () => toggle(account.account) }),
      isOpen ? h("tr", { class: "editor" }, h("td", { colSpan: 6 }, open.editor)) : null,
    ];
  });
  fill(list, h("table", { class: "things people" },
    h("caption", { class: "unseen" }, t("people.heading")),
    h("thead", null, h("tr", null, ["account", "role", "factor", "tokens", "lastSignIn"].map(column),
        h("th", { class: "end" }, h("span", { class: "unseen" }, t("people.column.actions"))))),
    h("tbody", null, rows)));
  // An editor that was moved into the new table keeps its focus.
  if (focused !== document.activeElement && list.contains(focused)) focused.focus({ preventScroll: true });
}

const rowOf = (name) => list.querySelector(`tr[data-account="${CSS.escape(name)}"]`);

function toggle(name) {
  const isOpen = open?.name === name;
  open = isOpen ? null : { name, editor: accountEditor(accounts.get(name), {
    tokens: () => tokenCount(name), hasProvider, changed, removed, leave: () => toggle(name),
  }) };
  show();
  if (isOpen) rowOf(name)?.querySelector("button").focus();
  else open.editor.querySelector("h2").focus();
}

/** An account was added or changed here. */
function changed(account, { isNew = false, closes = isNew, endsTokens = false } = {}) {
  const name = account.account;
  accounts.set(name, account);
  if (endsTokens) tokens?.delete(name);
  if (isNew) {
    search.value = "";
    view = "all";
    // It is seen at once, before the next reading sorts it in.
    accounts = new Map([[name, account], ...accounts]);
  }
  if (closes) open = null;
  else if (open?.name === name) open.editor.update(account);
  show();
  if (closes) rowOf(name)?.querySelector("button").focus();
}

function removed(name) {
  const names = [...accounts.keys()];
  const neighbour = names[names.indexOf(name) + 1] ?? names[names.indexOf(name) - 1];
  accounts.delete(name);
  open = null;
  show();
  (rowOf(neighbour)?.querySelector("button") ?? search).focus();
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 5 }, () =>
    h("div", { class: "bone" }, h("span", { class: "skeleton circle" }), h("span", { class: "skeleton" }),
      h("span", { class: "skeleton" }))));
}
