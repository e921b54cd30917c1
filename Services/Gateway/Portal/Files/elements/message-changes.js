import { explain, get, newKey, post, put, remove, withQuery } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { h } from "../lib/dom.js";
import { bodyOf } from "../lib/message-body.js";
import { editedAt } from "../lib/message-state.js";
import { nameOf } from "../lib/people.js";
import { t } from "../lib/text.js";
import { formatInput, formatMoment, localOf, momentOf } from "../lib/time.js";
import { showForm } from "./dialogs.js";
import { field, refusal } from "./field.js";
import { timeField } from "./time-field.js";
import { pathOf } from "./tags.js";
import { toast } from "./toast.js";

const what = ({ title, names }) => [h("p", { dir: "auto" }, h("strong", null, title)),
  h("p", { class: "secondary" }, pathOf([names.channel, names.area, names.subject]))];

/** Asks for another time at which a message goes out. Returns the changed message, or `null`. */
export function move(message) {
  let { at, isSecond } = localOf(message.send_at);
  const time = () => momentOf(at, isSecond, message.send_at);
  const when = timeField({ label: t("message.move.when"), oninput: (...value) => { [at, isSecond] = value; tell(); } });
  const tell = () => when.hint(at
    ? t("message.move.tell", { time: formatMoment(time()), zone: Intl.DateTimeFormat().resolvedOptions().timeZone })
    : "");
  when.set(at, isSecond);
  when.control.min = formatInput(hubNow());
  when.control.setAttribute("autofocus", "");
  tell();
  return showForm({
    heading: t("message.move.heading"), fields: [...what(message), when], action: t("message.move"),
    submit: async () => {
      if (!(time() > hubNow())) throw refusal(when, t("message.move.past"));
      try {
        // Its text may have been edited since it was shown.
        const present = await get(`/message/${message.msi_key}`);
        return await put(withQuery(`/message/${message.msi_key}`, { edited: editedAt(present) ?? 0 }),
          { ...bodyOf(present), send_at: time() });
      } catch (error) {
        if (error.field === "send_at") throw refusal(when, explain(error));
        throw error.status === 409 && error.field !== "edited" ? new Error(t("message.move.late")) : error;
      }
    },
  });
}

const maxReason = 500;

/** Asks why a held message is not to go out, and rejects it. Returns the changed message, or `null`. */
export function reject(message) {
  const reason = field({ label: t("message.reject.reason"),
      hint: t("message.reject.hint", { sender: nameOf(message.sender) }), type: "textarea", max: maxReason,
      attributes: { autofocus: true } });
  return showForm({
    heading: t("message.reject.heading"), fields: [...what(message), reason], action: t("message.reject"),
    isDanger: true,
    submit: async () => {
      if (reason.isTooLong()) throw refusal(reason, t("field.tooLong", { max: maxReason }));
      const words = reason.value.trim();
      try {
        return await remove(`/message/${message.msi_key}`, words ? { body: { reason: words } } : {});
      } catch (error) {
        throw error.status === 409 ? new Error(t("message.reject.late")) : error;
      }
    },
  });
}

/** Sends a message that was taken back as it was, at its time. It is a new message. */
export async function postAgain(message) {
  const open = (key) => ({ label: t("message.open"), run: () => { location.href = `/portal/message/?key=${key}`; } });
  const isLate = () => message.send_at <= hubNow();
  const key = newKey();
  const again = async () => {
    try {
      if (isLate())
        toast(t("message.undo.late", { time: formatMoment(message.send_at) }), { action: open(message.msi_key) });
      else {
        const { msi_key: added } = await post("/message", bodyOf(message), { headers: { "Idempotency-Key": key } });
        toast(t(message.send_at ? "message.undo.planned" : "message.undo.held",
            { time: message.send_at ? formatMoment(message.send_at) : "" }), { action: open(added) });
      }
    } catch (error) {
      toast(t("message.undo.failed", { why: explain(error) }), { action: { label: t("retry"), run: again } });
    }
  };
  await again();
}
