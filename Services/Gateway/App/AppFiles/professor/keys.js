// The codes with which people join a class. The professor can look at them at any time.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { pathTo } from "../lib/route.js";
import { t } from "../lib/text.js";
import { copyButton } from "../elements/copy.js";
import { showDialog } from "../elements/dialog.js";
import { qrPicture } from "../elements/qr-picture.js";
import { toast } from "../elements/toast.js";
import { field, form } from "../people/parts.js";
import { ask, askList, classPath, keyed } from "./hub.js";
import { classOf } from "./my-classes.js";
import { askAndDo, emptyPage, focusHeading, refill, remote, smallButton } from "./parts.js";
import { reasonOf } from "./reasons.js";
import { formatMoment } from "./times.js";

/** The most uses that a key can have. */
const maxUses = 100_000;

/** Where the app asks for a code, with the code filled in. A code behind `#` is in no server's log. */
const joinAddress = (code) => `${location.origin}/app/${pathTo({ tab: "study", page: "join", key: code })}`;

/** How often a key was used and may be, and until when it counts. */
const facts = ({ uses, used, expires }) => [
  uses ? t("prof.key.used.of", { used, uses }) : t("prof.key.used", { count: used }),
  expires ? t("prof.key.expires", { moment: formatMoment(expires) }) : null].filter(Boolean).join(" · ");

/** The key for a hall: as large as it gets, with a QR code that opens the app. */
async function showLarge({ role, code }) {
  const address = joinAddress(code);
  await showDialog({ heading: t(`prof.key.${role}`), kind: "hall", make: (close) => [
    h("p", { class: "hall-code", dir: "ltr" }, code),
    qrPicture(address, t("prof.key.qr", { code })),
    h("p", { class: "secondary" }, t("prof.key.how", { address: `${location.host}/app/` })),
    h("div", { class: "actions" }, copyButton(() => address, { label: t("prof.key.copyLink") }), h("button",
      { class: "button main", type: "button", autofocus: true, onclick: () => close() }, t("prof.key.done")))] });
  // While people used it, the list was made again, and the button that had the focus is gone.
  if (document.activeElement === document.body) focusHeading();
}

/** The fields of a new key. `value()` is the body of the request. */
function newKeyFields() {
  const role = field({ label: t("prof.key.role"), tag: "select" });
  role.input.append(...["student", "ta"].map((value) => h("option", { value }, t(`prof.key.${value}`))));
  const uses = field({ label: t("prof.key.uses"), hint: t("prof.key.uses.hint"), type: "number", min: 1, max: maxUses,
    step: 1, inputMode: "numeric" });
  const expires = field({ label: t("prof.key.until"), hint: t("prof.key.until.hint"), type: "datetime-local",
    dir: "ltr" });
  return { fields: [role, uses, expires], value: () => ({ role: role.input.value,
    ...(uses.input.value ? { uses: Number(uses.input.value) } : {}),
    ...(expires.input.value ? { expires: new Date(expires.input.value).getTime() } : {}) }) };
}

/** The part of a class with its keys. */
export function keysPart({ id }) {
  const path = classPath(id, "/keys");
  const list = h("ul", { class: "plain class-keys" });
  const none = emptyPage({ sign: "key", heading: t("prof.keys.none"), text: t("prof.keys.none.text") });
  const closed = h("p", { class: "notice", hidden: true }, icon("info", "small"), t("prof.keys.closed"));
  const add = h("button", { class: "button main", type: "button", onclick: make }, icon("plus", "small"),
    t("prof.key.new.action"));
  const keys = remote({ load: () => askList(path, "keys"), content: h("div", null, list, none), show });

  /** Does something with a key, and shows what came of it. */
  const change = (name, method, { id: key, code }) => askAndDo({
    heading: t(`prof.key.${name}.question`, { code: `\u2068${code}\u2069` }), text: t(`prof.key.${name}.text`),
    action: t(`prof.key.${name}.do`), done: t(`prof.key.${name}.done`), work: async () => {
      await ask(method, `${path}/${key}`);
      await keys.refresh();
    } });

  function row(key) {
    const { role, code } = key;
    return h("li", { class: "card" },
      h("p", { class: "key-role" }, h("span", { class: "tag" }, t(`prof.key.${role}`))),
      h("p", { class: "key-code" }, h("bdi", { dir: "ltr" }, code)), h("p", { class: "hint" }, facts(key)),
      h("div", { class: "actions" },
        smallButton(t("prof.key.show"), code, () => showLarge(key)), copyButton(() => code),
        smallButton(t("prof.key.replace"), code, () => change("replace", "PUT", key)),
        smallButton(t("prof.key.revoke"), code, () => change("revoke", "DELETE", key), "danger")));
  }

  function show(found) {
    list.hidden = !found.length;
    none.hidden = found.length > 0;
    refill(list, found.map(row));
  }

  function make() {
    const { fields, value } = newKeyFields();
    const send = keyed();
    return showDialog({ heading: t("prof.key.new"), make: (close) => form({
      fields, action: t("prof.key.create"), reason: reasonOf,
      extra: [h("button", { class: "button", type: "button", onclick: () => close() }, t("cancel"))],
      onsubmit: async () => {
        const key = await send("POST", path, value());
        await keys.refresh();
        close();
        toast(t("prof.key.made"));
        showLarge(key);
      } }) });
  }

  function update() {
    closed.hidden = !classOf(id)?.closed;
  }

  update();
  return Object.assign(h("div", { class: "stack" }, h("div", { class: "part-head" },
    h("p", { class: "secondary" }, t("prof.keys.text")), add), closed, keys), { update });
}
