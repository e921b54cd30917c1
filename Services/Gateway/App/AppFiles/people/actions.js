// What a person does about others, and what of it waits for the hub.

import { h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";
import { toast } from "../elements/toast.js";
import { named, pageHeading, refill } from "./parts.js";
import { reasonOf } from "./reasons.js";

/** What an action is about, in words: somebody or a class by its name, or what was written. */
const nameOf = (about) => (typeof about === "string" ? about : about.name ?? about.text ?? "");

/** Does something by `work`, and says what came of it: "done", "waits", or `null` if the hub refuses. */
async function tell(work, done) {
  try {
    const outcome = await work();
    toast(outcome === "done" ? done : t("people.waits"));
    return outcome;
  } catch (error) {
    toast(reasonOf(error));
    return null;
  }
}

/** The person does something: see the actions of the core's people.js. */
export const act = (action, about) => tell(async () => (await app.people()).act(action, about),
  named(`done.${action}`, { name: nameOf(about) }));

/** Does something that is not easily taken back, after a question. */
export async function actAfterQuestion(action, about) {
  const name = nameOf(about);
  const make = (close) => [h("p", { class: "secondary" }, t(`question.${action}.text`)),
    dialogButtons(close, h("button", { class: "button danger", type: "button", onclick: () => close(true) },
      t(`do.${action}`)))];
  const isWanted = await showDialog({ heading: named(`question.${action}`, { name }), role: "alertdialog", make });
  return isWanted ? act(action, about) : null;
}

/** A button that does something. A reader hears about whom. */
export const actionButton = (action, name, kind = "") => h("button", { class: `pill ${kind}`, type: "button",
  onclick: () => act(action, name) }, t(`do.${action}`), h("span", { class: "unseen" }, `: ${name}`));

/**
 * What the person has done and the hub has not answered, or has refused later. `update()` shows the state. `waits()`
 * are the actions, and `of()` resolves to what sends them; without both, those about people.
 */
export function waitingList({ waits = () => state.people.waits, of = () => app.people() } = {}) {
  const list = h("ul", { class: "plain group" });
  const why = h("p", { class: "secondary" }, t("waiting.text"));
  const element = h("section", { class: "waiting", hidden: true }, h("h2", { class: "day" }, t("waiting.heading")),
    why, list);
  let print = "";

  const row = ({ key, action, about, error, refusal }) => {
    const text = t(`waiting.${action}`, { name: nameOf(about) });
    const done = () => named(`done.${action}`, { name: nameOf(about) });
    const button = (label, kind, onclick) => h("button", { class: `pill ${kind}`, type: "button", onclick }, t(label),
      h("span", { class: "unseen" }, `: ${text}`));
    const reason = refusal && h("span", { class: "hint" }, reasonOf({ kind: "refused", message: error, ...refusal }));
    return h("li", { class: "row" }, h("span", { class: "row-text" },
      h("span", null, named(`waiting.${action}`, { name: nameOf(about) })), reason),
      button("people.again", "", () => tell(async () => {
        const found = await (await of()).again(key);
        return found.outcome ?? found;
      }, done())),
      button("waiting.discard", "danger", async () => { await (await of()).discard(key); }));
  };

  return Object.assign(element, { update: () => {
    const failed = waits().filter(({ error }) => error !== null);
    if (print === (print = JSON.stringify(failed.map(({ key, refusal }) => [key, refusal])))) return;
    refill(list, () => pageHeading(list), failed.map(row));
    why.hidden = failed.every(({ refusal }) => refusal);
    element.hidden = !failed.length;
  } });
}
