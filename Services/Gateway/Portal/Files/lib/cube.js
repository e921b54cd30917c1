import { get } from "./api.js";
import { listen } from "./events.js";

/** The information cube: `channels` as GET /channel gives them, and `tag`, the version for `If-Match`. */
export async function readCube() {
  const { document, headers } = await get("/channel", { whole: true });
  return { channels: document, tag: headers.get("ETag") };
}

/** All subjects in their order: `{channel, area, subject, key, path}`. */
export function subjectsOf(channels) {
  return channels.flatMap((channel) =>
    channel.areas.flatMap((area) =>
      area.subjects.map((subject) => ({
        channel, area, subject, key: subject.topic_key, path: [channel.name, area.name, subject.name],
      }))));
}

/**
 * Calls `listener` for each version of the cube, once. The first one may be the version that the page has read: the page cannot know
 * whether the cube has changed since. Returns a function that ends it.
 */
export function whenCubeChanges(listener) {
  let seen = null;
  return listen("cube", ({ version }) => {
    if (version === seen) return;
    seen = version;
    listener(version);
  });
}
