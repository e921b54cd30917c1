import { isRightToLeft } from "../lib/text.js";

const threshold = 96;

/**
 * Calls `onswipe` after a swipe to the left on an element, by finger or mouse. In Arabic a swipe to the right counts,
 * too.
 */
export function swipe(element, onswipe) {
  let start = null;
  let distance = 0;
  const move = (pixels) => {
    distance = pixels;
    element.style.translate = pixels ? `${pixels}px` : "";
    element.parentElement?.classList.toggle("is-swiped", pixels !== 0);
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && !event.target.closest("input, select")) start = { x: event.clientX, y: event.clientY };
  });
  element.addEventListener("pointermove", (event) => {
    if (!start) return;
    // The button was released outside the element.
    if (event.buttons === 0) {
      end(event);
      return;
    }
    const x = event.clientX - start.x;
    if (!distance) {
      const isDown = Math.abs(event.clientY - start.y) > Math.abs(x);
      if (isDown && Math.abs(event.clientY - start.y) > 10) start = null;
      if (isDown || Math.abs(x) < 10) return;
      element.setPointerCapture(event.pointerId);
      getSelection().removeAllRanges();
    }
    move(isRightToLeft ? x : Math.min(x, 0));
  });
  const end = (event) => {
    const isSwiped = event.type === "pointerup" && Math.abs(distance) >= threshold;
    // The click that follows belongs to the swipe.
    if (distance) {
      addEventListener("click", (click) => { click.stopPropagation(); click.preventDefault(); },
        { capture: true, once: true, signal: AbortSignal.timeout(50) });
    }
    start = null;
    move(0);
    if (isSwiped) onswipe();
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
}
