import { explain, get } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { dateForm, formatNumber, hasText, language, t } from "../lib/text.js";

/** From this share of its room or of its limit on something needs a look, in hundredths. */
const alarm = 90;
const steps = [["gigabyte", 1e9], ["megabyte", 1e6], ["kilobyte", 1e3], ["byte", 1]];

/** 3.4 MB */
function formatBytes(count) {
  const [unit, size] = steps.find(([, size]) => count >= size) ?? steps.at(-1);
  return new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits: 1 }).format(count / size);
}

const toneOf = (percent) => (percent >= 100 ? "bad" : percent >= alarm ? "warn" : "good");

/** A row of something that fills up, with how much of it is used. Without `percent` it has no limit. */
function row({ name, label, text, percent, more }) {
  const tone = toneOf(percent ?? 0);
  const used = h("span");
  used.style.inlineSize = `${Math.min(100, percent ?? 0)}%`;
  return h("li", { class: "service", dataset: { tone, store: name } },
    h("span", { class: "dot" }, icon({ good: "check", warn: "info", bad: "cross" }[tone], "small")),
    h("div", null, h("p", { class: "label" }, label), h("p", { class: "secondary" }, text),
      percent === undefined ? null : h("div", { class: "share", "aria-hidden": "true" }, used), more),
    h("span", { class: `tag ${tone === "warn" ? "" : tone}` }, t(`storage.state.${tone}`)));
}

/** What people call a store, or the name by which operators know it. */
const nameOf = (name) => (hasText(`storage.store.${name}`) ? t(`storage.store.${name}`) : name);
const names = new Intl.ListFormat(language, { type: "conjunction" });

function storeRow({ name, bytes, limit, free, percent }) {
  const values = { bytes: formatBytes(bytes), limit: formatBytes(limit ?? 0), free: formatBytes(free ?? 0), percent };
  const text = limit !== undefined ? "storage.limit" : free === undefined ? "storage.bytes" : "storage.free";
  return row({ name, percent, text: t(text, values), label: h("bdi", null, nameOf(name)) });
}

const month = dateForm({ month: "long", year: "numeric", timeZone: "UTC" });

/** The calls of a month: how many there are, of which, and how many the operator wants to be warned of. */
function callRow({ calls, call_limit: limit, month: name }) {
  const count = Object.values(calls).reduce((sum, each) => sum + each, 0);
  const when = month.format(Date.parse(`${name}-01T00:00:00Z`));
  const percent = limit === undefined ? undefined : Math.floor((100 * count) / limit);
  const kinds = Object.entries(calls).sort(([, one], [, other]) => other - one);
  return row({ name: "calls", percent, label: t("storage.calls"),
    text: t(limit === undefined ? "storage.calls.count" : "storage.calls.limit", { when, count, limit, percent }),
    more: kinds.length ? h("details", null, h("summary", null, t("storage.calls.kinds")),
      h("dl", { class: "kinds" }, kinds.map(([kind, each]) => h("div", null,
        h("dt", null, hasText(`storage.call.${kind}`) ? t(`storage.call.${kind}`) : kind),
        h("dd", null, formatNumber(each)))))) : null });
}

/** What is stored, and the calls of the month: for super users. `read()` reads and shows both again. */
export function storagePart() {
  const problem = h("div");
  const list = h("ul", { class: "plain group services" },
    Array.from({ length: 8 }, () => h("li", null, h("span", { class: "skeleton service-bone" }))));
  const element = h("section", { class: "health", "aria-labelledby": "storage" },
    h("h2", { id: "storage" }, t("storage.heading")), problem, list);

  /** Without an answer about one of both the other one is shown. */
  async function read() {
    const [stores, calls] = await Promise.allSettled([get("/storage"), get("/calls")]);
    const failed = [stores, calls].find(({ status }) => status === "rejected");
    const away = (stores.value?.away ?? []).map(nameOf);
    fill(problem, failed ? h("p", { class: "hint" }, explain(failed.reason)) : null,
      away.length ? h("p", { class: "hint" }, t("storage.away", { names: names.format(away) })) : null);
    const [isOpen, hadFocus] = [list.querySelector("details[open]") !== null, list.contains(document.activeElement)];
    fill(list, (stores.value?.stores ?? []).map(storeRow), calls.value ? callRow(calls.value) : null);
    const kinds = list.querySelector("details");
    if (kinds) kinds.open = isOpen;
    if (hadFocus) kinds?.querySelector("summary").focus({ preventScroll: true });
    list.hidden = !list.children.length;
  }

  return Object.assign(element, { read });
}
