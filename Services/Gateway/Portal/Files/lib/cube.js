import { get } from "./api.js";
import { listen } from "./events.js";
import { shortPaths } from "../elements/tags.js";
import { keepCube, keptCube } from "./kept-cube.js";

/** The reading that began last, and the version that was last read. */
let [reading, lastRead] = [null, null];

/** The information cube: `channels` as GET /channel gives them, and `tag`, the version for `If-Match`. */
export function readCube() {
  reading = read();
  return reading;
}

async function read() {
  const known = await keptCube();
  const { document, headers, status } = await get("/channel",
    { whole: true, headers: known ? { "If-None-Match": known.tag } : {} });
  const cube = status === 304 ? known : { channels: document, tag: headers.get("ETag") };
  if (cube !== known && cube.tag) keepCube(cube);
  lastRead = Number(/v(\d+)/.exec(cube.tag)?.[1]);
  return cube;
}

/**
 * All subjects in their order: `{channel, area, subject, key, path, short}`; `short` is the end of its path that no
 * other one has.
 */
export function subjectsOf(channels) {
  const subjects = channels.flatMap((channel) =>
    channel.areas.flatMap((area) =>
      area.subjects.map((subject) => ({
        channel, area, subject, key: subject.topic_key, path: [channel.name, area.name, subject.name],
      }))));
  const short = shortPaths(subjects.map(({ path }) => path));
  return subjects.map((subject, index) => ({ ...subject, short: short[index] }));
}

/**
 * All channels, areas and subjects by their id in a scope: `{id, kind, names, line, short}`. The last part of the id is
 * that of the thing itself. `line` has the ids of what it is in, and its own: the topic key of a subject that was moved
 * does not tell them. `short` is the end of its names that no other place has.
 */
export function placesOf(channels) {
  const places = new Map();
  const add = (kind, names, line) => places.set(line.at(-1), { id: line.at(-1), kind, names, line });
  for (const channel of channels) {
    add("channel", [channel.name], [channel._id]);
    for (const area of channel.areas) {
      const ids = [channel._id, `${channel._id}-${area.id}`];
      add("area", [channel.name, area.name], ids);
      for (const subject of area.subjects) {
        add("subject", [channel.name, area.name, subject.name], [...ids, subject.topic_key]);
      }
    }
  }
  const short = shortPaths([...places.values()].map(({ names }) => names));
  [...places.values()].forEach((place, index) => { place.short = short[index]; });
  return places;
}

/** Calls `listener` for each version of the cube that the page has not read, once. Returns a function that ends it. */
export function whenCubeChanges(listener) {
  let seen = null;
  return listen("cube", async ({ version }) => {
    if (version === seen) return;
    seen = version;
    // The first event may come before the answer to the page's own reading.
    await reading?.catch(() => {});
    if (version !== lastRead) listener(version);
  });
}
