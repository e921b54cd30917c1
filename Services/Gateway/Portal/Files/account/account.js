import { get, getAll } from "../lib/api.js";
import { readCube, subjectsOf } from "../lib/cube.js";
import { append, fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { initialOf, maySendTo, myName, session } from "../lib/session.js";
import { t } from "../lib/text.js";
import { formatAgo } from "../lib/time.js";
import { pageHead, ready, signOut } from "../elements/shell.js";
import { pathOf } from "../elements/tags.js";
import { nameForm } from "./name.js";
import { passwordForm } from "./password.js";
import { secondFactor } from "./second-factor.js";
import { settingsForm } from "./settings.js";

const maxSubjects = 12;
const main = document.getElementById("main");
await ready;

/** A part of the page: its name and meaning beside what one does there. */
function section(name, content) {
  return h("section", { class: "part", id: name, "aria-labelledby": `${name}-heading` },
    h("div", { class: "part-head" }, h("h2", { id: `${name}-heading`, tabIndex: -1 }, t(`account.${name}`)),
      h("p", { class: "hint" }, t(`account.${name}.text`))),
    h("div", { class: "panel stack" }, content));
}

const leave = () => section("sign-out",
  h("div", { class: "actions" }, h("button", { class: "button", type: "button", onclick: signOut },
      icon("signOut", "small"), t("signOut"))));

if (session.second_factor === "required") {
  append(main, pageHead({ heading: t("account.heading"), intro: t("account.required.intro") }),
    h("div", { class: "parts" },
      h("p", { class: "notice" }, icon("lock"), h("span", null, t("account.required"))),
      section("second-factor", secondFactor({ state: "none", done: () => location.assign("/portal/send/") })),
      leave()));
} else {
  const mine = h("div", { class: "stack" });
  const factor = h("div", null, h("div", { class: "skeleton" }));
  const tokens = h("div", null, h("div", { class: "skeleton" }));
  const password = h("div", null, h("div", { class: "skeleton" }));
  append(main, pageHead({ heading: t("account.heading"), intro: t("account.intro") }),
    h("div", { class: "parts" }, section("me", mine), section("settings", settingsForm()),
      section("password", password),
      section("second-factor", factor), section("tokens", tokens), leave()));
  showMe(mine);
  showTokens(tokens);
  const own = await get(`/account/${encodeURIComponent(session.account)}`).catch(() => null);
  fill(password, own && !own.has_password
    ? h("p", { class: "secondary" }, t("account.password.university")) : passwordForm());
  fill(factor, secondFactor({ state: own?.second_factor ?? session.second_factor,
        isRequired: own?.second_factor_required }));
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
main.focus({ preventScroll: true });

function showMe(element) {
  const where = h("div", { class: "stack" }, h("div", { class: "skeleton" }));
  const me = h("div", { class: "me" });
  const showName = () => {
    fill(me, h("span", { class: "avatar", "aria-hidden": "true" }, initialOf(myName())),
      h("div", null, h("p", { class: "me-name" }, h("bdi", null, myName())),
        session.display_name ? h("p", { class: "secondary wrapped" }, h("bdi", null, session.account)) : null,
        h("p", { class: "secondary" }, t(`role.${session.role}`))));
    document.querySelector("hub-shell").showName();
  };
  showName();
  fill(element, me, nameForm(showName),
    h("ul", { class: "plain rights" }, ["read", "send", "administer"].map((right) => {
      const has = session.rights.includes(right);
      return h("li", { class: has ? null : "missing" }, icon(has ? "check" : "cross", "small"),
        h("span", null, t(`account.${has ? "may" : "mayNot"}.${right}`)));
    })), where);
  if (!session.rights.includes("send")) return where.remove();
  if (session.role === "super_user") return fill(where, h("p", null, t("account.sendsEverywhere")));
  readCube().then(({ channels }) => {
    const all = subjectsOf(channels);
    const open = all.filter(({ key }) => maySendTo(key));
    const paths = (subjects) => h("ul", { class: "plain paths" },
      subjects.map(({ path }) => h("li", null, pathOf(path))));
    fill(where, h("p", null, t(open.length === all.length ? "account.sendsToAll" : "account.sendsTo",
          { count: open.length, all: all.length })),
      open.length ? h("details", null, h("summary", null, t("account.showSubjects")),
        paths(open.slice(0, maxSubjects)),
        open.length > maxSubjects
          ? h("p", { class: "hint" }, t("account.moreSubjects", { count: open.length - maxSubjects })) : null) : null,
      open.length < all.length ? h("p", { class: "hint" }, t("account.askForMore")) : null);
  }, () => fill(where, h("p", { class: "hint" }, t("account.cubeAway"))));
}

async function showTokens(element) {
  const manage = h("a", { class: "button", href: "/portal/tokens/" }, icon("key", "small"), t("account.tokens.manage"));
  try {
    const own = (await getAll("/token?limit=200", "tokens")).filter((token) => token.account === session.account);
    const last = Math.max(0, ...own.map((token) => token.last_used ?? 0));
    fill(element, h("div", { class: "stack" },
        h("p", null, t(own.length ? "account.tokens.count" : "account.tokens.none", { count: own.length }),
          last ? [" ", t("account.tokens.used", { time: formatAgo(last) })] : null),
      h("div", { class: "actions" }, manage)));
  } catch {
    fill(element, h("div", { class: "actions" }, manage));
  }
}
