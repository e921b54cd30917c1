import { explain, post, remove, withQuery } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { editedAt, fetchOf, isRestored, stateOf } from "../lib/message-state.js";
import { nameOf, personOf } from "../lib/people.js";
import { maySendTo, session } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { confirmAction } from "./dialogs.js";
import { pathOf } from "./tags.js";
import { toast } from "./toast.js";

const path = (message) => `/message/${message.msi_key}`;
const where = ({ names }) => h("p", null, pathOf([names.channel, names.area, names.subject]));
/** The number of browsers that a message was pushed to. */
const browsersOf = ({ relay }) => Number(relay.components?.find(({ component, state }) =>
  component === "webpush" && state === "accepted")?.name ?? 0);
/** The parts that only few visits need. */
const changes = () => import("./message-changes.js");

const actions = {
  approve: {
    icon: "check", label: "message.approve",
    // The hub refuses the approval of a text that the approver has not seen.
    run: (message) => post(withQuery(`${path(message)}/approve`, { edited: editedAt(message) })),
    question: (message) =>
      ({ heading: t("message.approve.heading"),
        content: [where(message),
          h("p", null, tn(message.send_at ? "message.approve.later" : "message.approve.text",
          { title: h("bdi", null, message.title), sender: h("bdi", null, personOf(message.sender)),
          time: message.send_at ? formatMoment(message.send_at) : "" }))], action: t("message.approve") }),
  },
  reject: { icon: "cross", label: "message.reject", run: async (message) => (await changes()).reject(message) },
  edit: { icon: "edit", label: "message.edit",
    run: ({ msi_key: key }) => { location.href = `/portal/send/?edit=${key}`; } },
  move: { icon: "clock", label: "message.move", run: async (message) => (await changes()).move(message) },
  recall: {
    icon: "undo", label: "message.recall", run: (message) => remove(path(message)),
    question: (message) => (isLater(message) ? {
      heading: tn("message.recall.heading", { title: h("bdi", null, message.title) }), action: t("message.recall"),
      content: [where(message), h("p", null, t("message.recall.planned", { time: formatMoment(message.send_at) })),
        maySendTo(message.topic_key) ? null : h("p", null, t("message.recall.final"))],
    } : browsersOf(message) ? {
      heading: tn("message.recall.heading", { title: h("bdi", null, message.title) }), action: t("message.recall"),
      content: [where(message), h("p", null, t("message.recall.browsers", { count: browsersOf(message) }))],
    } : null),
    undo: (message) => ((isLater(message) || isWaiting(message)) && maySendTo(message.topic_key) ? async () =>
      (await changes()).postAgain(message) : null),
  },
  retry: { icon: "retry", label: "message.retry", run: (message) => post(`${path(message)}/retry`) },
};

/** Whether a message waits for an approval. */
const isWaiting = (message, now) => stateOf(message, now) === "held" && !isRestored(message);

/** Whether a message has a time at which it goes out, and waits for it or for its approval. */
const isPlanned = (message, now) => Boolean(message.send_at) &&
  (stateOf(message, now) === "scheduled" || isWaiting(message, now));

/** Whether it is planned, and not only in the seconds in which sending can be undone. */
const isLater = (message) => isPlanned(message) && (isWaiting(message) || message.send_at - hubNow() > 60_000);

/** What somebody can do with a message now: names of `actions`, in the order of the buttons. */
export function possibleActions(message, now = hubNow()) {
  const isMine = message.sender === session.account;
  const maySend = maySendTo(message.topic_key);
  if (!maySend && !isMine) return [];
  const state = stateOf(message, now);
  // The app in browsers removes Alerts that were recalled. It does not learn of recalled Information.
  const isUntouched = !message.relay.components?.some(({ component, state: partState, name }) =>
    partState === "accepted" && (component !== "webpush" || (message.distribution !== "Alert" && name !== "0")));
  const isHeld = isWaiting(message, now);
  const mayChange = maySend && (isHeld ? isMine : isPlanned(message, now));
  // Who has edited it does not approve it.
  const isAuthor = isMine || message.relay.trace?.some(({ action, by }) => action === "edit" && by === session.account);
  return [
    isHeld && !isAuthor ? "approve" : null,
    mayChange ? "edit" : null,
    mayChange && message.send_at ? "move" : null,
    isHeld && !isMine ? "reject" : state === "held" || state === "scheduled" ||
      (isUntouched && (state === "retrying" || (state === "pending" && fetchOf(message, now)))) ? "recall" : null,
    state === "failed" && message.expires > now && maySend ? "retry" : null,
  ].filter(Boolean);
}

export const iconOf = (action) => actions[action].icon;

/** Its word on a button. An ellipsis says that a question follows. */
export const labelOf = (action, message) =>
  t(actions[action].label) + (actions[action].question?.(message) || ["reject", "edit", "move"].includes(action)
    ? "…" : "");

/** Does it, says what happened, and returns the message as it is then; `null` if nothing was done. */
export async function perform(action, message) {
  const { run, question, undo } = actions[action];
  const asked = question?.(message);
  if (asked && !(await confirmAction(asked))) return null;
  try {
    const takeBack = undo?.(message);
    const changed = await run(message);
    if (changed) {
      toast(t(`message.${action}.done`, { sender: nameOf(message.sender) }),
        takeBack ? { action: { label: t("undo"), run: takeBack } } : {});
    }
    return changed ?? null;
  } catch (error) {
    toast(error.status === 409 ? t(`message.${action}.late`) : explain(error));
    return null;
  }
}
