import { toast } from "../elements/toast.js";

let dismiss = () => {};

/** Shows a short message instead of the last one, whose Undo would meet another cube. */
export function say(...values) {
  dismiss();
  dismiss = toast(...values);
}
