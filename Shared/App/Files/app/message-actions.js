import { h } from "../lib/dom.js";
import { download, send } from "../lib/requests.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast, toastRegion } from "../elements/toast.js";
import { mute } from "./mute.js";

/**
 * What can be done with messages. `removed(key)` is called after one was deleted, `reveal(key, isRead)` to show one.
 * `undo()` takes back what the last toast offers to take back, while it is there.
 */
export function messageActions({ removed, reveal }) {
  let offer = { keys: [] };

  /** Says what was done, and offers to take it back. */
  function offerUndo(keys, text, run) {
    const undo = () => { offer = { keys: [] }; run(keys); };
    const dismiss = toast(text, { action: { label: t("undo"), run: undo } });
    offer = { keys, dismiss, undo, element: toastRegion().lastElementChild };
  }

  async function remove(message) {
    if (!(await send("DELETE", `/messages/${message.msi_key}`))) return;
    removed(message.msi_key);
    // Several deletions one after another are taken back together.
    const earlier = offer.isDeletion && offer.element.isConnected ? offer.keys : [];
    if (earlier.length) offer.dismiss();
    const keys = [...earlier, message.msi_key];
    offerUndo(keys, keys.length > 1 ? t("delete.done.many", { count: keys.length }) : t("delete.done",
        { title: message.title }), restore);
    offer.isDeletion = true;
  }

  /** A swipe may be an accident, so a question comes first. */
  async function askToRemove(message) {
    const isMeant = await showDialog({ heading: t("delete.question", { title: message.title }), role: "alertdialog",
      make: (close) => [h("p", { class: "secondary" }, t("delete.question.text")), dialogButtons(close,
        h("button", { class: "button main", type: "button", onclick: () => close(true) }, t("message.delete")))] });
    if (isMeant) await remove(message);
  }

  async function restore(keys) {
    const restored = await Promise.all(keys.map((key) => send("POST", `/messages/${key}/restore`)));
    const last = keys.at(-1);
    // An undo does not mark the message as read.
    if (restored.at(-1)) reveal(last, false);
  }

  async function markAllRead(messages) {
    const keys = messages.filter(({ read }) => !read).map((message) => message.msi_key);
    if (!(await send("POST", "/messages/read", { keys, read: true }))) return;
    offerUndo(keys, t("messages.allRead", { count: keys.length }),
      () => send("POST", "/messages/read", { keys, read: false }));
  }

  return {
    add: async (message, date) => (await import("./calendar.js")).addToCalendar(message, date),
    mute, remove, askToRemove, markAllRead, reveal,
    keep: async (message) => {
      if (await send("PATCH", `/messages/${message.msi_key}`, { kept: !message.kept })) {
        toast(t(message.kept ? "message.keep.ended" : "message.kept"), { seconds: 3 });
      }
    },
    exportOne: (message) => download(`/export?format=text&key=${message.msi_key}`, t("message.exported")),
    read: (message) => { if (!message.read) send("PATCH", `/messages/${message.msi_key}`,
        { read: true }, { isQuiet: true }); },
    undo: () => {
      if (!offer.element?.isConnected) return;
      offer.dismiss();
      offer.undo();
    },
  };
}
