import { fill, h } from "../lib/dom.js";
import { explain, get, put } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { passSession, readSession } from "../lib/session.js";
import { codeField, elsewhere, signInForm } from "../lib/sign-in.js";
import { keep, kept } from "../lib/store.js";
import { hasText, language, t, tn } from "../lib/text.js";

const main = document.getElementById("main");
const query = new URLSearchParams(location.search);
/** How long a sign-in at the university may take; the gateway's limit. */
const longest = 600_000;

/** Where the person wanted to go. The way over the university's page comes back without it. */
const next = (() => {
  try {
    const wanted = query.get("next") ?? sessionStorage.getItem("msi.next") ?? "";
    sessionStorage.setItem("msi.next", wanted);
    return wanted;
  } catch {
    // A blocked storage.
    return query.get("next") ?? "";
  }
})();

/** Only to a page of the portal. */
const target = /^\/portal\/[a-z-]/.test(next) ? next : "/portal/send/";

function goOn() {
  try { sessionStorage.removeItem("msi.next"); } catch { /* a blocked storage has kept nothing */ }
  location.replace(target);
}

/** Loads the files of the next page while somebody types, so that a slow line is not waited for later. */
async function prepareNext() {
  const html = await fetch(target).then((response) => response.text(), () => "");
  const files = [...html.matchAll(/(?:href|src)="([^"]+\.(?:js|css))"/g)].map(([, file]) => file);
  const texts = [...html.matchAll(/data-text="([^"]+)"/g)].map(([, part]) =>
    new URL(`../text/${language}/${part}.json`, import.meta.url).href);
  for (const href of [...files, ...texts]) document.head.append(h("link", { rel: "prefetch", href }));
}

function show(heading, intro, form) {
  document.title = t("product");
  fill(main, h("div", { class: "entrance" },
    h("div", { class: "brand" }, h("span", { class: "mark" }, icon("speaker")),
      h("div", null, t("product"), h("small", null, t("signIn.product")))),
    h("div", { class: "panel" }, h("h1", null, heading), h("p", { class: "secondary" }, intro), form),
    otherLanguage()));
}

/** Leads to the portal in the other language, for somebody who does not read this one. */
function otherLanguage() {
  const [value, name] = language === "ar" ? ["en", "English"] : ["ar", "العربية"];
  const problem = h("span", { role: "alert" });
  return h("p", { class: "other-language" },
      h("button", { class: "button plain small", type: "button", lang: value, onclick: () => {
    if (keep("settings", { ...kept("settings", {}), language: value })) location.reload();
    else problem.textContent = t("signIn.languageBlocked");
  } }, name), problem);
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
        await start();
      } catch (error) {
        code.error(error.status === 401 ? t("signIn.wrongCode") : explain(error));
        code.control.focus();
      }
    },
  }, code, h("button", { class: "button main", type: "submit" }, t("signIn.action")));
}

const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation");
// Another link in the same tab.
window.addEventListener("hashchange", () => location.reload());

async function start() {
  // Asked first, since a session that nobody has is an error on the browser's console.
  const ways = await get("/session/ways", { remedy: false }).catch(() => null);
  const session = ways?.signed_in === false ? null : await readSession().catch(() => null);
  if (invitation !== null) {
    const { showInvitation } = await import("./invitation.js");
    return showInvitation(invitation, { show, done: goOn });
  }
  if (session?.second_factor === "pending") {
    return show(t("signIn.secondFactor"), t("signIn.secondFactorIntro"), secondFactorForm());
  }
  const kind = query.get("problem");
  const problem = kind === null
    ? null : t(hasText(`signIn.problem.${kind}`) ? `signIn.problem.${kind}` : "signIn.problem.other");
  const further = h("button", { class: "button main", type: "button", onclick: goOn }, t("signIn.goOn"));
  if (session && problem) return show(t("signIn.problem"), problem, further);
  const isForOtherTab = session && Date.now() - kept(elsewhere, 0) < longest;
  if (session) keep(elsewhere, null);
  if (isForOtherTab) return show(t("signIn.done"), t("signIn.done.intro"), further);
  if (session) return goOn();
  let isSignedOut = false;
  try {
    isSignedOut = sessionStorage.getItem("msi.signedOut") !== null;
    sessionStorage.removeItem("msi.signedOut");
  } catch { /* a blocked storage */ }
  show(t("signIn.heading"), t("signIn.intro"), h("div", { class: "stack" },
    isSignedOut ? h("div", { class: "notice good", role: "status" }, icon("check"),
      h("p", null, t("signIn.signedOut"))) : null,
    problem ? h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, problem)) : null,
    signInForm({ done: (session) => { passSession(session); goOn(); } }),
    h("p", { class: "hint" }, t("signIn.forgotten")),
    h("p", { class: "hint" }, tn("signIn.student", { link: h("a", { href: "/app/" }, t("signIn.student.link")) }))));
  main.querySelector("input").focus();
  prepareNext();
}

start();
