import { h } from "../lib/dom.js";
import { keep, kept } from "../lib/store.js";
import { wordsOf } from "../lib/text.js";
import { cube, lineOf } from "./model.js";
import { makeRow } from "./row.js";

// More rows at once would make the page wait.
const rowsAtOnce = 60;
const fewSubjects = 80;

/** The tree of channels, areas and subjects. Only what is open has rows, and a change replaces only what it has changed. */
class CubeTree extends HTMLElement {
  connectedCallback() {
    this.rows = new Map();
    this.opened = new Map(Object.entries(kept("cube.open", {})));
    this.toggled = new Set();
    this.words = [];
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
    this.visible = this.words.length ? this.found() : null;
    this.sync(this.list, cube.roots);
    for (const panel of this.querySelectorAll(".cube-panel")) panel.cubeChanged();
    if (active && document.activeElement !== active) {
      const target = active.isConnected ? active : near?.isConnected ? near.querySelector(".title") : document.querySelector("h1");
      target?.focus({ preventScroll: true });
    }
    if (this.budget < 0) this.timer = setTimeout(() => this.show());
    else this.finishReveal();
  }

  found() {
    const visible = new Set();
    this.count = 0;
    const look = (thing) => {
      const inside = thing.parts.filter(look).length > 0;
      const isMatch = this.matches(thing);
      if (isMatch) this.count += 1;
      if (inside || isMatch) visible.add(thing.id);
      return visible.has(thing.id);
    };
    cube.roots.forEach(look);
    return visible;
  }

  matches(thing) {
    return this.words.every((word) => thing.text.includes(word));
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
      row.update(thing, this.words.at(-1) ?? "");
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
    if (this.visible && !this.toggled.has(thing.id) && thing.parts.some((part) => this.visible.has(part.id)) && !this.matches(thing)) return true;
    return this.opened.get(thing.id) ?? (thing.kind === "channel" || cube.subjects <= fewSubjects);
  }

  /** The titles that can be seen, in their order. */
  titles() {
    return [...this.querySelectorAll(".title")].filter((title) => title.offsetParent);
  }

  setOpen(things, isOpen) {
    for (const thing of things) {
      this.opened.set(thing.id, isOpen);
      this.toggled.add(thing.id);
    }
    keep("cube.open", Object.fromEntries([...this.opened].filter(([id]) => cube.things.has(id))));
    this.show();
  }

  toggle(thing) {
    this.setOpen([thing], !this.isOpen(thing));
  }

  filter(text) {
    this.words = wordsOf(text);
    this.toggled.clear();
    this.show();
    return this.visible ? this.count : cube.things.size;
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
      const row = line.reverse().map((thing) => this.rows.get(thing.id)).find((row) => row?.element.isConnected && !row.element.parentElement.closest("[hidden]"));
      if (!row) continue;
      row.head.classList.add("marked");
      clearTimeout(row.timer);
      row.timer = setTimeout(() => row.head.classList.remove("marked"), 4_000);
    }
  }
}

customElements.define("cube-tree", CubeTree);
