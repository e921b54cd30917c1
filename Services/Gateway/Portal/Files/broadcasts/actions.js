import { explain, remove } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/text.js";
import { confirmAction } from "../elements/dialogs.js";
import { toast } from "../elements/toast.js";
import { isSwitch, titleOf } from "./words.js";

/** Asks, and withdraws a broadcast. Returns the document as it is then, or `null`. */
export async function askAndWithdraw(broadcast) {
  const isSure = await confirmAction({
    heading: t("broadcasts.withdraw.heading", { title: titleOf(broadcast) }),
    content: h("p", null, t(isSwitch(broadcast) ? "broadcasts.withdraw.switch" : "broadcasts.withdraw.text")),
    action: t("broadcasts.withdraw"), isDanger: true,
  });
  return isSure ? withdraw(broadcast) : null;
}

export async function withdraw(broadcast) {
  try {
    const withdrawn = await remove(`/broadcast/${broadcast.id}`);
    toast(t("broadcasts.withdrawn", { title: titleOf(broadcast) }));
    return withdrawn;
  } catch (error) {
    toast(explain(error));
    return null;
  }
}
