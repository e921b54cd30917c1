import { ApiError, explain, get, getAll, withQuery } from "../lib/api.js";
import { append, fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { t } from "../lib/text.js";
import { dayKey, formatDay } from "../lib/time.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { filtersFrom, groups, isUnfiltered, parametersFor, pathFor } from "./filters.js";
import { nameOf, namesOf, readNames } from "./names.js";
import { entryRow } from "./row.js";
import { actionName } from "./sentence.js";

const pageSize = 50;
const pause = 4_000;

const main = document.getElementById("main");
await ready;

let filters = filtersFrom(location.search);
/** The shown entries by number. */
let shown = new Map();
const rows = new Map();
let next = null;
let reading = null;

const account = h("input", { type: "search", "aria-label": t("audit.account"), placeholder: t("audit.account"),
    list: "accounts", dir: "auto", spellcheck: false, autocapitalize: "none", oninput: () => {
  clearTimeout(account.timer);
  account.timer = setTimeout(() => change({ account: account.value }), 250);
} });
const action = h("select",
  { class: "chip", "aria-label": t("audit.action"), onchange: () => change({ action: action.value }) },
  h("option", { value: "" }, t("audit.action.any")),
  Object.entries(groups)
    .map(([group, actions]) => h("optgroup", { label: t(`audit.group.${group}`) },
      actions.map((each) => h("option", { value: each }, actionName(each))))));
const period = h("select",
  { class: "chip", "aria-label": t("audit.period"),
    onchange: () => change({ period: period.value, from: "", to: "" }) },
  ["", "today", "week", "month", "dates"].map((value) => h("option", { value }, t(`audit.period.${value || "any"}`))));
const from = h("input", { type: "date", onchange: () => change({ from: from.value }) });
const to = h("input", { type: "date", onchange: () => change({ to: to.value }) });
const dates = h("div", { class: "dates" }, h("label", null, t("audit.from"), from),
  h("label", null, t("audit.to"), to));
const object = h("button",
  { class: "chip", type: "button", "aria-pressed": "true",
    onclick: () => { change({ object: "" }); account.focus(); } });
const clear = h("button", { class: "chip", type: "button", onclick: clearFilters }, icon("cross", "small"),
  t("audit.clear"));
const accounts = h("datalist", { id: "accounts" });
const status = h("p", { class: "unseen", role: "status" });
const news = h("button",
  { class: "button small", type: "button",
    onclick: () => { start(); main.querySelector("h1").focus(); scrollTo({ top: 0 }); } });
const list = h("div", { class: "days", "aria-busy": "true" });
const more = h("button", { class: "button", type: "button", hidden: true, onclick: () => readMore() }, t("audit.more"));
const csv = h("a", { class: "button", download: "audit.csv" }, icon("download", "small"), t("audit.csv"));

if (may("administer")) {
  append(main, pageHead({ heading: t("audit.heading"), intro: t("audit.intro"), action: csv }),
    h("div", { class: "filters" }, account, accounts,
      h("div", { class: "chips", role: "group", "aria-label": t("audit.filters") }, action, period, object, clear),
      dates),
    status, h("p", { class: "news", role: "status" }, news), list, h("div", { class: "more-line" }, more));
  news.hidden = true;
  showFilters();
  getAll("/account?limit=200", "accounts")
    .then((all) => fill(accounts, all.map((each) => h("option", { value: each.account, label: each.display_name }))),
    () => {});
  readNames().then(start);
  window.addEventListener("popstate", () => {
    filters = filtersFrom(location.search);
    showFilters();
    start();
  });
  setInterval(lookForNews, pause);
} else {
  append(main, pageHead({ heading: t("audit.heading") }),
    emptyPage({ name: "lock", heading: t("audit.forbidden"), text: t("audit.forbidden.text") }));
}
main.focus();

function change(changes) {
  Object.assign(filters, changes);
  history.replaceState(null, "", pathFor(filters));
  showFilters();
  start();
}

function clearFilters() {
  change(filtersFrom(""));
  account.focus();
}

function showFilters() {
  if (document.activeElement !== account) account.value = filters.account;
  action.value = filters.action;
  if (action.selectedIndex < 0) {
    action.append(h("option", { value: filters.action }, filters.action));
    action.value = filters.action;
  }
  period.value = filters.period;
  dates.hidden = filters.period !== "dates";
  from.value = filters.from;
  to.value = filters.to;
  object.hidden = !filters.object;
  clear.hidden = isUnfiltered(filters);
  csv.href = withQuery("/audit", { ...parametersFor(filters), format: "csv" });
}

function sayObject() {
  if (!filters.object) return;
  const entry = [...shown.values()].find((each) => each.entry.object.id === filters.object)?.entry;
  fill(object, entry ? h("bdi", null,
      t("audit.object", { name: namesOf(filters.object)?.join(" › ") ?? nameOf(entry) })) : t("audit.object",
      { name: filters.object }), icon("cross", "small"), h("span", { class: "unseen" }, t("audit.object.remove")));
}

const firstPage = () => withQuery("/audit", { ...parametersFor(filters), limit: pageSize });

/** Reads the list again. */
function start() {
  reading?.abort();
  reading = new AbortController();
  next = firstPage();
  news.hidden = true;
  list.setAttribute("aria-busy", "true");
  if (!list.querySelector("ol")) fill(list, skeleton());
  readMore(true);
}

async function readMore(isFirst = false) {
  const { signal } = reading;
  if (!next || more.disabled) { if (!isFirst) return; }
  more.disabled = true;
  try {
    const page = await get(next, { signal });
    if (isFirst) shown = new Map();
    next = page.next ?? null;
    for (const entry of page.entries) shown.set(entry.number, entry);
    show();
  } catch (error) {
    if (!(error instanceof ApiError)) return;
    if (isFirst) {
      fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"),
          h("p", null, error.status === 503 ? t("audit.away") : explain(error)),
        h("button", { class: "button small", type: "button", onclick: start }, t("retry"))));
    } else {
      status.textContent = explain(error);
    }
  } finally {
    if (!signal.aborted) more.disabled = false;
  }
}

