// The page about study sessions. The map, or the list that says the same, is always there; everything else is a sheet
// over it. The address names the sheet: #study/session/CLASS/SESSION.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { later } from "../lib/later.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { currentRoute, replaceRoute } from "../lib/route.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession, isOpen, shownSessions } from "../core/study-state.js";
import { segments } from "../elements/segments.js";
import { toast } from "../elements/toast.js";
import { named } from "../people/parts.js";
import { reasonOf } from "../people/reasons.js";
import { sessionCard } from "./card.js";
import { classFilter } from "./filter.js";
import { sessionList } from "./list.js";
import { mapView } from "./map.js";
import { newSessionView } from "./new-session.js";
import { leftText, partsOf, pathOf, sheet, studyOfApp, topicsOf } from "./parts.js";
import { lastPosition, onPosition } from "./position.js";

/** How often the times that are left are shown again, in milliseconds. */
const interval = 10_000;
const chosenForm = "msi.app.study.form";
/** How many invitations are shown over the map. */
const maxInvites = 2;
/** The sheet with the sessions of one pin. */
const many = "many";
const isIdentifier = (text) => /^[0-9a-f]{24}$/.test(text);

/** The sheets by their names, and how many identifiers their addresses have. */
const sheets = {
  session: [2, async (...about) => sessionCard(...about)],
  posts: [2, async (...about) => (await import("./posts.js")).postsSheet(...about)],
  who: [2, async (...about) => (await import("./who.js")).whoView(...about)],
  invite: [2, async (...about) => (await import("./invite.js")).inviteView(...about)],
  edit: [2, async (...about) => (await import("./edit-session.js")).editView(...about)],
  host: [2, async (...about) => (await import("./hand-over.js")).handOverView(...about)],
  class: [1, async (id) => (await import("./class.js")).classView(id)],
  find: [0, async (id) => (await import("./find-friends.js")).findFriendsView(id)],
  classes: [0, async () => (await import("./classes.js")).classesView()],
  join: [0, async () => (await import("./join-class.js")).joinClassView()],
  past: [0, async () => (await import("./past.js")).pastView()],
};

/** What the address names: a sheet, and the identifiers of what it is about. `isWrong` if there is nothing of it. */
function routeNow() {
  const [, name = "", ...about] = location.hash.slice(1).split("?")[0].split("/");
  const ids = about.filter(isIdentifier);
  const isThere = name === "new" || (Object.hasOwn(sheets, name) && ids.length >= sheets[name][0]);
  return isThere ? { name, about: ids } : { name: "", about: [], isWrong: name !== "" };
}

/** Whether the person has chosen the list. This browser keeps the choice. */
function isListChosen() {
  try { return localStorage.getItem(chosenForm) === "list"; } catch { return false; }
}

function chooseForm(form) {
  try { localStorage.setItem(chosenForm, form); } catch { /* a blocked storage forgets it */ }
}

