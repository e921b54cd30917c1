import { h, svg } from "../lib/dom.js";
import { formatNumber, isRightToLeft, t } from "../lib/text.js";

const [height, foot] = [150, 22];

/**
 * Stacked bars with a legend, and the same numbers as a table. `series` is a list of `[tone, word, states]`, `bars` a
 * list of `{label, states}` with a number by state. Time runs from the start to the end of a line.
 */
export function barPlot({ label, series, bars }) {
  const value = (bar, names) => names.reduce((sum, name) => sum + (bar.states[name] ?? 0), 0);
  const totals = bars.map((bar) => series.reduce((sum, [, , names]) => sum + value(bar, names), 0));
  const top = ceiling(Math.max(...totals, 1));
  // A unit is about a pixel, so that the letters keep their size.
  const width = window.innerWidth < 640 ? 260 : 480;
  const slot = width / bars.length;
  const gap = Math.min(6, slot * 0.25);
  const scale = (height - foot - 14) / top;
  const every = Math.ceil((bars.length * (bars.length > 20 ? 100 : 68)) / width);
  const x = (index) => (isRightToLeft ? width - (index + 1) * slot : index * slot) + gap / 2;
  const plot = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": t("plot.summary", { label, total: totals.reduce((a, b) => a + b, 0), top: Math.max(...totals) }) },
    svg("line", { class: "grid", x1: 0, x2: width, y1: height - foot, y2: height - foot }),
    svg("line", { class: "grid faint", x1: 0, x2: width, y1: height - foot - top * scale,
        y2: height - foot - top * scale }),
    svg("text", { class: "axis", x: isRightToLeft ? width : 0, y: height - foot - top * scale - 4,
        "text-anchor": "start" }, formatNumber(top)),
    bars.map((bar, index) => {
      let y = height - foot;
      return svg("g", null, svg("title", null, `${bar.label}: ${formatNumber(totals[index])}`),
        series.map(([tone, , names]) => {
          const size = value(bar, names) * scale;
          y -= size;
          return size ? svg("rect", { class: `bar-${tone}`, x: x(index), y, width: slot - gap, height: size,
              rx: Math.min(2, size / 2) }) : null;
        }),
        // The last bar, which is now, always has its label.
        (bars.length - 1 - index) % every === 0
          ? svg("text", { class: "axis", x: x(index) + (slot - gap) / 2, y: height - 6,
            "text-anchor": labelAnchor(index, bars.length) }, bar.label) : null);
    }));
  return h("figure", { class: "plot-figure" }, plot,
    h("figcaption", null,
      h("ul", { class: "plain legend" }, series.map(([tone, word]) => h("li", { class: `key-${tone}` }, word))),
      h("details", null, h("summary", null, t("plot.numbers")), h("div", { class: "numbers" }, h("table", null,
        h("thead", null, h("tr", null, h("th", { scope: "col" }, t("plot.time")),
            series.map(([, word]) => h("th", { scope: "col" }, word)))),
        h("tbody", null, bars.map((bar, index) => [bar, index]).filter(([, index]) => totals[index] || bars.length < 20)
          .reverse().map(([bar]) =>
          h("tr", null, h("th", { scope: "row" }, bar.label),
            series.map(([, , names]) => h("td", null, formatNumber(value(bar, names))))))))))));
}

const labelAnchor = (index, count) => (count > 20 && index === count - 1 ? "end" : "middle");

/** The next round number. */
function ceiling(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 4, 5, 10].map((factor) => factor * power).find((round) => round >= number && Number.isInteger(round)) ??
    Math.ceil(number);
}
