// The posts to a session. All of its class read and write them, whether they attend or not.

import { fill, h } from "../lib/dom.js";
import { linkified } from "../lib/linkify.js";
import { formatMoment } from "../lib/phone-time.js";
import { place } from "../lib/place.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession, isOpen, roleIn } from "../core/study-state.js";
import { field, hide, named } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { act, ask, isMe, pathOf, sheet, studyOfApp, tell, topicsOf, waitingStudy } from "./parts.js";

/** The maximum length of a post, in characters of Unicode. */
const maxLength = 1_000;

/** Whose posts the staff of a class removes, by their role. */
const removable = { professor: ["student", "ta", "professor"], ta: ["student"], student: [] };

const nameOf = ({ author, by, number }) => author ?? by ?? t("post.number", { number });

/**
 * The posts to a `session`, and the form for another one while it is open. `role()` is what the person is in its class,
 * as far as the app knows by now; with `removed`, posts that were removed are shown with who has done it. `update()`
 * shows what the app knows now, and `load()` reads them again.
 */
export function postsView({ session, role, removed = false }) {
  const about = { class: session.class, session: session.id };
  const row = `posts ${session.class} ${session.id}`;
  const said = h("p", { class: "notice bad", role: "alert", hidden: true });
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));
  const input = field({ label: t("post.label"), tag: "textarea", rows: 2, dir: "auto", required: true });
  const count = h("span", { class: "count" });
  input.firstChild.after(count);
  const send = h("form", { class: "form post-form", onsubmit: (event) => { event.preventDefault(); add(); } }, input,
    h("div", { class: "actions" }, h("button", { class: "button main", type: "submit" }, t("post.send"))));
  const over = h("p", { class: "hint", hidden: true }, t("post.over"));
  const list = h("ul", { class: "plain posts" });
  const none = h("p", { class: "hint", hidden: true }, t("post.none"));
  const more = h("button", { class: "button", type: "button", hidden: true, onclick: showMore }, t("post.more"));
  const element = h("div", { class: "stack" }, said, again, send, over, list, none, more);
  const items = new Map();
  /** Posts of further pages, and where the next one begins; `undefined` before a further page was read. */
  let older = [];
  let next;

  input.input.addEventListener("input", showCount);

  function showCount() {
    const { length } = [...input.input.value.trim()];
    const isOver = length > maxLength;
    count.textContent = length > maxLength * 0.8 ? t("post.count", { length, max: maxLength }) : "";
    count.classList.toggle("over", isOver);
    input.input.setCustomValidity(isOver ? t("post.long", { max: maxLength }) : "");
  }

  async function add() {
    const text = input.input.value.trim();
    if (!text) return;
    const before = input.input.value;
    input.input.value = "";
    showCount();
    // What the hub refuses is written again by nobody.
    if ((await act("post", { ...about, text })) === null && !input.input.value) input.input.value = before;
    showCount();
  }

  async function remove(post) {
    const isOwn = isMe(post.author);
    const isWanted = await ask(t("question.post"), t(isOwn ? "question.post.text" : "question.post.staff"),
      t("do.removePost"));
    if (!isWanted) return;
    const found = await act("remove post", { ...about, post: post.id });
    if (found?.outcome !== "done") return;
    if (removed) older = older.map((each) => (each.id === post.id ? { ...each, removed: { at: phoneNow() } } : each));
    else older = older.filter(({ id }) => id !== post.id);
    update();
  }

  const mayRemove = (post) => !post.removed && (isMe(post.author) || (removable[role()] ?? []).includes(post.role));

  function itemOf(post) {
    const item = items.get(post.id) ?? h("li", { class: "post" });
    items.set(post.id, item);
    // The role may be known later than the post.
    const isRemovable = mayRemove(post);
    const print = JSON.stringify([post, isRemovable]);
    if (item.print === print) return item;
    item.print = print;
    const hadFocus = item.contains(document.activeElement);
    const isGone = Boolean(post.removed);
    fill(item, h("p", { class: "meta" }, h("bdi", { class: "post-author" }, nameOf(post)),
      post.role === "student" ? null : h("span", { class: "tag" }, t(`role.${post.role}`)),
      h("time", { class: "at" }, formatMoment(post.at))),
    h("p", { class: `text ${isGone ? "is-removed" : ""}`, dir: "auto" }, linkified(post.text)),
    isGone ? h("p", { class: "hint" }, post.removed.by || post.removed.number ? named("post.removedBy", {
      name: nameOf(post.removed), time: formatMoment(post.removed.at) }) : t("post.removed")) : null,
    isRemovable ? h("button", { class: "link-button", type: "button", onclick: () => remove(post) },
      t("do.removePost"), h("span", { class: "unseen" }, `: ${post.text.slice(0, 40)}`)) : null);
    if (hadFocus) input.input.focus({ preventScroll: true });
    return item;
  }

  /** Posts that the hub does not have yet. */
  const waitingItem = ({ key, about: { text }, error }) => h("li", { class: "post is-waiting", dataset: { key } },
    h("p", { class: "text", dir: "auto" }, text), h("p", { class: "hint" }, t(error ? "post.waits" : "post.sending")));

  async function load() {
    said.hidden = true;
    hide(again);
    try {
      await (await studyOfApp()).load("posts", [session.class, session.id]);
      update();
    } catch (error) {
      if (error.kind === "signed out") return;
      said.textContent = reasonOf(error);
      said.hidden = again.hidden = false;
    }
  }

  async function showMore() {
    const known = state.study[row];
    const after = next ?? known?.next;
    const found = await tell(async (study) => ({ outcome: "done",
      page: await study.page("posts", after, [session.class, session.id]) }));
    if (!found) return;
    older = [...older, ...found.page.list];
    next = found.page.next;
    update();
  }

  function update() {
    const open = isOpen(state.study, findSession(state, session.id) ?? session, phoneNow());
    send.hidden = !open;
    over.hidden = open;
    const known = state.study[row];
    const first = known?.list ?? [];
    const ids = new Set(first.map(({ id }) => id));
    // What newer posts have pushed out of the first page is an older one now. One that is missing in it was removed.
    const end = first.at(-1)?.at ?? Infinity;
    const both = [...first, ...older.filter(({ id, at }) => !ids.has(id) && at <= end)];
    if (next !== undefined) older = both;
    const all = both.filter((post) => removed || !post.removed);
    const waits = state.study.waits.filter(({ action, about: each, refusal }) => action === "post" && !refusal
      && each.session === session.id);
    place(list, [...waits.map(waitingItem), ...all.map(itemOf)]);
    none.hidden = !known || all.length > 0 || waits.length > 0;
    more.hidden = !(next === undefined ? known?.next : next);
  }

  load();
  return Object.assign(element, { update, load });
}

/** The sheet with the posts to a session. From those of one that is over the way back leads to the earlier ones. */
export function postsSheet(id, session) {
  const waiting = waitingStudy();
  const place = h("div", { class: "stack" }, h("p", { class: "hint", role: "status" }, t("loading")));
  const element = sheet(t("study.posts"), { back: pathOf({ class: id, id: session }) }, waiting, place);
  let posts = null;

  async function load() {
    const say = (text) => { if (!posts) fill(place, h("p", { class: "notice", role: "alert" }, text)); };
    try {
      if (!(await (await studyOfApp()).load("session", [id, session]))) say(t("study.gone"));
    } catch (error) {
      if (error.kind !== "signed out") say(reasonOf(error));
    }
  }

  load();
  return Object.assign(element, { update: () => {
    waiting.update();
    const found = findSession(state, session);
    if (!posts && found) {
      fill(element.querySelector("h2"), named("post.heading", { topics: topicsOf(found) }));
      fill(place, posts = postsView({ session: found, role: () => roleIn(state.study, id) }));
    }
    if (found?.ended !== undefined) element.querySelector(".head-line > a").href = "#study/past";
    posts?.update();
  } });
}
