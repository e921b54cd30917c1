import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { curlCommand } from "./curl.js";
import { fieldRow, markdown, named, schemaDetails, typeOf } from "./schema.js";

/** One route: what it does, what it takes and answers, and an example. */
export function operationView(operation, document) {
  const { method, path, operationId, summary, description } = operation;
  const example = Object.entries(operation.responses)
    .find(([, answer]) => answer.content?.["application/json"]?.example !== undefined);
  return h("article", { class: "panel route" },
    h("div", { class: "route-text" },
      h("h3", null, h("a", { href: `#${operationId}` }, h("bdi", { lang: "en" }, summary))),
      h("p", { class: "path", dir: "ltr" }, h("span", { class: "method" }, method), " ", h("code", null, path)),
      h("p", { class: "rights" }, rightOf(operation)), markdown(description),
      parameters(operation), body(operation, document), answers(operation, document)),
    h("div", { class: "examples" }, figure(t("api.request"), curlCommand(operation, document)),
      example ? figure(t("api.answer", { status: example[0] }),
        JSON.stringify(example[1].content["application/json"].example, null, 2)) : null));
}

/** What the search looks at. */
export const wordsOfOperation = (operation, document) => [
  operation.method, operation.path, operation.summary, operation.description ?? "",
  ...(operation.parameters ?? []).map(({ name }) => name),
  ...Object.keys(bodyOf(operation)?.schema ? named(bodyOf(operation).schema, document).properties ?? {} : {}),
  ...Object.entries(operation.responses).flatMap(([status, answer]) => [status, ...problemsOf(answer, document)]),
];

const figure = (caption, text) =>
  h("figure", null, h("figcaption", null, caption), h("pre", { tabIndex: 0, dir: "ltr" }, h("code", null, text)));

const isOpen = ({ security }) => security.some((way) => Object.keys(way).length === 0);

function rightOf(operation) {
  if (isOpen(operation)) return [h("span", { class: "tag good" }, t("api.open")), " ", t("api.open.text")];
  const right = Object.values(operation.security[0])[0][0];
  return [h("span", { class: "tag" }, right ? t("api.right", { right }) : t("api.signedIn")), " ",
    operation["x-confirmed"] ? h("span", { class: "tag" }, t("api.confirmed")) : null];
}

function parameters({ parameters: all = [] }) {
  const kinds = { path: t("api.path"), query: t("api.query"), header: t("api.header") };
  return Object.entries(kinds).map(([place, heading]) => {
    const rows = all.filter((one) => one.in === place)
      .map(({ name, schema, required, description }) => fieldRow(name, schema, required, description));
    return rows.length > 0 ? [h("h4", null, heading), h("dl", { class: "fields" }, rows)] : null;
  });
}

const bodyOf = ({ requestBody }) => requestBody && Object.values(requestBody.content)[0];

function body(operation, document) {
  const content = bodyOf(operation);
  return content ? [h("h4", null, operation.requestBody.required ? t("api.body") : t("api.body.optional")),
    schemaDetails(named(content.schema, document))] : null;
}

const problemsOf = (answer, document) =>
  Object.keys(named(answer, document).content?.["application/problem+json"]?.examples ?? {});

function answers({ responses }, document) {
  const rows = Object.entries(responses).map(([status, answer]) => {
    const kind = { 2: "good", 3: "" }[status[0]] ?? "bad";
    return h("li", null, h("span", { class: `tag status ${kind}` }, status),
      h("div", null, contentsOf(answer, document)));
  });
  return [h("h4", null, t("api.answers")), h("ul", { class: "plain answers" }, rows)];
}

function contentsOf(answer, document) {
  const { content = {}, description, headers = {} } = named(answer, document);
  const names = Object.keys(headers).filter((name) => name !== "X-Request-Id");
  return [
    Object.keys(content).length === 0 ? h("bdi", { lang: "en" }, description) : null,
    Object.entries(content).map(([type, { schema }]) => {
      if (type === "application/problem+json") {
        return problemsOf(answer, document)
          .map((kind) => [h("a", { href: `/problems/${kind}`, dir: "ltr" }, kind), " "]);
      }
      return [type === "application/json" ? typeOf(schema) : h("code", { dir: "ltr" }, type), " "];
    }),
    names.length > 0 ? h("span", { class: "hint" }, " ", t("api.with", { headers: names.join(", ") })) : null,
  ];
}
