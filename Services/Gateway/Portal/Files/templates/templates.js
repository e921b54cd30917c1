import { ApiError, explain, get, getAll, post, put, remove } from "../lib/api.js";
import { readCube, subjectsOf } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { keep, kept } from "../lib/store.js";
import { badBlankIn, blanksOf, piecesOf } from "../lib/template.js";
import { t } from "../lib/text.js";
import { confirmAction } from "../elements/dialogs.js";
import { comparison } from "../elements/comparison.js";
import { choice, field } from "../elements/field.js";
import { currentHealth, readHealth, waysOf } from "../elements/health-pill.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { distributionTag, pathOf } from "../elements/tags.js";
import { toast } from "../elements/toast.js";
import { subjectField } from "./subject-field.js";

const limits = { name: 200, title: 500, desc: 500, message: 1_500 };
const names = Object.keys(limits);

const main = document.getElementById("main");
const read = getAll("/template?limit=200", "items");
read.catch(() => {});
/** The subjects of the cube; `null` if they could not be read. */
const subjectsRead = readCube().then(({ channels }) => subjectsOf(channels)).catch(() => null);
await ready;

const add = h("button", { class: "button main", type: "button", onclick: () => edit(null) }, icon("plus", "small"),
  t("templates.add"));
const list = h("div", { class: "template-cards" }, [1, 2, 3].map(() => h("div", { class: "skeleton card-bone" })));
const editor = h("div");
fill(main, pageHead({ heading: t("templates.heading"), intro: t("templates.intro"), action: add }), editor, list);
main.focus();

let templates = [];
let subjects = null;
let open = null;
await load(read);
const draft = kept("template-draft");
if (draft) edit(templates.find((template) => template._id === draft._id) ?? null, draft);

async function load(reading = getAll("/template?limit=200", "items")) {
  try {
    [templates, subjects] = await Promise.all([reading, subjectsRead]);
    show();
  } catch (error) {
    fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
      h("button", { class: "button small", type: "button", onclick: () => load() }, t("retry"))));
  }
}

function mayChange(template) {
  return !template?.urgent || may("administer");
}

/** To the page that can send, with the template chosen. */
function useLink(template) {
  return h("a", { class: "button small", href: `/portal/send/?template=${template._id}` }, icon("send", "small"),
    t("templates.use"), h("span", { class: "unseen" }, " ", template.name));
}

/** What an urgent template needs, since no way to phones is meant for emergencies, and which second ways are set up. */
function secondWay() {
  const words = h("span");
  const say = () => {
    const ways = waysOf(currentHealth());
    fill(words, t(ways === "google" ? "templates.secondWay" : `templates.secondWay.${ways}`), " ",
      t("templates.secondWay.none"));
  };
  say();
  if (currentHealth() === undefined) readHealth().then(say);
  return h("p", { class: "notice" }, icon("alert"), words);
}

/** The subject of a template in words. Without the cube nothing is said. */
function subjectOf(topicKey) {
  const found = subjects?.find((subject) => subject.key === topicKey);
  if (!topicKey || (!found && !subjects)) return null;
  return found ? [pathOf(found.path), " ", distributionTag(found.subject.opt.distribution)]
    : [icon("info", "small"), " ", t("templates.subject.gone")];
}

function marked(text) {
  return piecesOf(text).map((piece) => (piece.blank ? h("mark", null, piece.blank) : piece.text));
}

