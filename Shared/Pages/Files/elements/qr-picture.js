import { svg } from "../lib/dom.js";
import { qrCode } from "../lib/qr.js";

/**
 * The QR code of a text, with a label for those who do not see it; `null` if the text is too long. It is dark on light
 * in every theme, as cameras need it.
 */
export function qrPicture(text, label) {
  const rows = qrCode(text);
  if (!rows) return null;
  const size = rows.length + 8;
  const d = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  return svg("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label,
      "shape-rendering": "crispEdges" }, svg("path", { d }));
}
