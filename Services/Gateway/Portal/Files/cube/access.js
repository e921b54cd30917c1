import { fill, h, newIdentifier } from "../lib/dom.js";
import { getAll, put } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { t, tn } from "../lib/text.js";
import { choice, field } from "../elements/field.js";
import { change } from "./change.js";
import { cube, lineOf, namesOf } from "./model.js";
import { panel, panelHead } from "./panel.js";
import { listNames } from "./row.js";

const mostSuggestions = 6;
const isName = (text) => /^[A-Za-z0-9._@-]{1,64}$/.test(text);

/** The form that says who may send to a thing, and whether a second person approves the messages of a subject. */
export function accessPanel({ thing, done, leave }) {
  const isSubject = thing.kind === "subject";
  const storedValues = ({ data }) =>
    ({ access: data.access ?? [], ...(isSubject ? { approval: data.approval === true } : {}) });
  let names = [...storedValues(thing).access];
  let accounts = [];
  let chosen = -1;
  const chips = h("ul", { class: "plain chips" });
  const meaning = h("p", { class: "secondary", role: "status" });
  const listID = newIdentifier("suggestions");
  const suggestions = h("ul", { class: "plain suggestions", id: listID, role: "listbox",
      "aria-label": t("cube.suggestions"), hidden: true });
  const input = field({
    label: t("cube.account"), hint: t("cube.account.hint"), oninput: () => { chosen = -1; suggest(); },
    attributes: { dir: "ltr", role: "combobox", "aria-controls": listID, "aria-autocomplete": "list", spellcheck: false,
      autocapitalize: "none" },
  });
  const approval = isSubject
    ? choice({ label: h("b", null, t("cube.approval")), hint: t("cube.approval.means"),
      checked: thing.data.approval === true }) : null;

  const above = () => lineOf(cube.things.get(thing.id)?.parent).filter((part) => part.data.access?.length);
  const inherited = h("div", { class: "stack inherited-lists" });
  const has = (name) => names.some((each) => each.toLowerCase() === name.toLowerCase());

  function show() {
    fill(chips, names.map((name) => h("li", { class: "chip" }, icon("account", "small"), h("bdi", null, name),
      h("button", { class: "remove", type: "button", "aria-label": t("cube.removeName", { name }),
          onclick: () => { removeName(name); } }, icon("cross", "small")))));
    chips.hidden = !names.length;
    fill(inherited, above()
      .map((part) => h("p", { class: "hint" },
          tn(`cube.named.${part.kind}`,
          { names: h("b", null, listNames(part.data.access, 8)), name: h("bdi", null, part.data.name) }))));
    const all = [...new Set([...above().flatMap((part) => part.data.access), ...names])];
    meaning.textContent = all.length ? t("cube.maySend", { names: listNames(all, 8) }) : t("cube.everyoneMaySend");
  }

  function removeName(name) {
    const index = names.indexOf(name);
    names = names.filter((each) => each !== name);
    show();
    (chips.children[Math.min(index, names.length - 1)]?.querySelector("button") ?? input.control).focus();
  }

  function addName(name) {
    if (!name) return;
    if (!isName(name)) return input.error(t("cube.account.wrong"));
    if (!has(name)) names.push(name);
    input.value = "";
    input.error("");
    show();
    suggest();
    input.control.focus();
  }

  function suggest(isAsked = false) {
    const typed = input.value.trim().toLowerCase();
    const fitting = accounts.filter((name) => name.toLowerCase().includes(typed) && !has(name))
      .slice(0, mostSuggestions);
    const isShown = (typed || isAsked) && fitting.length > 0 && document.activeElement === input.control;
    suggestions.hidden = !isShown;
    input.control.setAttribute("aria-expanded", String(Boolean(isShown)));
    fill(suggestions, fitting.map((name, index) => h("li", {
      id: `${listID}-${index}`, role: "option", "aria-selected": String(index === chosen),
      // The field keeps the focus.
      onpointerdown: (event) => { event.preventDefault(); addName(name); },
    }, icon("account", "small"), h("bdi", null, name))));
    if (chosen >= 0) input.control.setAttribute("aria-activedescendant", `${listID}-${chosen}`);
    else input.control.removeAttribute("aria-activedescendant");
  }

  input.control.addEventListener("click", () => suggest(true));
  input.control.addEventListener("blur",
    () => { suggestions.hidden = true; input.control.setAttribute("aria-expanded", "false"); });
  input.control.addEventListener("keydown", (event) => {
    const count = suggestions.hidden ? 0 : suggestions.children.length;
    if (event.key === "Escape" && count) {
      suggestions.hidden = true;
      event.preventDefault();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count) {
      event.preventDefault();
      chosen = event.key === "ArrowDown" ? (chosen + 1) % count : (Math.max(chosen, 0) + count - 1) % count;
      suggest(true);
    } else if (event.key === "ArrowDown") {
      suggest(true);
    } else if (event.key === "Enter" && (input.value.trim() || chosen >= 0)) {
      event.preventDefault();
      const name = chosen >= 0 ? suggestions.children[chosen].textContent : input.value.trim();
      chosen = -1;
      addName(name);
    }
  });
  // Without suggestions, names can be typed.
  getAll("/account?limit=200", "accounts").then((all) => {
    accounts = all.filter((each) => each.role === "communicator" && !each.disabled).map((each) => each.account);
    suggest();
  }, () => {});
  show();

  return panel({
    heading: t("cube.accessNamed", { name: thing.data.name }),
    name: () => thing.data.name,
    content: [
      panelHead(tn("cube.accessNamed", { name: h("bdi", null, thing.data.name) }), namesOf(thing.parent)),
      h("div", { class: "stack" }, meaning, h("p", { class: "hint" }, t("cube.access.reading")), inherited, chips,
        h("div", { class: "name-entry" }, input, suggestions)), approval,
    ],
    action: t("save"),
    read: () => ({ access: names, ...(approval ? { approval: approval.control.checked } : {}) }),
    write: (values) => {
      const hadFocus = chips.contains(document.activeElement);
      names = [...values.access];
      if (approval) approval.control.checked = values.approval;
      show();
      if (hadFocus) input.control.focus();
    },
    stored: () => (cube.things.has(thing.id) ? storedValues(cube.things.get(thing.id)) : null),
    check: () => {
      // A name that was typed, but not added, is meant as well.
      if (input.value.trim()) addName(input.value.trim());
      return input.value.trim() ? input.control : null;
    },
    save: (values, tag, base) => change(async () => {
      let now = tag;
      const path = (cube.things.get(thing.id) ?? thing).ids.join("/");
      if (values.access.join() !== base.access.join()) {
        const answer = await put(`/access/${path}`, { access: values.access },
          { headers: { "If-Match": now }, whole: true });
        now = answer.headers.get("ETag") ?? "*";
        base.access = [...values.access];
      }
      if (approval && values.approval !== base.approval) {
        await put(`/approval/${path}`, { approval: values.approval }, { headers: { "If-Match": now } });
      }
    }),
    describe: (values) => [[t("cube.access"), values.access.join(", ") || t("cube.nobody")],
      ...(approval ? [[t("cube.approval"), t(values.approval ? "cube.yes" : "cube.no")]] : [])],
    done, leave,
    fieldOf: (wrong) => (wrong?.startsWith("access") ? input : null),
  });
}
