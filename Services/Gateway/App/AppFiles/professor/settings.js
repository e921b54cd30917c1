// What a class says about itself, how long it keeps names, and whether anybody joins it.

import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { form } from "../people/parts.js";
import { classFields } from "./class-fields.js";
import { ask, classPath } from "./hub.js";
import { classOf, readChanged } from "./my-classes.js";
import { askAndDo, doIt } from "./parts.js";
import { reasonOf } from "./reasons.js";

/** The part of a class with its settings. */
export function settingsPart({ id, ...group }) {
  const { fields, value } = classFields(group);
  const close = h("button", { class: "button danger", type: "button", onclick: () => set(true) },
    t("prof.class.close"));
  const open = h("button", { class: "button", type: "button", onclick: () => set(false) }, t("prof.class.open"));
  const state = h("p", { class: "secondary" });
  /** What the person has set, until the page knows it. */
  let expected = null;
  const edited = form({ fields, action: t("prof.class.save"), reason: reasonOf, onsubmit: async () => {
    await ask("PUT", classPath(id), value());
    await readChanged();
    toast(t("prof.class.saved"));
  } });

  async function set(closed) {
    const work = async () => {
      await ask("PUT", classPath(id), { closed });
      expected = closed;
      await readChanged();
    };
    if (!closed) return doIt(work, t("prof.class.opened"));
    return askAndDo({ heading: t("prof.class.close.question", { name: classOf(id)?.name ?? "" }),
      text: t("prof.class.close.text"), action: t("prof.class.close"), work, done: t("prof.class.isClosed") });
  }

  function update() {
    const isClosed = Boolean(classOf(id)?.closed);
    state.textContent = t(isClosed ? "prof.class.open.text" : "prof.class.close.text");
    close.hidden = isClosed;
    open.hidden = !isClosed;
    if (expected !== isClosed) return;
    expected = null;
    // The button that was pressed is gone.
    (isClosed ? open : close).focus();
  }

  update();
  return Object.assign(h("div", { class: "stack" },
    h("section", { class: "panel stack" }, h("h2", null, t("prof.class.about")), edited),
    h("section", { class: "panel stack" }, h("h2", null, t("prof.class.joining")), state,
      h("div", { class: "actions" }, close, open))), { update });
}
