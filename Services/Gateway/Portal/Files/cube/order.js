import { explain, put } from "../lib/api.js";
import { t } from "../lib/text.js";
import { say } from "./say.js";
import { change, holding } from "./change.js";
import { cube, refresh, siblingsOf } from "./model.js";

const saves = new Map();

/** Moves a thing to a place among its siblings: it is shown at once, and stored. Returns whether it has moved. */
export function moveTo(thing, place, tree) {
  const siblings = siblingsOf(thing);
  const from = siblings.findIndex((each) => each.id === thing.id);
  if (from < 0 || place < 0 || place >= siblings.length || place === from) return false;
  const before = siblings.map((each) => each.id);
  siblings.splice(place, 0, siblings.splice(from, 1)[0]);
  tree.show();
  tree.announce(t("cube.moved", { name: thing.data.name, place: place + 1, count: siblings.length }));
  store(thing, before, tree);
  return true;
}

// Several moves in a row are one request at a time, and one Undo.
async function store(thing, before, tree) {
  const path = ["/order", ...(thing.parent?.ids ?? [])].join("/");
  if (saves.has(path)) { saves.get(path).isAgain = true; return; }
  const save = { isAgain: false };
  saves.set(path, save);
  const idsNow = () => siblingsOf(thing).map((each) => each.id);
  try {
    await change(() => holding(async () => {
      try {
        do {
          save.isAgain = false;
          await put(path, { ids: idsNow() });
        } while (save.isAgain);
      } finally {
        saves.delete(path);
      }
    }));
    say(t("cube.movedShort", { name: thing.data.name }),
      { action: { label: t("undo"), run: () => undo(path, before, thing, tree) } });
  } catch (error) {
    say(error.status === 409 ? t("cube.orderChanged") : explain(error));
    await refresh().catch(() => restore(thing, before, tree));
  }
}

function restore(thing, before, tree) {
  const siblings = siblingsOf(thing);
  siblings.sort((one, other) => before.indexOf(one.id) - before.indexOf(other.id));
  tree.show();
}

async function undo(path, before, thing, tree) {
  try {
    await change(() => put(path, { ids: before.filter((id) => cube.things.has(id)) }));
    tree.reveal(thing.id);
  } catch (error) {
    say(error.status === 409 ? t("cube.orderChanged") : explain(error));
  }
}
