// The map of study sessions: pictures of the operator's server, or the plan of the campus, with a pin for each session.
//
// Leaflet draws it. Its own controls would write markup from text, which the page's policy forbids: the buttons and the
// line about the pictures are the app's own.

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { linkified } from "../lib/linkify.js";
import { phoneIcon } from "../lib/phone-icons.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { roundButton } from "../elements/search.js";
import { clustersOf } from "./clusters.js";
import { leaflet } from "./leaflet.js";
import { known, studyOfApp } from "./parts.js";
import { labelOf, pin } from "./pins.js";
import { drawPlan, readPlan } from "./plan.js";
import { askForPosition, isPositionAllowed, lastPosition, locate, onPosition } from "./position.js";

/** The keys that move the map: others are for its pins. */
const movingKeys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "+", "-", "=", "_"];
/** How near the map looks at a place, and how near it can look at all. */
const closeZoom = 17;
const maxZoom = 19;
/** The size of a pin in pixels. */
const pinRoom = 48;
/** How far the middle of the map may be from where it was if nobody has moved it, in pixels: sizes are rounded. */
const nearby = 2;
/** For how long the map follows the sessions that come at the beginning, in milliseconds. */
const settling = 3_000;
/** How often the map looks whether the hub has answered since, in milliseconds. */
const pause = 1_000;
/** What the map shows while nothing else is known. */
const world = [[20, 0], 2];

let latest = null;

/** The middle of the map that is shown, `{latitude, longitude}`; `null` without a map. */
export const middleOfMap = () => (latest?.isConnected && !latest.hidden ? latest.middle() : null);

const pointOf = ({ latitude, longitude }) => [latitude, longitude];

/**
 * A map. It begins where the sessions or the campus are.
 *
 * - `onopen(id)` opens a session, and `onmany(ids)` those of a group that no zoom can part.
 * - `covered()` says how many pixels of the map something covers, `above` and `below`.
 * - `onmove()` is called after each move of the map.
 *
 * The element has `ready`, a promise of whether there is a map; `show(sessions)`; `focus(id)`, which marks a session
 * and moves its pin into sight, or with `null` marks none; `focusPin(id)`, which returns whether its pin took the
 * focus; `fit()`, which shows everything again after something else covers the map, unless it was moved;
 * `mark(place)`, which shows where a new session would be; and `middle()`, the middle of what is not covered.
 */
