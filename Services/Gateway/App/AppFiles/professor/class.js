// A class: what its staff looks after, part by part. The address names the part: #class/keys?id=…

import { fill, h } from "../lib/dom.js";
import { later } from "../lib/later.js";
import { t } from "../lib/text.js";
import { pathOfClass } from "./frame.js";
import { classOf, readClasses } from "./my-classes.js";
import { emptyPage, pageHead, remote } from "./parts.js";

/** The parts, and who has them. The first one is shown when the address names none. */
const parts = {
  sessions: { roles: ["professor", "ta"], make: async (group) => (await import("./sessions.js")).sessionsPart(group) },
  past: { roles: ["professor"], make: async (group) => (await import("./past.js")).pastPart(group) },
  keys: { roles: ["professor"], make: async (group) => (await import("./keys.js")).keysPart(group) },
  roster: { roles: ["professor", "ta"], make: async (group) => (await import("./roster.js")).rosterPart(group) },
  settings: { roles: ["professor"], make: async (group) => (await import("./settings.js")).settingsPart(group) },
};

/** The page of a class. `update(route)` shows the part that the address names. */
export function classPage({ id }) {
  const all = t("prof.classes.heading");
  const head = pageHead({ heading: all, back: { href: "#classes", label: all } });
  const links = h("ul", { class: "plain class-parts" });
  const tags = h("p", { class: "actions", hidden: true }, h("span", { class: "tag" }, t("prof.class.closed")));
  const place = h("div", null);
  const element = h("div", { class: "stack" }, head, tags, h("nav", { "aria-label": t("prof.class.parts") }, links),
    place);
  let shown = null;
  let inner = null;

  function update(route) {
    const group = classOf(id);
    if (!group) {
      // Somebody has removed the person from the class, or the address is wrong.
      if (shown !== (shown = "nothing")) {
        head.say(all, "");
        fill(links);
        // A new one may not be known here yet.
        fill(place, remote({ isStill: true, load: readClasses, show: () => {}, content: emptyPage({ sign: "classes",
          heading: t("prof.class.nothing"), text: t("prof.class.nothing.text") }) }));
      }
      return;
    }
    const { name, identification_key: key, description, closed, members, role } = group;
    const names = Object.keys(parts).filter((each) => parts[each].roles.includes(role));
    const part = names.includes(route.page) ? route.page : names[0];
    head.say(name, [h("bdi", null, key), " · ", t("prof.class.members", { count: members }),
      description ? [h("br"), h("bdi", null, description)] : null]);
    tags.hidden = !closed;
    if (shown === (shown = `${role} ${part}`)) {
      inner.update();
      return;
    }
    const hadFocus = links.contains(document.activeElement);
    fill(links, names.map((each) => h("li", null, h("a", { href: pathOfClass(id, each),
      "aria-current": each === part ? "page" : null }, t(`prof.class.${each}.part`)))));
    if (hadFocus) links.querySelector("[aria-current]").focus();
    fill(place, inner = later(() => parts[part].make(group)));
  }

  return Object.assign(element, { update });
}
