import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { session } from "../lib/session.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { copyBox } from "../elements/copy.js";
import { showDialog, showForm } from "../elements/dialogs.js";
import { choice, field, refusal } from "../elements/field.js";
import { subjectsIn } from "./places.js";
import { scopePicker } from "./scope-picker.js";

const day = 86_400_000;
const lengths = { month: 30, quarter: 90, year: 365, never: 0 };

/** Asks for a new token, makes it, and shows its secret once. Returns the token, or `null`. */
export async function addToken(places) {
  const name = field({ label: t("tokens.name"), hint: t("tokens.name.hint"), max: 100,
      attributes: { autofocus: true } });
  const rights = session.rights.map((right) =>
    [right, choice({ label: h("b", null, t(`tokens.right.${right}`)), hint: t(`tokens.right.${right}.means`),
        checked: right === "send" })]);
  const chosenRights = () => rights.filter(([, element]) => element.querySelector("input").checked)
    .map(([right]) => right);
  const wrongRights = h("p", { class: "below wrong", role: "alert" });
  const scope = scopePicker(places);
  const expiry = field({
    label: t("tokens.expiry"),
    control: h("select", null, Object.keys(lengths)
      .map((length) => h("option", { value: length, selected: length === "quarter" }, t(`tokens.expiry.${length}`)))),
  });
  const expires = () => (lengths[expiry.value] ? Date.now() + lengths[expiry.value] * day : undefined);
  const sayWhen = () =>
    expiry.hint(expires()
    ? t("tokens.expiry.until", { time: formatMoment(expires()) }) : t("tokens.expiry.never.hint"));
  expiry.control.addEventListener("change", sayWhen);
  sayWhen();

  const made = await showForm({
    heading: t("tokens.add.heading"), intro: t("tokens.add.intro"), action: t("tokens.add.action"),
    fields: [name, h("fieldset", null, h("legend", null, t("tokens.rights")), rights.map(([, element]) => element),
        wrongRights), scope, expiry],
    submit: async () => {
      wrongRights.textContent = "";
      if (!name.value.trim()) throw refusal(name, t("field.missing"));
      if (name.isTooLong()) throw refusal(name, t("field.tooLong", { max: 100 }));
      if (!chosenRights().length) {
        wrongRights.textContent = t("tokens.rights.missing");
        rights[0][1].querySelector("input").focus();
        throw Object.assign(new Error(), { isShown: true });
      }
      const body = { name: name.value.trim(), rights: chosenRights(), scope: scope.value, expires: expires() };
      try {
        return await post("/token", body);
      } catch (error) {
        if (error.status === 409) throw new Error(t("tokens.tooMany"));
        throw error;
      }
    },
  });
  if (!made) return null;
  await showSecret(made, places);
  return made.token;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that uses the token for what it may do. */
export function exampleFor({ rights, scope }, secret, places) {
  // printf is a part of the shell: the secret is in no list of processes.
  const curl = (path, ...options) => [`printf 'Authorization: Bearer ${secret}' |`,
    `  curl ${quoted(location.origin + path)} -H @-`, ...options].join(" \\\n");
  const subjects = subjectsIn(scope, places);
  if (rights.includes("send") && subjects.length) {
    const path = subjects[0].names.map(encodeURIComponent).join("/");
    return curl(`/send/${path}`,
      `--data-binary ${quoted(`${t("tokens.example.title")}\n${t("tokens.example.text")}`)}`);
  }
  return curl(rights.includes("read") ? "/message?limit=5" : "/channel");
}

/** Shows the secret of a new token, and how it is used. Only its button closes the dialog. */
function showSecret({ token, secret }, places) {
  return showDialog((close) => h("div", { class: "stack secret" },
    h("h2", null, t("tokens.secret.heading", { name: token.name })),
    h("p", { class: "notice" }, icon("key"), h("span", null, t("tokens.secret.warning"))),
    copyBox({ label: t("tokens.secret"), text: secret }),
    copyBox({ label: t(token.rights.includes("send") ? "tokens.example.send" : "tokens.example"),
        text: exampleFor(token, secret, places) }),
    h("div", { class: "actions" }, h("button", { class: "button main", type: "button", onclick: () => close(true) },
        t("tokens.secret.done")))), { isFirm: true });
}
