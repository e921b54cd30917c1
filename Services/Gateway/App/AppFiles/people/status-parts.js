// What the pages about statuses are made of.

import { fill, h } from "../lib/dom.js";
import { linkified } from "../lib/linkify.js";
import { currentRoute } from "../lib/route.js";
import { app, phoneNow, state } from "../lib/state.js";
import { language, t } from "../lib/text.js";
import { pathOfStatus } from "../core/statuses.js";
import { shownStatuses } from "../core/statuses-state.js";
import { shownBlob } from "./shown-blob.js";

const second = 1_000;
const units = [["hour", 3_600_000], ["minute", 60_000], ["second", second]];
const relative = new Intl.RelativeTimeFormat(language, { numeric: "always" });

/** The statuses of the app's core. */
export const statusesOfApp = async () => (await app.people()).statuses;

/** The statuses as they are now: see the core's statuses-state.js. */
export const statusesNow = () => shownStatuses(state, phoneNow());

/** A length of time, negative for the past, in the largest unit that fits: "in 23 hours", "5 minutes ago". */
function relativeText(milliseconds) {
  const [unit, length] = units.find(([, length]) => Math.abs(milliseconds) >= length) ?? units.at(-1);
  return relative.format(Math.trunc(milliseconds / length), unit);
}

/** When a status was set, and when it ends, at a time of the hub. */
export const sinceText = ({ at }, hub) => relativeText(Math.min(at - hub, -second));
export const endText = ({ expires }, hub) => t("status.ends", { when: relativeText(Math.max(expires - hub, second)) });

/** Calls `update` each second while an element is in sight, until it is taken away. */
export function everySecond(element, update) {
  let wasThere = false;
  const timer = setInterval(() => {
    if (wasThere && !element.isConnected) clearInterval(timer);
    wasThere ||= element.isConnected;
    if (wasThere && !document.hidden && state?.people.account && element.getClientRects().length) update();
  }, second);
}

let isFollowing = false;

/** Tells the core whether a page with statuses is in front, so that it asks the hub for them only then. */
export function followStatuses() {
  const tell = async () => {
    const { tab, page } = currentRoute();
    const isShown = tab === "people" && ["", "status"].includes(page) && !document.hidden;
    (await statusesOfApp()).watch(isShown);
  };
  if (!isFollowing) {
    // How often the hub takes looks.
    app.people().then((people) => people.load(["messaging"])).catch(() => {});
    for (const [target, event] of [[window, "hashchange"], [document, "visibilitychange"]]) {
      target.addEventListener(event, () => tell().catch(() => {}));
    }
  }
  isFollowing = true;
  tell().catch(() => {});
}

/** The content of a status: its text, or its picture, which comes from the hub. `alt` is what readers hear of it. */
export function statusContent({ id, text, picture }, alt) {
  if (text) return h("p", { class: "status-text", dir: "auto" }, linkified(text));
  const place = h("div", { class: "status-picture", "aria-busy": "true" });
  const said = h("p", { class: "hint", role: "status" }, t("picture.loading"));
  const again = h("button", { class: "button", type: "button", hidden: true, onclick: load }, t("people.again"));

  async function load() {
    again.hidden = true;
    const { pictures } = (await app.people()).direct;
    const blob = await pictures.pictureOf(pathOfStatus(id)).catch(() => undefined);
    place.removeAttribute("aria-busy");
    if (!blob) {
      said.textContent = t(blob === null ? "picture.gone" : "picture.away");
      again.hidden = blob === null;
      return;
    }
    fill(place, shownBlob(blob, alt, { width: picture.width, height: picture.height }));
  }

  fill(place, said, again);
  load();
  return place;
}
