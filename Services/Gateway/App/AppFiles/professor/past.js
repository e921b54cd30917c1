// The history of a class: who was at which session, when, and what was studied. For its professor.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { saveFile } from "../lib/save-file.js";
import { formatNumber, t } from "../lib/text.js";
import { field } from "../people/parts.js";
import { pathOfSession } from "./frame.js";
import { askAll, askFile, classPath, withQuery } from "./hub.js";
import { classOf } from "./my-classes.js";
import { doIt, emptyPage, refill, remote } from "./parts.js";
import { topicPlot, weekPlot } from "./plots.js";
import { hasTopic, orders, topicsOf } from "./statistics.js";
import { beginningOf, dayOfInput, formatDate, formatMinutes, formatTime, formatWeekday } from "./times.js";

/** What the page shows at first, in days: a term. */
const term = 182;
/** The most sessions that the page reads. A file has all of them. */
const max = 2_000;

/** A person of the history: the name as long as the class keeps it, and then the number. */
const nameOf = ({ account, number }) => (account ? h("bdi", null, account) : t("prof.past.number", { number }));

/** Who was there, and for how long, behind the number of them. */
function attendance({ attendants }) {
  const text = t("prof.past.people", { count: attendants.length });
  if (!attendants.length) return text;
  return h("details", null, h("summary", null, icon("down", "small"), text), h("ul", { class: "plain attendants" },
    attendants.map(({ person, minutes }) => h("li", null, nameOf(person), h("span", { class: "hint" },
      formatMinutes(minutes))))));
}

const named = (name, ...content) => h("td", { dataset: { label: t(`prof.past.${name}`) } }, h("div", null, content));

/** The length of a session in minutes, at least one. */
const lengthOf = ({ starts, ended }) => Math.max(1, Math.round((ended - starts) / 60_000));

function row(session, group) {
  const { id, topics, description, starts, ended, sponsored, host, reason, posts, place_name: place } = session;
  return h("tr", { class: "thing" },
    h("th", { scope: "row" }, h("a", { href: pathOfSession(group, id) },
      h("bdi", null, topics.join(", "))), description ? h("small", { dir: "auto" }, description) : null),
    named("date", h("time", { dateTime: new Date(starts).toISOString() },
      `${formatWeekday(starts)} ${formatDate(starts)}`), h("small", null,
      `${formatTime(starts)}–${formatTime(ended)} · ${formatMinutes(lengthOf(session))}`)),
    named("attendance", attendance(session)),
    named("host", nameOf(host), sponsored ? h("small", null, t("prof.session.sponsored")) : null),
    named("place", place ? h("bdi", null, place) : "—"),
    named("posts", formatNumber(posts)), named("end", t(`prof.end.${reason}`)));
}

/** The part of a class with its history. */
export function pastPart({ id }) {
  const path = classPath(id, "/sessions/past");
  const day = 86_400_000;
  const date = (label, value) => field({ label, type: "date", value, max: "9999-12-31", dir: "ltr",
    onchange: () => sessions.refresh() });
  const from = date(t("prof.past.from"), dayOfInput(Date.now() - term * day));
  const until = date(t("prof.past.until"), "");
  /** The chosen time, with the whole of its last day. */
  const range = () => ({ from: beginningOf(from.input.value), until: beginningOf(until.input.value, 1) });
  const topic = field({ label: t("prof.past.topic"), tag: "select", onchange: showRows });
  const order = field({ label: t("prof.past.order"), tag: "select", onchange: showRows });
  order.input.append(...Object.keys(orders).map((value) => h("option", { value }, t(`prof.past.by.${value}`))));
  const save = h("button", { class: "button", type: "button", onclick: saveAll }, icon("download", "small"),
    t("prof.past.save"));
  const said = h("p", { class: "hint", role: "status" });
  const columns = ["topics", "date", "attendance", "host", "place", "posts", "end"];
  const body = h("tbody", null);
  const table = h("table", { class: "things past" }, h("thead", null, h("tr", null,
    columns.map((name) => h("th", { scope: "col" }, t(`prof.past.${name}`))))), body);
  const none = h("div", null);
  const plots = h("div", { class: "plots" });
  const sessions = remote({ isStill: true, show, load: () => askAll(path, "sessions", range(), max),
    content: h("div", { class: "stack" }, plots, said, table, none) });
  let all = { items: [], isCut: false };

  async function saveAll() {
    const query = withQuery(path, { ...range(), topic: topic.input.value });
    save.setAttribute("aria-busy", "true");
    await doIt(async () => saveFile(await askFile(query, "text/csv"),
      `${classOf(id)?.identification_key ?? "class"}-sessions.csv`), t("prof.past.saved"));
    save.removeAttribute("aria-busy");
  }

  function showRows() {
    const found = all.items.filter((session) => hasTopic(session, topic.input.value))
      .sort(orders[order.input.value] ?? orders.date);
    table.hidden = !found.length;
    refill(body, found.map((session) => row(session, id)));
    fill(said, t(all.isCut ? "prof.past.cut" : "prof.past.count", { count: found.length }));
    fill(none, found.length ? null : emptyPage({ sign: "clock", heading: t("prof.past.none"),
      text: t("prof.past.none.text") }));
  }

  function show(value) {
    all = value;
    const chosen = topic.input.value;
    fill(topic.input, h("option", { value: "" }, t("prof.past.topic.all")), topicsOf(all.items)
      .map(({ topic: name }) => name).sort((one, other) => one.localeCompare(other))
      .map((name) => h("option", { value: name }, name)));
    topic.input.value = chosen;
    // The chosen one is not in this time.
    if (topic.input.selectedIndex < 0) topic.input.value = "";
    plots.hidden = !all.items.length;
    fill(plots, all.items.length ? [plot(t("prof.plots.weeks"), weekPlot(all.items)),
      plot(t("prof.plots.topics"), topicPlot(all.items))] : null);
    showRows();
  }

  const plot = (heading, content) => h("section", { class: "panel" }, h("h2", null, heading),
    h("div", { class: "plot-place" }, content));

  return Object.assign(h("div", { class: "stack" }, h("p", { class: "secondary" }, t("prof.past.text")),
    h("div", { class: "past-filters" }, from, until, topic, order, save), sessions), { update: () => {} });
}
