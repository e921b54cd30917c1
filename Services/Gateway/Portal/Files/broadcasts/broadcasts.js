import { explain, get } from "../lib/api.js";
import { readCube, whenCubeChanges } from "../lib/cube.js";
import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { may } from "../lib/session.js";
import { keep, kept } from "../lib/store.js";
import { t } from "../lib/text.js";
import { formatMoment } from "../lib/time.js";
import { readHealth } from "../elements/health-pill.js";
import { emptyPage, pageHead, ready } from "../elements/shell.js";
import { toast } from "../elements/toast.js";
import { withdraw } from "./actions.js";
import { Draft } from "./draft.js";
import { announceDowntime } from "./downtime.js";
import { broadcastEditor } from "./editor.js";
import { broadcastList } from "./list.js";
import { textByWay, titleOf } from "./words.js";

const main = document.getElementById("main");
await ready;

/** The channels of the cube, and their names by their ids; `null` if they could not be read. */
let channels = null;
let names = null;
let list = null;
/** The default language and the size that a broadcast may have, as the last list told them. */
let terms = kept("broadcast-terms", { language: "en", limit: 4_096 });
/** What the list shows first: a broadcast that was just stored, and a downtime that was just announced. */
let latest = null;
let announced = null;

const readNames = () => readCube().then((cube) => {
  channels = cube.channels;
  names = new Map(channels.map((channel) => [channel._id, channel.name]));
  list?.show();
}, () => {});

if (may("administer")) {
  // The health says whether broadcasts are pushed.
  const namesRead = Promise.all([readNames(), readHealth()]);
  whenCubeChanges(readNames);
  addEventListener("hashchange", () => route());
  route();

  // The address says what is shown, so that a reload and the browser's Back do what people expect.
  async function route() {
    if (list) terms = list.terms;
    keep("broadcast-terms", terms);
    list?.end();
    list = null;
    const id = /^#edit=(\d+)$/.exec(location.hash)?.[1];
    if (id) await edit(id, namesRead);
    else if (location.hash === "#new") await write(namesRead);
    else showList(namesRead);
  }
} else {
  fill(main, pageHead({ heading: t("broadcasts.heading") }),
    emptyPage({ name: "lock", heading: t("broadcasts.forbidden"), text: t("broadcasts.forbidden.text") }));
}
main.focus();

function go(hash) {
  if (location.hash === hash || (!hash && !location.hash)) dispatchEvent(new HashChangeEvent("hashchange"));
  else if (hash) location.hash = hash;
  // Without a "#" that would stay in the address.
  else {
    history.pushState(null, "", location.pathname);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

function showList(namesRead) {
  const down = h("button", { class: "button", type: "button", onclick: goDown }, icon("downtime", "small"),
    t("broadcasts.downtime"));
  const write = h("button", { class: "button main", type: "button", onclick: () => go("#new") }, icon("plus", "small"),
    t("broadcasts.new"));
  list = broadcastList({ names: () => names,
      act: { edit: ({ id }) => go(`#edit=${id}`), reuse, write: () => go("#new") } });
  list.terms = terms;
  const hasDraft = kept(Draft.placeOf()) !== null;
  const waiting = hasDraft ? h("p", { class: "notice" }, icon("edit"), h("span", null, t("broadcasts.draft.waiting")),
    h("button", { class: "button small", type: "button", onclick: () => go("#new") }, t("broadcasts.draft.continue")))
    : null;
  const result = h("div", { role: "status" });
  fill(main, pageHead({ heading: t("broadcasts.heading"), intro: t("broadcasts.intro"), action: [down, write] }),
    h("div", { class: "notices" }, result, waiting), list);
  showAnnounced(result);
  const shown = list;
  const show = () => { if (latest && shown === list) { list.add(latest); latest = null; } };
  namesRead.then(() => list === shown && list.read()).then(show);

  async function goDown() {
    announced = await announceDowntime(list.terms) ?? announced;
    if (!announced || shown !== list) return;
    showAnnounced(result);
    list.add(announced);
    result.querySelector("button").focus();
  }
}

/** What became of the downtime, with the way back. */
function showAnnounced(place) {
  if (!announced) return fill(place);
  const dismiss = () => { announced = null; fill(place); main.querySelector("h1").focus(); };
  return fill(place, h("div", { class: "notice good" }, icon("check"),
      h("p", null, textByWay("broadcasts.downtime.sent",
        { title: titleOf(announced), time: formatMoment(announced.expires) })),
    h("div", { class: "actions" }, h("button", { class: "button small", type: "button", onclick: async () => {
      const withdrawn = await withdraw(announced);
      if (!withdrawn) return;
      announced = null;
      fill(place);
      list?.add(withdrawn);
    } }, t("broadcasts.withdraw")), h("button", { class: "button small plain", type: "button", onclick: dismiss },
    t("close")))));
}

/** Opens the text of a broadcast as a new one. */
function reuse(broadcast) {
  const before = Draft.copy(broadcast);
  go("#new");
  if (before) {
    toast(t("broadcasts.draft.replaced"),
      { action: { label: t("undo"), run: () => { keep(Draft.placeOf(), before); go("#new"); } } });
  }
}

async function write(namesRead) {
  frame(t("broadcasts.new.heading"), textByWay("broadcasts.new.intro"));
  await namesRead;
  if (location.hash !== "#new") return;
  frame(t("broadcasts.new.heading"), textByWay("broadcasts.new.intro"));
  form(new Draft({ language: terms.language }));
}

async function edit(id, namesRead) {
  frame(t("broadcasts.editing"), "");
  try {
    const [{ document: broadcast, headers }] = await Promise.all([get(`/broadcast/${id}`, { whole: true }), namesRead]);
    if (location.hash !== `#edit=${id}`) return;
    frame(t("broadcasts.editing"), "");
    if (["expired", "withdrawn"].includes(broadcast.state)) {
      fill(main.lastElementChild,
        emptyPage({ name: "clock", heading: t("broadcasts.over.heading"), text: t("broadcasts.over.text"),
        action: h("button", { class: "button main", type: "button", onclick: () => reuse(broadcast) },
          t("broadcasts.reuse")) }));
      return;
    }
    form(new Draft({ broadcast, tag: headers.get("ETag"), language: broadcast.language }));
  } catch (error) {
    fill(main.lastElementChild, h("div", { class: "notice bad", role: "alert" }, icon("info"),
        h("p", null, explain(error)),
      h("button", { class: "button small", type: "button", onclick: () => edit(id, namesRead) }, t("retry"))));
  }
}

/** The head of the form, and the shape of what comes. */
function frame(heading, intro) {
  const back = h("p", { class: "back" },
    h("a", { href: "/portal/broadcasts/", onclick: (event) => { event.preventDefault(); go(""); } },
      icon("back", "small"), t("broadcasts.heading")));
  const bone = (size) => {
    const element = h("div", { class: "skeleton" });
    element.style.setProperty("block-size", size);
    return element;
  };
  fill(main, back, pageHead({ heading, intro }),
    h("div", null, h("div", { class: "composer", "aria-hidden": "true" },
        h("div", { class: "stack" }, ["128px", "44px", "128px", "160px"].map(bone)))));
  main.querySelector("h1").focus();
}

function form(draft) {
  fill(main.lastElementChild, broadcastEditor({
    draft, channels, limit: terms.limit,
    done: (stored) => { latest = stored; go(""); },
    leave: () => go(""),
    restart: (id) => go(id === undefined ? "#new" : `#edit=${id}`),
  }));
}
