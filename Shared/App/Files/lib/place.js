/**
 * Makes `nodes` the children of an element. Children that stay are not moved without need, so that they keep the focus,
 * and the scroll position stays.
 */
export function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}
