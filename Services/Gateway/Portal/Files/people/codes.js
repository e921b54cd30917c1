import { explain, get, post, remove } from "../lib/api.js";
import { hubNow } from "../lib/clock.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { copyBox } from "../elements/copy.js";
import { confirmAction, showDialog, showForm } from "../elements/dialogs.js";
import { field, refusal } from "../elements/field.js";
import { radioGroup } from "../elements/radio-group.js";
import { toast } from "../elements/toast.js";

const day = 86_400_000;
/** How long a new code can be used, in days. */
const lengths = { day: 1, week: 7, month: 30, half: 182 };
const [maxUses, maxNote] = [100_000, 100];

/** Shows the access codes that can still be used. Codes can be made and ended there. */
export const showCodes = () => showDialog((close) => {
  const heading = h("h2", { tabIndex: -1 }, t("people.codes.heading"));
  const list = h("div", { "aria-busy": "true" }, h("span", { class: "skeleton", "aria-hidden": "true" }));

  const row = (code) => h("li", { class: "code-row" },
    h("div", null, h("b", null, t(`people.code.${code.grants}`)),
      code.note ? [" · ", h("bdi", null, code.note)] : null,
      h("small", { class: "hint" }, t("people.code.used", { used: code.used, count: code.uses }), " · ",
        t("people.code.until", { time: formatMoment(code.expires) }))),
    h("button", { class: "button small", type: "button", onclick: () => end(code) }, t("people.code.end"),
      h("span", { class: "unseen" }, ` ${code.note ?? t(`people.code.${code.grants}`)}`)));

  async function read() {
    try {
      const { access_codes: codes } = await get("/access-codes");
      fill(list, codes.length ? h("ul", { class: "plain group" }, codes.map(row))
        : h("p", { class: "hint" }, t("people.codes.none")));
    } catch (error) {
      fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
        h("button", { class: "button small", type: "button", onclick: read }, t("retry"))));
    }
    list.setAttribute("aria-busy", "false");
  }

  async function end(code) {
    if (!(await confirmAction({
      heading: t("people.code.end.heading"), content: h("p", null, t(`people.code.end.${code.grants}`)),
      action: t("people.code.end"), isDanger: true,
    }))) return undefined;
    try {
      await remove(`/access-codes/${code.id}`);
    } catch (error) {
      if (error.kind !== "not-found") return toast(explain(error));
    }
    await read();
    heading.focus();
    return undefined;
  }

  read();
  return h("div", { class: "stack" }, heading, h("p", { class: "secondary" }, t("people.codes.intro")), list,
    h("div", { class: "actions" },
      h("button", { class: "button", type: "button", onclick: () => close() }, t("close")),
      h("button", { class: "button main", type: "button", autofocus: true,
          onclick: async () => { if (await makeCode()) await read(); } }, icon("plus", "small"),
        t("people.codes.make"))));
});

/** Asks what a new code is for, makes it, and shows it once. Returns whether one was made. */
async function makeCode() {
  const grants = radioGroup({ label: t("people.code.grants"), value: "professor",
    options: ["professor", "account"].map((value) =>
      ({ value, label: t(`people.code.${value}`), hint: t(`people.code.${value}.hint`) })) });
  const note = field({ label: t("people.code.note"), hint: t("people.code.note.hint"), max: maxNote });
  const uses = field({ label: t("people.code.uses"), hint: t("people.code.uses.hint"), type: "number", value: "1",
      attributes: { min: "1", max: String(maxUses), step: "1", inputMode: "numeric", dir: "ltr" } });
  const length = field({ label: t("people.code.length"), control: h("select", null, Object.keys(lengths)
    .map((name) => h("option", { value: name, selected: name === "week" }, t(`people.code.length.${name}`)))) });
  const made = await showForm({
    heading: t("people.codes.make.heading"), fields: [grants, note, uses, length],
    action: t("people.codes.make.action"),
    submit: async () => {
      const count = Number(uses.value);
      if (note.isTooLong()) throw refusal(note, t("field.tooLong", { max: maxNote }));
      if (!Number.isInteger(count) || count < 1 || count > maxUses) {
        throw refusal(uses, t("people.code.uses.wrong", { max: maxUses }));
      }
      return post("/access-codes", { grants: grants.value, uses: count, expires: hubNow() + lengths[length.value] * day,
        ...(note.value.trim() ? { note: note.value.trim() } : {}) });
    },
  });
  if (made) await showCode(made);
  return Boolean(made);
}

/** Shows a new code, which no later answer has. Only its button closes the dialog. */
const showCode = ({ code, access_code: { grants, expires, uses } }) => showDialog((close) =>
  h("div", { class: "stack" }, h("h2", null, t("people.code.made")),
    h("p", { class: "secondary" }, t("people.code.made.text", { count: uses, time: formatMoment(expires) })),
    copyBox({ label: t(`people.code.${grants}`), text: code }),
    h("p", { class: "notice" }, icon("key"), h("span", null, t("people.code.once"))),
    h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: () => close(true) },
      t("people.invited.done")))), { isFirm: true });
