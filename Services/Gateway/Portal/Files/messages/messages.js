import { ApiError, explain, get, withQuery } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { placesOf, readCube, whenCubeChanges } from "../lib/cube.js";
import { append, fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { isOut, rejectionOf, stateOf } from "../lib/message-state.js";
import { accountsOf, nameOf, readNames } from "../lib/people.js";
import { keep, kept } from "../lib/store.js";
import { t } from "../lib/text.js";
import { dayKey, formatDay } from "../lib/time.js";
import { showForm } from "../elements/dialogs.js";
import { field } from "../elements/field.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { filtersFrom, isUnfiltered, parametersFor, pathFor } from "./filters.js";
import { placeFilter } from "./place-filter.js";
import { messageRow } from "./row.js";

const pageSize = 50;
const views = ["", "mine", "scheduled", "held", "rejected", "failed", "expired"];

const main = document.getElementById("main");
await ready;

let filters = filtersFrom(location.search);
/** The shown messages by key, newest first. */
let shown = new Map();
const rows = new Map();
/** New messages that wait for a press of the button, so that no row moves under somebody's hand. */
const waiting = new Map();
let next = null;
let reading = null;

const search = h("input", { type: "search", dir: "auto", value: filters.q, oninput: () => {
  clearTimeout(search.timer);
  search.timer = setTimeout(() => change({ q: search.value }), 250);
} });
const chips = h("div", { class: "chips", role: "group", "aria-label": t("messages.filters") });
const dates = h("div", { class: "dates" });
const places = placeFilter(change);
const news = h("div", { class: "news", role: "status" });
const list = h("div", { class: "days", "aria-busy": "true" });
const status = h("p", { class: "unseen", role: "status" });
const more = h("button", { class: "button", type: "button", hidden: true, onclick: () => readMore() },
  t("messages.more"));
const csv = h("a", { class: "button", download: "messages.csv" }, icon("download", "small"), t("messages.csv"));
fill(main, pageHead({ heading: t("messages.heading"), action: csv }),
  h("div", { class: "filters" }, h("div", { class: "search-line" }, search, places), chips, dates), status, news, list,
  h("div", { class: "more-line" }, more));

const viewButtons = views.map((view) =>
  h("button", { class: "chip", type: "button", onclick: () => (view ? change({ view }) : showAll(search.value)) }));
const period = h("select",
  { class: "chip", "aria-label": t("messages.period"),
    onchange: () => change({ period: period.value, from: "", to: "" }) },
  ["", "today", "week", "month", "dates"].map((value) =>
    h("option", { value }, t(`messages.period.${value || "any"}`))));
const from = h("input",
  { type: "date", "aria-label": t("messages.from"), onchange: () => change({ from: from.value }) });
const to = h("input", { type: "date", "aria-label": t("messages.to"), onchange: () => change({ to: to.value }) });
append(dates, h("label", null, t("messages.from"), from), h("label", null, t("messages.to"), to));
const savedViews = h("span", { class: "chips" });
const save = h("button", { class: "chip", type: "button", onclick: saveView }, icon("bookmark", "small"),
  t("messages.save"));
append(chips, viewButtons, period, savedViews, save);

function change(changes) {
  Object.assign(filters, changes);
  history.replaceState(null, "", pathFor(filters));
  showFilters();
  start();
}

function showAll(q) {
  search.value = q;
  change({ ...filtersFrom(""), q });
}

function showFilters() {
  views.forEach((view, index) => viewButtons[index].setAttribute("aria-pressed",
      String(view ? filters.view === view : isUnfiltered({ ...filters, q: "" }))));
  places.show(filters);
  showScope();
  period.value = filters.period;
  dates.hidden = filters.period !== "dates";
  from.value = filters.from;
  to.value = filters.to;
  csv.href = withQuery("/message", { ...parametersFor(filters), format: "csv" });
  const here = pathFor(filters);
  const saved = kept("views", []);
  save.hidden = isUnfiltered(filters) || saved.some((view) => view.path === here);
  fill(savedViews, saved.map((view) => h("span", { class: "saved-view" },
    h("a", { class: "chip", href: view.path, "aria-current": view.path === here ? "true" : null },
      icon("bookmark", "small"), h("bdi", null, view.name)),
    view.path === here ? h("button",
        { class: "button bare plain small", type: "button", title: t("messages.forget", { name: view.name }),
        "aria-label": t("messages.forget", { name: view.name }), onclick: () => {
      keep("views", saved.filter((each) => each !== view));
      showFilters();
    } }, icon("cross", "small")) : null)));
  countViews();
}

/** What is searched, in words. */
function scopeOf(place) {
  const inView = t(`messages.scope.${filters.view || "all"}`);
  const inPlace = !place ? inView : filters.view
    ? t("messages.scope.in", { scope: inView, place }) : t("messages.scope.place", { place });
  return filters.period ? t("messages.scope.when", { scope: inPlace, period: t(`messages.period.${filters.period}`) })
    : inPlace;
}
const wholePlace = () => places.place?.names.join(" › ");

/** The search says in what it searches. Of a long path the field shows the last name. */
function showScope() {
  const short = places.place?.short ?? [];
  const place = short.join(" › ");
  search.placeholder = t("messages.search", { scope: scopeOf(place.length > 36 ? `… › ${short.at(-1)}` : place) });
  search.setAttribute("aria-label", t("messages.search", { scope: scopeOf(wholePlace()) }));
}

/** How many messages wait, are held or have failed. */
async function countViews() {
  let states = {};
  let scheduled;
  try {
    const { channel, area, subject } = parametersFor(filters);
    ({ states, scheduled } = await get(withQuery("/statistics", { channel, area, subject })));
  } catch {
    // The chips work without numbers.
  }
  const counts = { scheduled, held: states.held, failed: states.failed, expired: states.expired };
  // What was rejected counts as taken back.
  for (const [view, count] of [["rejected", states.recalled], ["expired", states.expired]]) {
    viewButtons[views.indexOf(view)].hidden = !count && filters.view !== view;
  }
  views.forEach((view, index) => fill(viewButtons[index], t(`messages.view.${view || "all"}`),
      counts[view] ? [" ", h("span", { class: "number" }, t("number", { number: counts[view] }))] : null));
}

async function saveView() {
  const name = field({ label: t("messages.save.name"), max: 40, attributes: { autofocus: true } });
  const isSaved = await showForm({
    heading: t("messages.save.heading"), intro: t("messages.save.intro"), fields: [name], action: t("save"),
    submit: async () => {
      if (!name.value.trim() || name.isTooLong()) throw new Error(t("field.missing"));
      keep("views", [...kept("views", []), { name: name.value.trim(), path: pathFor(filters) }]);
      return true;
    },
  });
  if (isSaved) showFilters();
}

/** Reads the list again. */
function start() {
  reading?.abort();
  reading = new AbortController();
  shown = new Map();
  rows.clear();
  waiting.clear();
  showNews();
  next = withQuery("/message", { ...parametersFor(filters), limit: pageSize });
  list.setAttribute("aria-busy", "true");
  if (!list.children.length || list.querySelector(".empty, .notice")) fill(list, skeleton());
  more.hidden = true;
  readMore(true);
}

let isReading = false;
async function readMore(isFirst = false) {
  if ((isReading && !isFirst) || !next) return;
  isReading = true;
  const { signal } = reading;
  try {
    // A filter of the page itself may leave little of a page.
    for (let pages = 0; next && pages < 4; pages += 1) {
      const page = await get(next, { signal });
      next = page.next ?? null;
      for (const message of page.messages.filter(isWanted)) shown.set(message.msi_key, message);
      if (shown.size >= pageSize) break;
    }
    show();
  } catch (error) {
    if (!(error instanceof ApiError)) return;
    more.hidden = shown.size === 0;
    if (!shown.size)
      fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"),
          h("p", null, error.field === "q" ? t("messages.badSearch") : explain(error)),
      h("button", { class: "button small", type: "button", onclick: start }, t("retry"))));
  } finally {
    if (!signal.aborted) isReading = false;
  }
}

