import { ApiError, explain, get, post, put } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { comparison } from "../elements/comparison.js";
import { previewButton, sendButton, sendByKeys } from "../elements/composer.js";
import { field } from "../elements/field.js";
import { radioGroup } from "../elements/radio-group.js";
import { toast } from "../elements/toast.js";
import { audienceFields } from "./audience.js";
import { byteBudget } from "./budget.js";
import { written } from "./draft.js";
import { shownAtItsField } from "./downtime.js";
import { phoneScreen } from "./preview.js";
import { askBeforeBroadcast } from "./question.js";
import { scheduleRows } from "./schedule.js";
import { broadcastBytes } from "./size.js";
import { switchFields } from "./switch.js";
import { languageTexts } from "./texts.js";
import { audienceOf, effectOf, kinds, languageName, repeatWords, textByWay, titleOf } from "./words.js";

const maxPoster = 2_000;

/**
 * The form for a broadcast, beside the phone that shows it. `draft` is changed in place; `channels` are those of the
 * cube, `null` if they could not be read; `limit` is the size that a broadcast may have. `done` is called with the
 * stored broadcast, `leave` without one, and `restart` to show the form again.
 */
export function broadcastEditor({ draft, channels, limit, done, leave, restart }) {
  const { broadcast } = draft;
  const names = channels && new Map(channels.map((channel) => [channel._id, channel.name]));
  const version = (broadcast?.version ?? 0) + 1;
  const status = h("p", { class: "hint", role: "status" }, draft.isRestored ? t("broadcasts.draft.restored") : "");
  const problem = h("div", { role: "alert" });
  const budget = byteBudget(limit);
  const screen = phoneScreen();
  const aside = h("aside", { class: "preview", "aria-label": t("broadcasts.preview") }, screen);

  const kind = radioGroup({
    label: t("broadcasts.kind"), value: String(draft.type), isOff: Boolean(broadcast),
    onchange: () => { draft.type = Number(kind.value); changed(); },
    options: ["2", "1", "3", "4"].map((type) =>
      ({ value: type, label: t(`broadcasts.kind.${kinds[type].name}`),
          hint: t(`broadcasts.kind.${kinds[type].name}.hint`) })),
  });
  kind.classList.add("kinds");
  const texts = languageTexts({ translations: draft.translations, fixed: draft.language, changed: () => changed() });
  const poster = field({ label: t("broadcasts.poster"), hint: t("broadcasts.poster.hint"), type: "url",
      value: draft.poster, attributes: { placeholder: "https://", dir: "ltr", spellcheck: false },
      oninput: (value) => { draft.poster = value; changed(); } });
  const toggle = switchFields(draft, () => changed());
  const audience = audienceFields(draft, channels, () => changed());
  const schedule = scheduleRows(draft, () => changed());
  const send = sendButton(() => submit());
  const discard = h("button", { class: `button ${broadcast ? "" : "plain"}`, type: "button", onclick: discardDraft },
    broadcast ? t("cancel") : [icon("trash", "small"), t("broadcasts.discard")]);
  let hasChanged = draft.isRestored;

  function changed() {
    hasChanged = true;
    const isKept = draft.save();
    status.textContent = draft.isEmpty ? "" : t(isKept ? "broadcasts.draft.kept" : "broadcasts.draft.notKept");
    // A comparison shows what was written before; the next attempt makes a new one.
    if (send.hidden) { fill(problem); send.hidden = false; }
    show();
  }

  const bytes = () => broadcastBytes(draft.body(), { id: broadcast?.id, version, language: draft.language });

  function show() {
    for (const part of [texts, poster]) part.hidden = draft.isSwitch;
    toggle.hidden = !draft.isSwitch;
    for (const part of [toggle, audience, schedule]) part.show();
    sayBytes();
    const starts = draft.starts(hubNow());
    screen.show(draft, texts.chosen, Number.isNaN(starts) ? 0 : starts + draft.lasts * 60_000);
    fill(send, icon(broadcast ? "check" : "broadcast", "small"),
      asks() ? t("broadcasts.asks", { action: action() }) : action());
    discard.hidden = draft.isEmpty;
  }

  const asks = () => draft.audience === "everyone";
  const action = () => t(broadcast ? "broadcasts.sendVersion" : draft.begins === "later"
    ? "broadcasts.schedule" : "broadcasts.send", { version });

  function sayBytes(wrong = "") {
    const count = bytes();
    budget.say(count, wrong ||
      (count > limit ? textByWay(draft.isSwitch ? "broadcasts.bytes.over.switch" : "broadcasts.bytes.over") : ""));
  }

  /** Shows what is missing, and moves to the first of it. */
  function isComplete() {
    if (draft.isSwitch ? !toggle.isComplete() : !texts.isComplete()) return false;
    const address = draft.poster.trim();
    if (!draft.isSwitch && address && (!/^https:\/\/\S+$/.test(address) || address.length > maxPoster)) {
      poster.error(t("broadcasts.poster.wrong", { max: maxPoster }));
      poster.control.focus();
      return false;
    }
    if (bytes() > limit) {
      (draft.isSwitch ? toggle : texts).querySelector("textarea").focus();
      return false;
    }
    return audience.isComplete() && schedule.isComplete();
  }

  let isAsking = false;
  async function submit() {
    if (isAsking || send.hidden || send.getAttribute("aria-disabled") === "true" || !isComplete()) return;
    if (asks()) {
      isAsking = true;
      const isSure = await askBeforeBroadcast(draft, action());
      isAsking = false;
      if (!isSure) return;
    }
    await deliver();
  }

  async function deliver() {
    send.setAttribute("aria-disabled", "true");
    fill(problem);
    status.textContent = t("broadcasts.sending");
    try {
      const body = draft.body();
      const stored = broadcast
        ? await put(`/broadcast/${broadcast.id}`, body, { headers: draft.tag ? { "If-Match": draft.tag } : {} })
        : await post("/broadcast", body, { headers: { "Idempotency-Key": draft.keyFor(body) } });
      draft.forget();
      toast(t(broadcast ? "broadcasts.saved" : stored.state === "scheduled"
          ? "broadcasts.scheduled"
          : "broadcasts.sent", { title: titleOf(stored), version: stored.version, time: formatMoment(stored.starts) }));
      done(stored);
    } catch (error) {
      status.textContent = t("broadcasts.draft.kept");
      if (error.status === 412) await showConflict().catch(showProblem);
      else showProblem(error);
    } finally {
      send.removeAttribute("aria-disabled");
    }
  }

  function showProblem(error) {
    const name = error.field ?? "";
    const words = error.kind === "invalid-field" ? t("broadcasts.refused", { detail: error.message }) : explain(error);
    if (shownAtItsField(error, texts).isShown) return;
    if (name === "actiondata.poster") {
      poster.error(words);
      poster.control.focus();
    } else if (name === "actiondata") {
      sayBytes(words);
      budget.scrollIntoView({ block: "nearest" });
    } else if (draft.isSwitch && name.startsWith("actiondata.")) {
      toggle.error(name.slice("actiondata.".length), words);
    } else if (/^(channels|condition)/.test(name)) {
      audience.error(words);
    } else if (["epoch", "expiry", "repeat"].includes(name)) {
      schedule.error(name, words);
    } else {
      fill(problem, h("div", { class: "notice bad" }, icon("info"),
          h("p", null, words, " ", error instanceof ApiError && error.isUnanswered && !broadcast
            ? t("broadcasts.unanswered") : "")));
      problem.scrollIntoView({ block: "nearest" });
    }
  }

  /** Somebody else has changed it: both versions are shown, and one is chosen. */
  async function showConflict() {
    const { document: theirs, headers } = await get(`/broadcast/${broadcast.id}`, { whole: true });
    const mine = { ...draft.body(), language: draft.language, starts: draft.starts(hubNow()) };
    const tags = [...new Set([...Object.keys(theirs.actiondata.translations ?? {}),
          ...Object.keys(mine.actiondata.translations ?? {})])];
    const keepMine = h("button", { class: "button main", type: "button", onclick: () => {
      draft.tag = headers.get("ETag");
      Object.assign(broadcast, { version: theirs.version });
      if (isComplete()) deliver();
    } }, t("comparison.saveMine"));
    send.hidden = true;
    fill(problem, h("div", { class: "stack" },
        h("p", { class: "notice" }, icon("info"),
          h("span", null, t(theirs.state === "withdrawn" ? "broadcasts.conflict.withdrawn" : "broadcasts.conflict"))),
      comparison(linesOf(theirs, tags, names), linesOf(mine, tags, names), 2),
      h("div", { class: "actions" }, theirs.state === "withdrawn" ? null : keepMine,
        h("button", { class: "button", type: "button", onclick: () => { draft.forget(); leave(); } },
          t("comparison.keepTheirs")))));
    (keepMine.isConnected ? keepMine : problem.querySelector("button")).focus();
    problem.scrollIntoView({ block: "nearest" });
  }

  function discardDraft() {
    if (broadcast && !hasChanged) return leave();
    const before = draft.copy();
    draft.forget();
    if (broadcast) leave();
    else restart();
    toast(t("broadcasts.discarded"),
      { action: { label: t("undo"),
          run: () => { Object.assign(draft, before); draft.save(); restart(broadcast?.id); } } });
  }

  queueMicrotask(show);
  return h("div", { class: "composer broadcast-editor" },
    sendByKeys(h("form", { noValidate: true },
      broadcast ? h("p", { class: "notice" }, icon("retry"),
        h("span", null, t(draft.isSwitch ? "broadcasts.editing.switch" : "broadcasts.editing.notice", { version })))
        : null,
      kind, texts, poster, toggle, budget, audience, schedule, problem,
      h("div", { class: "form-foot" }, status, previewButton(aside, t("broadcasts.preview")), discard),
      h("div", { class: "composer-bar" }, send)), submit),
    aside);
}

