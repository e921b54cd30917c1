import { explain, get } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { areKeysOn, signOf } from "../lib/keys.js";
import { hasAll, searchable, t, wordsOf } from "../lib/text.js";
import { operationView, wordsOfOperation } from "./operation.js";
import { markdown, schemaDetails } from "./schema.js";

const main = document.getElementById("main");
const search = h("input", {
  type: "search", "aria-label": t("api.search"), placeholder: t("api.search"), dir: "auto", autocomplete: "off",
  spellcheck: false,
  oninput: () => filter(),
});
const found = h("p", { class: "hint", role: "status" });
const contents = h("ul", { class: "plain" });
/** What the search finds: the element, its link in the contents, and its words. */
const entries = [];
/** The sections with their places in the contents. One without a found entry is hidden. */
const sections = [];

document.title = `${t("api.title")} · ${t("product")}`;
document.body.prepend(
  h("a", { class: "skip unseen", href: "#main" }, t("shell.skip")),
  h("header", { class: "api-rail" },
    h("a", { class: "api-brand", href: "/" }, h("span", { class: "mark" }, icon("speaker", "small")), t("product")),
    search, found,
    // Narrow windows have no room for it beside the page.
    h("details", { open: matchMedia("(min-width: 861px)").matches },
      h("summary", null, t("api.contents")), h("nav", { "aria-label": t("api.contents") }, contents))));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  if (signOf(event) !== "/" || !areKeysOn()) return;
  event.preventDefault();
  search.focus();
});
// The way to something that the search has hidden. A click counts too, since the address may have its name already.
window.addEventListener("hashchange", () => reveal(location.hash));
document.addEventListener("click", ({ target }) => reveal(target.closest('a[href^="#"]')?.hash ?? ""));
load();

async function load() {
  fill(main, Array.from({ length: 3 }, () => h("div", { class: "skeleton bone" })));
  try {
    show(await get("/openapi.json"));
  } catch (error) {
    const retry = h("button", { class: "button", type: "button", onclick: load }, t("api.retry"));
    fill(main, h("h1", null, t("api.title")), h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, explain(error)), retry));
  }
}

function show(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })));
  fill(main, h("h1", { tabIndex: -1 }, t("api.title")), overview(document.info),
    document.tags.map((tag, place) => section(`section-${place}`, tag.name, markdown(tag.description), operations
      .filter((one) => one.tags.includes(tag.name))
      .map((one) => entry(operationView(one, document), one.operationId, one.summary,
          wordsOfOperation(one, document))))),
    section("documents", t("api.documents"), h("p", null, t("api.documents.intro")),
      Object.entries(document.components.schemas)
      .map(([name, schema]) => entry(documentView(name, schema), `document-${name}`, name,
          [name, schema.description ?? ""]))));
  // What the address names has come only now.
  if (location.hash) location.replace(location.hash);
}

const overview = (info) => h("section", { class: "overview" },
  h("p", { class: "secondary" }, h("bdi", null, info.title), " · ", t("api.version", { version: info.version }), " · ",
    h("a", { href: "/openapi.json" }, "OpenAPI 3.1")),
  markdown(info.description),
  h("figure", null, h("figcaption", null, t("api.curl")), h("pre", { tabIndex: 0, dir: "ltr" }, h("code", null,
    "hub=http://127.0.0.1:8080\numask 077\n",
    'echo "Authorization: Bearer $(<~/.local/state/msi/token)" > authorization'))));

const documentView = (name, schema) => h("article", { class: "panel" },
  h("h3", null, h("code", { dir: "ltr" }, name)), markdown(schema.description), schemaDetails(schema));

/** A section of the page, and its place in the contents. */
function section(id, name, introduction, parts) {
  const element = h("section", { id }, h("h2", null, name), introduction, parts.map(({ element }) => element));
  const row = h("li", null, h("a", { class: "section", href: `#${id}` }, name),
    h("ul", { class: "plain" }, parts.map(({ row }) => row)));
  contents.append(row);
  sections.push({ element, row, parts });
  return element;
}

function entry(element, id, name, words) {
  element.id = id;
  const row = h("li", null, h("a", { href: `#${id}` }, h("bdi", { lang: "en" }, name)));
  const made = { element, row, text: searchable(words.join("\n")) };
  entries.push(made);
  return made;
}

function filter() {
  const words = wordsOf(search.value);
  for (const { element, row, text } of entries) element.hidden = row.hidden = !hasAll(words, text);
  for (const { element, row, parts } of sections) {
    element.hidden = row.hidden = parts.every((part) => part.element.hidden);
  }
  main.querySelector(".overview").hidden = words.length > 0;
  const count = entries.filter(({ element }) => !element.hidden).length;
  found.textContent = words.length === 0 ? "" : count === 0 ? t("api.none") : t("api.found", { count });
}

function reveal(hash) {
  const target = document.getElementById(hash.slice(1));
  if (!target?.closest("[hidden]")) return;
  search.value = "";
  filter();
  target.scrollIntoView();
}
