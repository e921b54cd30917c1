import { h, fill } from "../lib/dom.js";
import { explain } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { t, tn } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { cube, refresh } from "./model.js";
import { comparison } from "../elements/comparison.js";
import { pathOf } from "../elements/tags.js";

/** The first line of a form, and where the thing is; `names` are those of what it is in. */
export const panelHead = (heading, names = []) =>
  h("div", null, h("h4", null, heading), names.length ? h("p", { class: "hint" }, pathOf(names)) : null);

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A form in the tree. It stays open, with what is typed, whatever happens to the cube.
 *
 * `read()` and `write(values)` are what is typed; `stored()` is what the cube has, or `null` if it was deleted;
 * `check(values)` returns the first wrong control; `save(values, tag, base)` does the work; `describe(values)` is
 * `[[label, text]]` for people; `done(result)` and `leave(isDirty)` close it; `fieldOf(name)` is the field that an
 * error is about. `extra` is shown beside its buttons.
 */
export function panel({
  heading, name, content, action, extra = null, read, write = () => {}, stored, check, save, describe, done, leave,
  fieldOf = () => null,
}) {
  let base = stored();
  let tag = cube.tag;
  let typed = read();
  let isSaving = false;
  let hasUnknownResult = false;
  let compared = null;
  const note = h("div", { role: "status" });
  const problem = h("div", { class: "below wrong", role: "alert" });
  const button = h("button", { class: "button main", type: "submit" }, action);
  const isDirty = () => !same(read(), typed);
  const cancel = () => leave(isDirty());
  const actions = h("div", { class: "actions" }, button,
    h("button", { class: "button", type: "button", onclick: cancel }, t("cancel")), extra);
  const beside = h("div", { class: "beside", hidden: true });
  const bdi = () => h("bdi", null, name());

  async function store() {
    isSaving = true;
    button.setAttribute("aria-disabled", "true");
    problem.textContent = "";
    const mine = read();
    try {
      done(await save(mine, tag, base, hasUnknownResult));
    } catch (error) {
      await explainFailure(error, mine);
    } finally {
      isSaving = false;
      button.removeAttribute("aria-disabled");
    }
  }

  async function explainFailure(error, mine) {
    hasUnknownResult ||= error.isUnanswered;
    if (error.status === 404 || error.status === 412) {
      // What is there now decides. Without an answer, the first error is said.
      const isRead = await refresh().then(() => true, () => false);
      const theirs = isRead ? stored() : base;
      if (isRead && theirs === null) return showGone();
      if (isRead && error.status === 412) {
        tag = cube.tag;
        // Only something else of it was changed, such as the list of those who may send.
        if (same(theirs, base)) { base = theirs; return store(); }
        if (same(theirs, mine)) return done(null);
        return showConflict(theirs, mine);
      }
    }
    const wrong = fieldOf(error.field);
    if (!wrong) problem.textContent = explain(error);
    else { wrong.error(explain(error)); wrong.control.focus(); }
  }

  function showConflict(theirs, mine) {
    const back = () => { beside.hidden = true; form.hidden = false; fill(note); };
    const save = h("button",
      { class: "button main", type: "button", onclick: () => { base = theirs; back(); store(); } },
      t("comparison.saveMine"));
    const isNew = beside.hidden;
    compared = theirs;
    fill(note);
    fill(beside,
      h("p", { class: "notice", role: "alert" }, icon("info"), h("span", null, tn("cube.conflict", { name: bdi() }))),
      comparison(describe(theirs), describe(mine), 4),
      h("div", { class: "actions" }, save,
        h("button", { class: "button", type: "button", onclick: () => leave(false) }, t("comparison.keepTheirs")),
        h("button", { class: "button plain", type: "button",
            onclick: () => { base = theirs; back(); button.focus(); } }, t("cube.editOn"))));
    form.hidden = true;
    beside.hidden = false;
    if (!isNew && document.activeElement !== document.body) return;
    save.focus();
    beside.scrollIntoView({ block: "nearest" });
  }

  function showGone() {
    const isFocusGone = [actions, beside].some((part) => part.contains(document.activeElement));
    form.hidden = false;
    beside.hidden = true;
    actions.hidden = true;
    fill(note, h("div", { class: "notice bad" }, icon("info"),
        h("div", { class: "stack" }, h("p", null, tn("cube.gone", { name: bdi() })),
      h("div", { class: "actions" },
        h("button", { class: "button small", type: "button", onclick: copy }, icon("copy", "small"),
          t("cube.copyMine")),
        h("button", { class: "button plain small", type: "button", onclick: () => leave(false) }, t("close"))))));
    if (isFocusGone) note.querySelector("button").focus();
  }

  async function copy() {
    const text = describe(read()).map(([label, value]) => `${label}: ${value}`).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      toast(t("copied"));
    } catch {
      toast(t("cube.copyFailed"));
    }
  }

  const form = h("form", {
    class: "stack", noValidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      if (isSaving) return;
      const wrong = check(read());
      if (wrong) wrong.focus();
      else store();
    },
  }, content, problem, actions);
  const element = h("section", { class: "cube-panel stack", "aria-label": heading,
    onkeydown: (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || isDirty() || actions.hidden) return;
      event.stopPropagation();
      cancel();
    } }, note, form, beside);
  element.isDirty = isDirty;
  /** Begins again, for another thing, with what `read()` gives now. */
  element.restart = () => {
    [base, tag, typed, hasUnknownResult] = [stored(), cube.tag, read(), false];
    fill(note);
    element.begin();
  };
  element.begin = () => {
    element.scrollIntoView({ block: "nearest" });
    form.querySelector("input, textarea")?.focus({ preventScroll: true });
  };
  element.cubeChanged = () => {
    const now = stored();
    if (isSaving || actions.hidden || same(now, base)) return;
    if (now === null) showGone();
    else if (!beside.hidden) {
      if (same(now, compared)) return;
      tag = cube.tag;
      showConflict(now, read());
    } else if (!isDirty()) {
      write(now);
      [base, tag, typed] = [now, cube.tag, read()];
    } else fill(note, h("p", { class: "notice" }, icon("info"), t("cube.changedMeanwhile")));
  };
  return element;
}
