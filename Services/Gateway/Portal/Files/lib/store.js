// What the browser keeps for a page: settings, drafts, recent subjects, saved views. Another account of the same
// browser does not see it.

let owner = "";

/** Names the account whose data is kept from now on. */
export function setOwner(account) {
  owner = account;
}

const place = (name) => (name === "settings" ? "msi.settings" : `msi.${owner}.${name}`);

/** The kept value, or `fallback` if there is none or the browser keeps nothing. */
export function kept(name, fallback = null) {
  try {
    return JSON.parse(localStorage.getItem(place(name))) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value; `null` removes it. Returns whether the browser has kept it. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(place(name));
    else localStorage.setItem(place(name), JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
