// The names of the cases as the hub has them.

/** 24 hexadecimal digits of a path: FNV-1a of 64 bits, behind eight zeros. */
export function identifierOf(path) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(path)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return `00000000${hash.toString(16).padStart(16, "0")}`;
}

/** The identifier of a study session, which is named by its first topic. */
export const sessionIdentifier = (topic) => identifierOf(`session ${topic}`);

/** The topic key of a subject's path. */
export function topicOf(path) {
  const parts = path.split("/");
  return parts.map((_, index) => identifierOf(parts.slice(0, index + 1).join("/"))).join("-");
}

/** A document in which `{Campus/Weather/Storms}` and `{Campus}` in texts are identifiers. */
export function withIdentifiers(document) {
  return JSON.parse(JSON.stringify(document).replace(/\{([^{}"/]+(?:\/[^{}"/]+)*)\}/g, (all, path) =>
    (path.includes("/") ? topicOf(path) : identifierOf(path))));
}

/** Elements of which those with `count` stand for many: `#` in texts is their number. */
export const counted = (elements) => elements.flatMap(({ count, ...element }) => (count === undefined ? [element]
  : Array.from({ length: count }, (_, number) => Object.fromEntries(Object.entries(element)
    .map(([name, value]) => [name, typeof value === "string" ? value.replace("#", number) : value])))));