/**
 * Entries arrive within seconds of a change, and have no events. They are offered, so that nothing moves under a
 * reader. A log that could not be read is read as soon as it can be: a short outage has no event of the health.
 */
async function lookForNews() {
  const isAway = list.querySelector(".notice") !== null;
  if (document.visibilityState !== "visible" || (list.getAttribute("aria-busy") === "true" && !isAway)) return;
  try {
    const { signal } = reading;
    const page = await get(firstPage(), { signal, remedy: false });
    if (isAway) {
      start();
      return;
    }
    const count = page.entries.filter(({ number }) => !shown.has(number)).length;
    if (!signal.aborted && count) {
      fill(news, icon("up", "small"), t(count === pageSize ? "audit.news.many" : "audit.news", { count }));
      news.hidden = false;
    }
  } catch {
    // The next look decides.
  }
}

function show() {
  list.setAttribute("aria-busy", "false");
  const entries = [...shown.values()].sort((a, b) => b.entry.at - a.entry.at || b.number - a.number);
  status.textContent = t("audit.count", { count: entries.length });
  more.hidden = !next;
  sayObject();
  if (!entries.length) {
    fill(list, emptyPage({ name: "search", heading: t("audit.none.heading"), text: t(noneText()),
          action: isUnfiltered(filters) ? null : h("button", { class: "button", type: "button", onclick: clearFilters },
          t("audit.none.action")) }));
    return;
  }
  const focused = document.activeElement;
  const days = Map.groupBy(entries, ({ entry }) => dayKey(entry.at));
  fill(list, [...days].map(([day, ofDay]) => h("section", { "aria-labelledby": `day-${day}` },
    h("h2", { class: "day", id: `day-${day}` }, formatDay(ofDay[0].entry.at)),
    h("ol", { class: "plain group" }, ofDay.map(rowFor)))));
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

/** How the filter can be widened. */
function noneText() {
  if (filters.account.trim() && !(filters.action || filters.period || filters.object)) return "audit.none.account";
  if (filters.period) return "audit.none.period";
  return "audit.none.text";
}

function rowFor(each) {
  if (!rows.has(each.number)) {
    rows.set(each.number, entryRow(each, { only: (id, actor) => {
      account.value = actor ?? "";
      change({ ...filtersFrom(""), ...(actor ? { account: actor } : { object: id }) });
      scrollTo({ top: 0 });
      main.querySelector("h1").focus();
    } }));
  }
  return rows.get(each.number);
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 7 }, () =>
    h("div", { class: "bone" }, h("span", { class: "skeleton" }), h("span", { class: "skeleton wide" }))));
}
