import { explain, get, put } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { formatExact, formatMoment, formatTime } from "../lib/time.js";
import { toast } from "../elements/toast.js";

const tones = { genuine: ["good", "check"], forged: ["bad", "cross"], unverifiable: ["", "info"] };
const pathOf = (id, part = "") => `/reports/${id}${part}`;
const name = (account) => h("bdi", { class: "named" }, account ?? t("reports.erased"));

/** How far the hub can say that the message was sent so. A later version may have further words. */
function verdictTag(verdict) {
  const [tone, sign] = tones[verdict] ?? tones.unverifiable;
  return h("span", { class: `tag ${tone}` }, icon(sign, "small"), t(`reports.verdict.${tones[verdict] ? verdict
    : "unverifiable"}`));
}

/**
 * A report: a line that opens what is known of it, without the message. That is read when somebody asks for it, since
 * the audit log keeps who has. `changed(report)` is called after something was done here.
 */
export function reportRow(first, { changed }) {
  let report = first;
  /** The report with its message, once it was read. */
  let known = null;
  const said = h("p", { class: "below wrong", role: "alert" });
  const line = h("summary");
  const inside = h("div", { class: "stack" });
  const element = h("li", null, h("details", { dataset: { report: report.id } }, line,
    h("div", { class: "details" }, inside, said)));

  function show() {
    const { at, reporter, account, verdict, closed } = report;
    const state = closed === undefined ? t("reports.open") : t("reports.closed", { time: formatMoment(closed) });
    fill(line, h("time", { dateTime: new Date(at).toISOString(), title: formatExact(at) }, formatTime(at)),
      icon("flag", "small"),
      h("span", { class: "what" }, h("span", null, tn("reports.line", { reporter: name(reporter),
        account: name(account) })), h("span", null, verdictTag(verdict))),
      h("span", { class: "hint address" }, state), icon("down", "small"));
    const hadFocus = inside.contains(document.activeElement);
    fill(inside, known ? message() : [h("p", { class: "secondary" }, t("reports.read.text")),
      h("div", { class: "actions" }, action("reports.read", read), closeAction(), changes())]);
    if (hadFocus) line.focus({ preventScroll: true });
  }

  const action = (key, onclick) => h("button", { class: "button small", type: "button", onclick }, t(key));
  const closeAction = () => (report.closed === undefined ? action("reports.close", close) : null);
  const changes = () => h("a", { class: "button small", href: `/portal/audit/?object=${report.id}` },
    icon("audit", "small"), t("reports.audit"));

  function message() {
    const { text, picture, reason, sent } = known;
    const fact = (key, value) => h("div", null, h("dt", null, t(key)), h("dd", null, value));
    const { account, reporter, verdict, closed, closed_by: by } = report;
    return [h("p", { class: "secondary" }, tn(`reports.verdict.${tones[verdict] ? verdict : "unverifiable"}.means`,
      { account: name(account), reporter: name(reporter) })),
    picture ? h("img", { class: "reported", src: pathOf(report.id, "/picture"), alt: t("reports.picture"),
      width: picture.width, height: picture.height }) : h("blockquote", { class: "reported", dir: "auto" }, text),
    h("dl", null, fact("reports.sent", sent === undefined ? t("reports.sent.unknown") : formatExact(sent)),
      fact("reports.reason", reason ? h("bdi", null, reason) : t("reports.reason.none")),
      closed === undefined ? null : fact("reports.closedBy", [name(by), ", ", formatExact(closed)])),
    h("div", { class: "actions" }, closeAction(), changes())];
  }

  /** Does something with the hub, and says what is wrong. */
  async function ask(work) {
    said.textContent = "";
    try {
      await work();
      changed(report);
      show();
    } catch (error) {
      said.textContent = explain(error);
    }
  }

  const read = () => ask(async () => {
    known = await get(pathOf(report.id));
    report = known.report;
  });

  const close = () => ask(async () => {
    const found = await put(pathOf(report.id, "/closed"));
    report = found ?? { ...report, closed: hubNow(), closed_by: session.account };
    toast(t("reports.close.done"));
  });

  show();
  return Object.assign(element, {
    /** Shows a later state. What was read stays. */
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(report)) return;
      report = next;
      show();
    },
  });
}
