import { h } from "../lib/dom.js";
import { t, tn } from "../lib/text.js";

/** A part of the document, or what it refers to: `#/components/schemas/Area`. */
export function named(part, document) {
  if (!part.$ref) return part;
  return part.$ref.split("/").slice(1).reduce((value, name) => value[name], document);
}

/** Paragraphs of Markdown with `code` and **strong** text. */
export const markdown = (text = "") => text.split("\n\n").filter(Boolean).map((paragraph) =>
  h("p", { dir: "auto", lang: "en" }, paragraph.split(/(`[^`]*`|\*\*[^*]*\*\*)/).map((piece) => {
    if (piece.startsWith("`")) return h("code", { dir: "ltr" }, piece.slice(1, -1));
    return piece.startsWith("**") ? h("strong", null, piece.slice(2, -2)) : piece;
  })));

/** A list of an object's fields, the values of an enumeration, or the form of a text. */
export function schemaDetails(schema) {
  if (!schema.properties) return h("p", null, typeOf(schema), limitsOf(schema));
  const rows = Object.entries(schema.properties)
    .map(([name, value]) => fieldRow(name, value, schema.required?.includes(name) ?? false));
  return rows.length > 0 ? h("dl", { class: "fields" }, rows) : h("p", null, t("api.noFields"));
}

/** A field or a parameter. */
export const fieldRow = (name, schema, isRequired, note = schema.description) => h("div", null,
  h("dt", null, h("code", { dir: "ltr" }, name), isRequired ? null : h("span", { class: "hint" }, t("api.optional"))),
  h("dd", null, h("span", { class: "hint" }, typeOf(schema), limitsOf(schema)), markdown(note)));

/** The type: a link to a document, or a word. */
export function typeOf(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return h("a", { href: `#document-${name}`, dir: "ltr" }, name);
  }
  if (schema.enum) {
    return schema.enum.map((value, place) =>
      [place > 0 ? ` ${t("api.or")} ` : "", h("code", { dir: "ltr" }, JSON.stringify(value))]);
  }
  switch (schema.type) {
    case "array": return tn("api.listOf", { type: h("span", null, typeOf(schema.items ?? {})) });
    case "object": {
      const values = schema.additionalProperties;
      return typeof values === "object"
        ? tn("api.objectOf", { type: h("span", null, typeOf(values)) }) : t("api.object");
    }
    case "string": return t("api.text");
    case "boolean": return t("api.boolean");
    case undefined: return t("api.anything");
    default: return schema.type === "integer" ? t("api.integer") : t("api.number");
  }
}

function limitsOf(schema) {
  const range = (min, max, key) => schema[min] !== undefined && schema[max] !== undefined
    ? t(key, { min: String(schema[min]), max: String(schema[max]) }) : null;
  // Most texts have a pattern that only forbids U+0000 or a blank text.
  const pattern = schema.pattern?.includes("\\x00") ? null : schema.pattern;
  return [
    range("minimum", "maximum", "api.range"), range("minLength", "maxLength", "api.characters"),
    range("minItems", "maxItems", "api.elements"),
    pattern ? tn("api.pattern", { pattern: h("code", { dir: "ltr" }, pattern) }) : null,
  ].filter(Boolean).map((limit) => [", ", limit]);
}
