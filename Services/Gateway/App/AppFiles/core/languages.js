// The texts of a broadcast for the person's language.

/** Codes that ISO 639-1 has withdrawn. Some devices have them. */
const withdrawn = { iw: "he", in: "id", ji: "yi", jw: "jv", mo: "ro" };

/** A language tag as tags are compared. */
function keyOf(tag) {
  const [language, ...rest] = tag.toLowerCase().split("-");
  return [Object.hasOwn(withdrawn, language) ? withdrawn[language] : language, ...rest].join("-");
}

/**
 * Chooses from texts by language tag, in this order: the language; the language without region and script; the language
 * with another region or script, the alphabetically first one; the same for the default language; any.
 */
export function textsIn(language, fallback, translations) {
  const tags = Object.keys(translations).sort();
  const known = new Map(tags.map((tag) => [keyOf(tag), translations[tag]]).reverse());
  for (const wanted of [language, fallback]) {
    const parts = keyOf(wanted).split("-").filter(Boolean);
    for (let count = parts.length; count > 0; count -= 1) {
      const texts = known.get(parts.slice(0, count).join("-"));
      if (texts) return texts;
    }
    const other = [...known.keys()].filter((key) => parts.length && key.startsWith(`${parts[0]}-`)).sort()[0];
    if (other) return known.get(other);
  }
  return translations[tags[0]];
}