/** A broadcast in words, for the comparison. Both versions have a line for each language of either. */
function linesOf(body, tags, names) {
  const { actiondata, expiry, starts } = body;
  const view = written({ ...body, starts, expiry });
  const text = tags.flatMap((tag) => [
    [t("broadcasts.compare.title", { language: languageName(tag) }), actiondata.translations?.[tag]?.title ?? ""],
    [t("broadcasts.compare.msg", { language: languageName(tag) }), actiondata.translations?.[tag]?.msg ?? ""]]);
  const content = body.type === 4
    ? [[t("broadcasts.compare.effect"), effectOf(actiondata)], [t("broadcasts.data"), actiondata.data ?? ""]]
    : [...text, [t("broadcasts.poster"), view.poster],
        ...(body.type === 1 ? [[t("broadcasts.popup"), t(view.popup ? "broadcasts.yes" : "broadcasts.no")]] : []),
      [t("broadcasts.closable"), t(view.cancellable ? "broadcasts.yes" : "broadcasts.no")]];
  return [...content, [t("broadcasts.audience"), audienceOf(body, names)], [t("broadcasts.when"), formatMoment(starts)],
    [t("broadcasts.compare.ends"), formatMoment(starts + expiry * 60_000)],
    [t("broadcasts.repeat"), repeatWords(view.repeat)]];
}
