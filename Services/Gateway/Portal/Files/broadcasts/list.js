import { explain, get, getAll } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { emptyPage } from "../elements/shell.js";
import { askAndWithdraw } from "./actions.js";
import { broadcastRow } from "./row.js";
import { stateOf } from "./words.js";

const pageSize = 100;
const interval = 5_000;
/** What is older than the first page is read less often: the hub looks through its whole log for it. */
const olderInterval = 60_000;
const path = `/broadcast?limit=${pageSize}`;

/**
 * The broadcasts, grouped by what they do now. The element has `read()`, `add(broadcast)`, which shows one that was
 * just changed, `end()` and `terms`, the default language and the size that a broadcast may have. `names()` are the
 * names of the channels; `act` has `edit`, `reuse` and `write`.
 */
export function broadcastList({ names, act }) {
  const groups = h("div", { class: "broadcast-groups", "aria-busy": "true" }, skeleton());
  const element = h("div", null, groups);
  let items = new Map();
  let tag = null;
  let older = null;
  let timer = null;
  let print = "";
  let hasEnded = false;
  let isRead = false;
  let nextOlder = 0;

  element.read = async () => {
    clearTimeout(timer);
    try {
      const { document, headers, status } = await get(path,
        { whole: true, headers: tag ? { "If-None-Match": tag } : {} });
      if (status !== 304) await take(document, headers.get("ETag"));
      show();
    } catch (error) {
      if (!isRead) showProblem(error);
    }
    clearTimeout(timer);
    if (!hasEnded) {
      timer = setTimeout(() => { if (globalThis.document.visibilityState === "visible") element.read(); }, interval);
    }
  };

  async function take(document, newTag) {
    const all = [...document.items];
    // What is active may be older than the first page.
    if (document.next && Date.now() >= nextOlder) {
      nextOlder = Date.now() + olderInterval;
      for (const state of ["active", "scheduled"]) all.push(...await getAll(`${path}&state=${state}`, "items"));
    }
    tag = newTag;
    element.terms = { language: document.language, limit: document.limit };
    if (!isRead) older = document.next ?? null;
    isRead = true;
    keepNew(all);
  }

  /** An answer that was on its way while something changed here is older than that. */
  function keepNew(all) {
    for (const broadcast of all) {
      if (!(items.get(broadcast.id)?.version > broadcast.version)) {
        items.set(broadcast.id, broadcast);
      }
    }
  }

  function show() {
    // The names of the channels may come first.
    if (!isRead) return;
    const now = hubNow();
    // Times in words change each minute, and a broadcast begins and ends by itself.
    const states = [...items.values()].map((broadcast) => stateOf(broadcast, now));
    const next = JSON.stringify([[...items.values()], states, names() &&
        [...names()], Math.floor(now / 60_000), older]);
    groups.setAttribute("aria-busy", "false");
    if (next === print) return;
    print = next;
    if (!items.size) {
      fill(groups, emptyPage({ name: "broadcast", heading: t("broadcasts.empty.heading"),
            text: t("broadcasts.empty.text"),
        action: h("button", { class: "button", type: "button", onclick: act.write }, t("broadcasts.empty.action")) }));
      return;
    }
    const [focusedID, focusedAct] = focused();
    const by = (key) => (a, b) => key(b) - key(a) || b.id - a.id;
    const group = (name, wanted, order) => {
      const found = [...items.values()].filter((broadcast) => wanted.includes(stateOf(broadcast, now))).sort(order);
      if (!found.length && name !== "now") return null;
      return h("section", { "aria-labelledby": `group-${name}` },
        h("h2", { class: "group-heading", id: `group-${name}` }, t(`broadcasts.group.title.${name}`)),
        found.length ? h("ul", { class: "plain group" },
          found.map((broadcast) => broadcastRow(broadcast, { names: names(), now, act: { ...act, withdraw } })))
          : h("p", { class: "nothing" }, t("broadcasts.now.nothing")));
    };
    fill(groups, group("now", ["active"], by(({ starts }) => starts)),
      group("scheduled", ["scheduled"], by(({ starts }) => -starts)),
      group("ended", ["expired", "withdrawn"], by((broadcast) => broadcast.withdrawn ?? broadcast.expires)),
      older ? h("div", { class: "more-line" },
        h("button", { class: "button", type: "button", dataset: { act: "older" }, onclick: readOlder },
          t("broadcasts.older"))) : null);
    if (focusedID) {
      (rowOf(focusedID)?.querySelector(`[data-act="${focusedAct}"]`) ??
        rowOf(focusedID))?.focus({ preventScroll: true });
    }
  }

  function focused() {
    const active = globalThis.document.activeElement;
    const row = groups.contains(active) ? active.closest("[data-id]") : null;
    return row ? [row.dataset.id, active.dataset.act ?? ""] : [];
  }

  const rowOf = (id) => groups.querySelector(`[data-id="${id}"]`);

  async function readOlder() {
    try {
      const page = await get(older);
      older = page.next ?? null;
      keepNew(page.items);
      show();
    } catch (error) {
      showProblem(error);
    }
  }

  async function withdraw(broadcast) {
    const withdrawn = await askAndWithdraw(broadcast);
    if (withdrawn) element.add(withdrawn);
  }

  element.add = (broadcast) => {
    items.set(broadcast.id, broadcast);
    tag = null;
    show();
    const row = rowOf(broadcast.id);
    row?.classList.add("changed");
    row?.scrollIntoView({ block: "nearest" });
    row?.focus({ preventScroll: true });
  };

  function showProblem(error) {
    groups.setAttribute("aria-busy", "false");
    print = "";
    fill(groups, h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, error.status === 503 ? t("broadcasts.away") : explain(error)),
      h("button", { class: "button small", type: "button",
          onclick: () => { fill(groups, skeleton()); element.read(); } }, t("retry"))));
  }

  const whenVisible = () => { if (globalThis.document.visibilityState === "visible") element.read(); };
  document.addEventListener("visibilitychange", whenVisible);
  let isFirstStream = true;
  const endReset = listen("reset", () => { if (!isFirstStream) element.read(); isFirstStream = false; });
  element.end = () => {
    hasEnded = true;
    clearTimeout(timer);
    endReset();
    document.removeEventListener("visibilitychange", whenVisible);
  };
  element.show = show;
  return element;
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" },
    [1, 2, 3].map(() => h("div", { class: "bone" }, h("span", { class: "skeleton" }),
        h("span", { class: "skeleton" }))));
}
