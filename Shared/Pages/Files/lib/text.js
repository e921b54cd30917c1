// All text that people see is in ../text, by language and page.

export const language = document.documentElement.lang;
export const isRightToLeft = document.documentElement.dir === "rtl";

const numbers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);

async function load(language, part) {
  for (;;) {
    const response = await fetch(new URL(`../text/${language}/${part}.json`, import.meta.url)).catch(() => null);
    if (response?.ok) return response.json();
    // Without texts there is no page, not even one that says that the hub is away.
    await new Promise((resolve) => { setTimeout(resolve, 1_000); });
  }
}

// A page names its part of the catalogue: <html data-text="send">.
const parts = ["common", ...(document.documentElement.dataset.text ?? "").split(" ").filter(Boolean)];
const catalogue = Object.assign({}, ...(await Promise.all(parts.map((part) => load(language, part)))));

/** Adds a part of the catalogue, for a part of the page that most visits do not open. Rejects if it cannot be read. */
export async function addTexts(part) {
  const response = await fetch(new URL(`../text/${language}/${part}.json`, import.meta.url));
  if (!response.ok) throw new Error(`no texts: ${part}`);
  Object.assign(catalogue, await response.json());
}

function pattern(key, values) {
  const entry = catalogue[key];
  if (entry === undefined) {
    console.error(`no text for ${key} in ${language}`);
    return key;
  }
  return typeof entry === "string" ? entry : entry[plurals.select(values?.count ?? 0)] ?? entry.other;
}

const written = (value) => (typeof value === "number" ? numbers.format(value) : value);

/** Whether the catalogue has a text. */
export const hasText = (key) => key in catalogue;

/**
 * The text of a key, with its `{names}` filled. Numbers are written as the language does. A text with several forms is
 * chosen by the value `count`.
 */
export function t(key, values) {
  return pattern(key, values).replace(/\{(\w+)\}/g, (all, name) => written(values?.[name] ?? all));
}

/** Like `t`, for values that are elements: a list of texts and elements for `h`. */
export function tn(key, values) {
  return pattern(key, values).split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name ? written(values?.[name] ?? piece) : piece;
  });
}

export const formatNumber = (value) => numbers.format(value);

/** A form of dates and times, the same on all pages: Friday 27 November, 19:32. */
export const dateForm = (options, of = language) =>
  new Intl.DateTimeFormat(of === "en" ? "en-GB" : of, { hourCycle: "h23", ...options });

// What Arabic and Persian write for the same letter, the end form of sigma, and the i without a dot.
const sameLetters = { "ٱ": "ا", "ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ς": "σ", "ı": "i" };

/**
 * A text as searches compare it: without case, marks at letters, vowel signs, tatweel and invisible characters, and
 * with one form of each letter.
 */
export const folded = (text) => text.normalize("NFKD").replace(/[\p{M}\p{Default_Ignorable_Code_Point}ـ]/gu, "")
  .toLowerCase().toUpperCase().toLowerCase().replace(/[ٱىیةکςı]/gu, (letter) => sameLetters[letter]);

/** The words of a query, for `hasAll`. */
export const wordsOf = (query) => folded(query).split(/\s+/).filter(Boolean);

// A single character between letters or digits: "wifi", "wi fi" and "wi-fi" are the same, as in the search of the
// archive.
const joint = /([\p{L}\p{N}])[^\p{L}\p{N}\s](?=[\p{L}\p{N}])/gu;
const formsOf = (text) => [text, text.replace(joint, "$1"), text.replace(joint, "$1 ")];

/** A text as `hasAll` looks at it, for one that is searched again with every key. */
export const searchable = (text) => formsOf(folded(text));

/** Whether a text, or what `searchable` made of it, has all of some words. */
export function hasAll(words, text) {
  const forms = typeof text === "string" ? searchable(text) : text;
  return words.every((word) => formsOf(word).some((form, place) => forms[place].includes(form)));
}

const segmenter = new Intl.Segmenter(language, { granularity: "grapheme" });

/** The characters of a text as people see them: an emoji, or a letter with its marks, is one. */
export const charactersOf = (text) => [...segmenter.segment(text)].map(({ segment }) => segment);