export function mapView({ onopen, onmany = ([id]) => onopen(id), covered = () => ({ above: 0, below: 0 }),
  onmove = () => {} }) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const place = h("div", { class: "map", dir: "ltr", role: "group", "aria-label": t("map.keys") });
  const credit = h("p", { class: "map-credit", hidden: true });
  const tools = h("div", { class: "map-tools" }, roundButton(icon("plus"), t("map.in"), () => zoomBy(1)),
    roundButton(phoneIcon("minus"), t("map.out"), () => zoomBy(-1)),
    roundButton(phoneIcon("position"), t("map.locate"), goToPosition));
  const element = h("div", { class: "map-view", role: "region", "aria-label": t("map.label") }, place, credit, tools);
  let [L, map, plan] = [null, null, null];
  let sessions = [];
  let chosen = null;
  /** The session that is to be moved into sight, perhaps before the map has it. */
  let wanted = null;
  /** The pins, by the identifiers of their sessions. */
  let pins = new Map();
  /** What is drawn of the chosen session, of the person, and of a new session. */
  let [area, person, target] = [null, [], null];
  /** Whether somebody has moved the map, or it has shown sessions for a while. Then it does not move by itself. */
  let isPlaced = false;
  let since = null;
  /** How the map has shown everything by itself: `{middle, zoom, room}`, with what covered it. */
  let whole = null;

  /** What the hub says about the map. If it is away, that comes later with all the rest. */
  async function information() {
    const study = await studyOfApp();
    if (state.study.rules) return state.study.rules;
    try {
      return await study.load("rules");
    } catch (error) {
      while (!state.study.rules) {
        await new Promise((next) => { setTimeout(next, pause); });
        if (!element.isConnected || !state.people.account) throw error;
      }
      return state.study.rules;
    }
  }

  async function load() {
    const about = (await information())?.map;
    if (!about?.leaflet) return false;
    L = await leaflet(about.leaflet);
    // Without a plan the ground is empty, and the pins are where they are.
    const shapes = await readPlan(about.plan).catch(() => []);
    // Pictures have whole zooms. A plan fills the map.
    map = L.map(place, { zoomControl: false, attributionControl: false, tap: false, maxZoom, minZoom: 2,
      zoomSnap: about.tiles ? 1 : 0.25,
      zoomAnimation: !calm, fadeAnimation: !calm, markerZoomAnimation: !calm, inertia: !calm });
    map.setView(...world, { animate: false });
    if (about.tiles) {
      L.tileLayer(about.tiles, { maxZoom }).addTo(map);
      fill(credit, linkified(about.attribution ?? ""));
      credit.hidden = !about.attribution;
    } else plan = drawPlan(L, map, shapes);
    map.on("zoomend", drawPins).on("moveend", () => { settle(); onmove(); });
    // Where somebody has moved it, by a drag, a wheel, fingers or keys, it stays.
    const stay = ({ key }) => { isPlaced ||= key === undefined || movingKeys.includes(key); };
    map.on("dragstart", stay);
    for (const kind of ["wheel", "touchmove", "dblclick", "keydown"]) place.addEventListener(kind, stay,
      { passive: true });
    follow();
    return true;
  }

  /** Follows the size of the map and the person's position, until the map is taken away. */
  function follow() {
    const leave = onPosition(drawPerson);
    let wasThere = false;
    const watcher = new ResizeObserver(() => {
      wasThere ||= element.isConnected;
      if (element.isConnected) {
        map.invalidateSize({ animate: false });
        begin();
        // A phone was turned: what the open sheet is about stays in sight.
        const place = map.getSize().x ? sessions.find(({ id }) => id === chosen)?.place : null;
        if (place) comeIntoSight(pointOf(place), false);
      } else if (wasThere) {
        watcher.disconnect();
        leave();
        map.remove();
        map = null;
      }
    });
    watcher.observe(place);
    if (lastPosition()) drawPerson(lastPosition());
    // The browser says it without a question. If it cannot now, the person can ask.
    else isPositionAllowed().then((isAllowed) => isAllowed && locate()).catch(() => {});
  }

  const boundsOf = (list) => L.latLngBounds(list.filter((each) => each.place).map((each) => pointOf(each.place)));

  /** What covers the map, without what leaves less than room for two pins: in a low window something is over them. */
  function margins() {
    const { above, below } = covered();
    const most = Math.max(0, map.getSize().y - 2 * pinRoom);
    return { above: Math.min(above, Math.max(0, most - below)), below: Math.min(below, most) };
  }

  /** The same as Leaflet's options for what is to be in sight. A pin is above its place. */
  function roomAround() {
    const { above, below } = margins();
    return { paddingTopLeft: [0, above && above + pinRoom], paddingBottomRight: [0, below] };
  }

  /** Shows where something is, unless the map was moved. */
  function begin() {
    if (!map || isPlaced || !map.getSize().x) return;
    const around = boundsOf(sessions);
    const position = lastPosition();
    const isOnPlan = plan?.bounds.isValid() && (!around.isValid() || plan.bounds.intersects(around));
    const { above, below } = margins();
    const options = { animate: false, maxZoom: closeZoom, ...roomAround() };
    // What a sheet leaves is too low for all of the plan. Without pins, the plan may go on under what is above.
    if (isOnPlan && !below) map.fitBounds(plan.bounds, options);
    else if (isOnPlan && !around.isValid()) map.fitBounds(plan.bounds, { animate: false, maxZoom: closeZoom,
      paddingBottomRight: [0, Math.max(0, below - above)] });
    else if (around.isValid()) map.fitBounds(around.pad(0.2), options);
    else if (position) goTo(pointOf(position), closeZoom, false);
    whole = { middle: map.getCenter(), zoom: map.getZoom(), room: JSON.stringify([above, below]) };
    // The sessions of one class come after those of another.
    if (around.isValid()) since ??= performance.now();
    isPlaced = since !== null && performance.now() - since > settling;
    drawPins();
  }

  function zoomBy(steps) {
    if (!map) return;
    isPlaced = true;
    map.setZoom(map.getZoom() + steps);
  }

  async function goToPosition() {
    const position = await askForPosition();
    // A map that comes later begins there.
    if (!position || !map) return;
    isPlaced = true;
    goTo(pointOf(position), closeZoom);
  }

  /** Moves a point into the middle of what is not covered. */
  function goTo(point, zoom, animate = !calm) {
    const { above, below } = margins();
    map.setView(map.unproject(map.project(point, zoom).add([0, (below - above) / 2]), zoom), zoom, { animate });
  }

  function goToWanted() {
    const session = sessions.find(({ id }) => id === wanted);
    if (!session?.place) return;
    isPlaced = true;
    wanted = null;
    goTo(pointOf(session.place), Math.max(map.getZoom(), closeZoom - 1));
  }

  /** Opens a session, or parts a group. */
  function open(event, inside) {
    event.stopPropagation();
    // A drag of the map that began on the pin ends with a click, unless a key has made it.
    if (event.detail !== 0 && map.dragging.moved()) return;
    if (inside.length === 1) {
      onopen(inside[0].id);
      return;
    }
    const canPart = clustersOf(pointsOf(inside, maxZoom)).length > 1 && map.getZoom() < maxZoom;
    isPlaced = true;
    if (canPart) map.fitBounds(boundsOf(inside).pad(0.2), { animate: !calm, maxZoom, ...roomAround() });
    else onmany(inside.map(({ id }) => id));
  }

  const pointsOf = (list, zoom) => list.filter((each) => each.place).map((session) => {
    const { x, y } = map.project(pointOf(session.place), zoom);
    return { id: session.id, x, y, session };
  });

  /** Moves a place into sight, such as that of a pin that gets the focus. */
  function comeIntoSight(at, animate) {
    const { above, below } = margins();
    const { x: width, y: height } = map.getSize();
    const point = map.latLngToContainerPoint(at);
    const isInSight = point.x > pinRoom && point.x < width - pinRoom && point.y > pinRoom + above
      && point.y < height - below - pinRoom / 2;
    if (isInSight) return;
    isPlaced = true;
    goTo(at, map.getZoom(), animate);
  }

  function newPin(inside, at) {
    const button = pin(inside, (event) => open(event, inside));
    // A pointer has it in sight, and must not move it away.
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) comeIntoSight(at); });
    const made = L.divIcon({ html: button, className: "pin-place", iconSize: null });
    return { button, marker: L.marker(at, { icon: made, interactive: false, keyboard: false }).addTo(map) };
  }

  function drawPins() {
    if (!map) return;
    const zoom = map.getZoom();
    const before = [...pins].find(([, { button }]) => button === document.activeElement)?.[0];
    const next = new Map();
    for (const { x, y, points } of clustersOf(pointsOf(sessions, zoom))) {
      const inside = points.map(({ session }) => session);
      const key = inside.map(({ id }) => id).join(" ");
      const print = JSON.stringify(inside.map(({ tone, attendants, friends, place: where }) =>
        [tone, attendants.length, friends.length, where]));
      const old = pins.get(key);
      const made = old?.print === print ? old : { ...newPin(inside, map.unproject([x, y], zoom)), print };
      made.button.title = made.button.ariaLabel = labelOf(inside);
      made.button.classList.toggle("is-chosen", inside.some(({ id }) => id === chosen));
      next.set(key, made);
    }
    for (const [key, old] of pins) if (next.get(key) !== old) old.marker.remove();
    pins = next;
    // What had the focus may be another pin now, or part of one.
    if (before && !pins.get(before)?.button.matches(":focus")) focusPin(before.split(" ")[0]);
    requestAnimationFrame(settle);
  }

  /** After a move: names have room, and a pin under something else is out of reach, so that nobody misses it. */
  function settle() {
    const buttons = [...pins.values()].map(({ button }) => button);
    plan?.fit(buttons);
    const around = place.getBoundingClientRect();
    const isInside = ([x, y]) => x > around.left && x < around.right && y > around.top && y < around.bottom;
    for (const button of buttons) {
      const { left, right, top, bottom } = button.getBoundingClientRect();
      const corners = [[left, top], [right, top], [left, bottom], [right, bottom]].filter(isInside);
      button.inert = corners.some(([x, y]) => {
        const under = document.elementFromPoint(x, y);
        return under !== null && !place.contains(under);
      });
    }
  }

  function focusPin(id) {
    const found = [...pins].find(([key]) => key.split(" ").includes(id))?.[1].button;
    if (!found) return false;
    // What was over it is gone, or it comes into sight.
    found.inert = false;
    found.focus({ preventScroll: true });
    return true;
  }

  const mark = (kind, at) => L.marker(at, { interactive: false, keyboard: false, icon: L.divIcon({ iconSize: null,
    html: h("span", { class: kind, "aria-hidden": "true" }), className: "pin-place" }) }).addTo(map);

  function drawPerson(position) {
    for (const layer of person) layer.remove();
    const at = pointOf(position);
    person = [L.circle(at, { radius: position.accuracy, className: "person-area", interactive: false }).addTo(map),
      mark("person-mark", at)];
    begin();
  }

  function drawArea() {
    area?.remove();
    area = null;
    const session = sessions.find(({ id }) => id === chosen);
    const radius = state.study.rules?.rules.radius;
    if (!session?.place || !radius) return;
    area = L.circle(pointOf(session.place), { radius, className: "session-area", interactive: false }).addTo(map);
  }

  latest = element;
  return Object.assign(element, {
    ready: load().catch((error) => { console.warn(error.message); return false; }),
    show(list) {
      sessions = list.map(known);
      if (!map) return;
      begin();
      drawPins();
      drawArea();
      if (wanted) goToWanted();
    },
    focus(id) {
      chosen = wanted = id;
      if (!map) return;
      begin();
      drawPins();
      drawArea();
      if (wanted) goToWanted();
    },
    focusPin,
    fit() {
      const zoom = map?.getZoom();
      if (!whole || whole.zoom !== zoom || whole.room === JSON.stringify(Object.values(margins()))) return;
      if (map.project(whole.middle, zoom).distanceTo(map.project(map.getCenter(), zoom)) > nearby) return;
      isPlaced = false;
      begin();
    },
    mark(where) {
      target?.remove();
      target = map && where ? mark("target-mark", pointOf(where)) : null;
    },
    middle() {
      if (!map) return null;
      const { above, below } = margins();
      const { lat, lng } = map.containerPointToLatLng(map.getSize().add([0, above - below]).divideBy(2)).wrap();
      return { latitude: lat, longitude: lng };
    },
  });
}
