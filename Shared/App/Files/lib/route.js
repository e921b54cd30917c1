// The address's hash says what the app shows: #messages?by=channel&channel=Campus&form=list, #subscriptions/mine,
// #settings/export. `message` is the one that is shown beside the list.

let tabs = ["messages", "subscriptions", "settings"];

/** Sets the tabs that there are. The first one is shown for an unknown one. */
export function setTabs(names) {
  tabs = names;
}

/** `{tab, page}` and what is behind the question mark. */
export function currentRoute() {
  const [path, query] = location.hash.slice(1).split("?");
  const [tab, page = ""] = path.split("/");
  return tabs.includes(tab) ? { tab, page, ...Object.fromEntries(new URLSearchParams(query)) } : { tab: tabs[0],
    page: "" };
}

/** The hash of a route. Empty values are left out. */
export function pathTo({ tab, page, ...rest }) {
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value));
  return `#${tab}${page ? `/${page}` : ""}${query.size ? `?${query}` : ""}`;
}

/** Shows another route: the current one with changes. */
export function go(changes) {
  location.hash = pathTo({ ...currentRoute(), ...changes });
}

/** Shows another route in the place of the current one: going back skips what it replaces. */
export function replaceRoute(changes) {
  history.replaceState(null, "", pathTo({ ...currentRoute(), ...changes }));
  dispatchEvent(new Event("hashchange"));
}
