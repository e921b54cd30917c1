const svgNamespace = "http://www.w3.org/2000/svg";

/**
 * Makes an element. Text is always text, never markup.
 *
 * `properties`: `on…` are listeners, `class` and everything with a dash are attributes, and other names are properties
 * of the element if it has them, or else attributes. `null`, `undefined` and `false` leave one out.
 */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

/** Sets one property of an element, by the rules of `h`. */
export function set(element, name, value) {
  if (name.startsWith("on") && typeof value === "function") {
    element.addEventListener(name.slice(2), value);
  } else if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (name in element && !name.includes("-") && name !== "list" && name !== "form") {
    if (value !== undefined && value !== null) element[name] = value;
  } else if (value === null || value === undefined || value === false) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

/** Appends nodes, texts and lists of them; leaves out `null`, `undefined` and booleans. */
export function append(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    element.append(child);
  }
  return element;
}

/** Replaces an element's content. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  return append(element, children);
}

let lastIdentifier = 0;

/** An identifier for `id`, `for` and `aria-describedby` that no other element of the page has. */
export function newIdentifier(prefix) {
  lastIdentifier += 1;
  return `${prefix}-${lastIdentifier}`;
}
