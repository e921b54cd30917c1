import { readCube, subjectsOf } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { readReach, reachWords } from "../lib/reach.js";
import { maySendTo } from "../lib/session.js";
import { kept } from "../lib/store.js";
import { t } from "../lib/text.js";
import { pathOf } from "../elements/tags.js";
import "../elements/subject-picker.js";

/**
 * The field for the subject, with the recent ones. A correction and an edited message stay in their subject, `fixed`,
 * whose field is hidden.
 *
 * The element has `chosen`, the chosen subject, and `reach`, what is `known` of its reach, with the promise that `read`
 * it. `changed` is called after each choice, `show` when more is known, `moveOn` to go to the next field, and `refuse`
 * with what is wrong with a fixed subject, or nothing.
 */
export function subjectPart({ subjects, draft, changed, show, moveOn, refuse }) {
  const find = (key) => subjects.find((subject) => subject.key === key) ?? null;
  const recentKeys = () => kept("recent", []).filter(find);
  const picker = h("subject-picker", { "input-id": "subject", "below-id": "subject-below" });
  const below = h("div", { class: "below", id: "subject-below", "aria-live": "polite" });
  const recent = h("div", { class: "chips" });
  const fixed = draft.isCorrection || draft.edit ? find(draft.topicKey) : null;
  const isGone = fixed && t("send.subject.fixed", { subject: fixed.path.join(" › ") });
  const element = h("div", { class: "field", hidden: Boolean(fixed) },
    h("label", { htmlFor: "subject" }, t("send.subject")),
    h("div", { class: "control" }, picker), below, h("div", { class: "control" }, recent));

  function choose(chosen) {
    picker.value = chosen;
    wrong("");
    draft.topicKey = chosen?.key ?? "";
    changed();
  }

  function wrong(text) {
    if (fixed) return refuse(text);
    below.classList.toggle("wrong", Boolean(text));
    picker.input?.setAttribute("aria-invalid", String(Boolean(text)));
    return fill(below, text);
  }

  /** Says below the subject how many phones it reaches, once the hub has told. */
  function showReach() {
    const key = picker.value?.key ?? "";
    if (key !== element.reach.key) {
      const mine = { key, known: null };
      mine.read = key ? readReach(key).then((known) => {
        mine.known = known;
        if (mine === element.reach) show();
      }) : Promise.resolve();
      element.reach = mine;
    }
    if (below.classList.contains("wrong")) return;
    const approval = picker.value?.subject.approval ? t("send.approval.hint") : "";
    const words = [approval, reachWords(element.reach.known)].filter(Boolean).join(" ");
    // A screen reader announces only changes.
    if (below.textContent !== words) below.textContent = words;
  }

  async function browse() {
    const chosen = await (await import("./browse.js")).browse(subjects, picker.value);
    if (!chosen) return;
    choose(chosen);
    moveOn();
  }

  function showRecent() {
    const chips = recentKeys().filter((key) => key !== picker.value?.key).slice(0, 3).map((key) =>
      h("button", { class: "chip", type: "button", onclick: () => { choose(find(key)); moveOn(); } },
        pathOf(find(key).short, { isLine: true })));
    fill(recent, chips.length ? h("span", { class: "hint" }, t("send.recent")) : null, chips,
      h("button", { class: "chip", type: "button", onclick: browse }, t("send.browse")));
  }

  /** The cube has changed. */
  async function refresh() {
    const cube = await readCube().catch(() => null);
    if (!cube) return;
    subjects = subjectsOf(cube.channels).filter((each) => maySendTo(each.key));
    const before = picker.value;
    picker.subjects = subjects;
    if (!before) return;
    const now = find(before.key);
    if (document.activeElement !== picker.input) picker.value = now;
    if (!now) wrong(isGone ?? t("send.subject.gone", { subject: before.path.join(" › ") }));
    else if (now.subject.opt.distribution !== before.subject.opt.distribution) wrong(t("send.subject.changed"));
    show();
  }

  /** The elements are alive only in the page. */
  function begin() {
    Object.assign(picker, { subjects, recent: recentKeys(), value: find(draft.topicKey) });
    // On to what is written: the ways to choose another subject, which come first, are not passed one by one.
    picker.addEventListener("hub-choose", (event) => {
      choose(event.detail);
      if (moveOn()) event.preventDefault();
    });
    picker.addEventListener("hub-leave", () => wrong(t("send.subject.missing")));
  }

  Object.defineProperty(element, "chosen", { get: () => picker.value });
  return Object.assign(element, {
    fixed, isGone, find, recentKeys, choose, wrong, refresh, begin,
    reach: { key: "", known: null, read: Promise.resolve() },
    show: () => { showReach(); showRecent(); },
    /** The subject of the draft, after it was changed elsewhere. */
    showAgain: () => { picker.value = find(draft.topicKey); },
    focus: () => picker.focus(),
  });
}
