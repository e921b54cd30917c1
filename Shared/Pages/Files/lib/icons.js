import { svg } from "./dom.js";

// One family of outlines on a grid of 24 units, drawn for this product.
const shapes = {
  send: ["M21 3 3 10.5l7 2.5 2.5 7L21 3Z", "m10 13 5-5"],
  messages: ["M4 12a8 8 0 1 0 2.5-5.8L4 8.5", "M4 4v4.5h4.5", "M12 8v4.5l3 2"],
  template: ["M5 4h14v16H5z", "M8.5 8.5h7M8.5 12h7M8.5 15.5h4"],
  cube: ["m12 3 8 4.5v9L12 21l-8-4.5v-9L12 3Z", "m4 7.5 8 4.5 8-4.5M12 12v9"],
  people: ["M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Z", "M2.5 20c.4-3.6 3-5.5 6.5-5.5s6.1 1.9 6.5 5.5",
    "M16 4.3a3.5 3.5 0 0 1 0 6.4M18.5 15c1.8.8 2.8 2.5 3 5"],
  key: ["M14.5 9.5a4.5 4.5 0 1 0-4.3 4.5", "m13 12 8 8M18 17l-2 2"],
  audit: ["M7 3h8l4 4v14H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2Z", "M14 3v5h5M9 13h6M9 17h4"],
  overview: ["M3 12h4l3-8 4 16 3-8h4"],
  account: ["M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z", "M4.5 20.5c.5-4 3.5-6 7.5-6s7 2 7.5 6"],
  signOut: ["M14 4H6v16h8", "M10 12h11m-3.5-3.5L21 12l-3.5 3.5"],
  more: ["M6 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0ZM13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0ZM20 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0Z"],
  alert: ["m12 4 9 16H3L12 4Z", "M12 10v4.5M12 17.3v.1"],
  speaker: ["M4 9.5v5h3.5L12 18V6L7.5 9.5H4Z", "M15 9a4 4 0 0 1 0 6M17.5 6.5a7.5 7.5 0 0 1 0 11"],
  check: ["m5 12.5 4.5 4.5L19 7.5"],
  cross: ["m6 6 12 12M18 6 6 18"],
  clock: ["M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z", "M12 7v5l3.5 2"],
  search: ["M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Z", "m15.5 15.5 5 5"],
  plus: ["M12 5v14M5 12h14"],
  edit: ["m4 20 1-4L16 5l3 3L8 19l-4 1Z", "m14 7 3 3"],
  trash: ["M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5M14 11v5"],
  up: ["m6 14 6-6 6 6"],
  down: ["m6 10 6 6 6-6"],
  next: ["m9.5 6 6 6-6 6"],
  back: ["m14.5 6-6 6 6 6"],
  grip: ["M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01"],
  info: ["M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z", "M12 11v5M12 7.7v.1"],
  undo: ["M8 5 4 9l4 4", "M4 9h10a5.5 5.5 0 0 1 0 11h-4"],
  reply: ["M9 6 4 11l5 5", "M4 11h9a7 7 0 0 1 7 7v1"],
  retry: ["M20 12a8 8 0 1 1-2.5-5.8L20 8.5", "M20 4v4.5h-4.5"],
  download: ["M12 4v11m-4.5-4.5L12 15l4.5-4.5M4 20h16"],
  lock: ["M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  broadcast: ["M12 12.5v8M12 12.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
    "M8.3 15a5.5 5.5 0 0 1 0-8M15.7 7a5.5 5.5 0 0 1 0 8M5.5 17.5a9.5 9.5 0 0 1 0-13M18.5 4.5a9.5 9.5 0 0 1 0 13"],
  downtime: ["M12 4v7", "M17.5 7a8 8 0 1 1-11 0"],
  greeting: ["M4 11h16v9H4zM3 7.5h18V11H3zM12 7.5V20",
    "M12 7.5C9 7.5 7.5 6.5 7.5 5S9 3 10 3.5s2 4 2 4 1-3.5 2-4 2.5 0 2.5 1.5-1.5 2.5-4.5 2.5Z"],
  toggle: ["M8 7h8a5 5 0 0 1 0 10H8A5 5 0 0 1 8 7Z", "M16 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
  phone: ["M7 3h10v18H7zM11 18h2"],
  bookmark: ["M6 4h12v16l-6-4-6 4V4Z"],
  eye: ["M2.5 12S6 5.5 12 5.5s9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12Z", "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z"],
  copy: ["M9 9h11v11H9z", "M5 15H4V4h11v1"],
  classes: ["m2 9.5 10-5 10 5-10 5-10-5Z", "M6 11.7v5c3.5 2.7 8.5 2.7 12 0v-5", "M22 9.5v5.5"],
};

const directed = new Set(["send", "signOut", "next", "back", "undo", "reply"]);

/** An icon by its name. It is always beside a word, or in a control with a label, so readers skip it. */
export function icon(name, size = "") {
  const classes = ["icon", size, directed.has(name) ? "directed" : ""].filter(Boolean).join(" ");
  return svg("svg", { class: classes, viewBox: "0 0 24 24", "aria-hidden": "true" },
    shapes[name].map((d) => svg("path", { d })));
}
