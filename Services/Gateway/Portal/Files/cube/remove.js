import { fill, h } from "../lib/dom.js";
import { explain, get, remove, withQuery } from "../lib/api.js";
import { t, tn } from "../lib/text.js";
import { showDialog } from "../elements/dialogs.js";
import { field } from "../elements/field.js";
import { pathOf } from "../elements/tags.js";
import { change } from "./change.js";
import { countSubjects, cube, namesOf, pathTo, refresh } from "./model.js";

// How many messages a thing has in the archive, and how many of them have not gone out.
async function countMessages(thing) {
  const filter = { [thing.kind]: thing.id };
  const waiting = ({ pending = 0, retrying = 0, held = 0 }) => pending + retrying + held;
  try {
    const { states } = await get(withQuery("/statistics", filter));
    return { count: Object.values(states).reduce((sum, count) => sum + count, 0), waiting: waiting(states),
      isMore: false };
  } catch (error) {
    if (error.status !== 404) throw error;
    const { messages, next } = await get(withQuery("/message", { ...filter, limit: 200 }));
    const states = {};
    for (const { relay } of messages) states[relay.state] = (states[relay.state] ?? 0) + 1;
    return { count: messages.length, waiting: waiting(states), isMore: Boolean(next) };
  }
}

const partsIn = (thing) => {
  const [areas, subjects] = [thing.parts.length, thing.kind === "subject" ? 0 : countSubjects(thing)];
  if (!areas) return null;
  return t("cube.delete.parts", {
    parts: thing.kind === "channel"
      ? t("cube.size", { areas: t("cube.areas", { count: areas }), subjects: t("cube.subjects", { count: subjects }) })
      : t("cube.subjects", { count: subjects }),
  });
};

// A name as somebody can type it: in one Unicode form, without invisible characters, spaces as they look.
const typeable = (name) => name.normalize("NFC").replace(/\p{Default_Ignorable_Code_Point}/gu, "").replace(/\s+/g, " ")
  .trim();

/** Asks whether a thing is to be deleted, says what that means, and deletes it. Returns "deleted", "gone" or `null`. */
export function removeThing(asked) {
  return showDialog((close) => {
    let thing = asked;
    let tag = cube.tag;
    let name = null;
    const heading = h("h2");
    const facts = h("ul", { class: "plain facts" });
    const typing = h("div");
    const problem = h("p", { class: "below wrong", role: "alert" });
    const cancel = h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel"));
    const button = h("button", { class: "button danger", type: "submit", disabled: true }, t("cube.delete.action"));

    async function tell() {
      const messages = h("span", { role: "status" }, t("cube.delete.counting"));
      const inside = partsIn(thing);
      const phones = h("span", null, t("cube.delete.phones"));
      const bdi = h("bdi", null, thing.data.name);
      fill(heading, tn("cube.delete.heading", { name: bdi }));
      fill(facts, inside ? h("li", { class: "strong" }, inside) : null, h("li", null, messages), h("li", null, phones),
        h("li", null, t("cube.delete.final")));
      name = thing.kind !== "subject" && countSubjects(thing)
        ? field({ label: tn("cube.delete.type", { name: bdi.cloneNode(true) }) }) : null;
      fill(typing, name);
      typing.hidden = !name;
      button.disabled = true;
      try {
        const { count, waiting, isMore } = await countMessages(thing);
        messages.textContent = t(isMore ? "cube.delete.manyMessages" : count
          ? "cube.delete.messages" : "cube.delete.noMessages", { count });
        if (waiting) {
          fill(phones, h("span", { class: "strong" }, t("cube.delete.waiting", { count: waiting })), " ",
            t("cube.delete.phonesLater"));
        }
        messages.className = count ? "strong" : "";
      } catch {
        messages.textContent = t("cube.delete.unknownMessages");
      }
      button.disabled = false;
    }

    async function act() {
      button.disabled = true;
      problem.textContent = "";
      try {
        await change(() => remove(pathTo(thing), { headers: { "If-Match": tag } }));
        return close("deleted");
      } catch (error) {
        // One that is not found may have been moved.
        if (![404, 412].includes(error.status) || !(await refresh().then(() => true, () => false)))
          problem.textContent = explain(error);
        else if (!cube.things.has(thing.id)) return close("gone");
        else {
          [thing, tag] = [cube.things.get(thing.id), cube.tag];
          await tell();
          problem.textContent = t("cube.delete.changed");
          (name?.control ?? cancel).focus();
        }
      }
      button.disabled = false;
      return undefined;
    }

    function submit(event) {
      event.preventDefault();
      if (button.disabled) return;
      if (!name || typeable(name.value) === typeable(thing.data.name)) { act(); return; }
      name.error(t("cube.delete.wrongName"));
      name.control.focus();
    }

    tell();
    (name?.control ?? cancel).setAttribute("autofocus", "");
    return h("form", { noValidate: true, onsubmit: submit }, heading,
      thing.parent ? h("p", { class: "secondary" }, pathOf(namesOf(thing.parent))) : null,
      facts, typing, problem, h("div", { class: "actions" }, cancel, button));
  });
}
