import { fill, h, newIdentifier } from "../lib/dom.js";
import { folded, hasAll, searchable, t } from "../lib/text.js";
import { distributionTag, levelTag, pathOf } from "./tags.js";

const shownAtMost = 60;

/**
 * One search field over all subjects that somebody may send to, the recent ones first. It follows the combobox pattern
 * of ARIA: the focus stays in the field, and the arrows move in the list.
 *
 * It dispatches "hub-choose" with the subject, which a listener that moves the focus cancels, and "hub-leave" if what
 * was typed is none. `subjects` are those of `subjectsOf`, and `recent` is a list of topic keys.
 */
class SubjectPicker extends HTMLElement {
  #subjects = [];
  #recent = [];
  #chosen = null;
  #shown = [];
  #active = -1;

  connectedCallback() {
    const list = newIdentifier("subjects");
    this.input = h("input", {
      id: this.getAttribute("input-id"), type: "text", role: "combobox", autocomplete: "off", spellcheck: false,
      dir: "auto",
      placeholder: t("send.subject.search"), "aria-expanded": "false", "aria-controls": list,
      "aria-autocomplete": "list",
      "aria-describedby": this.getAttribute("below-id"),
      oninput: () => this.open(), onfocus: () => this.input.select(), onclick: () => this.open(),
      onkeydown: (event) => this.key(event), onblur: () => this.blurred(),
    });
    this.chosenView = h("div", { class: "chosen", "aria-hidden": "true" });
    this.list = h("ul", { class: "plain options", role: "listbox", id: list, hidden: true,
        "aria-label": t("send.subject") });
    // A press in the list must not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose(this.#shown[Number(option.dataset.index)]);
    });
    this.replaceChildren(this.input, this.chosenView, this.list);
  }

  set subjects(subjects) {
    this.#subjects = subjects.map((subject) => ({ ...subject, words: searchable(subject.path.join(" ")) }));
    if (!this.list.hidden) this.open();
  }

  set recent(keys) { this.#recent = keys; }

  get value() { return this.#chosen; }

  /** Shows a subject as chosen, or none. */
  set value(subject) {
    this.#chosen = subject;
    this.input.value = subject ? subject.path.join(" › ") : "";
    fill(this.chosenView,
      subject ? [pathOf(subject.path, { isLine: true }),
        h("span", { class: "tags" }, distributionTag(subject.subject.opt.distribution),
          levelTag(subject.subject.opt.level))] : null);
    this.toggleAttribute("chosen", Boolean(subject));
  }

  /** Whether the field says what is chosen. */
  get #isUntouched() { return this.input.value === (this.#chosen?.path.join(" › ") ?? ""); }

  open() {
    const typed = this.#isUntouched ? "" : folded(this.input.value).trim();
    const words = typed.split(/[\s›]+/).filter(Boolean);
    // What was typed as it is comes before its words in any order.
    const rank = ({ words, subject }) => (folded(subject.name) === typed ? 0 : words[0].includes(typed) ? 1 : 2);
    const found = this.#subjects.filter((subject) => hasAll(words, subject.words));
    if (words.length) found.sort((a, b) => rank(a) - rank(b));
    const recent = words.length ? [] : this.#recent.map((key) => found.find((subject) => subject.key === key))
      .filter(Boolean);
    this.#shown = [...recent, ...found.slice(0, shownAtMost)];
    this.#active = words.length && found.length ? 0 : -1;
    const rest = found.length - shownAtMost;
    fill(this.list,
      recent.length ? this.heading(t("send.recent")) : null,
      this.#shown.map((subject, index) => [
        index === recent.length && recent.length ? this.heading(t("send.subject.all")) : null,
        h("li", { role: "option", id: `${this.list.id}-${index}`, "aria-selected": "false", dataset: { index } },
          pathOf(subject.path), h("span", { class: "tags" }, distributionTag(subject.subject.opt.distribution),
            levelTag(subject.subject.opt.level))),
      ]),
      found.length ? null : h("li", { class: "note", role: "presentation" }, t("send.subject.none")),
      rest > 0 ? h("li", { class: "note", role: "presentation" }, t("send.subject.more", { count: rest })) : null);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.toggleAttribute("open", true);
    this.mark();
  }

  heading(text) { return h("li", { class: "options-heading", role: "presentation" }, text); }

  close() {
    this.list.hidden = true;
    this.#active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.toggleAttribute("open", false);
  }

  leave() {
    this.close();
    // What was typed and not chosen is no subject.
    this.value = this.#chosen;
  }

  /** What was typed and is no subject is not lost in silence. */
  blurred() {
    const isLost = !this.#isUntouched && !this.#chosen;
    this.leave();
    if (isLost) this.dispatchEvent(new CustomEvent("hub-leave", { bubbles: true }));
  }

  /** Returns whether a listener has moved the focus. */
  choose(subject) {
    this.value = subject;
    this.close();
    return !this.dispatchEvent(new CustomEvent("hub-choose", { bubbles: true, cancelable: true, detail: subject }));
  }

  mark() {
    for (const option of this.list.querySelectorAll("[role=option]")) {
      const isActive = Number(option.dataset.index) === this.#active;
      option.setAttribute("aria-selected", String(isActive));
      if (!isActive) continue;
      this.input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
    if (this.#active < 0) this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.open();
      const count = this.#shown.length;
      const start = this.#active < 0 && key === "ArrowUp" ? 0 : this.#active;
      if (count) this.#active = (start + (key === "ArrowDown" ? 1 : -1) + count) % count;
      this.mark();
    } else if (key === "Enter" && !this.list.hidden) {
      event.preventDefault();
      // With Ctrl or ⌘ this key sends, but only to a subject that was seen as chosen.
      if (this.#active >= 0 || !this.#isUntouched) event.stopPropagation();
      if (this.#active >= 0) this.choose(this.#shown[this.#active]);
    } else if (key === "Tab" && !event.shiftKey && this.#active >= 0) {
      // The focus moves on, and what is marked in the list is chosen.
      if (this.choose(this.#shown[this.#active])) event.preventDefault();
    } else if (key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.leave();
      this.input.select();
    }
  }

  focus() { this.input.focus(); }
}

customElements.define("subject-picker", SubjectPicker);

