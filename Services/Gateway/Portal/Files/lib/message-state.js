import { hubNow } from "./clock.js";
import { nameOf } from "./people.js";
import { hasText, t } from "./text.js";
import { formatMoment } from "./time.js";

/** The states that no longer change. */
export const finalStates = ["relayed", "failed", "expired", "recalled"];

const tones = { relayed: "good", failed: "bad", expired: "bad", recalled: "", held: "busy", pending: "busy",
  retrying: "busy", scheduled: "" };

/** When the first part of a message is due. FCM's parts and the push to browsers each have their own time. */
export const nextOf = ({ next_attempt: next, webpush_attempt: browsers }) =>
  Math.min(next, browsers ?? next) || undefined;

/** The ways of a message: "google", also beside that to browsers, "browsers", or "fetch" if apps only ask for it. */
function wayOf({ relay }) {
  const components = relay?.components ?? [];
  if (components.some(({ component }) => component !== "webpush")) return "google";
  return components.length ? "browsers" : "fetch";
}

/** A text about the way of a message: `KEY.browsers`, `KEY.fetch` or `KEY.plain`, and `KEY` for what goes by FCM. */
export function wayText(key, message, values) {
  const way = wayOf(message);
  const keys = way === "google" ? [] : [`${key}.${way}`, `${key}.plain`];
  return t(keys.find(hasText) ?? key, values);
}

/** The state of a message for people: "scheduled" is a pending message that goes out later. */
export function stateOf(message, now = hubNow()) {
  const { state, attempts } = message.relay ?? message;
  const next = nextOf(message.relay ?? message);
  return state === "pending" && !attempts && next > now + 1_000 && !message.relay?.lease ? "scheduled" : state;
}

/** Whether a held message comes from a backup: the operator releases it, and no approval does. */
export const isRestored = (message) =>
  stateOf(message) === "held" && message.relay?.trace?.findLast(({ action }) => action === "restore" ||
    action === "release")?.action === "restore";

/** When a message was last edited, `undefined` if it never was. */
export const editedAt = ({ relay }) => relay.trace?.findLast(({ action }) => action === "edit")?.at;

/** Who has rejected a message that needed an approval, when and why: an entry of its trace, or `undefined`. */
export function rejectionOf({ approval, sender, relay }) {
  const trace = relay?.trace ?? [];
  const isApproved = trace.findLast(({ action }) => action === "approve" || action === "edit")?.action === "approve";
  if (relay?.state !== "recalled" || !approval || isApproved) return undefined;
  return trace.findLast(({ action, by }) => action === "recall" && by !== sender);
}

/** Whether FCM has accepted a component. */
export const isAtFCM = ({ relay }) => (relay?.components ?? []).some(({ component, state }) =>
  component !== "webpush" && state === "accepted");

/**
 * Whether phones may have it: FCM has accepted a component, or the Web Push service has and there are browsers. Without
 * FCM running apps then fetch it, whether there are browsers or not.
 */
export const isOut = (message) => isAtFCM(message) || (message.relay?.components ?? []).some(
  ({ component, state, name }) => component === "webpush" && state === "accepted"
    && (name !== "0" || wayOf(message) === "browsers"));

/** For how many milliseconds an Alert is left to FCM, or without it to Web Push (MSI_ALERT_FETCH_DELAY), by default. */
const fetchDelay = 5_000;

/** When a message became due, or due again by a person. */
const dueOf = ({ timestamp, send_at: sendAt, delay, relay }) =>
  Math.max(sendAt ?? timestamp + (delay ?? 0) * 1_000, ...(relay.trace ?? []).map(({ at }) => at));

/**
 * How phones get an Alert that FCM, or without it the Web Push service, is not known to have accepted: "fetched" if
 * phones have reported it, "fetchable" while running apps can fetch it, also while the first attempt still waits, else
 * null.
 */
export function fetchOf(message, now = hubNow()) {
  const { relay, distribution, receipts } = message;
  const components = relay?.components ?? [];
  if (distribution !== "Alert" || isAtFCM(message)) return null;
  if (receipts?.received) return isOut(message) ? null : "fetched";
  const data = ["data", "webpush"].map((name) => components.find(({ component }) => component === name)).find(Boolean);
  if (data?.state !== "pending" || !["pending", "retrying"].includes(stateOf(message, now))) return null;
  return data.error || now - dueOf(message) > fetchDelay ? "fetchable" : null;
}

/**
 * `{state, word, tone, detail, code}`: the word for the tag, its tone, a line of detail or "", and the code of the
 * error or "".
 */
export function describeState(message, now = hubNow()) {
  const state = stateOf(message, now);
  const relay = message.relay ?? {};
  const next = nextOf(relay);
  const error = relay.components?.find((component) => component.error)?.error;
  const code = error?.code ?? "";
  const rejection = rejectionOf(message);
  // The reason has its own direction.
  if (rejection) {
    return { state, word: t("state.rejected"), tone: "",
      detail: t(rejection.reason ? "state.rejected.why" : "state.rejected.by",
        { account: nameOf(rejection.by), reason: `\u2068${rejection.reason}\u2069` }), code };
  }
  const word = state === "scheduled" ? t("state.scheduled", { time: formatMoment(next) }) : t(isRestored(message)
    ? "state.restored" : `state.${state}`);
  let detail = "";
  if (state === "scheduled" && next - now < 60_000) {
    return { state, word: t("state.pending"), tone: "busy",
      detail: t("state.undo", { count: Math.ceil((next - now) / 1_000) }), code };
  }
  if (state === "failed") detail = t(isOut(message) ? "state.failed.part" : "state.failed.none");
  if (state === "retrying")
    detail = code === "FAN_OUT" ? t("state.popUps") : next ? t("state.next", { time: formatMoment(next) }) : "";
  if (state === "pending" && error) detail = t(code === "CIRCUIT_OPEN" ? "state.googleAway" : "state.wayInterrupted");
  const fetch = fetchOf(message, now);
  if (fetch) detail = [detail, wayText(`state.${fetch}`, message)].filter(Boolean).join(" · ");
  return { state, word, tone: tones[state], detail, code };
}