function isWanted(message) {
  if (filters.view === "rejected") return Boolean(rejectionOf(message));
  return !["scheduled", "held", "failed", "expired"].includes(filters.view) || stateOf(message) === filters.view;
}

function show() {
  list.setAttribute("aria-busy", "false");
  readNames([...shown.values()].flatMap(accountsOf)).then((isNew) => { if (isNew) show(); });
  const messages = [...shown.values()].sort((a, b) => b.timestamp - a.timestamp || (a.msi_key < b.msi_key ? 1 : -1));
  const found = t("messages.count", { count: messages.length });
  status.textContent = filters.q ? t("messages.searched", { found, scope: scopeOf(wholePlace()) }) : found;
  status.className = filters.q ? "hint searched" : "unseen";
  more.hidden = !next;
  if (!messages.length) {
    fill(list, emptyPage(isUnfiltered(filters)
      ? { name: "messages", heading: t("messages.empty.heading"), text: t("messages.empty.text"),
          action: h("a", { class: "button main", href: "/portal/send/" }, t("messages.empty.action")) }
      : { name: "search", heading: t("messages.none.heading"), text: t("messages.none.text"),
          action: h("button", { class: "button", type: "button", onclick: () => showAll("") },
            t("messages.none.action")) }));
    return;
  }
  // A row that moves into its new group loses the focus.
  const focused = document.activeElement;
  const key = list.contains(focused) && focused.closest("[data-key]")?.dataset.key;
  const groups = Map.groupBy(messages, (message) => dayKey(message.timestamp));
  const sections = [...groups].map(([day, ofDay]) => {
    const identifier = `day-${day}`;
    return h("section", { "aria-labelledby": identifier },
      h("h2", { class: "day", id: identifier }, formatDay(ofDay[0].timestamp)),
      h("ul", { class: "plain group" }, ofDay.map(rowFor)));
  });
  fill(list, sections);
  if (key) (focused.isConnected ? focused : rows.get(key)?.element.querySelector("a"))?.focus({ preventScroll: true });
}

