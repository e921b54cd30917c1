import { h } from "../lib/dom.js";
import { formatMoment, fromInputs, inputValues, local } from "../lib/phone-time.js";
import { send } from "../lib/requests.js";
import { phoneNow, state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { segments } from "../elements/segments.js";
import { switchRow } from "../elements/switch.js";

const day = 86_400;

/** The controls of the simulation: what happens to the phone. They are no part of the app. */
export function controls() {
  const put = (change) => send("PUT", "/control", change);
  const choice = (name, values, read, write) => {
    const label = t(`control.${name}`);
    const control = segments({ label, options: values.map((value) => ({ value, label: t(`control.${name}.${value}`) })),
        onchange: (value) => put(write(value)) });
    const element = h("div", { class: "control" }, h("span", { class: "label" }, label), control,
      h("p", { class: "hint" }, t(`control.${name}.hint`)));
    return { element, update: () => { control.value = read(state.control); } };
  };
  const onOff = (name) => {
    const element = switchRow({ label: t(`control.${name}`), hint: t(`control.${name}.hint`),
        onchange: (isOn) => put({ [name]: isOn }) });
    element.classList.add("control");
    return { element, update: () => { element.checked = state.control[name]; } };
  };

  const own = h("input", { type: "datetime-local", required: true, "aria-label": t("control.clock.own") });
  const shows = h("p", { class: "hint" });
  const setClock = h("form", { class: "clock-form", onsubmit: (event) => {
    event.preventDefault();
    const [date, time] = own.value.split("T");
    // The chosen time minus the real time.
    put({ clock_offset: Math.round((fromInputs(date, time) - phoneNow()) / 1_000) + state.control.clock_offset });
  } }, own, h("button", { class: "button small" }, t("control.clock.set")));
  const clock = choice("clock", ["0", String(day), String(8 * day)], ({ clock_offset }) => clock_offset,
    (value) => ({ clock_offset: Number(value) }));
  clock.element.append(shows, setClock);

  const parts = [
    choice("foreground", ["true", "false"], ({ foreground, killed }) => (killed && foreground ? null : foreground),
      (value) => (value === "true" ? { foreground: true, killed: false } : { foreground: false })),
    onOff("killed"), onOff("offline"),
    choice("platform", ["android", "ios"], ({ platform }) => platform, (value) => ({ platform: value })),
    choice("language", ["en", "ar"], ({ language }) => language, (value) => ({ language: value })),
    clock,
  ];
  const element = h("div", { class: "controls" }, h("p", { class: "hint" }, t("controls.text")),
    parts.map((part) => part.element));
  const tell = () => {
    if (!state) return;
    shows.textContent = t("control.clock.shows", { time: formatMoment(phoneNow()) });
    if (!own.value) {
      const { date, time } = inputValues(local(phoneNow()));
      own.value = `${date}T${time}`;
    }
  };
  return Object.assign(element, { tell, update: () => {
    for (const part of parts) part.update();
    tell();
  } });
}
