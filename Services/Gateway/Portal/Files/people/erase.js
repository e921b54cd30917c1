import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasText, t, tn } from "../lib/text.js";
import { showDialog, showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { toast } from "../elements/toast.js";
import { consequences, explainChange, pathOf } from "./actions.js";

/** Erases a student, after a question that says what that means, and shows what the services have done. */
export async function eraseAccount({ account: name }, { removed }) {
  const typed = field({ label: tn("people.erase.type", { name: h("bdi", null, name) }),
      attributes: { dir: "ltr", spellcheck: false, autocapitalize: "none" } });
  const report = await showForm({
    heading: t("people.erase.heading", { name }), isDanger: true, action: t("people.erase.action"),
    fields: [consequences(["devices", "data", "stays", "name"].map((part) => t(`people.erase.${part}`))), typed],
    submit: async () => {
      if (typed.value.trim().toLowerCase() !== name.toLowerCase()) throw refusal(typed, t("people.erase.wrongName"));
      try {
        return await post(`${pathOf(name)}/erasure`);
      } catch (error) {
        if (error.kind === "not-found") return {};
        throw error.status === 409 ? new Error(explainChange(error)) : error;
      }
    },
  });
  if (!report) return;
  removed(name);
  if (report.services) await showReport(name, report);
  else toast(t("people.erase.gone", { name }));
}

const word = (kind, name) => (hasText(`people.${kind}.${name}`) ? t(`people.${kind}.${name}`) : name);

/** What the services have removed, and what stays. Their sentences are English. */
function showReport(name, { services, waiting }) {
  const part = ({ service, removed, stays }) => h("li", null, h("h3", null, word("service", service)),
    h("ul", { class: "consequences" },
      removed.filter(({ count }) => count > 0)
        .map(({ what, count }) => h("li", null, t("people.erased.removed", { what: word("erased", what), count }))),
      stays.map((text) => h("li", null, t("people.erased.stays"), " ", h("bdi", { lang: "en" }, text)))));
  return showDialog((close) => h("div", { class: "stack" },
    h("h2", null, t(waiting.length ? "people.erased.waiting" : "people.erased.heading", { name })),
    waiting.length ? h("p", { class: "notice" }, icon("clock"),
        h("span", null, t("people.erased.waiting.text",
          { services: waiting.map((each) => word("service", each)).join(", ") }))) : null,
    h("ul", { class: "plain stack" }, services.map(part)),
    h("div", { class: "actions" },
      h("button", { class: "button main", type: "button", onclick: () => close(true) }, t("close")))));
}
