import { ApiError, explain, get, withQuery } from "../lib/api.js";
import { append, fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { t } from "../lib/text.js";
import { dayKey, formatDay } from "../lib/time.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { reportRow } from "./row.js";

const pageSize = 50;
/** How often new reports are looked for while the page is in sight, in milliseconds. */
const interval = 30_000;

const main = document.getElementById("main");
await ready;

/** Whether only open reports are shown. */
let isOpen = true;
/** The reports that were read, by their ids, with their rows. */
let shown = new Map();
let rows = new Map();
let next = null;
let print = "";
let reading = new AbortController();

const chips = [true, false].map((value) => h("button", { class: "chip", type: "button", "aria-pressed": String(value),
  onclick: () => choose(value) }, t(value ? "reports.filter.open" : "reports.filter.all")));
const status = h("p", { class: "unseen", role: "status" });
const list = h("div", { class: "days", "aria-busy": "true" });
const more = h("button", { class: "button", type: "button", hidden: true, onclick: () => read(next) },
  t("reports.more"));

if (may("administer")) {
  append(main, pageHead({ heading: t("reports.heading"), intro: t("reports.intro") }),
    h("div", { class: "filters" }, h("div", { class: "chips", role: "group", "aria-label": t("reports.filters") },
      chips)), status, list, h("div", { class: "more-line" }, more));
  fill(list, skeleton());
  read();
  const look = () => { if (document.visibilityState === "visible") read(); };
  document.addEventListener("visibilitychange", look);
  setInterval(look, interval);
} else {
  append(main, pageHead({ heading: t("reports.heading") }),
    emptyPage({ name: "lock", heading: t("reports.forbidden"), text: t("reports.forbidden.text") }));
}
main.focus();

function choose(value) {
  isOpen = value;
  for (const [place, chip] of chips.entries()) chip.setAttribute("aria-pressed", String((place === 0) === value));
  [shown, rows, next, print] = [new Map(), new Map(), null, ""];
  list.setAttribute("aria-busy", "true");
  fill(list, skeleton());
  read();
}

/** Reads the newest reports, or those that follow a page. */
async function read(after = null) {
  if (!after) {
    reading.abort();
    reading = new AbortController();
  }
  const { signal } = reading;
  try {
    const page = await get(withQuery("/reports", { open: isOpen || null, limit: pageSize, after }), { signal });
    // What follows the pages that were read before is known. No report is opened again.
    if (after || !shown.size) next = page.next ?? null;
    for (const report of page.reports) if (shown.get(report.id)?.closed === undefined) shown.set(report.id, report);
    show();
  } catch (error) {
    if (!(error instanceof ApiError)) return;
    status.textContent = explain(error);
    if (shown.size) return;
    print = "";
    fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
      h("button", { class: "button small", type: "button", onclick: () => read() }, t("retry"))));
  }
}

function show() {
  list.setAttribute("aria-busy", "false");
  const reports = [...shown.values()].sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1));
  const text = t("reports.count", { count: reports.length });
  // Readers hear it once.
  if (status.textContent !== text) status.textContent = text;
  more.hidden = !next;
  if (print === (print = JSON.stringify([isOpen, reports]))) return;
  if (!reports.length) {
    fill(list, emptyPage({ name: "flag", heading: t(isOpen ? "reports.none.open" : "reports.none"),
      text: t("reports.none.text") }));
    return;
  }
  const focused = document.activeElement;
  const days = Map.groupBy(reports, ({ at }) => dayKey(at));
  fill(list, [...days].map(([day, ofDay]) => h("section", { "aria-labelledby": `day-${day}` },
    h("h2", { class: "day", id: `day-${day}` }, formatDay(ofDay[0].at)),
    h("ol", { class: "plain group" }, ofDay.map(rowFor)))));
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

function rowFor(report) {
  const row = rows.get(report.id) ?? reportRow(report, { changed: (each) => shown.set(each.id, each) });
  rows.set(report.id, row);
  row.update(report);
  return row;
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 4 }, () =>
    h("div", { class: "bone" }, h("span", { class: "skeleton" }), h("span", { class: "skeleton wide" }))));
}
