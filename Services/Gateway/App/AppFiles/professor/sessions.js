// The sessions of a class that are open: the app's map and list, and a new one that the class's staff sponsors.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { shownSessions } from "../core/study-state.js";
import { sessionList } from "../study/list.js";
import { mapView } from "../study/map.js";
import { sessionForm } from "../study/new-session.js";
import { pathOfSession } from "./frame.js";
import { classOf } from "./my-classes.js";
import { focusHeading } from "./parts.js";

/** The part of a class with its open sessions. */
export function sessionsPart({ id }) {
  const open = (session) => { location.hash = pathOfSession(id, session); };
  const list = sessionList({ onopen: open });
  const map = mapView({ onopen: open, onmove: () => sponsored?.update() });
  const mapPlace = h("section", { class: "map-place", "aria-label": t("prof.sessions.map") }, map);
  const listPlace = h("section", { class: "stack", "aria-label": t("prof.sessions.list") }, list);
  const formPlace = h("section", { class: "panel stack", hidden: true });
  const add = h("button", { class: "button main", type: "button", onclick: showForm }, icon("plus", "small"),
    t("prof.sessions.sponsor"));
  const said = h("p", { class: "hint", role: "status" });
  /** The form of a new session, while it is shown. */
  let sponsored = null;

  function showForm() {
    const heading = h("h2", { tabIndex: -1 }, t("prof.sessions.sponsor.heading"));
    // What the browser says about the position may come after the form has gone.
    const form = sessionForm({ classes: [classOf(id)], sponsored: true, started: hideForm,
      onplace: (place) => { if (sponsored === form) map.mark(place); } });
    sponsored = form;
    fill(formPlace, heading, h("p", { class: "secondary" }, t("prof.sessions.sponsor.text")), sponsored,
      h("button", { class: "button", type: "button", onclick: hideForm }, t("cancel")));
    formPlace.hidden = false;
    add.hidden = listPlace.hidden = true;
    heading.focus({ preventScroll: true });
    update();
  }

  function hideForm() {
    sponsored = null;
    map.mark(null);
    fill(formPlace);
    formPlace.hidden = true;
    listPlace.hidden = false;
    update();
    if (add.hidden) focusHeading();
    else add.focus();
  }

  function update() {
    // As the app shows them, for somebody who has chosen this class alone.
    const chosen = { ...state, study: { ...state.study, chosen: [id] } };
    const sessions = shownSessions(chosen, { now: phoneNow() });
    list.show(sessions);
    map.show(sessions);
    add.hidden = sponsored !== null || Boolean(classOf(id)?.closed);
    sponsored?.update();
  }

  map.ready.then((isThere) => {
    mapPlace.hidden = !isThere;
    said.textContent = isThere ? "" : t("map.none");
    // The person may have signed out since.
    if (mapPlace.isConnected && state.people.account) update();
  });
  return Object.assign(h("div", { class: "stack" },
    h("div", { class: "part-head" }, h("p", { class: "secondary" }, t("prof.sessions.text")), add), said,
    h("div", { class: "now" }, mapPlace, h("div", { class: "stack" }, formPlace, listPlace))), { update });
}
