import { explain, post, remove } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fetchOf, isRestored, stateOf } from "../lib/message-state.js";
import { maySendTo, session } from "../lib/session.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { confirmAction } from "./dialogs.js";
import { toast } from "./toast.js";

const path = (message) => `/message/${message.msi_key}`;

const actions = {
  recall: { icon: "undo", run: (message) => remove(path(message)) },
  approve: {
    icon: "check", run: (message) => post(`${path(message)}/approve`),
    question: (message) => ({ heading: t("message.approve.heading"), content: [t(message.send_at ? "message.approve.later" : "message.approve.text", { title: message.title, sender: message.sender, time: message.send_at ? formatMoment(message.send_at) : "" })], action: t("message.approve") }),
  },
  retry: { icon: "retry", run: (message) => post(`${path(message)}/retry`) },
};

/** Which of "recall", "approve" and "retry" somebody can do with a message now. */
export function possibleActions(message, now = hubNow()) {
  const isMine = message.sender === session.account;
  if (!maySendTo(message.topic_key) && !isMine) return [];
  const state = stateOf(message, now);
  const isUntouched = !message.relay.components?.some((component) => component.state === "accepted");
  return [
    state === "held" && !isMine && !isRestored(message) ? "approve" : null,
    state === "held" || state === "scheduled" || (isUntouched && (state === "retrying" || (state === "pending" && fetchOf(message, now)))) ? "recall" : null,
    state === "failed" && message.expires > now && maySendTo(message.topic_key) ? "retry" : null,
  ].filter(Boolean);
}

export const iconOf = (action) => actions[action].icon;

/** Its word on a button. Somebody who could approve a message rejects it instead. */
export const labelOf = (action, message) => t(action === "recall" && message.sender !== session.account && stateOf(message) === "held" && !isRestored(message) ? "message.reject" : `message.${action}`);

/** Does it, says what happened, and returns the message as it is then; `null` if nothing was done. */
export async function perform(action, message) {
  const { run, question } = actions[action];
  if (question && !(await confirmAction(question(message)))) return null;
  try {
    const changed = await run(message);
    toast(t(`message.${action}.done`));
    return changed;
  } catch (error) {
    toast(error.status === 409 ? t(`message.${action}.late`) : explain(error));
    return null;
  }
}
