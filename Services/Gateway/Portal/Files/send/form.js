import { ApiError, explain, get, post } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { whenCubeChanges } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { keep, kept } from "../lib/store.js";
import { filled } from "../lib/template.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { previewButton, sendButton, sendByKeys } from "../elements/composer.js";
import { field } from "../elements/field.js";
import { toast } from "../elements/toast.js";
import { payloadBudget } from "./budget.js";
import { deliveryRows } from "./delivery.js";
import { actionOf, askBeforeSending, mustAsk, needsApproval } from "./question.js";
import { serviceNotice, slowNotice } from "./service-notice.js";
import { subjectPart } from "./subject-part.js";
import { templatePart } from "./template-part.js";
import "./phone-preview.js";

/** The seconds in which a message can be taken back, and the milliseconds for which sending waits for the reach. */
const [undoSeconds, reachTimeout] = [10, 1_500];
const limits = { title: 500, desc: 500, message: 1_500 };
const recentCount = 6;

/**
 * The form for a message, beside the phone that shows it. `draft` is changed in place; `earlier` is the message that it
 * follows or corrects. `use` is a template to begin with, and `status` what is said at first. `done` is called with the
 * key of the stored message and the end of the seconds to undo.
 */
export function messageForm({ subjects, templates, draft, earlier, use, status: firstStatus, done }) {
  const status = h("p", { class: "hint", role: "status" }, firstStatus);
  const problem = h("div", { role: "alert" });
  const place = subjectPart({ subjects, draft, changed: () => changed(), show: () => show(), moveOn,
    refuse: (text) => (text ? refuse(text) : fill(problem)) });
  const service = serviceNotice();
  const preview = h("phone-preview");
  const aside = h("aside", { class: "preview", "aria-label": t("send.preview") }, preview);
  const texts = Object.fromEntries(Object.keys(limits).map((name) => [name, field({
    label: t(`send.${name}`), hint: name === "desc" ? t("send.desc.hint") : "", max: limits[name],
    type: name === "message" ? "textarea" : "text", value: draft[name],
    attributes: { name, autocomplete: "off", ...(name === "message" ? {} : { enterKeyHint: "next" }) },
    oninput: (value) => { draft[name] = value; changed(); },
  })]));
  const budget = payloadBudget();
  const template = templatePart({ draft, templates, use: useTemplate, write: writeFreely,
      changed: () => changed(), drop: () => {
    Object.assign(draft, { template: null, values: {} });
    showAgain();
    template.querySelector(".chip").focus();
  } });
  const main = sendButton(submit);
  const laterButton = h("button",
    { class: "button", type: "button",
      onclick: () => { if (!isSending) (draft.at ? sendNow : delivery.schedule)(); } });
  const discardButton = h("button", { class: "button plain discard", type: "button", hidden: true, onclick: discard },
    icon("trash", "small"), t("send.discard"));
  const urgency = h("p", { class: "hint urgency", hidden: true }, icon("clock", "small"), t("send.urgent"));
  const delivery = deliveryRows(draft, () => changed());

  const subject = () => place.chosen;
  const isAlert = () => subject()?.subject.opt.distribution === "Alert";

  function changed() {
    const isKept = draft.save();
    status.textContent = draft.isEmpty ? "" : isKept ? t("send.draft.kept") : t("send.draft.notKept");
    show();
  }

  function show() {
    const distribution = subject()?.subject.opt.distribution;
    const message = draft.shownFor(subject());
    for (const name of Object.keys(limits)) texts[name].hidden = Boolean(draft.template) ||
      (name === "desc" && !isAlert());
    budget.show({ ...message, distribution: distribution ?? "Alert" });
    preview.message = message;
    delivery.show(distribution);
    place.show();
    showActions();
    discardButton.hidden = draft.isEmpty;
  }

  function showActions() {
    if (isSending) return;
    urgency.hidden = !draft.template?.urgent || Boolean(draft.at) ||
      Boolean(subject() && needsApproval(subject(), draft));
    const asks = subject() && mustAsk(subject(), draft, place.reach.known);
    const words = (action) => (asks ? t("send.asks", { action }) : action);
    fill(main, icon("send", "small"), words(actionOf(subject(), draft)));
    laterButton.textContent = draft.at ? words(t(needsApproval(subject(), draft) ? "send.now.approval" : "send.now"))
      : t("send.schedule");
  }

  // MARK: Templates, and the draft as a whole

  function useTemplate(chosen) {
    draft.useTemplate(chosen);
    // A follow-up stays with those who have got the first message.
    if (chosen.topic_key && !draft.follows) {
      const own = place.find(chosen.topic_key);
      place.choose(own);
      if (!own) place.wrong(t("send.template.subjectGone"));
    }
    template.show();
    changed();
    (Object.values(template.blanks)[0]?.control ?? (subject() ? main : place)).focus();
  }

  /** Empties the form; what was written can be had back. An edited message stays as it is stored. */
  function discard() {
    if (draft.edit) return draft.edit.discard(draft);
    const before = draft.copy();
    draft.forget();
    showAgain();
    toast(t("send.discarded"), { action: { label: t("undo"), run: () => { draft.restore(before); showAgain(); } } });
    return texts.title.control.focus();
  }

  function showAgain() {
    for (const name of Object.keys(limits)) texts[name].value = draft[name];
    place.showAgain();
    template.show();
    changed();
  }

  /** The text of a template is written by hand from now on. */
  function writeFreely() {
    Object.assign(draft, filled(draft.template, draft.values), { template: null });
    showAgain();
    texts.title.control.focus();
  }

  // MARK: Sending

  /** Shows what is missing, and moves to the first of it. */
  function isComplete() {
    let first = subject() ? null : place;
    const wrong = (element, text) => { element.error(text); first ??= element.control; };
    place.wrong(subject() ? "" : place.isGone ?? t("send.subject.missing"));
    show();
    if (draft.template) {
      for (const part of Object.values(template.blanks)) if (!part.value.trim()) wrong(part, t("field.missing"));
    } else {
      for (const [name, part] of Object.entries(texts)) {
        // A notification without a text has the beginning of the message.
        if (name === "desc" && (!isAlert() || !part.value.trim())) continue;
        if (!part.value.trim()) wrong(part, t("field.missing"));
        else if (part.isTooLong()) wrong(part, t("field.tooLong", { max: limits[name] }));
      }
    }
    first?.focus();
    return !first && delivery.isComplete(isAlert());
  }

  /**
   * The hub fills the template as it is now; what the preview shows must be that. Notes its revision, so that the hub
   * refuses another.
   */
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
    useTemplate({ ...present, topic_key: undefined });
    fill(problem, h("div", { class: "notice" }, icon("info"), h("p", null, t("send.template.changed"))));
    return true;
  }

  const undo = (to) => (draft.template?.urgent || needsApproval(to, draft) || draft.at ||
    kept("settings", {}).undo === false ? 0 : undoSeconds);
  const notSent = () => { status.textContent = t("send.notSent"); return false; };
  let isSending = false;
  /** Returns whether it was tried: not if something is missing, or the question was answered with no. */
  async function submit() {
    if (isSending || !isComplete()) return false;
    isSending = true;
    // What is shown afterwards is there even if the network is lost in between.
    if (!draft.edit) import("./sent.js").catch(() => {});
    fill(problem);
    // What was asked about is what is sent, whatever becomes of the cube in the meantime.
    const target = subject();
    try {
      if (await templateHasChanged()) return true;
      await Promise.race([place.reach.read, new Promise((resolve) => { setTimeout(resolve, reachTimeout); })]);
      const asks = mustAsk(target, draft, place.reach.known);
      if (asks && !(await askBeforeSending({ subject: target, draft, message: draft.shownFor(target),
            reach: place.reach.known, undo: undo(target) }))) return notSent();
      main.ariaDisabled = laterButton.ariaDisabled = "true";
      fill(main, t("send.sending"));
      let body;
      const posted = () => {
        body = draft.body(target, undo(target), templateRevision);
        return draft.edit ? draft.edit.save(body) : post("/message", body,
          { headers: { "Idempotency-Key": draft.keyFor(body) } });
      };
      const endSlow = slowNotice(problem, { isEdit: Boolean(draft.edit), keep: () => draft.save() });
      const answer = await posted().catch(async (error) => {
        if (error.field !== "template_revision" || (await templateHasChanged())) throw error;
        // Only what is not sent has changed, such as the template's name.
        return await posted();
      }).finally(endSlow);
      const others = place.recentKeys().filter((key) => key !== body.topic_key);
      keep("recent", [body.topic_key, ...others].slice(0, recentCount));
      const { follows } = draft;
      draft.forget();
      endings.forEach((end) => end());
      await done(answer.msi_key, { until: body.delay ? hubNow() + body.delay * 1_000 : 0, follows });
    } catch (error) {
      status.textContent = t("send.draft.kept");
      // The notice about a changed template says more.
      if (error.field !== "template_revision" || !problem.hasChildNodes()) showProblem(error);
    } finally {
      isSending = false;
      main.ariaDisabled = laterButton.ariaDisabled = null;
      showActions();
    }
    return true;
  }

  /** Sends now what has a time. If that is not wanted after all, it keeps its time. */
  async function sendNow() {
    const { at, isSecond } = draft;
    draft.at = "";
    changed();
    if (await submit()) return;
    Object.assign(draft, { at, isSecond });
    draft.save();
    show();
  }

  function showProblem(error) {
    if (draft.edit?.isRefused(error, problem, submit)) return;
    const name = error.field ?? "";
    const blank = name.startsWith("values.") ? template.blanks[name.slice(7)] : null;
    const part = blank ?? (draft.template ? null : texts[name]);
    if (part) {
      part.error(explain(error));
      part.control.focus();
    } else if (name === "topic_key" || name === "distribution" ||
        (error.status === 403 && error.kind === "forbidden")) {
      place.wrong(name === "distribution" ? t("send.subject.changed") : place.isGone ?? t("send.subject.refused"));
      place.refresh();
      place.focus();
    } else if (!delivery.error(name, error)) {
      refuse(explain(error), " ", error instanceof ApiError && error.isUnanswered ? t("send.unanswered") : "");
    }
  }

  function refuse(...words) {
    fill(problem, h("div", { class: "notice bad" }, icon("info"), h("p", null, words)));
    problem.scrollIntoView({ block: "nearest" });
  }

  template.hidden = draft.isCorrection || Boolean(draft.edit);
  const element = h("div", { class: "composer" },
    sendByKeys(h("form", { noValidate: true },
      service, draft.edit?.notice(needsApproval(place.fixed, draft)),
      earlier ? h("div", { class: "notice" }, icon(draft.isCorrection ? "edit" : "reply"),
        h("p", null, t(draft.isCorrection ? "send.corrects" : "send.follows"), " ",
          h("a", { href: `/portal/message/?key=${earlier.msi_key}` }, h("bdi", null, earlier.title)), " · ",
          formatMoment(earlier.timestamp),
          draft.isCorrection ? [h("br"), h("span", { class: "secondary" }, t("send.corrects.hint"))] : null)) : null,
      place,
      template, texts.title, texts.desc, texts.message, budget, delivery, problem,
      h("div", { class: "form-foot" }, status, previewButton(aside, t("send.preview"))),
      h("div", { class: "composer-bar" }, urgency, main, laterButton), discardButton), submit),
    aside);

  const endings = [whenCubeChanges(place.refresh), listen("reset", place.refresh), service.end];

  /** Where writing begins; `null` in a template without blanks. */
  const firstField = () => Object.values(template.blanks)[0]?.control ?? (draft.template ? null : texts.title.control);

  /** Moves to what comes first. */
  element.begin = () => (place.fixed || subject() ? firstField() ?? main : place).focus();

  /**
   * Moves on from a chosen subject, but not to the button that sends: a second Enter would press it. Returns whether
   * there is a field.
   */
  function moveOn() {
    const field = firstField();
    (field ?? place).focus();
    return Boolean(field);
  }

  // The elements are alive only in the page.
  queueMicrotask(() => {
    place.begin();
    template.show();
    show();
    if (use) useTemplate(use);
  });
  return element;
}
