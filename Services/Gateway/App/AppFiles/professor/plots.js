// Small plots of what was studied. Each has its numbers as a table.

import { h, svg } from "../lib/dom.js";
import { formatNumber, isRightToLeft, t } from "../lib/text.js";
import { barPlot } from "../elements/bar-plot.js";
import { topicsOf, weeksOf } from "./statistics.js";
import { formatDayOfYear, formatMinutes } from "./times.js";

/** How many topics are shown. */
const maxTopics = 10;
/** The width of the longest bar, in units of the picture. */
const width = 100;

/** How many sessions there were in each week. */
export const weekPlot = (sessions) => barPlot({
  label: t("prof.plots.weeks"),
  series: [["accent", t("prof.plots.students"), ["sessions"]], ["good", t("prof.plots.sponsored"), ["sponsored"]]],
  bars: weeksOf(sessions).map(({ start, ...states }) => ({ label: formatDayOfYear(start), states })),
});

/** A bar beside its number. */
const bar = (share) => svg("svg", { class: "topic-bar", viewBox: `0 0 ${width} 10`, preserveAspectRatio: "none",
  "aria-hidden": "true" }, svg("rect", { class: "bar-accent", x: isRightToLeft ? width - share * width : 0, y: 0,
  width: Math.max(share * width, 0.5), height: 10 }));

/** How long people studied each topic: a table whose rows have a bar. */
export function topicPlot(sessions) {
  const all = topicsOf(sessions);
  const top = Math.max(...all.map(({ minutes }) => minutes), 1);
  const row = ({ topic, minutes, sessions: count }) => h("tr", null, h("th", { scope: "row" }, h("bdi", null, topic)),
    h("td", { class: "bar-cell" }, bar(minutes / top)), h("td", { class: "end" }, formatMinutes(minutes)),
    h("td", { class: "end" }, formatNumber(count)));
  const rest = all.length - maxTopics;
  return h("div", { class: "stack" }, h("table", { class: "topics" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, t("prof.plots.topic")),
      h("td", { class: "bar-cell" }), h("th", { scope: "col", class: "end" }, t("prof.plots.time")),
      h("th", { scope: "col", class: "end" }, t("prof.plots.sessions")))),
    h("tbody", null, all.slice(0, maxTopics).map(row))),
  rest > 0 ? h("p", { class: "hint" }, t("prof.plots.more", { count: rest })) : null,
  h("p", { class: "hint" }, t("prof.plots.topics.how")));
}
