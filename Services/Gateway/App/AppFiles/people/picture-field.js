// Choosing a picture of this device, for a message, a status or the profile.

import { h, svg } from "../lib/dom.js";
import { pictureTypes, shrunk } from "../lib/shrink.js";
import { app } from "../lib/state.js";
import { t } from "../lib/text.js";
import { reasonOf } from "./reasons.js";

/** One of the family in lib/icons.js, which the first visit does not need. */
export const pictureIcon = () => svg("svg", { class: "icon small", viewBox: "0 0 24 24", "aria-hidden": "true" },
  ["M4 5h16v14H4z", "M8.5 11a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z", "m4.5 17.5 5-5 3.5 3.5 3-3 3.5 3.5"]
    .map((d) => svg("path", { d })));

/** Why a picture was not taken, in words. */
export function pictureReason(error) {
  if (error.status === 507) return t("picture.full");
  if (error.status === 400 && error.field === "picture") return t("picture.refused", { error: error.message });
  return reasonOf(error);
}

/** Uploads a picture of this device. Resolves to its identifier at the hub, which waits a day for what has it. */
export const upload = async (blob) => (await (await app.people()).ask("POST", "/user/pictures", blob)).id;

/**
 * A button with which a person chooses a picture. `onpicture(blob)` gets it small enough for the hub; the button waits
 * for it, and says what is wrong below. Without a `label` it is the icon alone, for a line with other controls.
 */
export function pictureField({ onpicture, label = null }) {
  const said = h("p", { class: "below wrong", role: "alert" });
  const file = h("input", { type: "file", accept: pictureTypes, hidden: true, onchange: choose });
  const name = t("picture.choose");
  const button = h("button", { type: "button", onclick: () => file.click(),
    ...(label ? { class: "button" } : { class: "round", title: name, "aria-label": name }) }, pictureIcon(), label);

  async function choose() {
    const [chosen] = file.files;
    // The same file can be chosen again.
    file.value = "";
    if (!chosen || button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    said.textContent = "";
    const blob = await shrunk(chosen).catch(() => null);
    try {
      if (blob) await onpicture(blob);
      else said.textContent = t("picture.unreadable");
    } catch (error) {
      said.textContent = pictureReason(error);
    }
    button.removeAttribute("aria-busy");
  }

  return h("div", { class: "picture-field" }, button, file, said);
}
