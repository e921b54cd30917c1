// The picture of a person in a round frame. Until it is known, and for who shows none, it is the first letter.

import { fill, h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { charactersOf } from "../lib/text.js";

/** A picture that was fetched is not asked for again within this time, in milliseconds. */
const maxAge = 600_000;
/** How many persons are asked about at the same time. */
const maxAtOnce = 4;

/** By account, in lower case: the address of the picture in this page, or `null` for none, as a promise. */
let known = new Map();
let owner = null;
let asking = 0;
const waiting = [];

/** Does work when fewer than `maxAtOnce` others are done. */
async function inTurn(work) {
  if (asking >= maxAtOnce) await new Promise((resolve) => { waiting.push(resolve); });
  asking += 1;
  try {
    return await work();
  } finally {
    asking -= 1;
    waiting.shift()?.();
  }
}

/** Nothing of the person before is left in the page. */
function begin() {
  if (owner === state.people.account) return;
  for (const address of known.values()) address.then((found) => { if (found) URL.revokeObjectURL(found); });
  known = new Map();
  owner = state.people.account;
}

const pathOf = (account) => `/users/${encodeURIComponent(account)}/picture`;

async function read(account, view, age) {
  const people = await app.people();
  const found = view ?? await people.view(account);
  if (!found?.picture) return null;
  const blob = await people.direct.pictures.pictureOf(pathOf(account), { maxAge: age });
  return blob && URL.createObjectURL(blob);
}

/** Looks at strangers are counted by the hub, so that nobody is looked at for their picture alone. */
const isNear = (key) => [state.people.account, ...(state.people.friends ?? [])]
  .some((name) => name?.toLowerCase() === key);

/** The address of a person's picture in this page; `null` for none. `view`: what the hub has just said of them. */
function addressOf(account, view) {
  begin();
  const key = account.toLowerCase();
  if (!view && !isNear(key)) return null;
  // What the hub has just said of a person may be news.
  if (view || !known.has(key)) {
    const found = inTurn(() => read(account, view, view ? 0 : maxAge)).catch(() => {
      // Another look tries again.
      if (known.get(key) === found) known.delete(key);
      return null;
    });
    known.set(key, found);
  }
  return known.get(key);
}

/** From now on the picture of a person is another one, or with `isGone` none. */
export async function forgetAvatar(account, isGone) {
  if (isGone) known.set(account.toLowerCase(), Promise.resolve(null));
  else known.delete(account.toLowerCase());
  await (await app.people()).direct.pictures.drop(pathOf(account));
}

/** Fills frames when they come into sight: a list may have hundreds. */
const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    show(target, target.account, null);
  }
}, { rootMargin: "200px" });

/** Resolves to whether there is a picture. */
async function show(frame, account, view) {
  const address = await addressOf(account, view);
  if (address) fill(frame, h("img", { src: address, alt: "" }));
  return Boolean(address);
}

/**
 * A person's picture, which readers skip: the name is beside it. `size` is "" as in lists, "large" or "huge". `view` is
 * what the hub has just said of the person, and then `found` resolves to whether there is a picture. Without it only
 * friends have pictures.
 */
export function avatar(account, { size = "", view = null } = {}) {
  const frame = h("span", { class: `portrait ${size}`.trim(), "aria-hidden": "true" },
    charactersOf(account)[0].toUpperCase());
  frame.account = account;
  if (view) frame.found = show(frame, account, view);
  else sight.observe(frame);
  return frame;
}
