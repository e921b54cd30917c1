import { explain, put } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { readSession, session } from "../lib/session.js";
import { t } from "../lib/text.js";
import { field } from "../elements/field.js";
import { toast } from "../elements/toast.js";

/** The form for one's own display name. `changed` is called once the session has it. */
export function nameForm(changed) {
  const name = field({ label: t("account.name"), hint: t("account.name.hint"), value: session.display_name, max: 100,
      attributes: { autocomplete: "name" } });
  const button = h("button", { class: "button", type: "submit" }, t("account.name.action"));
  return h("form", { class: "stack", noValidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    if (name.isTooLong()) return wrong(name, t("field.tooLong", { max: 100 }));
    button.disabled = true;
    try {
      await put(`/account/${encodeURIComponent(session.account)}/display-name`, { display_name: name.value.trim() });
      await readSession();
      name.value = session.display_name ?? "";
      changed();
      toast(t("account.name.done"));
    } catch (error) {
      wrong(name, error.field === "display_name" ? t("account.name.wrong") : explain(error));
    } finally {
      button.disabled = false;
    }
  } }, name, h("div", { class: "actions" }, button));
}

function wrong(element, text) {
  element.error(text);
  element.control.focus();
}
