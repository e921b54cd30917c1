// Pins that would cover each other are drawn as one, with their number. Pure.

/** How near pins may be to each other, in pixels: a finger needs as much. */
const room = 44;

/** The middle of some points. */
const middleOf = (points) => ({ x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
  y: points.reduce((sum, { y }) => sum + y, 0) / points.length });

const isNear = (one, other) => Math.abs(one.x - other.x) < room && Math.abs(one.y - other.y) < room;

/**
 * The groups of points on the screen: `{x, y, points}`. Each point is in one of them, and no two groups are near each
 * other. The same points make the same groups, in whatever order they come.
 *
 * @param points - `{id, x, y}` in pixels.
 */
export function clustersOf(points) {
  let groups = [...points].sort((one, other) => (one.id < other.id ? -1 : 1)).map((point) => ({ ...point,
    points: [point] }));
  // Two groups that have become one may be near a third one. Each round has fewer of them.
  for (let hasChanged = true; hasChanged;) {
    hasChanged = false;
    const next = [];
    for (const group of groups) {
      const near = next.findIndex((other) => isNear(group, other));
      if (near < 0) {
        next.push(group);
        continue;
      }
      const all = [...next[near].points, ...group.points];
      next[near] = { ...middleOf(all), points: all };
      hasChanged = true;
    }
    groups = next;
  }
  return groups.map(({ x, y, points: inside }) => ({ x, y, points: inside }));
}
