import { explain, getAll, remove } from "../lib/api.js";
import { placesOf, readCube, whenCubeChanges } from "../lib/cube.js";
import { append, fill, h } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { may, session } from "../lib/session.js";
import { hasAll, t, wordsOf } from "../lib/text.js";
import { formatAgo } from "../lib/time.js";
import { showForm } from "../elements/dialogs.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { toast } from "../elements/toast.js";
import { addToken } from "./add.js";
import { tokenRow } from "./row.js";

const main = document.getElementById("main");
await ready;

const isAdmin = may("administer");
/** Those of the last answer; `null` before the first one. */
let tokens = null;
let places = new Map();
const readPlaces = () => readCube().then(({ channels }) => { places = placesOf(channels); }, () => {});

const search = h("input", { type: "search", value: new URLSearchParams(location.search).get("account") ?? "",
    "aria-label": t("tokens.search"), placeholder: t("tokens.search"), oninput: () => {
  history.replaceState(null, "", location.pathname);
  if (tokens) show();
} });
const filters = h("div", { class: "filters", hidden: !isAdmin }, search);
const status = h("p", { class: "unseen", role: "status" });
const list = h("div", { "aria-busy": "true" }, skeleton());
const add = () => h("button", { class: "button main", type: "button", onclick: make }, icon("plus", "small"),
  t("tokens.add"));
append(main, pageHead({ heading: t("tokens.heading"), intro: t(isAdmin ? "tokens.intro" : "tokens.introOwn"),
      action: add() }), filters, status, list);
main.focus();
const places0 = readPlaces();
read();
whenCubeChanges(() => readPlaces().then(() => tokens && show()));
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") read(); });
let isFirst = true;
listen("health", (health) => { if (health.services?.people === "ok" && list.querySelector(".notice")) read(); });
listen("reset", () => { if (!isFirst) read(); isFirst = false; });

async function read() {
  try {
    [tokens] = await Promise.all([getAll("/token?limit=200", "tokens"), places0]);
    // What was used last is looked at first.
    tokens.sort((a, b) => (b.last_used ?? b.created) - (a.last_used ?? a.created));
    show();
  } catch (error) {
    if (tokens?.length) return;
    fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, error.status === 503 ? t("tokens.away") : explain(error)),
      h("button", { class: "button small", type: "button", onclick: () => { fill(list, skeleton()); read(); } },
        t("retry"))));
  }
}

function show() {
  const words = wordsOf(search.value);
  const fitting = tokens.filter((token) => hasAll(words, `${token.name} ${token.account}`));
  list.setAttribute("aria-busy", "false");
  status.textContent = t("tokens.count", { count: fitting.length });
  if (!tokens.length) {
    fill(list, emptyPage({ name: "key", heading: t("tokens.empty.heading"), text: t("tokens.empty.text"),
          action: h("button", { class: "button", type: "button", onclick: make }, t("tokens.empty.action")) }));
    return;
  }
  if (!fitting.length) {
    fill(list, emptyPage({ name: "search", heading: t("tokens.none.heading"),
          text: t("tokens.none.text"), action: h("button", {
      class: "button", type: "button", onclick: () => { search.value = ""; show(); search.focus(); },
    }, t("tokens.none.action")) }));
    return;
  }
  const focused = document.activeElement?.closest?.("[data-token]")?.dataset.token;
  const columns = ["name", "may", "used", "expires"];
  fill(list, h("table", { class: "things tokens" }, h("caption", { class: "unseen" }, t("tokens.heading")),
    h("thead", null, h("tr", null, columns.map((name) => h("th", { scope: "col" }, t(`tokens.column.${name}`))),
        h("th", { class: "end" }, h("span", { class: "unseen" }, t("tokens.column.actions"))))),
    h("tbody", null, fitting.map((token) =>
        tokenRow(token, { places, showsAccount: isAdmin, revoke: () => revoke(token) })))));
  if (focused) buttonOf(focused)?.focus({ preventScroll: true });
}

const buttonOf = (id) => list.querySelector(`[data-token="${CSS.escape(id)}"] button`);

async function make() {
  await places0;
  const token = await addToken(places);
  if (!token) return;
  tokens = [token, ...(tokens ?? [])];
  search.value = "";
  show();
  buttonOf(token.id).focus();
  toast(t("tokens.added", { name: token.name }));
}

async function revoke(token) {
  const { last_used: used, last_address: address } = token;
  const texts = [
    used ? t(address ? "tokens.revoke.usedFrom" : "tokens.revoke.used",
      { time: formatAgo(used), address }) : t("tokens.revoke.unused"),
    t("tokens.revoke.text"), token.operator ? t("tokens.revoke.operator") : null,
    isAdmin && token.account !== session.account ? t("tokens.revoke.other", { account: token.account }) : null,
  ];
  const isRevoked = await showForm({
    heading: t("tokens.revoke.heading", { name: token.name }), fields: texts.filter(Boolean)
      .map((text) => h("p", { class: "secondary" }, text)),
    action: t("tokens.revoke.action"), isDanger: true,
    submit: async () => {
      try {
        await remove(`/token/${token.id}`);
      } catch (error) {
        if (error.kind !== "not-found") throw error;
      }
      return true;
    },
  });
  if (!isRevoked) return;
  const next = list.querySelector(`[data-token="${token.id}"]`)?.nextElementSibling?.dataset.token;
  tokens = tokens.filter((each) => each.id !== token.id);
  show();
  ((next && buttonOf(next)) ?? main.querySelector("h1")).focus();
  toast(t("tokens.revoked", { name: token.name }));
}

function skeleton() {
  return h("div", { class: "group", "aria-hidden": "true" }, Array.from({ length: 4 }, () =>
    h("div", { class: "bone" }, h("span", { class: "skeleton" }), h("span", { class: "skeleton" }),
      h("span", { class: "skeleton" }))));
}