/** The map with what is over it, for who is signed in. */
function studyView() {
  const wide = matchMedia("(min-width: 900px)");
  const open = (id) => {
    const session = findSession(state, id);
    if (session) location.hash = pathOf(session);
  };
  const filter = classFilter();
  const form = segments({ label: t("study.form"), value: "map", onchange: turnTo,
    options: ["map", "list"].map((value) => ({ value, label: t(`study.form.${value}`) })) });
  const classes = h("a", { class: "round", href: "#study/classes", title: t("classes.heading"),
    "aria-label": t("classes.heading") }, phoneIcon("list"));
  const invites = h("ul", { class: "plain study-invites" });
  const said = h("p", { class: "notice study-said", role: "status" });
  const join = h("a", { class: "button main", href: "#study/join", hidden: true }, t("join.heading"));
  const list = sessionList({ onopen: open });
  const listPlace = h("div", { class: "study-list" }, list);
  const start = h("a", { class: "button main study-new", href: "#study/new" }, icon("plus", "small"), t("session.new"));
  const place = h("section", { class: "study-sheet", "aria-label": t("study.sheet"), hidden: true,
    onkeydown: (event) => { if (event.key === "Escape" && !event.defaultPrevented) leaveSheet(event); },
    onclick: (event) => { if (event.target.closest("a[href='#study']")) leaveSheet(event); } });
  const top = h("div", { class: "study-top" }, h("div", { class: "study-line" }, filter, form, classes), invites, said,
    join);
  /** The pixels of the map that something covers, above and below. In a wide window it is all beside the map. */
  const covered = () => (wide.matches ? { above: 0, below: 0 }
    : { above: top.offsetHeight, below: place.offsetHeight });
  const map = mapView({ onopen: open, onmany: showMany, covered, onmove: () => inner?.moved?.() });
  const element = h("div", { class: "study-view" }, h("h1", { class: "unseen", tabIndex: -1 }, t("tab.study")), top,
    map, listPlace, start, place);
  /** Whether there is a map; `null` before that is known. */
  let hasMap = null;
  let isList = isListChosen();
  let shown = null;
  let inner = null;
  /** The session whose card was open, which gets the focus when the sheet is closed. */
  let opened = null;
  /** Why the classes cannot be read. */
  let problem = "";

  function turnTo(value) {
    chooseForm(value);
    isList = value === "list";
    update();
  }

  /** Closes the sheet. The one with the sessions of a pin has no address. */
  function leaveSheet(event) {
    if (shown !== many) {
      location.hash = "#study";
      return;
    }
    event.preventDefault();
    shown = "";
    close();
  }

  /** The sessions of a pin that no zoom can part. */
  function showMany(ids) {
    if (routeNow().name) location.hash = "#study";
    const some = sessionList({ onopen: open });
    const view = sheet(t("study.many"), {}, some);
    show(Object.assign(view, { update: () => some.show(ids.map((id) => findSession(state, id, lastPosition()))
      .filter(Boolean)) }));
    shown = many;
    map.focus(null);
  }

  function show(view) {
    inner?.left?.();
    inner = view;
    place.hidden = false;
    fill(place, view);
    place.scrollTop = 0;
    view.update?.();
    view.querySelector("h2")?.focus({ preventScroll: true });
  }

  function close() {
    inner?.left?.();
    inner = null;
    const hadFocus = place.contains(document.activeElement);
    place.hidden = true;
    fill(place);
    map.focus(null);
    map.fit();
    const isBack = opened && (map.hidden ? list.focusRow(opened) : map.focusPin(opened));
    if (hadFocus && !isBack) (start.hidden ? element.querySelector("h1") : start).focus({ preventScroll: true });
    opened = null;
  }

  /** Shows the sheet that the address names. */
  async function showSheet({ name, about, isWrong = false }) {
    if (isWrong) {
      replaceRoute({ tab: "study", page: "" });
      toast(t("study.nothing"));
    }
    const print = [name, ...about].join(" ");
    if (shown === print || (shown === many && !name)) return;
    shown = print;
    if (!name) {
      close();
      return;
    }
    let view;
    try {
      view = name === "new" ? newSessionView({ mark: map.mark }) : await sheets[name][1](...about);
    } catch {
      toast(t("page.failed"));
      if (shown === print) location.hash = "#study";
      return;
    }
    // Another one was opened since.
    if (shown !== print) return;
    show(view);
    const session = sheets[name]?.[0] === 2 ? about[1] : null;
    opened = session ?? opened;
    map.focus(session);
  }

  function showInvites() {
    const shownNow = (state.study.own?.invites ?? []).map(({ by, session }) => ({ by, ...session }))
      .filter((each) => isOpen(state.study, each, phoneNow())).slice(0, maxInvites);
    const print = JSON.stringify(shownNow.map((each) => [each.id, leftText(each)]));
    if (invites.print === print) return;
    invites.print = print;
    fill(invites, shownNow.map((each) => h("li", null, h("a", { class: "study-invite", href: pathOf(each) },
      icon("people", "small"), h("span", null, named("study.invitedBy", { name: each.by }), ": ",
        partsOf([topicsOf(each), leftText(each)]))))));
  }

  function notice() {
    if (state.study.classes === undefined) return problem || t("loading");
    if (!state.study.classes.length) return t("study.noClasses");
    return hasMap === false ? t("map.none") : "";
  }

  function update() {
    const sessions = shownSessions(state, { now: phoneNow(), position: lastPosition() });
    const showsList = isList || hasMap === false;
    form.value = showsList ? "list" : "map";
    // In a wide window both are there.
    form.hidden = hasMap === false || wide.matches;
    element.classList.toggle("is-list", showsList);
    element.classList.toggle("is-without-map", hasMap === false);
    map.hidden = hasMap === false || (showsList && !wide.matches);
    listPlace.hidden = !showsList && !wide.matches;
    filter.update();
    showInvites();
    list.show(sessions);
    map.show(sessions);
    const text = notice();
    if (said.textContent !== text) said.textContent = text;
    start.hidden = state.study.classes?.length === 0;
    join.hidden = !start.hidden;
    showSheet(routeNow());
    inner?.update?.();
  }

  async function load() {
    try {
      const classes = await (await studyOfApp()).load("classes");
      problem = classes ? "" : t("study.notHere");
    } catch (error) {
      if (error.kind === "signed out") return;
      problem = reasonOf(error);
    }
    updateIfShown();
  }

  /** On another page of the app the address names no sheet, and the one that is open stays. */
  function updateIfShown() {
    if (element.isConnected && state.people.account && currentRoute().tab === "study") update();
  }

  load();
  map.ready.then((isThere) => {
    hasMap = isThere;
    updateIfShown();
  });
  wide.addEventListener("change", updateIfShown);
  onPosition(updateIfShown);
  return Object.assign(element, { update });
}

/** The page. Who is not signed in, such as after a tap on a notification, sees how to sign in. */
export function studyPage() {
  const element = h("section", { class: "page study" });
  // The way over a provider leads back to what the address names, such as to a class's key.
  const landing = () => later(async () => (await import("../people/landing.js")).landingView({ heading: t("tab.study"),
    text: t("study.signIn"), from: `${location.pathname}${location.hash}` }));
  let person = null;
  let inner = null;

  /** Tells the core what this page shows, so that it follows the hub only for that. */
  async function follow() {
    const isShown = currentRoute().tab === "study" && !document.hidden && Boolean(state?.people.account);
    const { name, about } = routeNow();
    const rows = about.length === 2 ? [`session ${about.join(" ")}`, ...(name === "posts" ? [`posts ${about.join(" ")}`]
      : [])] : [];
    (await studyOfApp()).watch(isShown ? rows : null);
  }

  function update() {
    if (currentRoute().tab !== "study") return;
    const { account } = state.people;
    if (!inner || person !== account) {
      person = account;
      const hadFocus = element.contains(document.activeElement);
      fill(element, inner = account ? studyView() : landing());
      if (hadFocus) document.querySelector("main").focus({ preventScroll: true });
      follow().catch(() => {});
    }
    inner.update();
  }

  for (const [target, event] of [[window, "hashchange"], [document, "visibilitychange"]]) {
    target.addEventListener(event, () => follow().catch(() => {}));
  }
  // The times that are left.
  setInterval(() => { if (!document.hidden && state?.people.account) update(); }, interval);
  return Object.assign(element, { update });
}
