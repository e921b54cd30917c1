import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { showDialog } from "../elements/dialog.js";
import { form } from "../people/parts.js";
import { classFields } from "./class-fields.js";
import { pathOfClass } from "./frame.js";
import { keyed } from "./hub.js";
import { myClasses, readChanged, readClasses } from "./my-classes.js";
import { emptyPage, pageHead, refill, remote } from "./parts.js";
import { reasonOf } from "./reasons.js";

/** A class as a row, which leads to it. */
const row = ({ id, name, identification_key: key, role, members, sessions, closed }) => h("li", null,
  h("a", { class: "row", href: pathOfClass(id) }, icon("classes"),
    h("span", { class: "row-text" }, h("span", { class: "row-label" }, h("bdi", null, name),
      closed ? h("span", { class: "tag" }, t("prof.class.closed")) : null,
      role === "ta" ? h("span", { class: "tag" }, t("prof.role.ta")) : null,
      sessions ? h("span", { class: "tag good" }, t("prof.class.sessions", { count: sessions })) : null),
    h("span", { class: "hint" }, h("bdi", null, key), " · ", t("prof.class.members", { count: members }))),
    icon("next", "small")));

/** Creates a class. The device's token may be older than the mark of professors: then another one is tried. */
async function create(send, draft) {
  try {
    return await send("POST", "/class", draft);
  } catch (error) {
    if (error.status !== 403) throw error;
    await (await app.people()).account.renew();
    return send("POST", "/class", draft);
  }
}

/** Asks what a new class is called, and opens its keys. */
function newClass() {
  const { fields, value } = classFields();
  const send = keyed();
  return showDialog({ heading: t("prof.class.new"), make: (close) => form({
    fields, action: t("prof.class.create"), reason: reasonOf,
    extra: [h("button", { class: "button", type: "button", onclick: () => close() }, t("cancel"))],
    onsubmit: async () => {
      const { id } = await create(send, value());
      await readChanged();
      close();
      location.hash = pathOfClass(id, "keys");
    } }) });
}

/** The classes of a professor or a teaching assistant. */
export function classList() {
  const mayAdd = state.people.person?.professor === true;
  const add = () => h("button", { class: "button main", type: "button", onclick: newClass }, icon("plus", "small"),
    t("prof.class.new.action"));
  const list = h("ul", { class: "plain group" });
  const place = h("div", null);
  let print = "";
  const content = h("div", null, place);

  function show() {
    const classes = myClasses() ?? [];
    if (print === (print = JSON.stringify(classes))) return;
    if (!classes.length) {
      refill(place, emptyPage({ sign: "classes", heading: t("prof.classes.none"), text: t("prof.classes.none.text") }));
      return;
    }
    refill(list, classes.map(row));
    if (list.parentElement !== place) refill(place, list);
  }

  const element = h("div", { class: "stack" },
    pageHead({ heading: t("prof.classes.heading"), intro: t("prof.classes.intro"), action: mayAdd ? add() : null }),
    remote({ isStill: true, load: readClasses, content, show }));
  return Object.assign(element, { update: show });
}
