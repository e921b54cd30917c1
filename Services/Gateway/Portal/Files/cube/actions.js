import { h } from "../lib/dom.js";
import { t, tn } from "../lib/text.js";
import { say } from "./say.js";
import { accessPanel } from "./access.js";
import { followDrag } from "./drag.js";
import { editPanel } from "./edit.js";
import { openMenu } from "./menu.js";
import { cube, partKind, siblingsOf } from "./model.js";
import { moveSubject } from "./move.js";
import { moveTo } from "./order.js";
import { removeThing } from "./remove.js";

const areaCount = () => cube.roots.reduce((sum, channel) => sum + channel.parts.length, 0);

/** What one can do with the rows of the tree. */
export function actionsFor({ tree, show, showTree, clearFilter, addChannel }) {
  /** Puts a form into a slot of the tree, unless one is there that somebody has typed into. */
  function openPanel(slot, makePanel, opener) {
    const open = slot.firstElementChild;
    if (open?.isDirty()) { open.begin(); return; }
    const leave = (isDirty) => {
      panel.remove();
      if (isDirty) {
        say(t("cube.discarded"),
          { action: { label: t("undo"),
              run: () => { if (slot.isConnected) { slot.replaceChildren(panel); panel.begin(); } } } });
      }
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
      added: (thing) => settle("cube.added", thing._id ?? thing.id, thing.name, { focus: false }),
      done: (thing) => {
        close();
        show();
        settle("cube.added", thing._id ?? thing.id, thing.name);
      },
    }), () => row?.add ?? document.querySelector(".empty .button") ?? addChannel);
  }

  function edit(thing, makePanel, text) {
    const row = tree.rows.get(thing.id);
    if (!row) return;
    openPanel(row.slot, (leave, close) =>
      makePanel({ thing, leave,
          done: () => { close(); settle(text, thing.id, cube.things.get(thing.id)?.data.name ?? thing.data.name); } }),
      () => row.title);
  }

  /** Shows the tree again after a change, with a confirmation. */
  function settle(text, id, name, options) {
    say(tn(text, { name: h("bdi", null, name) }));
    reveal(id, options);
  }

  function reveal(id, options) {
    if (tree.visible && !tree.visible.has(id)) clearFilter();
    tree.reveal(id, options);
  }

  async function askToRemove(thing) {
    const siblings = siblingsOf(thing);
    const next = siblings[siblings.findIndex((each) => each.id === thing.id) + 1] ?? siblings.at(-2) ?? thing.parent;
    const result = await removeThing(thing);
    // Somebody else may have deleted it while the question was open.
    if (!result && document.activeElement !== document.body) return;
    if (result) {
      say(tn(result === "deleted" ? "cube.deleted" : "cube.alreadyDeleted", { name: h("bdi", null, thing.data.name) }));
    }
    const row = next && next.id !== thing.id ? tree.rows.get(next.id) : null;
    (row?.title ?? tree.stop ?? addChannel).focus();
  }

  function openRowMenu(thing, button) {
    // The cube may change while the menu is open.
    const withThing = (run) => () => {
      const now = cube.things.get(thing.id);
      if (now) return run(now);
      say(tn("cube.alreadyDeleted", { name: h("bdi", null, thing.data.name) }));
      return (tree.stop ?? addChannel).focus();
    };
    const siblings = siblingsOf(thing);
    const place = siblings.findIndex((each) => each.id === thing.id);
    const isFiltered = tree.words.length > 0;
    const part = partKind[thing.kind];
    openMenu(button, t("cube.menuNamed", { name: thing.data.name }), [
      { label: t("cube.edit"), icon: "edit", run: withThing((now) => edit(now, editPanel, "cube.saved")) },
      { label: t(thing.kind === "subject" ? "cube.accessAndApproval" : "cube.access"), icon: "people",
        run: withThing((now) => edit(now, accessPanel, "cube.accessSaved")) },
      part ? { label: t(`cube.add.${part}`), icon: "plus", run: withThing(add) } : undefined,
      null,
      { label: t("cube.up"), icon: "up", keys: "Alt ↑", isOff: isFiltered || place === 0,
        run: withThing((now) => move(now, -1)) },
      { label: t("cube.down"), icon: "down", keys: "Alt ↓", isOff: isFiltered || place === siblings.length - 1,
        run: withThing((now) => move(now, 1)) },
      part ? undefined : { label: t("cube.moveTo"), icon: "cube", isOff: areaCount() < 2,
        run: withThing((now) => moveSubject(now, reveal)) },
      null,
      { label: t("cube.delete"), icon: "trash", isDanger: true, run: withThing(askToRemove) },
    ].filter((item) => item !== undefined));
  }

  function move(thing, by) {
    if (tree.words.length) { say(t("cube.filterBlocksMoves")); return; }
    const place = siblingsOf(thing).findIndex((each) => each.id === thing.id) + by;
    const row = tree.rows.get(thing.id);
    if (!row) return;
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