function show(changedID) {
  const sorted = [...templates].sort((a, b) => Number(b.urgent) - Number(a.urgent) || a.name.localeCompare(b.name));
  if (!sorted.length) {
    fill(list, open ? null : emptyPage({ name: "template", heading: t("templates.empty.heading"),
          text: t("templates.empty.text"),
      action: h("button", { class: "button", type: "button", onclick: () => edit(null) },
        t("templates.empty.action")) }));
    return;
  }
  fill(list, sorted.map((template) =>
      h("article", { class: "panel template-card", id: `t-${template._id}`, tabIndex: -1,
        "aria-labelledby": `n-${template._id}` },
    h("header", null, h("h2", { id: `n-${template._id}` }, h("bdi", null, template.name)),
      template.urgent ? h("span", { class: "tag" }, icon("clock", "small"), t("templates.urgent")) : null),
    h("div", { class: "template-text" }, h("p", { class: "title", dir: "auto" }, marked(template.title)),
      template.desc ? h("p", { class: "secondary", dir: "auto" }, marked(template.desc)) : null,
      h("p", { class: "body", dir: "auto" }, marked(template.message))),
    template.topic_key ? h("p", { class: "hint template-subject" }, subjectOf(template.topic_key)) : null,
    template.urgent ? secondWay() : null,
    mayChange(template)
      ? h("div", { class: "actions" }, useLink(template),
        h("button", { class: "button small plain", type: "button", onclick: () => edit(template) },
          icon("edit", "small"), t("templates.edit"), h("span", { class: "unseen" }, " ", template.name)),
        h("button", { class: "button small plain", type: "button", onclick: () => removeTemplate(template) },
          icon("trash", "small"), t("templates.delete"), h("span", { class: "unseen" }, " ", template.name)))
      : [h("div", { class: "actions" }, useLink(template)), h("p", { class: "hint" }, t("templates.locked"))])));
  const changed = changedID && document.getElementById(`t-${changedID}`);
  if (changed) {
    changed.classList.add("changed");
    changed.scrollIntoView({ block: "nearest" });
    changed.focus();
  }
}

