import { ApiError, explain, get, getAll, post } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { readCube, subjectsOf, whenCubeChanges } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { beginningOf, payloadBytes, payloadLimit } from "../lib/payload.js";
import { may, maySendTo } from "../lib/session.js";
import { keep, kept } from "../lib/store.js";
import { filled } from "../lib/template.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { field } from "../elements/field.js";
import { currentHealth, meaningOf } from "../elements/health-pill.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { confirmAction } from "../elements/dialogs.js";
import { toast } from "../elements/toast.js";
import { pathOf } from "../elements/tags.js";
import { deliveryRows } from "./delivery.js";
import { Draft } from "./draft.js";
import "./phone-preview.js";
import "./subject-picker.js";

/** Seconds in which an Alert can be taken back. */
const undoSeconds = 10;
const limits = { title: 500, desc: 500, message: 1_500 };
const recentCount = 6;

const main = document.getElementById("main");
const query = new URLSearchParams(location.search);
const cubeRead = readCube();
// The session is waited for first; until then a failure has no reader.
cubeRead.catch(() => {});
const readTemplates = () => getAll("/template?limit=200", "items").catch(() => []);
const templatesRead = readTemplates();
await ready;

const headingOf = (parameters) => t(parameters.has("correction") ? "send.correction" : parameters.has("follows") ? "send.followUp" : "send.heading");
const head = pageHead({ heading: headingOf(query), intro: t("send.intro") });
const place = h("div", null, skeleton());
fill(main, head, place);
if (location.hash.startsWith("#sent=")) showSent(location.hash.slice(6));
else showForm();
main.focus();

async function showSent(key, undo) {
  const { sentView } = await import("./sent.js");
  history.replaceState(null, "", `/portal/send/#sent=${key}`);
  head.remove();
  fill(place, h("div", { class: "sent-head" }, h("health-pill")), await sentView(key, { undo, again: () => restart(null), takeBack: (message) => restart(message) }));
  place.querySelector("h1")?.focus();
}

/** Shows the form again; `message` is one that was taken back, whose text is wanted again. */
function restart(message) {
  history.replaceState(null, "", message?.follows ? `/portal/send/?follows=${message.follows}${message.correction ? "&correction" : ""}` : "/portal/send/");
  head.querySelector("h1").textContent = headingOf(new URLSearchParams(location.search));
  main.prepend(head);
  showForm(message);
  main.querySelector("h1").focus();
}

async function showForm(message) {
  fill(place, skeleton());
  const parameters = new URLSearchParams(location.search);
  const [follows, copies] = [parameters.get("follows"), parameters.get("copy")];
  const isCorrection = Boolean(follows) && parameters.has("correction");
  try {
    const read = (key) => (key ? get(`/message/${key}`).catch(() => null) : null);
    const [{ channels }, templates, earlier, copied] = await Promise.all([
      message ? readCube() : cubeRead.catch(readCube), message ? readTemplates() : templatesRead,
      read(follows), read(copies),
    ]);
    const source = message ?? copied ?? (isCorrection ? earlier : null);
    const prepared = source ? textsOf(source)
      : follows && earlier ? { topicKey: earlier.topic_key, title: parameters.has("clear") ? allClear(bare(earlier.title)) : "" } : {};
    const draft = new Draft(follows, prepared, isCorrection);
    if (isCorrection) draft.collapseKey = earlier?.options?.collapse_key ?? "";
    draft.refreshTemplate(templates);
    const wanted = templates.find((template) => template._id === parameters.get("template"));
    if (wanted) {
      draft.useTemplate(wanted);
      history.replaceState(null, "", location.pathname);
    }
    fill(place, form(subjectsOf(channels).filter((subject) => maySendTo(subject.key)), templates, draft, earlier, Boolean(message ?? (copies && !isCorrection)) && prepared, Boolean(message)));
  } catch (error) {
    fill(place, h("div", { class: "notice bad", role: "alert" }, icon("info"),
      h("div", { class: "stack" }, h("p", null, explain(error)), h("div", null, h("button", { class: "button small", type: "button", onclick: () => showForm(message) }, t("retry"))))));
  }
}

