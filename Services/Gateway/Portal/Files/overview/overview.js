import { ApiError, explain, get, withQuery } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { dateForm, t } from "../lib/text.js";
import { dayKey, formatAgo, formatTime } from "../lib/time.js";
import { barPlot } from "../elements/bar-plot.js";
import { browserState, currentHealth, meaningOf, readHealth, waysOf } from "../elements/health-pill.js";
import { pageHead, ready } from "../elements/shell.js";
import { pathOf } from "../elements/tags.js";
import { healthRows } from "./health-rows.js";

const days = 14;
const minutes = 60;
const open = ["pending", "retrying"];

const main = document.getElementById("main");
const meaning = h("div", { role: "status" });
const tiles = h("ul", { class: "plain tiles" },
  Array.from({ length: 4 }, () => h("li", { class: "skeleton tile-bone" })));
const oldest = h("div", { class: "oldest" });
const byDay = h("div", { class: "plot-place" }, h("div", { class: "skeleton plot-bone" }));
const byMinute = h("div", { class: "plot-place" }, h("div", { class: "skeleton plot-bone" }));
const problem = h("div");
const services = h("ul", { class: "plain group services" },
  Array.from({ length: 5 }, () => h("li", null, h("span", { class: "skeleton service-bone" }))));
let refreshing = false;
/** How many browsers get pushes. */
let browsers;

await ready;
fill(main, pageHead({ heading: t("overview.heading"), intro: t("overview.intro") }), meaning,
  may("read") ? [problem, tiles, oldest,
  h("div", { class: "plots" },
    h("section", { class: "panel", "aria-labelledby": "by-day" }, h("h2", { id: "by-day" }, t("overview.byDay")),
      byDay),
    h("section", { class: "panel", "aria-labelledby": "by-minute" },
      h("h2", { id: "by-minute" }, t("overview.byMinute")), byMinute))] : null,
h("section", { class: "health", "aria-labelledby": "health" },
  h("h2", { id: "health", tabIndex: -1 }, t("overview.health")), services));
main.focus();
document.addEventListener("hub-health", ({ detail }) => showHealth(detail));
showHealth(await readHealth());
refresh();
countBrowsers();
if (location.hash === "#health") document.getElementById("health").scrollIntoView();
// The plots move on by themselves; events make them do so at once.
setInterval(() => { refresh(); countBrowsers(); }, 30_000);
for (const type of ["message", "reset"]) listen(type, soon);

function soon() {
  if (refreshing) return;
  refreshing = true;
  setTimeout(() => { refreshing = false; refresh(); }, 3_000);
}

async function refresh() {
  if (!may("read")) return;
  const now = Date.now();
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const dayEdges = Array.from({ length: days + 1 }, (_, index) => new Date(midnight)
    .setDate(midnight.getDate() - days + 1 + index));
  const lastMinute = Math.ceil(now / 60_000) * 60_000;
  const minuteEdges = Array.from({ length: minutes + 1 }, (_, index) => lastMinute - (minutes - index) * 60_000);
  const accepted = t(["google", "both"].includes(waysOf(currentHealth())) ? "overview.accepted"
    : "overview.accepted.plain");
  try {
    const [daily, ended] = await Promise.all([
      get(withQuery("/statistics", { edges: dayEdges.join() })),
      get(withQuery("/statistics", { edges: minuteEdges.join(), by: "ended" })),
    ]);
    fill(problem);
    showTiles(daily);
    showOldest(daily);
    fill(byDay, barPlot({
      label: t("overview.byDay"),
      series: [["good", accepted, ["relayed"]], ["accent", t("overview.underway"), [...open, "held"]],
        ["bad", t("overview.notDelivered"), ["failed", "expired"]], ["quiet", t("overview.recalled"), ["recalled"]]],
      bars: daily.buckets.map(({ from, states }) => ({ label: dayLabel(from), states })),
    }));
    fill(byMinute, barPlot({
      label: t("overview.byMinute"), series: [["good", accepted, ["relayed"]]],
      bars: ended.buckets.map(({ from, states }) => ({ label: formatTime(from), states })),
    }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    for (const part of [tiles, byDay, byMinute]) if (part.querySelector(".skeleton")) fill(part);
    fill(problem, h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
        h("button", { class: "button small", type: "button", onclick: refresh }, t("retry"))));
  }
}

const shortDay = (time) => dateForm({ weekday: "short", day: "numeric" }).format(time);
function dayLabel(time) {
  return dayKey(time) === dayKey(Date.now()) ? t("overview.today") : shortDay(time);
}

function showTiles({ states, scheduled, buckets }) {
  const count = (from, names) => names.reduce((sum, name) => sum + (from[name] ?? 0), 0);
  const today = Object.values(buckets.at(-1)?.states ?? {}).reduce((sum, each) => sum + each, 0);
  const tile = (name, number, href, isBad, more) =>
    h("li", null, h("a", { class: "tile", href }, h("span", { class: `tile-number ${isBad && number ? "bad" : ""}` },
        t("number", { number })),
      h("span", null, t(`overview.tile.${name}`), more ? h("b", { class: "tile-more" }, more) : null)));
  const lost = count(buckets.at(-1)?.states ?? {}, ["failed", "expired"]);
  fill(tiles,
    tile("today", today, "/portal/messages/?period=today", false,
      lost ? t("overview.tile.lost", { count: lost }) : null),
    tile("scheduled", scheduled ?? 0, "/portal/messages/?view=scheduled"),
    tile("held", states.held ?? 0, "/portal/messages/?view=held"),
    tile("failed", count(states, ["failed", "expired"]),
      `/portal/messages/?view=${states.failed || !states.expired ? "failed" : "expired"}`, true,
      states.expired ? t("overview.tile.expired", { count: states.expired }) : null));
}

/** What should be out by now, apart from what waits for its time or for somebody. */
function showOldest({ oldest_waiting: message, scheduled = 0, states: { held = 0 } }) {
  const later = [scheduled ? t("overview.laterScheduled", { count: scheduled }) : null,
    held ? t("overview.laterHeld", { count: held }) : null].filter(Boolean);
  fill(oldest, message
    ? h("div", { class: "notice" }, icon("clock"),
        h("p", null, t("overview.oldest", { ago: formatAgo(message.timestamp) }), " ",
      h("a", { href: `/portal/message/?key=${message.msi_key}`, dir: "auto" }, message.title), " ",
      h("span", { class: "secondary" }, pathOf([message.names.channel, message.names.area, message.names.subject]))))
    : h("p", { class: "hint" },
        [t(later.length ? "overview.nothingDue" : "overview.nothingWaits"), ...later].join(" ")));
}

/** While the service that knows it is away, the last number stays. */
async function countBrowsers() {
  const webPush = currentHealth()?.parts?.["message-log"]?.webpush;
  if (!may("read") || !webPush || browserState(webPush).state === "bad") return;
  const counts = await get("/app/push/count", { remedy: false }).catch(() => null);
  if (!counts || counts.proven === browsers) return;
  browsers = counts.proven;
  showHealth(currentHealth());
}

function showHealth(health) {
  const { tone, text } = meaningOf(health);
  fill(meaning, tone === "good" ? null : h("div", { class: `notice ${tone === "bad" ? "bad" : ""}` }, icon("info"),
      h("p", null, h("strong", null, text), ". ", t(`overview.meaning.${tone}`))));
  fill(services, healthRows(health, browsers));
}
