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
main.focus();
const addChannel = h("button", { class: "button main", type: "button", onclick: () => act("add", null) },
  icon("plus", "small"), t("cube.add.channel"));
const notice = h("div", { role: "status" });
const said = h("div", { class: "unseen", role: "status" });
const content = h("div", { class: "stack" }, skeleton());
const tree = document.createElement("cube-tree");
tree.announce = (text) => { said.textContent = text; };

// What changes the cube

let actions = null;

/** The forms, menus and dialogs. They are read when somebody is about to use them, so that the tree is there sooner. */
function loadActions() {
  actions ??= import("./actions.js")
    .then((module) => module.actionsFor({ tree, show, showTree, clearFilter, addChannel }));
  actions.catch(() => { actions = null; });
  return actions;
}

async function act(name, ...values) {
  const loaded = await loadActions().catch(() => null);
  if (loaded) loaded[name](...values);
  else toast(t("problem.offline"));
}

for (const type of ["pointerover", "focusin"]) {
  main.addEventListener(type, () => may("administer") && loadActions().catch(() => {}), { once: true });
}

tree.addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  const thing = tree.thingOf(button);
  if (!thing) return;
  if (button.dataset.act === "toggle") tree.toggle(thing);
  else act(button.dataset.act, thing, button);
});

tree.addEventListener("keydown", (event) => {
  const thing = tree.thingOf(event.target);
  const stop = event.target.closest(".title, .add");
  const isInRow = Boolean(event.target.closest(".row"));
  if (!thing || !(isInRow || stop)) return;
  const [isBack, isOn] = document.documentElement.dir === "rtl"
    ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const isOpen = event.target.getAttribute("aria-expanded");
  if (event.altKey) {
    if (!step || !isInRow) return;
    act("move", thing, step);
  } else if (!stop) return;
  else if (step) moveFocus((stops) => stops.at(Math.max(0, stops.indexOf(stop) + step)));
  else if (event.key === "Home" || event.key === "End") moveFocus((stops) => stops.at(event.key === "Home" ? 0 : -1));
  else if ((event.key === isOn && isOpen === "false") || (event.key === isBack && isOpen === "true"))
    tree.toggle(thing);
  else if (event.key === isBack && (!isInRow || thing.parent))
    tree.rows.get(isInRow ? thing.parent.id : thing.id)?.title.focus();
  else return;
  event.preventDefault();
});

function moveFocus(choose) {
  choose(tree.stops())?.focus();
}

tree.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".grip") || event.button !== 0 || tree.words.length) return;
  event.preventDefault();
  act("drag", tree.thingOf(event.target), event);
});

// The list of all

const search = h("input", { type: "search", "aria-label": t("cube.filter"), placeholder: t("cube.filter"),
    autocomplete: "off", dir: "auto", oninput: () => filter() });
search.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" || !tree.stops().length) return;
  event.preventDefault();
  moveFocus((stops) => stops[0]);
});
const totals = h("p", { class: "hint totals" });
const openButton = (key, isOpen) =>
  h("button", { class: "button plain small", type: "button",
    onclick: () => tree.setOpen([...cube.things.values()].filter((thing) => thing.kind !== "subject"), isOpen) },
  t(key));
const keys = h("p", { class: "hint keys", id: "cube-keys" }, t("cube.keys"));
tree.setAttribute("aria-describedby", keys.id);
const toolbar = h("div", { class: "toolbar" }, search, totals,
  h("div", { class: "actions" }, openButton("cube.openAll", true), openButton("cube.closeAll", false)), keys);
const nothing = h("div", { class: "nothing", hidden: true }, h("p", null),
  h("button", { class: "button small", type: "button", onclick: () => { clearFilter(); search.focus(); } },
    t("cube.clearFilter")));

function filter() {
  tree.filter(search.value);
  showTotals();
  tree.announce(tree.visible ? totals.textContent : "");
}

// How much there is, or how much of it the filter has found.
function showTotals() {
  const isFiltered = Boolean(tree.visible);
  const kinds = ["channel", "area", "subject"];
  const all = (kind) => [...cube.things.values()].filter((thing) => thing.kind === kind).length;
  const found = isFiltered ? kinds.findLast((kind) => tree.found[kind].length) : null;
  totals.textContent = isFiltered
    ? t(`cube.found.${found ?? "subject"}`,
        { found: found ? tree.found[found].length : 0, count: all(found ?? "subject") })
    : kinds.map((kind) => t(`cube.${kind}s`, { count: all(kind) })).join(" · ");
  for (const element of [tree, toolbar]) element.toggleAttribute("filtered", isFiltered);
  // A form that is open in what the filter leaves out stays, and is something.
  nothing.hidden = !isFiltered || Boolean(found) || Boolean(tree.querySelector(".cube-panel"));
  fill(nothing.firstElementChild, tn("cube.nothingFound", { text: h("bdi", null, search.value.trim()) }));
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
      action: h("button", { class: "button main", type: "button", onclick: () => act("add", null) },
        icon("plus", "small"), t("cube.add.first")),
    }));
    return;
  }
  showTree();
  tree.show();
  showTotals();
}

function skeleton() {
  return h("div", { class: "stack", "aria-busy": "true", "aria-label": t("loading") }, [3, 2].map((count) =>
    h("div", { class: "group waiting" },
      Array.from({ length: count }, () => h("div", null, h("div", { class: "skeleton" }))))));
}

// What others do, and what is away

function showHealth(health) {
  const isGatewayAway = health === null;
  const isCubeAway = health?.services?.cube !== undefined && health.services.cube !== "ok";
  const text = isGatewayAway ? t("cube.gatewayAway") : isCubeAway ? t("cube.serviceAway") : "";
  if (notice.textContent !== text) {
    fill(notice, text ? h("p", { class: "notice bad" }, icon("info"), h("span", null, text)) : null);
  }
  if (!text && !cube.roots) start();
}

async function start() {
  try {
    await refresh();
  } catch (error) {
    fill(content, h("div", { class: "notice bad" }, icon("info"),
        h("div", { class: "stack" }, h("p", null, explain(error)),
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
  fill(main, pageHead({ heading: t("cube.heading"), intro: t("cube.intro"), action: addChannel }), notice, said,
    content);
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
    name: "lock", heading: t("cube.forbidden"), text: t("cube.forbidden.text"),
    action: h("a", { class: "button", href: "/portal/send/" }, t("nav.send")),
  }));
}
