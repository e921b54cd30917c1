import { explain, get, getAll } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { readCube, subjectsOf } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { beginningOf } from "../lib/payload.js";
import { may, maySendTo } from "../lib/session.js";
import { t } from "../lib/text.js";
import { localOf } from "../lib/time.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { Draft } from "./draft.js";
import { messageForm } from "./form.js";

const main = document.getElementById("main");
const query = new URLSearchParams(location.search);
const cubeRead = readCube();
// The session is waited for first; until then a failure has no reader.
cubeRead.catch(() => {});
const readTemplates = () => getAll("/template?limit=200", "items").catch(() => []);
const templatesRead = readTemplates();
await ready;

const headingOf = (parameters) => t(parameters.has("edit") ? "message.edit.heading" : parameters.has("correction")
  ? "send.correction" : parameters.has("follows") ? "send.followUp" : "send.heading");
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
  fill(place, await sentView(key, { undo, again: () => restart(null), takeBack: (message) => restart(message) }));
  place.querySelector("h1")?.focus();
}

/** Shows the form again; `message` is one that was taken back, whose text is wanted again. */
function restart(message) {
  history.replaceState(null, "", message?.follows ? `/portal/send/?follows=${message.follows}${message.correction
      ? "&correction" : ""}` : "/portal/send/");
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
    const editing = parameters.has("edit") ? await import("./edit.js") : null;
    const edited = await editing?.readEdited(parameters.get("edit"));
    const source = message ?? edited ?? copied ?? (isCorrection ? earlier : null);
    const prepared = source ? textsOf(source)
      : follows && earlier ? { topicKey: earlier.topic_key, title: parameters.has("clear")
          ? allClear(bare(earlier.title)) : "" } : {};
    const draft = edited ? new Draft(edited.follows, prepared, edited.correction,
      editing.placeOf(edited)) : new Draft(follows, prepared, isCorrection);
    draft.edit = edited && new editing.Edit(edited);
    if (draft.isCorrection) draft.collapseKey = (edited ?? earlier)?.options?.collapse_key ?? "";
    draft.refreshTemplate(templates);
    const replacement = Boolean(message ?? (copies && !isCorrection));
    if (replacement) Object.assign(draft, prepared);
    if (message) draft.save();
    const wanted = { subject: parameters.get("subject"), template: parameters.get("template") };
    if (wanted.subject) draft.topicKey = wanted.subject;
    // A link to a subject or a template counts once: a reload shows what was chosen since.
    if (wanted.subject ?? wanted.template) history.replaceState(null, "", location.pathname);
    const subjects = subjectsOf(channels).filter((subject) => maySendTo(subject.key));
    const form = subjects.length && messageForm({
      subjects, templates, draft, earlier, done: edited ? () => draft.edit.leave() : showSent,
      use: templates.find((template) => template._id === wanted.template),
      status: draft.isRestored && !draft.isEmpty && !replacement ? t("send.draft.restored") : "",
    });
    fill(place, form || nothingToSendTo());
    // Somebody who has moved on stays there. A field would open the keyboard of a phone.
    const isAtStart = () => [document.body, main, head.querySelector("h1")].includes(document.activeElement);
    queueMicrotask(() => { if (form && isAtStart() && matchMedia("(hover: hover)").matches) form.begin(); });
  } catch (error) {
    fill(place, h("div", { class: "notice bad", role: "alert" }, icon("info"),
      h("div", { class: "stack" }, h("p", null, explain(error)),
        h("div", null, h("button", { class: "button small", type: "button", onclick: () => showForm(message) },
            t("retry"))))));
  }
}

const bare = (title) => title.replace(/^\[DRILL\] /, "");
const allClear = (title) => (title.startsWith(t("send.allClear.title", { title: "" }))
  ? title : t("send.allClear.title", { title }));
/** The texts as somebody typed them: a text for the pop-up that is made from the message is not typed. */
const textsOf = (message) => ({
  topicKey: message.topic_key, title: bare(message.title), desc: message.desc === beginningOf(message.message)
    ? "" : message.desc, message: message.message, drill: message.drill ?? false,
  image: message.options?.image ?? "", link: message.options?.link ?? "", ttl: message.ttl === undefined
    ? "" : String(message.ttl), template: null, attempt: null,
  ...(message.send_at > hubNow() ? localOf(message.send_at) : { at: "" }),
});

const nothingToSendTo = () => emptyPage({
  name: "send", heading: t("send.empty.heading"), text: t(may("administer") ? "send.empty.admin" : "send.empty.text"),
  action: may("administer") ? h("a", { class: "button main", href: "/portal/cube/" }, t("send.empty.action")) : null,
});

function skeleton() {
  return h("div", { class: "composer", "aria-hidden": "true" }, h("div", { class: "stack" },
    ["44px", "44px", "44px", "128px", "160px"].map((size) => {
      const bone = h("div", { class: "skeleton" });
      bone.style.setProperty("block-size", size);
      return bone;
    })));
}
