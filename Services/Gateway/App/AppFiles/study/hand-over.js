// A session is handed over to another attendant, who hosts it from then on.

import { fill, h } from "../lib/dom.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { findSession } from "../core/study-state.js";
import { toast } from "../elements/toast.js";
import { form, named } from "../people/parts.js";
import { isMe, pathOf, portrait, sheet, studyOfApp } from "./parts.js";

/** The sheet on which the next host is chosen. */
export function handOverView(id, session) {
  const path = pathOf({ class: id, id: session });
  const list = h("ul", { class: "plain group" });
  const none = h("p", { class: "hint" }, t("handOver.none"));
  const asked = form({ fields: [list], action: t("do.handOver"), onsubmit: handOver });
  const element = sheet(t("handOver.heading"), { back: path }, h("p", { class: "secondary" }, t("handOver.text")), none,
    asked);
  let print = "";

  async function handOver() {
    const name = list.querySelector(":checked")?.value;
    if (!name) return asked.say(t("handOver.nobody"));
    await (await studyOfApp()).act("change", { class: id, session, edit: { host: name } });
    toast(named("done.handOver", { name }));
    location.hash = path;
    return undefined;
  }

  const row = (name, isFriend, isChosen) => h("li", null, h("label", { class: "row" },
    h("input", { type: "radio", name: "host", value: name, checked: isChosen }), portrait(name, isFriend),
    h("span", { class: "row-text" }, h("bdi", null, name))));

  return Object.assign(element, { update: () => {
    const found = findSession(state, session);
    const names = found?.isHost ? found.attendants.filter((name) => !isMe(name)) : [];
    none.hidden = names.length > 0;
    asked.hidden = !names.length;
    if (print === (print = JSON.stringify(names))) return;
    const chosen = list.querySelector(":checked")?.value;
    fill(list, names.map((name) => row(name, found.friends.includes(name), name === chosen)));
  } });
}
