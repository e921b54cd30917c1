import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

const threshold = 72;

/** Calls `onpull` when a finger pulls down what is scrolled to its top. */
export function pull(scroller, onpull) {
  const sign = h("div", { class: "pull", "aria-hidden": "true", hidden: true }, icon("retry"));
  scroller.before(sign);
  let start = null;
  let distance = 0;
  const move = (pixels) => {
    distance = pixels;
    sign.hidden = pixels === 0;
    sign.style.translate = `0 ${Math.min(pixels, threshold)}px`;
    sign.style.rotate = `${pixels * 3}deg`;
  };
  scroller.addEventListener("touchstart",
    ({ touches }) => { start = scroller.scrollTop === 0 && touches.length === 1 ? touches[0].clientY : null; },
    { passive: true });
  scroller.addEventListener("touchmove", ({ touches }) => {
    if (start !== null && scroller.scrollTop === 0) move(Math.max(0, touches[0].clientY - start) / 2);
  }, { passive: true });
  scroller.addEventListener("touchend", () => {
    if (distance >= threshold) onpull();
    move(0);
  });
  scroller.addEventListener("touchcancel", () => move(0));
}
