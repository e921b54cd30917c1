// What the page of a provider has brought back in the address: a token, a code, or why not.

const page = "/app/";

/**
 * The answer's members, or `null` if the browser does not come from a provider. The address is cleared at once: neither
 * the history nor a bookmark keeps a token.
 */
export function returned() {
  const given = [location.hash.slice(1), location.search].map((text) => new URLSearchParams(text))
    .find((each) => each.has("state"));
  if (!given) return null;
  history.replaceState(null, "", `${page}#people`);
  return Object.fromEntries(given);
}
