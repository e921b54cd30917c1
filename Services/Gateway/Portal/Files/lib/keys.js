import { kept } from "./store.js";

/** Whether the keys that are letters and signs are on; somebody who speaks to the computer may switch them off. */
export const areKeysOn = () => kept("settings", {}).keys !== false;

/** The sign of a key. Where the keyboard writes another script, the one at the same place. */
export const signOf = ({ key, code, shiftKey }) =>
  (/^[ -~]$/.test(key) ? key : key === "؟" ? "?" : { KeyC: "c", Slash: shiftKey ? "?" : "/" }[code]);
