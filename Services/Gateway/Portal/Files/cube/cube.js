import { fill, h } from "../lib/dom.js";
import { explain } from "../lib/api.js";
import { readCube, whenCubeChanges } from "../lib/cube.js";
import { listen } from "../lib/events.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { t, tn } from "../lib/text.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { toast } from "../elements/toast.js";
import { cube, refresh, refreshLater, take, whenRead } from "./model.js";
import "./tree.js";

const reading = readCube();
reading.catch(() => {});
await ready;

const main = document.getElementById("main");
const addChannel = h("button", { class: "button main", type: "button", onclick: () => act("add", null) }, icon("plus", "small"), t("cube.add.channel"));
const notice = h("div", { role: "status" });
const said = h("div", { class: "unseen", role: "status" });
const content = h("div", { class: "stack" }, skeleton());
const tree = document.createElement("cube-tree");
tree.announce = (text) => { said.textContent = text; };

// What changes the cube

let actions = null;

/** The forms, menus and dialogs. They are read when somebody is about to use them, so that the tree is there sooner. */
function loadActions() {
  actions ??= import("./actions.js").then((module) => module.actionsFor({ tree, show, showTree, clearFilter, addChannel }));
  actions.catch(() => { actions = null; });
  return actions;
}

async function act(name, ...values) {
  const loaded = await loadActions().catch(() => null);
  if (loaded) loaded[name](...values);
  else toast(t("problem.offline"));
}

for (const type of ["pointerover", "focusin"]) main.addEventListener(type, () => may("administer") && loadActions().catch(() => {}), { once: true });

tree.addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  const thing = tree.thingOf(button);
  if (!thing) return;
  if (button.dataset.act === "toggle") tree.toggle(thing);
  else act(button.dataset.act, thing, button);
});

tree.addEventListener("keydown", (event) => {
  const thing = tree.thingOf(event.target);
  if (!thing || !event.target.closest(".row")) return;
  const [isBack, isOn] = document.documentElement.dir === "rtl" ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const isOpen = event.target.getAttribute("aria-expanded");
  if (event.altKey) {
    if (!step) return;
    act("move", thing, step);
  } else if (!event.target.closest(".title")) return;
  else if (step) tree.titles().at(Math.max(0, tree.titles().indexOf(event.target) + step))?.focus();
  else if ((event.key === isOn && isOpen === "false") || (event.key === isBack && isOpen === "true")) tree.toggle(thing);
  else if (event.key === isBack && thing.parent) tree.rows.get(thing.parent.id)?.title.focus();
  else return;
  event.preventDefault();
});

tree.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".grip") || event.button !== 0 || tree.words.length) return;
  event.preventDefault();
  act("drag", tree.thingOf(event.target), event);
});

// The list of all

const search = h("input", { type: "search", "aria-label": t("cube.filter"), placeholder: t("cube.filter"), autocomplete: "off", dir: "auto", oninput: () => filter() });
const totals = h("p", { class: "hint totals" });
const openButton = (key, isOpen) => h("button", { class: "button plain small", type: "button", onclick: () => tree.setOpen([...cube.things.values()].filter((thing) => thing.kind !== "subject"), isOpen) }, t(key));
const toolbar = h("div", { class: "toolbar" }, search, totals, h("div", { class: "actions" }, openButton("cube.openAll", true), openButton("cube.closeAll", false)));
const nothing = h("div", { class: "nothing", hidden: true }, h("p", null), h("button", { class: "button small", type: "button", onclick: () => { clearFilter(); search.focus(); } }, t("cube.clearFilter")));

function filter() {
  const count = tree.filter(search.value);
  const text = search.value.trim();
  tree.toggleAttribute("filtered", Boolean(text));
  // A form that is open in what the filter leaves out stays, and is something.
  nothing.hidden = count > 0 || Boolean(tree.querySelector(".cube-panel"));
  fill(nothing.firstElementChild, tn("cube.nothingFound", { text: h("bdi", null, text) }));
  tree.announce(text ? t("cube.found", { count }) : "");
}

function clearFilter() {
  search.value = "";
  filter();
}

function showTree() {
  if (!tree.isConnected) fill(content, toolbar, nothing, tree);
}

function show() {
  if (!cube.roots) return;
  const isEmpty = !cube.roots.length && !tree.querySelector(".cube-panel");
  addChannel.hidden = isEmpty;
  if (isEmpty) {
    tree.remove();
    fill(content, emptyPage({
      name: "cube", heading: t("cube.empty"), text: t("cube.empty.text"),
      action: h("button", { class: "button main", type: "button", onclick: () => act("add", null) }, icon("plus", "small"), t("cube.add.first")),
    }));
    return;
  }
  showTree();
  const count = (kind) => [...cube.things.values()].filter((thing) => thing.kind === kind).length;
  totals.textContent = [t("cube.channels", { count: count("channel") }), t("cube.areas", { count: count("area") }), t("cube.subjects", { count: count("subject") })].join(" · ");
  tree.show();
}

function skeleton() {
  return h("div", { class: "stack", "aria-busy": "true", "aria-label": t("loading") }, [3, 2].map((count) =>
    h("div", { class: "group waiting" }, Array.from({ length: count }, () => h("div", null, h("div", { class: "skeleton" }))))));
}

// What others do, and what is away

function showHealth(health) {
  const isGatewayAway = health === null;
  const isCubeAway = health?.services?.cube !== undefined && health.services.cube !== "ok";
  const text = isGatewayAway ? t("cube.gatewayAway") : isCubeAway ? t("cube.serviceAway") : "";
  if (notice.textContent !== text) fill(notice, text ? h("p", { class: "notice bad" }, icon("info"), h("span", null, text)) : null);
  if (!text && !cube.roots) start();
}

async function start() {
  try {
    await refresh();
  } catch (error) {
    fill(content, h("div", { class: "notice bad" }, icon("info"), h("div", { class: "stack" }, h("p", null, explain(error)),
      h("button", { class: "button small", type: "button", onclick: start }, t("retry")))));
  }
}

if (may("administer")) {
  whenRead((changed, removed) => {
    show();
    if (!changed.length && !removed.length) return;
    tree.mark(changed);
    if (!cube.changing) tree.announce(t("cube.changedByOthers", { count: changed.length + removed.length }));
  });
  fill(main, pageHead({ heading: t("cube.heading"), intro: t("cube.intro"), action: addChannel }), notice, said, content);
  document.addEventListener("hub-health", ({ detail }) => showHealth(detail));
  addEventListener("beforeunload", (event) => {
    if ([...tree.querySelectorAll(".cube-panel")].some((panel) => panel.isDirty())) event.preventDefault();
  });
  // Before the first reading has ended: a change during it is told only once.
  whenCubeChanges(refreshLater);
  listen("reset", refreshLater);
  try {
    const { channels, tag } = await reading;
    if (cube.roots === null) take(channels, tag);
  } catch {
    // An event may have made the page read again, with success.
    if (cube.roots === null) await start();
  }
} else {
  fill(main, pageHead({ heading: t("cube.heading") }), emptyPage({
    name: "lock", heading: t("cube.forbidden"), text: t("cube.forbidden.text"), action: h("a", { class: "button", href: "/portal/send/" }, t("nav.send")),
  }));
}
