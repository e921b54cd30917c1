// The picture of a person in a round frame. Until it is known, and for who shows none, it is the first letter.

import { fill, h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { charactersOf } from "../lib/text.js";
import { pathOfPerson } from "../core/pictures.js";
import { shownBlob } from "./shown-blob.js";

/** A picture that was fetched is not asked for again within this time, in milliseconds. */
const maxAge = 600_000;
/** How many persons are asked about at the same time. */
const maxAtOnce = 4;

/** By account, in lower case: the bytes of the picture, or `null` for none, as a promise. */
let known = new Map();
/** Who was signed in at the last look, and their friends. */
let [owner, near] = [null, ""];
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

const picturesOfApp = async () => (await app.people()).direct.pictures;

async function read(account, view, age) {
  const people = await app.people();
  const found = view ?? await people.view(account);
  const { pictures } = people.direct;
  if (found?.picture) return pictures.pictureOf(pathOfPerson(account), { maxAge: age });
  await pictures.drop(pathOfPerson(account));
  return null;
}

/** Looks at strangers are counted by the hub, so that nobody is looked at for their picture alone. */
const isNear = (key) => [state.people.account, ...(state.people.friends ?? [])]
  .some((name) => name?.toLowerCase() === key);

/** Of the person before, and of who is no friend any more, nothing is left in the page and on the device. */
function begin() {
  const { account, friends } = state.people;
  if (owner !== (owner = account)) known = new Map();
  if (!friends || near === (near = JSON.stringify([account, friends]))) return;
  for (const key of known.keys()) if (!isNear(key)) known.delete(key);
  picturesOfApp().then((pictures) => pictures.keepPersons([account, ...friends])).catch(() => {});
}

/** A person's picture; `null` for none. `view`: what the hub has just said of them. */
function pictureOf(account, view) {
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
  await (await picturesOfApp()).drop(pathOfPerson(account));
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
  const blob = await pictureOf(account, view);
  if (blob) fill(frame, shownBlob(blob, ""));
  return Boolean(blob);
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
