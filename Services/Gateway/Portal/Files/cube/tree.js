import { h } from "../lib/dom.js";
import { keep, kept } from "../lib/store.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { cube, lineOf } from "./model.js";
import { makeRow } from "./row.js";

// More rows at once would make the page wait.
const rowsAtOnce = 60;
const fewSubjects = 80;

/**
 * The tree of channels, areas and subjects. Only what is open has rows, and a change replaces only what it has changed.
 * One row at a time can be reached by Tab, the others by the arrow keys.
 */
class CubeTree extends HTMLElement {
  connectedCallback() {
    this.rows = new Map();
    this.opened = new Map(Object.entries(kept("cube.open", {})));
    // What was opened and closed while the filter leaves things out. It ends with the filter.
    this.toggled = new Map();
    this.words = [];
    this.role = "group";
    this.setAttribute("aria-label", t("cube.tree"));
    this.addEventListener("focusin", (event) => {
      const stop = event.target.closest(".row")?.querySelector(".title") ?? event.target.closest(".add");
      if (stop) this.setStop(stop);
    });
    this.list = h("ol", { class: "plain channels" });
    this.newSlot = h("div", { class: "slot" });
    this.append(this.list, this.newSlot);
  }

  /** Shows the cube as it is now. */
  show() {
    clearTimeout(this.timer);
    // The drag shows it again at its end.
    if (this.querySelector(".dragged")) return;
    this.budget = rowsAtOnce;
    const active = this.contains(document.activeElement) ? document.activeElement : null;
    const near = active?.closest("li")?.previousElementSibling ?? active?.closest("li")?.parentElement.closest("li");
    this.visible = this.words.length ? this.find() : null;
    this.sync(this.list, cube.roots);
    for (const panel of this.querySelectorAll(".cube-panel")) panel.cubeChanged();
    if (active && document.activeElement !== active) {
      const target = active.isConnected ? active : near?.isConnected
        ? near.querySelector(".title") : document.querySelector("h1");
      target?.focus({ preventScroll: true });
    }
    if (!this.stop?.isConnected || this.stop.closest("[hidden]")) this.setStop(this.querySelector(".title"));
    if (this.budget < 0) this.timer = setTimeout(() => this.show());
    else this.finishReveal();
  }

  /**
   * What the filter leaves: the things whose path has its words, and what these are in. `found` are those that one of
   * the words names itself, by their kind; `holders` have one inside.
   */
  find() {
    const visible = new Set();
    this.found = { channel: [], area: [], subject: [] };
    this.holders = new Set();
    const look = (thing) => {
      const isMatch = hasAll(this.words, thing.path);
      const isFound = isMatch && this.words.some((word) => hasAll([word], thing.data.name));
      if (isFound) this.found[thing.kind].push(thing);
      if (thing.parts.filter(look).length) this.holders.add(thing.id);
      const isHolder = this.holders.has(thing.id);
      if (isMatch || isHolder) visible.add(thing.id);
      return isFound || isHolder;
    };
    cube.roots.forEach(look);
    return visible;
  }

  sync(list, things) {
    const wanted = this.visible ? things.filter((thing) => this.visible.has(thing.id)) : things;
    const ids = new Set(wanted.map((thing) => thing.id));
    for (const element of [...list.children]) {
      // Nobody loses what they type because somebody else deletes, or because of the filter.
      element.isKept = !ids.has(element.dataset.id) && Boolean(element.querySelector(".cube-panel"));
      element.classList.toggle("gone", !cube.things.has(element.dataset.id));
      if (!ids.has(element.dataset.id) && !element.isKept) this.drop(element);
    }
    let cursor = list.firstElementChild;
    for (const thing of wanted) {
      const isNew = !this.rows.has(thing.id);
      if (isNew && (this.budget -= 1) < 0) break;
      if (isNew) this.rows.set(thing.id, makeRow(thing));
      const row = this.rows.get(thing.id);
      while (cursor?.isKept) cursor = cursor.nextElementSibling;
      if (row.element === cursor) cursor = cursor.nextElementSibling;
      else if (list.moveBefore && row.element.isConnected) list.moveBefore(row.element, cursor);
      else list.insertBefore(row.element, cursor);
      row.update(thing, this.words);
      if (!row.parts) continue;
      row.setOpen(this.isOpen(thing));
      if (!row.parts.hidden) this.sync(row.list, thing.parts);
    }
  }

  drop(element) {
    for (const inside of [element, ...element.querySelectorAll("li[data-id]")]) this.rows.delete(inside.dataset.id);
    element.remove();
  }

  isOpen(thing) {
    if (this.visible && (this.toggled.has(thing.id) || this.holders.has(thing.id))) {
      return this.toggled.get(thing.id) ?? true;
    }
    return this.opened.get(thing.id) ?? (thing.kind === "channel" || cube.subjects <= fewSubjects);
  }

  /** What the arrow keys lead to, in its order: the titles and the buttons that add, as far as they are shown. */
  stops() {
    return [...this.querySelectorAll(".title, .add")].filter((stop) => stop.offsetParent);
  }

  // Tab leads to this one, and from a title to its menu.
  setStop(stop) {
    const buttons = (of) => (of ? [of, of.closest(".row")?.querySelector(".bare")] : []);
    for (const button of buttons(this.stop)) if (button) button.tabIndex = -1;
    for (const button of buttons(stop)) if (button) button.tabIndex = 0;
    this.stop = stop;
  }

  setOpen(things, isOpen) {
    const states = this.visible ? this.toggled : this.opened;
    for (const thing of things) states.set(thing.id, isOpen);
    if (!this.visible) keep("cube.open", Object.fromEntries([...this.opened].filter(([id]) => cube.things.has(id))));
    this.show();
  }

  toggle(thing) {
    this.setOpen([thing], !this.isOpen(thing));
  }

  filter(text) {
    this.words = wordsOf(text);
    this.toggled.clear();
    this.show();
  }

  thingOf(element) {
    return cube.things.get(element?.closest("li[data-id]")?.dataset.id);
  }

  /** Opens what a thing is in, scrolls to the thing and marks it. */
  reveal(id, { focus = true } = {}) {
    this.wanted = { id, focus };
    const above = lineOf(cube.things.get(id)?.parent);
    if (above.some((thing) => !this.isOpen(thing))) this.setOpen(above, true);
    else this.show();
  }

  finishReveal() {
    const { id, focus } = this.wanted ?? {};
    const row = this.rows.get(id);
    this.wanted = null;
    if (!row) return;
    row.head.scrollIntoView({ block: "nearest" });
    if (focus) row.title.focus({ preventScroll: true });
    this.mark([id]);
  }

  /** Marks rows for a moment; what is in a closed area marks the area. */
  mark(ids) {
    for (const id of ids) {
      const line = lineOf(cube.things.get(id));
      const row = line.reverse().map((thing) => this.rows.get(thing.id))
        .find((row) => row?.element.isConnected && !row.element.parentElement.closest("[hidden]"));
      if (!row) continue;
      row.head.classList.add("marked");
      clearTimeout(row.timer);
      row.timer = setTimeout(() => row.head.classList.remove("marked"), 4_000);
    }
  }
}

customElements.define("cube-tree", CubeTree);
