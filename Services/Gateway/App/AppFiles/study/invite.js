// Friends of the person are invited to a session. Those who are not in its class, or are invited already, are not told
// again; nobody learns which of both.

import { fill, h, newIdentifier } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession } from "../core/study-state.js";
import { form } from "../people/parts.js";
import { act, pathOf, portrait, sheet, studyOfApp, waitingStudy } from "./parts.js";
import { toast } from "../elements/toast.js";

/** The maximum number of people whom one request invites. */
const maxInvited = 50;

/** The sheet on which friends are chosen. */
export function inviteView(id, session) {
  const path = pathOf({ class: id, id: session });
  const list = h("ul", { class: "plain group" });
  const none = h("p", { class: "hint" }, t("invite.none"));
  const waiting = waitingStudy();
  const asked = form({ fields: [list], action: t("invite.action"), onsubmit: invite });
  const element = sheet(t("invite.heading"), { back: path }, h("p", { class: "secondary" }, t("invite.text")), waiting,
    none, asked);
  const boxes = new Map();
  let print = "";

  function row(name) {
    const box = boxes.get(name) ?? h("input", { type: "checkbox", id: newIdentifier("invite") });
    boxes.set(name, box);
    return h("li", null, h("label", { class: "row", htmlFor: box.id }, box, portrait(name, true),
      h("span", { class: "row-text" }, h("bdi", null, name))));
  }

  async function invite() {
    const names = [...boxes].filter(([, box]) => box.isConnected && box.checked).map(([name]) => name);
    if (!names.length) return asked.say(t("invite.nobody"));
    if (names.length > maxInvited) return asked.say(t("invite.tooMany", { max: maxInvited }));
    const found = await act("invite", { class: id, session, accounts: names }, "");
    if (!found) return undefined;
    // Somebody else's invitation whose place the person's takes is no further one.
    const count = found.body?.invited?.length ?? names.length;
    if (found.outcome === "done") toast(count ? t("invite.done", { count }) : t("done.invite"));
    location.hash = path;
    return undefined;
  }

  // The friends may be of an earlier time.
  studyOfApp().then((study) => study.load("session", [id, session])).catch(() => {});
  return Object.assign(element, { update: () => {
    waiting.update();
    const there = findSession(state, session)?.attendants ?? [];
    const names = (state.people.friends ?? []).filter((name) => !there.includes(name));
    none.hidden = names.length > 0;
    asked.hidden = !names.length;
    if (print !== (print = JSON.stringify(names))) fill(list, names.map(row));
  } });
}
