import { get, withQuery } from "./api.js";
import { t } from "./text.js";

// What people call the accounts that messages name. The names are for display: they may change, and two people may have
// the same one.

/** By account `{name, asked}`: "" for none, and when the hub was asked. */
const known = new Map();
/** After so many milliseconds a name is asked for again; and the most accounts of a request. */
const [age, most] = [60_000, 100];
const isAccount = /^[\w.@-]{1,64}$/;

/**
 * Asks what the persons of accounts are called, as far as that is not known. Returns whether a name is new. Without an
 * answer the accounts are shown.
 */
export async function readNames(accounts) {
  const now = Date.now();
  const wanted = [...new Set(accounts)].filter((each) => isAccount.test(each) && !(now - known.get(each)?.asked < age))
    .slice(0, most);
  if (!wanted.length) return false;
  for (const account of wanted) known.set(account, { name: known.get(account)?.name ?? "", asked: now });
  const answer = await get(withQuery("/display-name", { accounts: wanted.join() }), { timeout: 5_000, remedy: false })
    .catch(() => null);
  if (!answer) return false;
  const changed = wanted.filter((account) => known.get(account).name !== (answer.display_names[account] ?? ""));
  for (const account of changed) known.get(account).name = answer.display_names[account] ?? "";
  return changed.length > 0;
}

/** The accounts that a message names: its sender, and those who have done something with it. */
export const accountsOf = ({ sender, relay }) => [sender, ...(relay.trace ?? []).map(({ by }) => by)];

/** What people call an account's person. */
export const nameOf = (account) => known.get(account)?.name || account;

/** The same with the account, where it matters who it is. */
export function personOf(account) {
  const { name } = known.get(account) ?? {};
  // Each has its own direction.
  return name ? t("person", { name: `\u2068${name}\u2069`, account: `\u2068${account}\u2069` }) : account;
}
