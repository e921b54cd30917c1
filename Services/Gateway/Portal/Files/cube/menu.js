import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

let menu = null;
let opener = null;

function move(event) {
  const items = [...menu.querySelectorAll("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") menu.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}

/** Opens a menu at a button; `items` are `{label, icon, run, isOff, isDanger}`, or `null` for a line. */
export function openMenu(button, label, items) {
  menu ??= document.body.appendChild(h("div", {
    class: "menu", role: "menu", popover: "auto", onkeydown: move,
    ontoggle: (event) => {
      opener?.setAttribute("aria-expanded", String(event.newState === "open"));
      if (event.newState === "closed" &&
          (menu.contains(document.activeElement) || document.activeElement === document.body)) {
        // Somebody else may have deleted the row.
        (opener?.isConnected ? opener : document.getElementById("main")).focus({ preventScroll: true });
      }
    },
  }));
  opener = button;
  menu.setAttribute("aria-label", label);
  fill(menu, items.map((item) => (item
    ? h("button", {
      type: "button", role: "menuitem", class: item.isDanger ? "danger" : null, disabled: item.isOff,
      onclick: () => { menu.hidePopover(); item.run(); },
    }, icon(item.icon, "small"), h("span", null, item.label),
    item.keys ? h("kbd", { "aria-hidden": "true" }, item.keys) : null)
    : h("hr", { role: "separator" }))));
  menu.showPopover();
  const [at, size] = [button.getBoundingClientRect(), menu.getBoundingClientRect()];
  const start = document.documentElement.dir === "rtl" ? at.left : at.right - size.width;
  const below = at.bottom + 4 + size.height < innerHeight ? at.bottom + 4 : Math.max(8, at.top - size.height - 4);
  menu.style.setProperty("left",
    `${Math.min(Math.max(8, start), document.documentElement.clientWidth - size.width - 8)}px`);
  menu.style.setProperty("top", `${below}px`);
  menu.querySelector("button:not(:disabled)").focus();
}
