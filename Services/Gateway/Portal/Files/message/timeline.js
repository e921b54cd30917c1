import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { fetchOf, isAtFCM, isOut, isRestored, nextOf, rejectionOf, stateOf, wayText } from "../lib/message-state.js";
import { personOf } from "../lib/people.js";
import { formatNumber, hasText, t, tn } from "../lib/text.js";
import { formatExact, formatMoment, formatTime } from "../lib/time.js";

const icons = { approve: "check", edit: "edit", reject: "cross", recall: "undo", retry: "retry", restore: "lock",
  release: "check" };

/** What trouble with a component means for people; the codes are FCM's and the hub's. */
const troubles = { PAYLOAD_TOO_LARGE: "tooLong", RELAY_UNREACHABLE: "interrupted", RELAY_NO_ANSWER: "interrupted",
  CIRCUIT_OPEN: "google", NETWORK: "google", TIMEOUT: "google", UNAVAILABLE: "google", FAN_OUT: "popUps" };

/** How many phones have reported a message. */
export function reach({ receipts }) {
  const figure = (count, name) => h("p", null, h("strong", null, formatNumber(count)), " ",
    h("span", { class: "secondary" }, t(name, { count })));
  return [figure(receipts?.received ?? 0, "timeline.received"), figure(receipts?.opened ?? 0, "timeline.opened"),
    h("p", { class: "hint" }, t("timeline.receipts"))];
}

/**
 * The way of a message from its sender to the phones, with what each component has met.
 * @param reached the element that has its `reach`
 */
export function timeline(message, reached) {
  const { relay } = message;
  const state = stateOf(message);
  const next = nextOf(relay);
  const steps = [step("check", "good", t("timeline.stored"), message.timestamp,
      h("p", { class: "hint" }, t("timeline.stored.detail")))];
  const rejection = rejectionOf(message);
  for (const entry of relay.trace ?? []) {
    const action = entry === rejection ? "reject" : entry.action;
    // A newer version of the services may have further ones.
    if (!icons[action]) continue;
    const reason = entry.reason ? h("p", { class: "reason", dir: "auto" }, entry.reason) : action === "reject"
      ? h("p", { class: "hint" }, t("timeline.noReason")) : null;
    steps.push(step(icons[action], "", t(`timeline.${action}`, { account: personOf(entry.by) }), entry.at, reason));
  }
  if (isRestored(message))
    steps.push(step("lock", "busy", t("state.restored"), null,
        h("p", { class: "hint" }, t("timeline.restored.detail", { time: formatMoment(message.expires) }))));
  else if (state === "held")
    steps.push(step("lock", "busy", t("timeline.held"), null,
        h("p", { class: "hint" }, t(message.send_at ? "timeline.held.later" : "timeline.held.detail",
          { time: formatMoment(message.expires), at: message.send_at ? formatMoment(message.send_at) : "" }))));
  if (state === "scheduled") steps.push(step("clock", "busy", t("timeline.scheduled"), next));
  const isOver = ["expired", "recalled", "failed"].includes(state);
  for (const component of relay.components ?? []) steps.push(componentStep(component, isOver));
  if (state === "retrying" && next) {
    steps.push(step("retry", "busy", t("timeline.next"), next,
        h("p", { class: "hint" }, t("timeline.attempts", { count: relay.attempts }))));
  }
  if (state === "expired") {
    steps.push(step("clock", "bad", t("timeline.expired"), relay.ended,
        h("p", { class: "hint" }, t("timeline.expired.detail"))));
  }
  if (state === "failed") steps.push(step("cross", "bad", t("timeline.failed"), relay.ended));
  // What was recalled while only browsers had it is taken away there.
  if (isOut(message) && (state !== "recalled" || isAtFCM(message))) {
    steps.push(step("phone", "good", t("timeline.relayed"), relay.ended, [h("p", { class: "hint" },
      t(isAtFCM(message) ? "timeline.relayed.detail" : "timeline.relayed.detail.browsers")), reached]));
  }
  const fetch = fetchOf(message);
  if (fetch === "fetchable") {
    steps.push(step("phone", "busy", t("state.fetchable"), null,
        h("p", { class: "hint" }, t("timeline.fetchable.detail"))));
  }
  if (fetch === "fetched") steps.push(step("phone", "good", wayText("state.fetched", message), null, reached));
  return h("section", { class: "panel", "aria-labelledby": "timeline" },
    h("h2", { class: "label", id: "timeline" }, t("timeline.heading")), h("ol", { class: "plain timeline" }, steps));
}

const step = (name, tone, text, at, more) =>
  h("li", { dataset: { tone } }, h("span", { class: "dot" }, icon(name, "small")),
    h("div", null, h("p", null, h("span", { class: "label" }, text),
        at ? h("time", { dateTime: new Date(at).toISOString(), title: formatExact(at) },
          Math.abs(at - Date.now()) < 43_200_000 ? formatTime(at) : formatMoment(at)) : null), more));

function componentStep({ component, state, name, error }, isOver) {
  const what = t(`timeline.component.${component}`);
  const isToBrowsers = component === "webpush";
  if (state === "accepted" && isToBrowsers) {
    // The Web Push service names the number of its subscriptions.
    return step("check", "good", t("timeline.accepted", { component: what }), null,
      h("p", { class: "hint" }, t("timeline.browsers", { count: Number(name) || 0 })));
  }
  if (state === "accepted") {
    return step("check", "good", t("timeline.accepted", { component: what }), null,
      h("details", null, h("summary", null, t("timeline.details")),
        h("p", { class: "hint" }, tn("timeline.name", { name: h("code", { dir: "ltr" }, name) }))));
  }
  if (!error) {
    return step(isOver ? "cross" : "clock", "", t(isOver ? "timeline.unsent" : "timeline.waiting", { component: what }),
      null);
  }
  const reason = `reason.${isToBrowsers ? "webpush." : ""}${error.code}`;
  const trouble = error.code === "SWITCHED_OFF" ? "switchedOff" : error.class !== "permanent"
    ? troubles[error.code] ?? "retryable" : troubles[error.code] ?? (isToBrowsers ? "notTaken" : "refused");
  return step(error.class === "permanent" ? "cross" : "clock", error.class === "permanent" ? "bad" : "busy",
    t(error.class === "permanent" ? "timeline.refused" : isOver ? "timeline.unsent" : "timeline.waiting",
        { component: what }), null, [
      h("p", { class: "secondary" }, t(`trouble.${trouble}`)),
      h("details", null, h("summary", null, t("timeline.details")), hasText(reason) ? h("p", null, t(reason)) : null,
        h("p", null, h("code", { dir: "ltr" }, error.code)), h("p", { class: "hint", dir: "auto" }, error.message)),
    ]);
}
