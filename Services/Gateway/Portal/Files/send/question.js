import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { reachWords } from "../lib/reach.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { confirmAction } from "../elements/dialogs.js";
import { currentHealth, meaningOf, waysOf } from "../elements/health-pill.js";
import { distributionTag, levelTag, pathOf } from "../elements/tags.js";
import { cardOf, popupOf } from "./phone-preview.js";

/**
 * Whether the page asks before it sends a draft to a subject: Alerts, drills, and what reaches very many. A correction
 * of an Alert goes to those who have the wrong text already.
 */
export function mustAsk(subject, draft, reach) {
  if (isKept(subject, draft)) return false;
  const { distribution, level } = subject.subject.opt;
  return (distribution === "Alert" && !draft.isCorrection) || draft.drill || level === "Forced" ||
    reach?.phones > reach?.ask_above;
}

/**
 * Whether it waits for an approval. An edited message that needs one needs it again, whatever has become of its
 * subject.
 */
export const needsApproval = (subject, draft) => draft.edit?.message.approval || subject?.subject.approval;

/** An edited message that still waits afterwards, for its time or for an approval. */
const isKept = (subject, draft) => draft.edit && (draft.at || needsApproval(subject, draft));

/** What the button that sends does, in words. */
export function actionOf(subject, draft) {
  if (isKept(subject, draft)) return t("message.edit.save");
  const isAlert = subject?.subject.opt.distribution === "Alert";
  if (subject?.subject.approval) return t("send.action.approval");
  if (draft.at) return t(isAlert ? "send.action.scheduleAlert" : "send.action.schedule");
  return t(draft.isCorrection ? "send.action.correction" : isAlert ? "send.action.alert" : "send.action");
}

/**
 * Asks whether a message may go out, and shows what phones will show. Returns whether it may. `message` is that of the
 * preview, and `undo` the number of seconds in which it can be taken back.
 */
export function askBeforeSending({ subject, draft, message, reach, undo }) {
  const { opt, approval } = subject.subject;
  const isAlert = opt.distribution === "Alert";
  const isUrgent = draft.template?.urgent;
  const health = meaningOf(currentHealth());
  const thing = draft.drill ? "drill" : draft.isCorrection ? "correction" : isAlert ? "alert" : "message";
  return confirmAction({
    heading: t(`send.confirm.${approval ? "approval" : draft.at ? "later" : "now"}.${thing}`),
    content: [
      h("p", { class: "confirm-path" }, pathOf(subject.path), " ",
        h("span", { class: "tags" }, distributionTag(opt.distribution), levelTag(opt.level))),
      isAlert ? popupOf(message) : cardOf(message),
      h("p", null, t(isAlert ? `send.confirm.level.${opt.level || "Chosen"}` : "send.confirm.silent")),
      reach ? h("p", reach.phones ? { class: "confirm-reach" } : null, reach.phones ? icon("phone", "small") : null,
        reachWords(reach)) : null,
      h("p", null, whenWords()),
      isUrgent ? h("p", { class: "notice" }, icon("alert"), h("span", null, secondWay())) : null,
      // The sender must know that the Alert will wait.
      isAlert && health.tone === "warn" && health.waits ? h("p", { class: "notice alert" }, icon("alert"),
        h("span", null, t("send.confirm.outage", { what: health.text }))) : null,
    ],
    action: actionOf(subject, draft), isCautious: true,
  });

  function secondWay() {
    const ways = waysOf(currentHealth());
    return t(ways === "google" ? "send.confirm.secondWay" : `send.confirm.secondWay.${ways}`);
  }

  function whenWords() {
    const time = draft.at ? formatMoment(draft.time) : "";
    if (approval) return t(draft.at ? "send.confirm.approval.at" : "send.confirm.approval", { time });
    if (draft.at) return t("send.confirm.at", { time });
    return undo ? t("send.confirm.undo", { count: undo }) : t(isUrgent ? "send.confirm.urgent" : "send.confirm.atOnce");
  }
}
