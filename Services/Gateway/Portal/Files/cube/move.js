import { h } from "../lib/dom.js";
import { explain, put } from "../lib/api.js";
import { t, tn } from "../lib/text.js";
import { showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { pathOf } from "../elements/tags.js";
import { change } from "./change.js";
import { cube, namesOf, refresh, siblingsOf } from "./model.js";
import { say } from "./say.js";

const place = (thing, area, options) => put(`/place/${thing.ids.join("/")}`, { channel: area.parent.id, area: area.id },
  options);

/** Asks for another area, and moves a subject there. `reveal(id)` shows it at its new place. */
export async function moveSubject(asked, reveal) {
  const home = asked.parent;
  const before = siblingsOf(asked).map(({ id }) => id);
  let tag = cube.tag;
  const groups = cube.roots.map(({ data, parts }) =>
    ({ name: data.name, areas: parts.filter(({ id }) => id !== home.id) }));
  const area = field({
    label: t("cube.moveTo.area"),
    control: h("select", null, h("option", { value: "" }, t("cube.moveTo.choose")),
      groups.filter(({ areas }) => areas.length).map(({ name, areas }) =>
      h("optgroup", { label: name }, areas.map(({ id, data }) => h("option", { value: id }, data.name))))),
  });

  // Without an answer, an earlier try may have moved it.
  const isThere = () => cube.things.get(asked.id)?.parent.id === area.value;

  const target = await showForm({
    heading: tn("cube.moveTo.heading", { name: h("bdi", null, asked.data.name) }), intro: t("cube.moveTo.means"),
    fields: area, action: t("cube.moveTo.action"),
    submit: async () => {
      const chosen = cube.things.get(area.value);
      if (!chosen) throw refusal(area, t(area.value ? "cube.moveTo.gone" : "cube.moveTo.choose"));
      try {
        if (!isThere()) {
          await change(() => place(cube.things.get(asked.id) ?? asked, chosen, { headers: { "If-Match": tag } }));
        }
      } catch (error) {
        await refresh().catch(() => {});
        tag = cube.tag;
        if (!isThere()) throw error;
      }
      return chosen;
    },
  });
  if (!target) return;
  say(tn("cube.moveTo.done", { name: h("bdi", null, asked.data.name), place: pathOf(namesOf(target)) }),
    { action: { label: t("undo"), run: undo } });
  reveal(asked.id);

  async function undo() {
    try {
      await change(async () => {
        await place(cube.things.get(asked.id) ?? asked, home);
        const ids = [...(cube.things.get(home.id)?.parts ?? []).map(({ id }) => id), asked.id];
        const placeOf = (id) => (before.includes(id) ? before.indexOf(id) : before.length);
        // If somebody else has changed the area, it is the last one there.
        await put(`/order/${home.ids.join("/")}`, { ids: ids.sort((one, other) => placeOf(one) - placeOf(other)) })
          .catch(() => {});
      });
      reveal(asked.id);
    } catch (error) {
      say(explain(error));
    }
  }
}
