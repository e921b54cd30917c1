const edge = 72;

/**
 * Follows a pointer that drags a row by its grip. The other rows make room for it, and `drop(place)` is told where it
 * was left; `null` if it was left where it was, or by Escape.
 */
export function followDrag(event, element, drop) {
  const grip = event.target.closest(".grip");
  const list = element.parentElement;
  const before = [...list.children];
  const pointer = event.pointerId;
  let y = event.clientY;
  let isDragging = false;
  let frame = 0;
  const isMine = (each) => each.pointerId === pointer;

  function begin() {
    isDragging = true;
    const top = element.getBoundingClientRect().top;
    // The page keeps its height, so that it does not scroll away.
    list.style.setProperty("min-block-size", `${list.offsetHeight}px`);
    list.classList.add("sorting");
    element.classList.add("dragged");
    // The others fold, and the row stays under the pointer.
    scrollBy({ top: element.getBoundingClientRect().top - top, behavior: "instant" });
    follow();
  }

  // The dragged element itself stays in the document's order, so that the pointer stays with it: its neighbours change
  // sides.
  function follow() {
    const { previousElementSibling: previous, nextElementSibling: next } = element;
    const middle = (each) => { const { top, height } = each.getBoundingClientRect(); return top + height / 2; };
    if (previous && y < middle(previous)) element.after(previous);
    else if (next && y > middle(next)) element.before(next);
    const speed = y < edge ? y - edge : y > innerHeight - edge ? y - innerHeight + edge : 0;
    if (speed) scrollBy({ top: speed / 4, behavior: "instant" });
    frame = requestAnimationFrame(follow);
  }

  function move(each) {
    if (!isMine(each)) return;
    if (!isDragging && Math.abs(each.clientY - y) < 4) return;
    y = each.clientY;
    if (!isDragging) begin();
  }

  function end(each) {
    if (each.pointerId !== undefined && !isMine(each)) return;
    if (each.type === "keydown" && each.key !== "Escape") return;
    cancelAnimationFrame(frame);
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    if (!isDragging) return;
    const place = [...list.children].indexOf(element);
    // The tree itself moves the row, after the order is known.
    list.append(...before.filter((one) => one.isConnected && one !== element &&
        before.indexOf(one) > before.indexOf(element)));
    list.prepend(...before.filter((one) => one.isConnected && one !== element &&
        before.indexOf(one) < before.indexOf(element)));
    list.classList.remove("sorting");
    list.style.removeProperty("min-block-size");
    element.classList.remove("dragged");
    drop(each.type === "pointerup" && place !== before.indexOf(element) ? place : null);
    element.firstElementChild.scrollIntoView({ block: "nearest" });
  }

  const listeners = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["keydown", end]];
  for (const [type, listener] of listeners) addEventListener(type, listener);
  grip.setPointerCapture(pointer);
}
