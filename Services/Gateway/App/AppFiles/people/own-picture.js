// The picture of the person's own profile. Who sees it is a part of the profile; the picture itself is changed at once.

import { fill, h } from "../lib/dom.js";
import { app, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { toast } from "../elements/toast.js";
import { avatar, forgetAvatar } from "./avatar.js";
import { pictureField, pictureReason, upload } from "./picture-field.js";

/** The person sees their own picture, whoever else does. */
const visible = { picture: true };

/** The picture, with what changes and removes it. `onchange()` is called when it is another one. */
export function ownPicture({ onchange }) {
  const account = state.people.account;
  const place = h("span");
  const remove = h("button", { class: "button", type: "button", hidden: true, onclick: () => takeAway() },
    t("picture.remove"));

  async function show(isGone = false) {
    const frame = avatar(account, { size: "huge", view: isGone ? null : visible });
    fill(place, frame);
    remove.hidden = !(await frame.found);
  }

  async function set(picture) {
    const isGone = picture === null;
    await (await app.people()).ask(isGone ? "DELETE" : "PUT", "/user/picture", isGone ? undefined : { picture });
    await forgetAvatar(account, isGone);
    await show(isGone);
    onchange();
    if (isGone) choose.querySelector("button").focus();
    toast(t(isGone ? "picture.removed" : "picture.changed"));
  }

  const takeAway = () => set(null).catch((error) => toast(pictureReason(error)));
  const choose = pictureField({ onpicture: async (blob) => set(await upload(blob)), label: t("picture.choose") });
  show();
  return h("div", { class: "own-picture" }, place, h("div", { class: "stack" }, choose, remove,
    h("p", { class: "hint" }, t("picture.hint"))));
}
