import { h } from "../lib/dom.js";
import { t, tn } from "../lib/text.js";
import { say } from "./say.js";
import { accessPanel } from "./access.js";
import { followDrag } from "./drag.js";
import { editPanel } from "./edit.js";
import { openMenu } from "./menu.js";
import { cube, partKind, siblingsOf } from "./model.js";
import { moveTo } from "./order.js";
import { removeThing } from "./remove.js";

/** What one can do with the rows of the tree. */
export function actionsFor({ tree, show, showTree, clearFilter, addChannel }) {
  /** Puts a form into a slot of the tree, unless one is there that somebody has typed into. */
  function openPanel(slot, makePanel, opener) {
    const open = slot.firstElementChild;
    if (open?.isDirty()) { open.begin(); return; }
    const leave = (isDirty) => {
      panel.remove();
      if (isDirty) say(t("cube.discarded"), { action: { label: t("undo"), run: () => { if (slot.isConnected) { slot.replaceChildren(panel); panel.begin(); } } } });
      show();
      if (opener()?.isConnected) opener().focus();
    };
    const panel = makePanel(leave, () => panel.remove());
    slot.replaceChildren(panel);
    panel.begin();
  }

  function add(parent) {
    const kind = parent ? partKind[parent.kind] : "channel";
    showTree();
    if (parent && !tree.isOpen(parent)) tree.toggle(parent);
    const row = parent ? tree.rows.get(parent.id) : null;
    openPanel(row ? row.newSlot : tree.newSlot, (leave, close) => editPanel({
      kind, parent, leave,
      done: (added) => {
        close();
        show();
        settle("cube.added", added._id ?? added.id, added.name);
      },
    }), () => row?.add ?? document.querySelector(".empty .button") ?? addChannel);
  }

  function edit(thing, makePanel, text) {
    const row = tree.rows.get(thing.id);
    if (!row) return;
    openPanel(row.slot, (leave, close) => makePanel({ thing, leave, done: () => { close(); settle(text, thing.id, cube.things.get(thing.id)?.data.name ?? thing.data.name); } }), () => row.title);
  }

  /** Shows the tree again after a change, with a confirmation. */
  function settle(text, id, name) {
    say(tn(text, { name: h("bdi", null, name) }));
    if (tree.visible && !tree.visible.has(id)) clearFilter();
    tree.reveal(id);
  }

  async function askToRemove(thing) {
    const siblings = siblingsOf(thing);
    const next = siblings[siblings.findIndex((each) => each.id === thing.id) + 1] ?? siblings.at(-2) ?? thing.parent;
    const result = await removeThing(thing);
    if (!result) return;
    say(tn(result === "deleted" ? "cube.deleted" : "cube.alreadyDeleted", { name: h("bdi", null, thing.data.name) }));
    const row = next && next.id !== thing.id ? tree.rows.get(next.id) : null;
    (row?.title ?? addChannel).focus();
  }

  function openRowMenu(thing, button) {
    const siblings = siblingsOf(thing);
    const place = siblings.findIndex((each) => each.id === thing.id);
    const isFiltered = tree.words.length > 0;
    const part = partKind[thing.kind];
    openMenu(button, t("cube.menuNamed", { name: thing.data.name }), [
      { label: t("cube.edit"), icon: "edit", run: () => edit(thing, editPanel, "cube.saved") },
      { label: t(thing.kind === "subject" ? "cube.accessAndApproval" : "cube.access"), icon: "people", run: () => edit(thing, accessPanel, "cube.accessSaved") },
      part ? { label: t(`cube.add.${part}`), icon: "plus", run: () => add(thing) } : undefined,
      null,
      { label: t("cube.up"), icon: "up", keys: "Alt ↑", isOff: isFiltered || place === 0, run: () => move(thing, -1) },
      { label: t("cube.down"), icon: "down", keys: "Alt ↓", isOff: isFiltered || place === siblings.length - 1, run: () => move(thing, 1) },
      null,
      { label: t("cube.delete"), icon: "trash", isDanger: true, run: () => askToRemove(thing) },
    ].filter((item) => item !== undefined));
  }

  function move(thing, by) {
    if (tree.words.length) { say(t("cube.filterBlocksMoves")); return; }
    const place = siblingsOf(thing).findIndex((each) => each.id === thing.id) + by;
    const row = tree.rows.get(thing.id);
    if (!moveTo(thing, place, tree)) tree.announce(t(by < 0 ? "cube.first" : "cube.last", { name: thing.data.name }));
    if (!row.head.contains(document.activeElement)) row.title.focus({ preventScroll: true });
    row.head.scrollIntoView({ block: "nearest" });
    tree.mark([thing.id]);
  }

  function drag(thing, event) {
    followDrag(event, tree.rows.get(thing.id).element, (place) => {
      if (place !== null && moveTo(thing, place, tree)) tree.mark([thing.id]);
      else tree.show();
    });
  }

  return { add, edit: (thing) => edit(thing, editPanel, "cube.saved"), menu: openRowMenu, move, drag };
}
