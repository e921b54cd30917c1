import { explain, get, put, withQuery } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { editedAt } from "../lib/message-state.js";
import { t } from "../lib/text.js";
import { confirmAction } from "../elements/dialogs.js";
import { possibleActions } from "../elements/message-actions.js";
import { pathOf } from "../elements/tags.js";

/** Reads a message that is to be edited. Throws an error with words for people if it cannot be any more. */
export async function readEdited(key) {
  const message = await get(`/message/${key}`);
  if (!possibleActions(message).includes("edit")) throw new Error(t("message.edit.late"));
  return message;
}

/** Where the browser keeps what was typed. It belongs to the text with which the edit began. */
export const placeOf = (message) => `draft.edit.${message.msi_key}.${editedAt(message) ?? 0}`;

/** The form's options. Others of the message stay. */
const inForm = { image: undefined, link: undefined };

/** What is different in the form while it edits a stored message. */
export class Edit {
  constructor(message) {
    this.message = message;
    this.link = `/portal/message/?key=${message.msi_key}`;
  }

  /** What stands above the texts. The subject stays. */
  notice(needsApproval) {
    const { channel, area, subject } = this.message.names;
    return h("div", { class: "notice" }, icon("edit"),
      h("p", null, t("message.edit.notice"), " ", h("a", { href: this.link }, h("bdi", null, this.message.title)),
        h("br"), pathOf([channel, area, subject]),
      needsApproval ? [h("br"), h("span", { class: "secondary" }, t("send.edit.approval"))] : null));
  }

  /** Puts the new texts in place of the old ones. `body` is that of a post. */
  save({ options, ...texts }) {
    const all = Object.entries({ ...this.message.options, ...inForm, ...options })
      .filter(([, value]) => value !== undefined);
    return put(withQuery(`/message/${this.message.msi_key}`, { edited: editedAt(this.message) ?? 0 }),
      { ...texts, ...(all.length ? { options: Object.fromEntries(all) } : {}) });
  }

  /** Leaves the message as it is stored, and asks before it drops what was typed. */
  async discard(draft) {
    const question = { heading: t("send.discard.edit"), content: t("send.discard.edit.text"), action: t("send.discard"),
      isDanger: true };
    if (draft.isChanged && !(await confirmAction(question))) return;
    draft.forget();
    this.leave();
  }

  leave() { location.href = this.link; }

  /**
   * Shows in `place` why the hub has refused it: it is too late, or somebody else was faster. Returns whether it was
   * one of these.
   */
  isRefused(error, place, again) {
    if (error.status !== 409 || error.field === "distribution") return false;
    if (error.field !== "edited") {
      fill(place, h("div", { class: "notice bad" }, icon("info"), h("p", null, t("message.edit.late")),
          h("a", { class: "button small", href: this.link }, t("message.open"))));
      return true;
    }
    const saveMine = async () => {
      try {
        this.message = await readEdited(this.message.msi_key);
        again();
      } catch (failure) {
        fill(place, h("div", { class: "notice bad" }, icon("info"), h("p", null, explain(failure))));
      }
    };
    fill(place, h("div", { class: "notice" }, icon("info"),
        h("p", null, t("message.edit.faster"), " ", h("a", { href: this.link, target: "_blank", rel: "noopener" },
          t("message.edit.theirs"))),
      h("button", { class: "button small", type: "button", onclick: saveMine }, t("comparison.saveMine"))));
    return true;
  }
}
