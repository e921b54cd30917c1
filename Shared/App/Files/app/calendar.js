import { h } from "../lib/dom.js";
import { fromInputs, inputValues, local } from "../lib/phone-time.js";
import { download } from "../lib/requests.js";
import { phoneNow } from "../lib/state.js";
import { t } from "../lib/text.js";
import { dialogButtons, showDialog } from "../elements/dialog.js";

const lengths = [15, 30, 60, 90, 120, 180, 240, 480];

/** Asks when a message's event is, and saves it for the calendar. `date` is one that was found in its text. */
export async function addToCalendar(message, date) {
  // Without a date in the text: tomorrow at 9:00.
  const proposed = inputValues(date?.at ?? local(phoneNow()) + 86_400_000);
  const event = await showDialog({ heading: t("calendar.heading"), make: (close) => {
    const day = h("input", { type: "date", required: true, value: proposed.date, autofocus: true });
    const time = h("input", { type: "time", required: true, value: date?.hasTime ? proposed.time : "09:00" });
    const wanted = date?.minutes ?? 60;
    const length = h("select", null, [...new Set([...lengths, wanted])].sort((a, b) => a - b)
      .map((minutes) => h("option", { value: minutes, selected: minutes === wanted }, lengthText(minutes))));
    const label = (key, control) => h("label", { class: "field" }, h("span", { class: "label" }, t(key)), control);
    return h("form", { onsubmit: (event) => {
      event.preventDefault();
      close({ start: fromInputs(day.value, time.value), minutes: length.value });
    } },
    h("p", { class: "secondary", dir: "auto" }, message.title),
    h("div", { class: "pair" }, label("calendar.date", day), label("calendar.time", time)),
    label("calendar.length", length),
    dialogButtons(close, h("button", { class: "button main" }, t("calendar.save"))));
  } });
  if (!event) return;
  download(`/messages/${message.msi_key}/calendar.ics?start=${event.start}&minutes=${event.minutes}`,
    t("calendar.saved"));
}

const lengthText = (minutes) =>
  (minutes < 60 || minutes % 30 ? t("calendar.minutes", { count: minutes }) : t("calendar.hours",
    { count: minutes / 60 }));