/** The row of a message; the same element as long as nothing has changed. */
function rowFor(message) {
  const { relay, receipts, title, names, timestamp, send_at: sendAt } = message;
  const print = JSON.stringify([relay, receipts, title, names, timestamp, sendAt, accountsOf(message).map(nameOf)]);
  const known = rows.get(message.msi_key);
  if (known?.print === print) return known.element;
  const row = messageRow(message, (changed) => {
    shown.set(changed.msi_key, changed);
    show();
    rows.get(changed.msi_key).element.querySelector("a").focus();
  });
  rows.set(message.msi_key, { print, element: row });
  return row;
}

// Events come in crowds while thousands of messages go out. An account has 600 requests a minute, which sending needs
// as well: so the newest page is read at most every two seconds.
const pause = 2_000;
const changed = new Set();
let refreshing = false;
let lastRefresh = 0;
async function refreshSoon() {
  if (refreshing) return;
  refreshing = true;
  await new Promise((resolve) => { setTimeout(resolve, Math.max(200, lastRefresh + pause - Date.now())); });
  lastRefresh = Date.now();
  const keys = [...changed];
  changed.clear();
  const { signal } = reading;
  try {
    const page = await get(withQuery("/message", { ...parametersFor(filters), limit: pageSize }), { signal });
    const fresh = new Map(page.messages.map((message) => [message.msi_key, message]));
    // Older rows that have changed, or no longer match.
    const others = keys.filter((key) => !fresh.has(key) && shown.has(key)).slice(0, 5);
    for (const message of await Promise.all(others.map((key) => get(`/message/${key}`, { signal })
          .catch(() => null)))) if (message) fresh.set(message.msi_key, message);
    // Another filter has its own rows.
    signal.throwIfAborted();
    const isCalm = !shown.size || (!waiting.size && isAtRest());
    for (const [key, message] of fresh) {
      if (!shown.has(key) && !isCalm) {
        if (isWanted(message)) waiting.set(key, message);
        else waiting.delete(key);
      } else if (isWanted(message) || shown.has(key)) {
        shown.set(key, message);
      }
    }
    // What no longer belongs here stays until nobody is at it.
    if (isCalm) for (const [key, message] of shown) if (!isWanted(message)) shown.delete(key);
    show();
    showNews();
    await countViews();
  } catch {
    // The stream tells again when the hub is back.
  }
  refreshing = false;
  if (changed.size) refreshSoon();
}

/** Nobody reads further below, points at a row or is about to use one. */
const isAtRest = () => scrollY < 8 && !list.matches(":hover") && !list.contains(document.activeElement);

function showNews() {
  const count = waiting.size;
  const words = count ? t("messages.news", { count }) : "";
  if (news.textContent !== words) {
    fill(news, count ? h("button", { class: "button main small", type: "button", onclick: showWaiting },
        icon("up", "small"), words) : null);
  }
}

function showWaiting() {
  const [first] = [...waiting.values()].sort((a, b) => b.timestamp - a.timestamp);
  for (const [key, message] of waiting) shown.set(key, message);
  waiting.clear();
  show();
  showNews();
  scrollTo({ top: 0 });
  rows.get(first.msi_key).element.querySelector("a").focus({ preventScroll: true });
}

listen("message", (event) => { changed.add(event.msi_key); refreshSoon(); });
listen("reset", refreshSoon);
// What phones report comes without events.
setInterval(() => {
  if (!document.hidden &&
    [...shown.values()].some((message) => isOut(message) && hubNow() - message.timestamp < 3_600_000)) refreshSoon();
}, 30_000);

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 6 }, () =>
    h("div", { class: "message-row bone" }, h("span", { class: "skeleton" }), h("span", { class: "skeleton wide" }),
      h("span", { class: "skeleton" }))));
}

showFilters();
const readPlaces = () => readCube().then(({ channels }) => { places.places = placesOf(channels); showScope(); },
  () => {});
readPlaces();
whenCubeChanges(readPlaces);
start();
main.focus();

window.addEventListener("popstate", () => {
  filters = filtersFrom(location.search);
  search.value = filters.q;
  showFilters();
  start();
});
new IntersectionObserver(([entry]) => { if (entry.isIntersecting && !more.hidden) readMore(); },
  { rootMargin: "600px" }).observe(more);
