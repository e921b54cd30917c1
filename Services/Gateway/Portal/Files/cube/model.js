import { readCube } from "../lib/cube.js";

/**
 * The cube as this page knows it: `roots` are the channels, `things` everything by id. `changing` and `holding` count
 * the changes of this page that are on their way; see change.js.
 */
export const cube = { tag: null, roots: null, things: new Map(), changing: 0, holding: 0 };

export const partKind = { channel: "area", area: "subject" };

// A thing: its place, `path` in words, and `look`, by which a change is seen.
function makeThing(kind, data, parent, things) {
  const id = data._id ?? data.id;
  const thing = { kind, id, data, parent, ids: [...(parent?.ids ?? []), id],
    path: `${parent ? `${parent.path} ` : ""}${data.name}` };
  thing.look = JSON.stringify([data.name, data.desc, data.opt, data.access, data.approval, parent?.id]);
  things.set(id, thing);
  thing.parts = (data.areas ?? data.subjects ?? []).map((part) => makeThing(partKind[kind], part, thing, things));
  return thing;
}

/** How many subjects a thing has inside. */
export const countSubjects = (thing) =>
  (thing.kind === "area" ? thing.parts.length : thing.parts.reduce((sum, area) => sum + area.parts.length, 0));

/** A thing and what it is in, from the channel on. */
export const lineOf = (thing) => (thing ? [...lineOf(thing.parent), thing] : []);

/** The names of a thing and of what it is in. */
export const namesOf = (thing) => lineOf(thing).map(({ data }) => data.name);

/** The thing's siblings in their order, with the thing. */
export const siblingsOf = (thing) => (thing.parent ? cube.things.get(thing.parent.id)?.parts : cube.roots) ?? [];

export const pathTo = (thing) => `/${thing.kind}/${thing.ids.join("/")}`;

let listener = () => {};

/** Calls `show(changed, removed)`, with the ids, whenever the cube was read. */
export function whenRead(show) {
  listener = show;
}

async function readOnce() {
  const { channels, tag } = await readCube();
  // An order that is on its way is newer, and is followed by another reading.
  if (!cube.holding) take(channels, tag);
}

/** Takes a cube that was read. */
export function take(channels, tag) {
  const before = cube.things;
  const isFirst = cube.roots === null;
  const things = new Map();
  cube.roots = channels.map((channel) => makeThing("channel", channel, null, things));
  cube.things = things;
  cube.tag = tag;
  cube.subjects = [...things.values()].filter((thing) => thing.kind === "subject").length;
  const changed = isFirst ? [] : [...things.values()].filter((thing) => before.get(thing.id)?.look !== thing.look)
    .map((thing) => thing.id);
  listener(changed, [...before.values()].filter((thing) => !things.has(thing.id)));
}

let last = Promise.resolve();
let isWaiting = false;

/** Reads the cube. Readings follow each other, so that an older answer never replaces a newer one. */
export function refresh() {
  last = last.catch(() => {}).then(readOnce);
  return last;
}

/** Reads the cube because somebody has changed it. Returns nothing; without an answer, a later event tries again. */
export function refreshLater() {
  if (isWaiting || cube.holding) return;
  isWaiting = true;
  last = last.catch(() => {}).then(() => { isWaiting = false; return readOnce(); });
  last.catch(() => {});
}
