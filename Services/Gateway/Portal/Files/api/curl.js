import { named } from "./schema.js";

/** A value for a parameter: its own example, or one that its schema allows. */
function exampleOf({ example, schema }, document) {
  const { examples, enum: values, minimum, type } = named(schema, document);
  return example ?? schema.examples?.[0] ?? examples?.[0] ?? values?.[0] ?? minimum ?? (type === "integer" ? 1 : "x");
}

/** A request as a command of curl. */
export function curlCommand({ method, path, parameters = [], requestBody, security }, document) {
  const target = parameters.reduce((text, one) => text.replace(`{${one.name}}`, exampleOf(one, document)), path);
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}"$hub${target}"`];
  if (security.every((way) => Object.keys(way).length > 0)) lines.push("-H @authorization");
  for (const one of parameters) {
    if (one.in === "header" && one.name !== "If-None-Match") {
      lines.push(`-H '${one.name}: ${exampleOf(one, document)}'`);
    }
  }
  const content = requestBody && Object.values(requestBody.content)[0];
  if (content) {
    const body = typeof content.example === "string" ? content.example : JSON.stringify(content.example, null, 2);
    lines.push(`-d '${body.replaceAll("'", String.raw`'\''`)}'`);
  }
  return lines.join(" \\\n  ");
}
