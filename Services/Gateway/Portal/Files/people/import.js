import { explain, post } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { showDialog } from "../elements/dialogs.js";
import { field } from "../elements/field.js";
import { ListError, rowsOf } from "./list.js";

/** The most rows and bytes of a request, and how long one may take in milliseconds. */
const [batchSize, maxBytes, timeout] = [100, 60_000, 60_000];
/** So many requests of the account's minute are left to other pages. */
const reserve = 60;
/** The most refused rows that are listed. */
const mostListed = 200;
const kinds = ["added", "changed", "unchanged", "refused"];

/** How long to wait after an answer, in seconds. */
function pauseAfter(headers) {
  const [, remaining, seconds] = /r=(\d+);t=(\d+)/.exec(headers.get("RateLimit") ?? "") ?? [];
  return Number(remaining) < reserve ? Math.max(1, Number(seconds)) : 0;
}

const wait = (seconds, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, seconds * 1_000);
  signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});

/** The rows of the next request. */
function batchOf(rows, done) {
  let batch = rows.slice(done, done + batchSize);
  while (batch.length > 1 && new TextEncoder().encode(JSON.stringify(batch)).length > maxBytes) {
    batch = batch.slice(0, batch.length / 2);
  }
  return batch;
}

/**
 * Sends the rows that are not done, in batches. Rejects if one fails, or `signal` stops it: what was done is in
 * `outcome`, and an import can be repeated.
 */
async function send(rows, outcome, { isDry, signal, progress }) {
  while (outcome.done < rows.length) {
    let pause;
    try {
      const batch = batchOf(rows, outcome.done);
      const { document, headers } = await post("/account/import", { rows: batch, dry_run: isDry },
        { signal, timeout, whole: true });
      for (const each of document.outcomes) {
        outcome.counts[each.outcome] += 1;
        if (each.outcome === "refused" && outcome.refused.length < mostListed) outcome.refused.push(each);
      }
      outcome.done += batch.length;
      progress();
      pause = pauseAfter(headers);
    } catch (error) {
      if (error.status !== 429) throw error;
      pause = error.retryAfter ?? 2;
    }
    if (pause) await wait(pause, signal);
    signal.throwIfAborted();
  }
}

const nothing = () => ({ done: 0, refused: [], counts: Object.fromEntries(kinds.map((kind) => [kind, 0])) });

/**
 * Imports a list of students, after a look at what would come of it. Returns whether accounts may have been added or
 * changed. Closing the dialog stops it.
 */
export async function importStudents(hasProvider) {
  let hasBegun = false;
  let running = null;
  await showDialog((close) => {
    const heading = h("h2", { tabIndex: -1 });
    const [content, actions] = ["stack", "actions"].map((name) => h("div", { class: name }));
    const button = (label, onclick, kind = "") => h("button", { class: `button ${kind}`, type: "button", onclick },
      label);
    const show = (title, parts, buttons) => {
      fill(heading, title);
      fill(content, parts);
      fill(actions, buttons);
    };

    function choose() {
      const file = field({ label: t("people.import.file"), hint: t("people.import.file.hint"),
          control: h("input", { type: "file", accept: ".csv,text/csv", autofocus: true }) });
      file.control.addEventListener("change", async () => {
        const [chosen] = file.control.files;
        if (!chosen) return;
        try {
          work(await rowsOf(chosen), nothing(), true);
        } catch (error) {
          file.error(error instanceof ListError ? t(error.key, error.values) : explain(error));
        }
      });
      show(t("people.import.heading"), [h("p", { class: "secondary" }, t("people.import.intro")), file],
        button(t("cancel"), () => close()));
    }

    async function work(rows, outcome, isDry) {
      const bar = h("progress", { max: rows.length, value: outcome.done, "aria-label": t("people.import.progress") });
      const count = h("p", { class: "hint" });
      const progress = () => {
        bar.value = outcome.done;
        count.textContent = t("people.import.count", { done: outcome.done, all: rows.length });
      };
      const controller = new AbortController();
      running = controller;
      hasBegun ||= !isDry;
      progress();
      show(t(isDry ? "people.import.looking" : "people.import.importing"), [bar, count],
        button(t("people.import.stop"), () => controller.abort()));
      actions.firstChild.focus();
      let problem = null;
      try {
        await send(rows, outcome, { isDry, signal: controller.signal, progress });
      } catch (error) {
        problem = error;
      }
      if (heading.isConnected) report(rows, outcome, isDry, problem, controller.signal.aborted);
    }

    function report(rows, outcome, isDry, problem, isStopped) {
      const { counts, refused, done } = outcome;
      const form = isDry ? ".dry" : "";
      const [first, last] = [done + 1, done + batchOf(rows, done).length];
      const failed = problem && !isStopped ? h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, t("people.import.failed", { first, last, problem: explain(problem) }))) : null;
      const parts = [
        failed, isStopped ? h("p", null, t("people.import.stopped", { done, all: rows.length })) : null,
        h("ul", { class: "consequences" }, kinds.filter((kind) => counts[kind])
          .map((kind) => h("li", null, t(`people.import.${kind}${form}`, { count: counts[kind] })))),
        refused.length ? refusedRows(refused, counts.refused) : null,
      ];
      const wanted = counts.added + counts.changed;
      const buttons = problem
        ? [button(t("close"), () => close()),
          button(t("people.import.continue"), () => work(rows, outcome, isDry), "main")]
        : isDry && wanted
          ? [button(t("cancel"), () => close()),
            button(t("people.import.action", { count: wanted }), () => work(rows, nothing(), false), "main")]
          : button(t("close"), () => close(), "main");
      show(t(problem ? "people.import.unfinished" : `people.import.report${form}`), parts, buttons);
      heading.focus();
    }

    if (hasProvider) choose();
    else show(t("people.import.heading"), h("p", null, t("people.import.noProvider")),
      button(t("close"), () => close(), "main"));
    return h("div", { class: "stack import" }, heading, content, actions);
  });
  running?.abort();
  return hasBegun;
}

/** The rows that the hub refused, with its reasons, which are English. */
const refusedRows = (refused, count) => h("details", null,
  h("summary", null, t("people.import.refused.why")),
  h("ul", { class: "consequences" }, refused.map(({ account, reason }) =>
    h("li", null, h("bdi", null, account), ": ", h("bdi", { lang: "en" }, reason ?? ""))),
  count > refused.length ? h("li", null, t("people.import.refused.more", { count: count - refused.length })) : null));
