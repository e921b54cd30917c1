// The bar with the person's own study session. Its modules are loaded when the person is in one, or hosts one.

import { fill, h } from "./dom.js";
import { withTexts } from "./later.js";
import { state } from "./state.js";

/** The place of the bar. `update()` shows the state. */
export function ownSession() {
  const element = h("div", { class: "session-bar-place" });
  let bar = null;
  let isLoading = false;

  async function load() {
    isLoading = true;
    try {
      bar = (await withTexts(() => import("../study/bar.js"), "study")).sessionBar();
      fill(element, bar);
      bar.update();
    } catch {
      // The network is away; the next change of the state tries again.
      isLoading = false;
    }
  }

  return Object.assign(element, { update: () => {
    if (bar) bar.update();
    else if (!isLoading && (state.study.own?.current || state.study.own?.hosted.length)) load();
  } });
}
