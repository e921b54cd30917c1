// The plan of the campus (GeoJSON), which the map shows if the operator has named no server of pictures.

import { h } from "../lib/dom.js";
import { language } from "../lib/text.js";

/** The names are shown from this zoom on: below it they would cover each other. */
const minZoom = 15;
/** What is drawn over what. */
const order = ["area", "green", "water", "path", "building"];

/** What a feature is: its `kind`, or what OpenStreetMap calls it. */
function kindOf({ kind, building, highway, natural, waterway, leisure, landuse }) {
  if (order.includes(kind)) return kind;
  if (building) return "building";
  if (highway) return "path";
  if (natural === "water" || waterway) return "water";
  return leisure || landuse ? "green" : "area";
}

/** Reads a plan. One that is no collection of features counts as an empty one. */
export async function readPlan(path) {
  const answer = await fetch(path, { credentials: "omit" });
  const plan = answer.ok ? await answer.json() : null;
  const features = Array.isArray(plan?.features) ? plan.features.filter((each) => each?.geometry) : [];
  return features.map((feature) => ({ ...feature, properties: feature.properties ?? {} }))
    .map((feature) => ({ feature, kind: kindOf(feature.properties) }))
    .sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
}

/**
 * Draws a plan on a map. Returns its `bounds`, and `fit()`, which shows the names for which there is room at this zoom:
 * no pin covers one of them.
 */
export function drawPlan(L, map, plan) {
  const style = (kind) => ({ className: `plan-${kind}`, interactive: false, fill: kind !== "path" });
  const bounds = L.latLngBounds([]);
  const labels = [];

  function draw({ feature, kind }) {
    const isPoint = feature.geometry.type === "Point";
    const shape = L.geoJSON(feature, { style: () => style(kind), filter: () => !isPoint });
    const around = isPoint ? L.latLngBounds([L.GeoJSON.coordsToLatLng(feature.geometry.coordinates)])
      : shape.getBounds();
    if (!around.isValid()) return;
    shape.addTo(map);
    bounds.extend(around);
    const name = feature.properties[`name:${language}`] ?? feature.properties.name;
    if (typeof name === "string" && name) addLabel(name, around.getCenter());
  }

  function addLabel(name, at) {
    const html = h("span", { class: "plan-name" }, h("bdi", null, name));
    labels.push(html);
    const icon = L.divIcon({ html, className: "plan-label", iconSize: null });
    L.marker(at, { icon, interactive: false, keyboard: false, zIndexOffset: -10_000 }).addTo(map);
  }

  for (const each of plan) {
    try {
      draw(each);
    } catch (error) {
      // The operator's file may have a shape that there is not.
      console.warn(error.message);
    }
  }

  return { bounds, fit(pins) {
    const taken = pins.map((pin) => pin.getBoundingClientRect());
    for (const label of labels) {
      label.hidden = map.getZoom() < minZoom;
      if (label.hidden) continue;
      const own = label.getBoundingClientRect();
      const covers = (other) => own.left < other.right && other.left < own.right && own.top < other.bottom
        && other.top < own.bottom;
      const isCovered = taken.some(covers);
      label.classList.toggle("is-covered", isCovered);
      if (!isCovered) taken.push(own);
    }
  } };
}