const bare = (title) => title.replace(/^\[DRILL\] /, "");
const allClear = (title) => (title.startsWith(t("send.allClear.title", { title: "" })) ? title : t("send.allClear.title", { title }));
const textsOf = (message) => ({
  topicKey: message.topic_key, title: bare(message.title), desc: message.desc, message: message.message, drill: message.drill ?? false,
  image: message.options?.image ?? "", at: "", template: null, attempt: null,
});

function form(subjects, templates, draft, earlier, replacement, isTakenBack) {
  if (!subjects.length) {
    return emptyPage({
      name: "send", heading: t("send.empty.heading"), text: t(may("administer") ? "send.empty.admin" : "send.empty.text"),
      action: may("administer") ? h("a", { class: "button main", href: "/portal/cube/" }, t("send.empty.action")) : null,
    });
  }
  if (replacement) Object.assign(draft, replacement);
  if (isTakenBack) draft.save();
  // A link to a subject counts once: a reload shows what was chosen since.
  const wanted = new URLSearchParams(location.search).get("subject");
  if (wanted) {
    draft.topicKey = wanted;
    history.replaceState(null, "", location.pathname);
  }
  const find = (key) => subjects.find((subject) => subject.key === key) ?? null;
  const recentKeys = () => kept("recent", []).filter(find);

  const picker = h("subject-picker", { "input-id": "subject", "below-id": "subject-below" });
  const subjectBelow = h("div", { class: "below", id: "subject-below", "aria-live": "polite" });
  const recent = h("div", { class: "chips" });
  const status = h("p", { class: "hint", role: "status" });
  const problem = h("div", { role: "alert" });
  const service = h("div", { role: "status" });
  const preview = h("phone-preview");
  const texts = Object.fromEntries(Object.keys(limits).map((name) => [name, field({
    label: t(`send.${name}`), hint: name === "desc" ? t("send.desc.hint") : "", max: limits[name], type: name === "message" ? "textarea" : "text", value: draft[name],
    attributes: { name, autocomplete: "off" }, oninput: (value) => { draft[name] = value; changed(); },
  })]));
  const meter = h("div", { class: "meter" }, h("span"));
  const bytesText = h("span");
  const templatePart = h("div", { class: "template-part" });
  const sendButton = h("button", { class: "button main", type: "submit" });
  const laterButton = h("button", { class: "button", type: "button", onclick: () => (draft.at ? delivery.sendNow() : delivery.schedule()) });
  const discardButton = h("button", { class: "button plain", type: "button", hidden: true, onclick: discard }, icon("trash", "small"), t("send.discard"));
  const previewButton = h("button", { class: "button preview-button", type: "button", "aria-expanded": "false", onclick: () => {
    const isShown = aside.classList.toggle("shown");
    previewButton.setAttribute("aria-expanded", String(isShown));
    if (isShown) aside.scrollIntoView({ block: "nearest" });
  } }, icon("phone", "small"), t("send.preview"));
  const aside = h("aside", { class: "preview", "aria-label": t("send.preview") }, preview);
  const delivery = deliveryRows(draft, () => changed());

  const subject = () => picker.value;
  const written = () => (draft.template ? filled(draft.template, draft.values) : draft);

  function changed() {
    const isKept = draft.save();
    status.textContent = draft.isEmpty ? "" : isKept ? t("send.draft.kept") : t("send.draft.notKept");
    show();
  }

  function show() {
    const distribution = subject()?.subject.opt.distribution;
    const isAlert = distribution === "Alert";
    const { title, desc, message } = written();
    const content = { title: title.trim(), desc: desc.trim(), message: message.trim(), distribution: distribution ?? "Alert", image: isAlert ? draft.image : "", drill: draft.drill };
    for (const name of Object.keys(limits)) texts[name].hidden = Boolean(draft.template) || (name === "desc" && !isAlert);
    if (distribution && !isAlert) content.desc = "";
    else if (!draft.template && !content.desc) content.desc = beginningOf(content.message);
    const { data, popup } = payloadBytes(content);
    const bytes = Math.max(data, popup);
    meter.firstChild.style.setProperty("inline-size", `${Math.min(100, (bytes / payloadLimit) * 100)}%`);
    meter.classList.toggle("over", bytes > payloadLimit);
    bytesText.textContent = popup > payloadLimit ? t("send.bytes.cut") : data > payloadLimit ? t("send.bytes.over") : t("send.bytes", { bytes, limit: payloadLimit });
    preview.message = { ...content, distribution, path: subject()?.path };
    delivery.show(distribution);
    fill(sendButton, icon("send", "small"), t(draft.isCorrection ? "send.action.correction" : draft.at ? (isAlert ? "send.action.scheduleAlert" : "send.action.schedule") : isAlert ? "send.action.alert" : subject()?.subject.approval ? "send.action.approval" : "send.action"));
    discardButton.hidden = draft.isEmpty;
    laterButton.textContent = t(draft.at ? "send.now" : "send.schedule");
    subjectBelow.classList.contains("wrong") || fill(subjectBelow, subject()?.subject.approval ? t("send.approval.hint") : "");
    const chips = recentKeys().filter((key) => key !== subject()?.key).slice(0, 3).map((key) =>
      h("button", { class: "chip", type: "button", onclick: () => choose(find(key)) }, pathOf(find(key).path.slice(1))));
    fill(recent, chips.length ? h("span", { class: "hint" }, t("send.recent")) : null, chips,
      h("button", { class: "chip", type: "button", onclick: async () => {
        const { browse } = await import("./browse.js");
        const chosen = await browse(subjects, subject());
        if (chosen) choose(chosen);
      } }, t("send.browse")));
  }

  function choose(chosen) {
    picker.value = chosen;
    wrongSubject("");
    draft.topicKey = chosen?.key ?? "";
    changed();
  }

  function wrongSubject(text) {
    subjectBelow.classList.toggle("wrong", Boolean(text));
    picker.input?.setAttribute("aria-invalid", String(Boolean(text)));
    fill(subjectBelow, text);
  }

  let blanks = {};
  function useTemplate(template) {
    draft.useTemplate(template);
    showTemplate();
    changed();
    (Object.values(blanks)[0]?.control ?? (subject() ? sendButton : picker)).focus();
  }

  /** Empties the form; what was written can be had back. */
  function discard() {
    const before = draft.copy();
    draft.forget();
    showAgain();
    toast(t("send.discarded"), { action: { label: t("undo"), run: () => { draft.restore(before); showAgain(); } } });
    texts.title.control.focus();
  }

  function showAgain() {
    for (const name of Object.keys(limits)) texts[name].value = draft[name];
    picker.value = find(draft.topicKey);
    showTemplate();
    changed();
  }

  /** The text of a template is written by hand from now on. */
  function writeFreely() {
    Object.assign(draft, filled(draft.template, draft.values), { template: null });
    for (const name of Object.keys(limits)) texts[name].value = draft[name];
    showTemplate();
    changed();
    texts.title.control.focus();
  }

  function showTemplate() {
    const urgent = templates.filter((template) => template.urgent).slice(0, 4);
    const pick = async () => {
      const { chooseTemplate } = await import("./template-dialog.js");
      const template = await chooseTemplate(templates);
      if (template) useTemplate(template);
    };
    blanks = Object.fromEntries(Object.keys(draft.template ? draft.values : {}).map((name) => [name, field({
      label: name.replaceAll(/[_-]/g, " "), value: draft.values[name], oninput: (value) => { draft.values[name] = value; changed(); },
    })]));
    fill(templatePart, draft.template
      ? h("section", { class: "panel used-template", "aria-label": t("send.template") },
        h("div", { class: "used-head" }, h("h2", null, icon("template"), h("bdi", null, draft.template.name)),
          h("div", { class: "actions" }, h("button", { class: "button small", type: "button", onclick: writeFreely }, t("send.template.write")),
            h("button", { class: "button small plain", type: "button", onclick: () => { draft.template = null; draft.values = {}; showTemplate(); changed(); } }, t("send.template.drop")))),
        Object.values(blanks).length ? Object.values(blanks) : h("p", { class: "secondary" }, t("send.template.complete")))
      : h("div", { class: "chips" }, h("span", { class: "hint" }, t("send.template.row")),
        urgent.map((template) => h("button", { class: "chip", type: "button", onclick: () => useTemplate(template) }, icon("template", "small"), h("bdi", null, template.name))),
        h("button", { class: "chip", type: "button", onclick: pick }, t("send.template.all"))));
  }

  /** Shows what is missing, and moves to the first of it. */
  function isComplete() {
    let first = null;
    const wrong = (element, text) => { element.error(text); first ??= element.control; };
    wrongSubject(subject() ? "" : t("send.subject.missing"));
    show();
    if (!subject()) first = picker;
    const isAlert = subject()?.subject.opt.distribution === "Alert";
    if (draft.template) {
      for (const [name, part] of Object.entries(blanks)) if (!part.value.trim()) wrong(part, t("field.missing"));
    } else {
      for (const [name, part] of Object.entries(texts)) {
        if (name === "desc" && !isAlert) continue;
        if (name === "desc" && texts.message.value.trim()) continue;
        if (!part.value.trim()) wrong(part, t("field.missing"));
        else if (part.isTooLong()) wrong(part, t("field.tooLong", { max: limits[name] }));
      }
    }
    first?.focus();
    return !first && delivery.isComplete(isAlert);
  }

  async function confirmed() {
    const { opt, approval } = subject().subject;
    const isAlert = opt.distribution === "Alert";
    // A correction goes to those who have the wrong text, and can be taken back.
    if (draft.isCorrection || (!isAlert && !draft.drill)) return true;
    const isUrgent = draft.template?.urgent;
    const health = meaningOf(currentHealth());
    return await confirmAction({
      heading: t(draft.drill ? "send.confirm.drill" : draft.at ? "send.confirm.later" : "send.confirm.heading"),
      content: [
        h("p", { class: "confirm-path" }, pathOf(subject().path)),
        h("p", { dir: "auto" }, h("strong", null, draft.drill ? "[DRILL] " : "", written().title)),
        h("p", null, t(isAlert ? `send.confirm.level.${opt.level || "Chosen"}` : "send.confirm.silent"),
          " ", approval ? t("send.confirm.approval") : draft.at ? t("send.confirm.at", { time: formatMoment(draft.time) }) : undo() ? t("send.confirm.undo", { count: undoSeconds }) : t(isUrgent ? "send.confirm.urgent" : "send.confirm.atOnce")),
        isUrgent ? h("p", { class: "notice" }, icon("alert"), h("span", null, t("send.confirm.secondWay"))) : null,
        // The sender must know that the Alert will wait.
        isAlert && health.tone === "warn" && health.waits ? h("p", { class: "notice alert" }, icon("alert"), h("span", null, t("send.confirm.outage", { what: health.text }))) : null,
      ],
      action: t(draft.at ? "send.confirm.scheduleAction" : isAlert ? "send.confirm.action" : "send.action"),
    });
  }

  /** The hub fills the template as it is now; what the preview shows must be that. Notes its revision, so that the hub refuses another. */
  let templateRevision;
  async function templateHasChanged() {
    templateRevision = undefined;
    if (!draft.template) return false;
    const read = await get(`/template/${draft.template._id}`, { timeout: 3_000, whole: true }).catch(() => null);
    const present = read?.document ?? draft.template;
    if (Object.keys(limits).every((name) => present[name] === draft.template[name])) {
      templateRevision = Number(/\d+/.exec(read?.headers.get("ETag") ?? "")?.[0]);
      return false;
    }
    useTemplate(present);
    fill(problem, h("div", { class: "notice" }, icon("info"), h("p", null, t("send.template.changed"))));
    return true;
  }

  const undo = () =>
    subject().subject.opt.distribution === "Alert" && !draft.template?.urgent && !subject().subject.approval && !draft.at && kept("settings", {}).undo !== false ? undoSeconds : 0;

  let isSending = false;
  async function submit(event) {
    event.preventDefault();
    if (isSending || !isComplete()) return;
    isSending = true;
    fill(problem);
    try {
      if (await templateHasChanged()) return;
      if (!(await confirmed())) return;
      sendButton.setAttribute("aria-disabled", "true");
      status.textContent = t("send.sending");
      let body;
      const posted = () => {
        body = draft.body(subject(), undo(), templateRevision);
        return post("/message", body, { headers: { "Idempotency-Key": draft.keyFor(body) } });
      };
      const answer = await posted().catch(async (error) => {
        if (error.field !== "template_revision" || (await templateHasChanged())) throw error;
        // Only what is not sent has changed, such as the template's name.
        return await posted();
      });
      keep("recent", [body.topic_key, ...recentKeys().filter((key) => key !== body.topic_key)].slice(0, recentCount));
      const { follows } = draft;
      draft.forget();
      endings.forEach((end) => end());
      await showSent(answer.msi_key, { until: body.delay ? hubNow() + body.delay * 1_000 : 0, follows });
    } catch (error) {
      status.textContent = t("send.draft.kept");
      // The notice about a changed template says more.
      if (error.field !== "template_revision" || !problem.hasChildNodes()) showProblem(error);
    } finally {
      isSending = false;
      sendButton.removeAttribute("aria-disabled");
    }
  }

  function showProblem(error) {
    const name = error.field ?? "";
    const blank = name.startsWith("values.") ? blanks[name.slice(7)] : null;
    const part = blank ?? (draft.template ? null : texts[name]);
    if (part) {
      part.error(explain(error));
      part.control.focus();
    } else if (name === "topic_key" || name === "distribution" || (error.status === 403 && error.kind === "forbidden")) {
      wrongSubject(t(name === "distribution" ? "send.subject.changed" : "send.subject.refused"));
      refreshCube();
      picker.focus();
    } else if (!delivery.error(name, error)) {
      fill(problem, h("div", { class: "notice bad" }, icon("info"), h("p", null, explain(error), " ",
        error instanceof ApiError && error.isUnanswered ? t("send.unanswered") : "")));
      problem.scrollIntoView({ block: "nearest" });
    }
  }

  async function refreshCube() {
    try {
      const { channels } = await readCube();
      subjects = subjectsOf(channels).filter((each) => maySendTo(each.key));
    } catch {
      return;
    }
    const before = subject();
    picker.subjects = subjects;
    if (!before) return;
    const now = find(before.key);
    if (document.activeElement !== picker.input) picker.value = now;
    if (!now) wrongSubject(t("send.subject.gone", { subject: before.path.join(" › ") }));
    else if (now.subject.opt.distribution !== before.subject.opt.distribution) wrongSubject(t("send.subject.changed"));
    show();
  }

  // A correction stays in its subject, and needs no template.
  const isFixed = draft.isCorrection && Boolean(find(draft.topicKey));
  templatePart.hidden = draft.isCorrection;
  const element = h("div", { class: "composer" },
    h("form", { noValidate: true, onsubmit: submit },
      service,
      earlier ? h("div", { class: "notice" }, icon(draft.isCorrection ? "edit" : "reply"), h("p", null, t(draft.isCorrection ? "send.corrects" : "send.follows"), " ", h("a", { href: `/portal/message/?key=${earlier.msi_key}` }, h("bdi", null, earlier.title)), " · ", formatMoment(earlier.timestamp), draft.isCorrection ? [h("br"), h("span", { class: "secondary" }, t("send.corrects.hint"))] : null)) : null,
      h("div", { class: "field", hidden: isFixed }, h("label", { htmlFor: "subject" }, t("send.subject")), h("div", { class: "control" }, picker), subjectBelow, h("div", { class: "control" }, recent)),
      templatePart, texts.title, texts.desc, texts.message,
      h("div", { class: "budget" }, meter, h("p", { class: "hint" }, bytesText)),
      delivery, problem,
      h("div", { class: "actions main-actions" }, sendButton, laterButton, previewButton, discardButton, status)),
    aside);

  const endings = [
    whenCubeChanges(refreshCube),
    listen("reset", refreshCube),
  ];
  const tellHealth = ({ detail }) => {
    const meaning = meaningOf(detail);
    fill(service, meaning.tone === "bad" ? h("div", { class: "notice bad" }, icon("info"), h("p", null, meaning.text, ". ", t("send.away"))) : null);
  };
  document.addEventListener("hub-health", tellHealth);
  endings.push(() => document.removeEventListener("hub-health", tellHealth));

  // The elements are alive only in the page.
  queueMicrotask(() => {
    picker.subjects = subjects;
    picker.recent = recentKeys();
    picker.value = find(draft.topicKey);
    picker.addEventListener("hub-choose", ({ detail }) => choose(detail));
    showTemplate();
    show();
    if (draft.isRestored && !draft.isEmpty && !replacement) status.textContent = t("send.draft.restored");
  });
  return element;
}

function skeleton() {
  return h("div", { class: "composer", "aria-hidden": "true" }, h("div", { class: "stack" },
    ["44px", "44px", "44px", "128px", "160px"].map((size) => { const bone = h("div", { class: "skeleton" }); bone.style.setProperty("block-size", size); return bone; })));
}
