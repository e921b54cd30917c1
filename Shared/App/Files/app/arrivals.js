import { wantsMoreTime } from "../lib/more-time.js";
import { state } from "../lib/state.js";
import { t } from "../lib/text.js";
import { toast, toastRegion } from "../elements/toast.js";

/**
 * The messages that the pages show. If the person wants more time, those that come by themselves wait, and a toast
 * offers them. `show()` is called when the person takes the offer.
 */
export function arrivals(show) {
  /** The keys of the messages that do not wait; `null` if none waits. */
  let known = null;
  let waiting = 0;
  let offer = null;

  const messages = () => (known ? state.messages.filter(({ msi_key: key }) => known.has(key)) : state.messages);

  /** Follows the state. */
  function update() {
    if (!wantsMoreTime()) known = null;
    else known ??= new Set(state.messages.map(({ msi_key: key }) => key));
    const before = waiting;
    waiting = state.messages.length - messages().length;
    if (!waiting) {
      offer?.dismiss();
      offer = null;
    } else if (waiting > before && !offer?.isConnected) {
      toast(t("messages.new"), { action: { label: t("messages.new.show"), run: () => { letIn(); show(); } } });
      offer = toastRegion().lastElementChild;
    }
  }

  /** Lets in what the next state has. */
  const letNextIn = () => { known = null; };

  /** Lets in what waits. */
  function letIn() {
    letNextIn();
    update();
  }

  /** The number of unread messages, as far as they count and do not wait. */
  const badge = () => (known ? Math.min(state.badge, messages().filter(({ read }) => !read).length) : state.badge);

  return { messages, update, letIn, letNextIn, badge };
}
