import { fill, h } from "../lib/dom.js";
import { explain, get, remove, withQuery } from "../lib/api.js";
import { t, tn } from "../lib/text.js";
import { showDialog } from "../elements/dialogs.js";
import { change } from "./change.js";
import { countSubjects, cube, pathTo, refresh } from "./model.js";

// How many messages a thing has in the archive, and how many of them have not gone out.
async function countMessages(thing) {
  const filter = { [thing.kind]: thing.id };
  const waiting = ({ pending = 0, retrying = 0, held = 0 }) => pending + retrying + held;
  try {
    const { states } = await get(withQuery("/statistics", filter));
    return { count: Object.values(states).reduce((sum, count) => sum + count, 0), waiting: waiting(states), isMore: false };
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
    parts: thing.kind === "channel" ? t("cube.size", { areas: t("cube.areas", { count: areas }), subjects: t("cube.subjects", { count: subjects }) }) : t("cube.subjects", { count: subjects }),
  });
};

/** Asks whether a thing is to be deleted, says what that means, and deletes it. Returns "deleted", "gone" or `null`. */
export function removeThing(asked) {
  return showDialog((close) => {
    let thing = asked;
    let tag = cube.tag;
    const facts = h("ul", { class: "plain facts" });
    const problem = h("p", { class: "below wrong", role: "alert" });
    const button = h("button", { class: "button danger", type: "button", disabled: true, onclick: act }, t("cube.delete.action"));

    async function tell() {
      const messages = h("span", { role: "status" }, t("cube.delete.counting"));
      const inside = partsIn(thing);
      const phones = h("span", null, t("cube.delete.phones"));
      fill(facts, h("li", null, messages), inside ? h("li", null, inside) : null, h("li", null, phones), h("li", null, t("cube.delete.final")));
      button.disabled = true;
      try {
        const { count, waiting, isMore } = await countMessages(thing);
        messages.textContent = t(isMore ? "cube.delete.manyMessages" : count ? "cube.delete.messages" : "cube.delete.noMessages", { count });
        if (waiting) fill(phones, h("span", { class: "strong" }, t("cube.delete.waiting", { count: waiting })), " ", t("cube.delete.phonesLater"));
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
        if (error.status === 404) { await refresh().catch(() => {}); return close("gone"); }
        if (error.status !== 412 || !(await refresh().then(() => true, () => false))) problem.textContent = explain(error);
        else if (!cube.things.has(thing.id)) return close("gone");
        else {
          [thing, tag] = [cube.things.get(thing.id), cube.tag];
          await tell();
          problem.textContent = t("cube.delete.changed");
        }
      }
      button.disabled = false;
      return undefined;
    }

    tell();
    return h("div", { class: "stack" }, h("h2", null, tn("cube.delete.heading", { name: h("bdi", null, asked.data.name) })), facts, problem,
      h("div", { class: "actions" }, h("button", { class: "button", type: "button", autofocus: true, onclick: () => close(null) }, t("cancel")), button));
  });
}
