import { explain, get, remove } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/text.js";
import { confirmAction } from "../elements/dialogs.js";
import { toast } from "../elements/toast.js";
import { pathOf } from "./actions.js";
import { dayElement } from "./row.js";

const nameOf = ({ name, platform }) => name ?? t(`people.device.${platform}`);

/** How it is reached, in words. */
const reachOf = ({ push, push_ended: ended }) =>
  t(`people.device.${push ? "pushes" : ended ? "ended" : "silent"}`);

/** The devices on which an account is signed in. `read` reads them again. */
export function deviceList(account) {
  const list = h("div", { class: "stack", "aria-busy": "true" },
    h("span", { class: "skeleton", "aria-hidden": "true" }));
  const heading = h("h3", { tabIndex: -1 }, t("people.devices"));
  const element = h("section", { class: "devices" }, heading, list);

  /** Signs out one device, or all of them, and says so. */
  async function end(path, done) {
    try {
      await remove(`${pathOf(account)}/devices${path}`);
    } catch (error) {
      if (error.kind !== "not-found") return toast(explain(error));
    }
    await element.read();
    (list.querySelector("button") ?? heading).focus();
    return toast(done);
  }

  async function endAll(count) {
    if (!(await confirmAction({
      heading: t("people.devices.end.heading", { name: account }),
      content: h("p", null, t("people.devices.end.text", { count })), action: t("people.devices.end"), isDanger: true,
    }))) return;
    await end("", t("people.devices.ended", { name: account }));
  }

  const row = (device) => h("li", { class: "device" }, icon("phone"),
    h("div", null, h("bdi", null, nameOf(device)),
      h("small", { class: "hint" }, t(`people.device.${device.platform}`), " · ", dayElement(device.seen), " · ",
        reachOf(device), device.app_version ? [" · ", h("bdi", null, device.app_version)] : null)),
    h("button", { class: "button small", type: "button",
        onclick: () => end(`/${device.id}`, t("people.device.end.done", { name: nameOf(device) })) },
      t("people.device.end"), h("span", { class: "unseen" }, ` ${nameOf(device)}`)));

  element.read = async () => {
    try {
      const { devices } = await get(`${pathOf(account)}/devices`);
      fill(list, devices.length
        ? [h("ul", { class: "plain group" }, devices.map(row)),
          h("div", { class: "actions" }, h("button", { class: "button danger small", type: "button",
              onclick: () => endAll(devices.length) }, icon("signOut", "small"), t("people.devices.end")))]
        : h("p", { class: "hint" }, t("people.devices.none")));
    } catch (error) {
      fill(list, h("div", { class: "notice bad", role: "alert" }, icon("info"), h("p", null, explain(error)),
        h("button", { class: "button small", type: "button", onclick: element.read }, t("retry"))));
    }
    list.setAttribute("aria-busy", "false");
  };
  return element;
}
