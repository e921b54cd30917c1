// The settings of the person who is signed in: rows that lead to pages, which are loaded when somebody opens them.
import { icon } from "./lib/icons.js";
import { later, withTexts } from "./lib/later.js";
import { phoneIcon } from "./lib/phone-icons.js";
import { t } from "./lib/text.js";

const row = (page, sign, load) => ({ page, sign, label: t(`settings.${page}`),
  make: () => later(async () => (await withTexts(load)).settings()) });

/** As `personal` of `appScreen`. */
export const personal = [
  row("account", icon("account"), () => import("./people/account.js")),
  row("profile", icon("eye"), () => import("./people/profile.js")),
  row("devices", icon("phone"), () => import("./people/devices.js")),
  row("kinds", phoneIcon("bell"), () => import("./people/kinds.js")),
  row("data", icon("lock"), () => import("./people/data.js")),
];