/** Opens the editor, for a new template or an existing one. This page cannot send. */
async function edit(template, restored) {
  let tag = null;
  if (template) {
    try {
      const answer = await get(`/template/${template._id}`, { whole: true });
      // A kept draft was begun from an earlier version, perhaps: the hub compares.
      tag = restored?.tag ?? answer.headers.get("ETag");
      template = answer.document;
    } catch (error) {
      toast(explain(error));
      return;
    }
  }
  open = template?._id ?? "new";
  const value = { ...(template ?? { name: "", title: "", desc: "", message: "", urgent: false }), ...restored };
  const example = h("div", { class: "template-text" });
  const blanks = h("p", { class: "hint", "aria-live": "polite" });
  const problem = h("div", { role: "alert" });
  const fields = Object.fromEntries(names.map((name) => [name, field({
    label: t(`templates.${name}`), hint: t(`templates.${name}.hint`), max: limits[name], type: name === "message"
      ? "textarea" : "text", value: value[name],
    oninput: changed,
  })]));
  const urgent = may("administer")
    ? choice({ label: t("templates.urgent"), hint: t("templates.urgent.hint"), checked: value.urgent,
      onchange: changed }) : null;
  const needsSecondWay = secondWay();
  const subject = subjectField({ subjects, value: value.topic_key, onchange: changed });
  const written = () => ({
    ...Object.fromEntries(names.map((name) => [name, fields[name].value.trim()])),
    ...(urgent ? { urgent: urgent.control.checked } : {}),
    ...(subject.value ? { topic_key: subject.value } : {}),
  });
  function changed() {
    keep("template-draft", { topic_key: null, ...written(), _id: template?._id, tag });
    // A comparison shows what was typed before; the next attempt to save makes a new one.
    if (save.hidden) { fill(problem); save.hidden = false; }
    showExample();
  }
  function showExample() {
    const text = written();
    needsSecondWay.hidden = !text.urgent;
    fill(example, h("p", { class: "title", dir: "auto" }, marked(text.title || t("templates.title"))),
      text.desc ? h("p", { class: "secondary", dir: "auto" }, marked(text.desc)) : null,
      h("p", { class: "body", dir: "auto" }, marked(text.message || t("templates.message"))));
    const found = blanksOf(text);
    blanks.textContent = found.length
      ? t("templates.blanks", { count: found.length, names: found.join(", ") }) : t("templates.noBlanks");
  }
  function close() {
    keep("template-draft", null);
    open = null;
    fill(editor);
    add.hidden = false;
  }

  const save = h("button", { class: "button main", type: "submit" }, t(template ? "save" : "templates.create"));
  async function submit(event) {
    event?.preventDefault();
    if (save.disabled) return;
    fill(problem);
    const text = written();
    const badBlank = names.find((name) => badBlankIn(text[name]) !== null);
    if (badBlank) {
      fields[badBlank].error(t("templates.badBlank", { blank: badBlankIn(text[badBlank]) }));
      fields[badBlank].control.focus();
      return;
    }
    const wrong = names.find((name) => (name !== "desc" && !text[name]) || fields[name].isTooLong());
    if (wrong) {
      fields[wrong].error(text[wrong] ? t("field.tooLong", { max: limits[wrong] }) : t("field.missing"));
      fields[wrong].control.focus();
      return;
    }
    save.disabled = true;
    try {
      const saved = template ? await put(`/template/${template._id}`, text, { headers: tag ? { "If-Match": tag } : {} })
        : await post("/template", text);
      close();
      toast(t(template ? "templates.saved" : "templates.added", { name: saved.name }));
      templates = [...templates.filter((each) => each._id !== saved._id), saved];
      show(saved._id);
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await showConflict();
      else if (error.status === 409) { fields.name.error(t("templates.taken")); fields.name.control.focus(); }
      else if (error.field === "topic_key") subject.error(t("templates.subject.refused"));
      else if (fields[error.field]) { fields[error.field].error(explain(error)); fields[error.field].control.focus(); }
      else fill(problem, h("div", { class: "notice bad" }, icon("info"), h("p", null, explain(error))));
    } finally {
      save.disabled = false;
    }
  }

  /** Somebody else has changed it: both versions are shown, and one is chosen. */
  async function showConflict() {
    const answer = await get(`/template/${template._id}`, { whole: true });
    const theirs = answer.document;
    const pathTo = (key) => subjects?.find((each) => each.key === key)?.path.join(" › ") ??
      (key ? t("templates.subject.gone") : "");
    const lines = (text) => [...names.map((name) => [t(`templates.${name}`), text[name]]),
      [t("templates.subject"), pathTo(text.topic_key)]];
    const keepMine = h("button",
      { class: "button main", type: "button", onclick: () => { tag = answer.headers.get("ETag"); submit(); } },
      t("comparison.saveMine"));
    save.hidden = true;
    fill(problem, h("div", { class: "stack" },
        h("p", { class: "notice" }, icon("info"), h("span", null, t("templates.conflict"))),
        comparison(lines(theirs), lines(written())),
      h("div", { class: "actions" }, keepMine,
        h("button", { class: "button", type: "button", onclick: () => { close(); load(); } },
          t("comparison.keepTheirs")))));
    keepMine.focus();
  }

  fill(editor, h("section", { class: "panel template-editor", "aria-labelledby": "editor-heading" },
    h("form", { class: "stack", noValidate: true, onsubmit: submit },
      h("h2", { id: "editor-heading" },
        t(template ? "templates.editing" : "templates.adding", { name: template?.name ?? "" })),
      fields.name, subject, fields.title, fields.desc, fields.message, blanks, urgent, needsSecondWay, problem,
      h("div", { class: "actions" }, save,
        h("button", { class: "button", type: "button", onclick: () => { close(); show(template?._id); } },
          t("cancel")))),
    h("aside", { "aria-label": t("templates.example") }, h("p", { class: "hint" }, t("templates.example")), example)));
  add.hidden = true;
  if (!templates.length) show();
  showExample();
  fields.name.control.focus();
  editor.scrollIntoView({ block: "start" });
}

async function removeTemplate(template) {
  const isSure = await confirmAction({
    heading: t("templates.delete.heading", { name: template.name }), content: h("p", null, t("templates.delete.text")),
    action: t("templates.delete"), isDanger: true,
  });
  if (!isSure) return;
  try {
    await remove(`/template/${template._id}`);
  } catch (error) {
    if (error.status !== 404) {
      toast(explain(error));
      return;
    }
  }
  templates = templates.filter((each) => each._id !== template._id);
  show();
  main.querySelector("h1").focus();
  const { name, title, desc, message, urgent, topic_key: topicKey } = template;
  toast(t("templates.deleted", { name }), { action: { label: t("undo"), run: async () => {
    try {
      const saved = await post("/template", {
        name, title, desc, message, ...(urgent ? { urgent } : {}),
        ...(subjects?.some((each) => each.key === topicKey) ? { topic_key: topicKey } : {}),
      });
      templates.push(saved);
      show(saved._id);
    } catch (error) {
      toast(explain(error));
    }
  } } });
}
