import { fill, h } from "../lib/dom.js";
import { explain, get, put } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { readSession } from "../lib/session.js";
import { codeField, signInForm } from "../lib/sign-in.js";
import { t } from "../lib/text.js";

const main = document.getElementById("main");

/** Where the person wanted to go; only a page of the portal. */
function goOn() {
  const next = new URLSearchParams(location.search).get("next") ?? "";
  location.replace(/^\/portal\/[a-z-]/.test(next) ? next : "/portal/send/");
}

function show(heading, intro, form) {
  document.title = t("product");
  fill(main, h("div", { class: "entrance" },
    h("div", { class: "brand" }, h("span", { class: "mark" }, icon("speaker")), t("product")),
    h("div", { class: "panel" }, h("h1", null, heading), h("p", { class: "secondary" }, intro), form)));
}

/** After a sign-in at the university's provider: the account's second factor. */
function secondFactorForm() {
  const code = codeField();
  return h("form", {
    class: "stack", noValidate: true,
    onsubmit: async (event) => {
      event.preventDefault();
      try {
        await put("/session", { code: code.value.replaceAll(" ", "") }, { remedy: false });
        goOn();
      } catch (error) {
        code.error(error.status === 401 ? t("signIn.wrongCode") : explain(error));
        code.control.focus();
      }
    },
  }, code, h("button", { class: "button main", type: "submit" }, t("signIn.action")));
}

async function start() {
  // Asked first, since a session that nobody has is an error on the browser's console.
  const ways = await get("/session/ways", { remedy: false }).catch(() => null);
  const session = ways?.signed_in === false ? null : await readSession().catch(() => null);
  if (session?.second_factor === "pending") return show(t("signIn.secondFactor"), t("signIn.secondFactorIntro"), secondFactorForm());
  if (session) return goOn();
  show(t("signIn.heading"), t("signIn.intro"), signInForm({ done: goOn }));
}

start();
