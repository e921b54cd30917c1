// Whether the person wants more time: toasts stay until they are closed, and new messages wait until they are asked
// for. This browser keeps the choice.

import { keepToasts } from "../elements/toast.js";

const name = "msi.app.more-time";
let isWanted = false;
try { isWanted = localStorage.getItem(name) !== null; } catch { /* a blocked storage has no choice */ }
keepToasts(isWanted);

export const wantsMoreTime = () => isWanted;

export function chooseMoreTime(wanted) {
  isWanted = wanted;
  keepToasts(wanted);
  try {
    if (wanted) localStorage.setItem(name, "true");
    else localStorage.removeItem(name);
  } catch { /* a blocked storage forgets it */ }
}
