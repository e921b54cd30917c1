/** A time as broadcasts write it, with the browser's offset at that time: 2026-11-25T06:00:00+0100 */
export function epochOf(milliseconds) {
  const offset = -new Date(milliseconds).getTimezoneOffset();
  const two = (number) => String(number).padStart(2, "0");
  const local = new Date(milliseconds + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
}
