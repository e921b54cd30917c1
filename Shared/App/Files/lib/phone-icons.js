import { svg } from "./dom.js";

// More outlines of the family in icons.js, for the phone.
const shapes = {
  bubble: ["M4 5h16v11.5H11L6.5 20v-3.5H4z"],
  bell: ["M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15L6 16.5Z", "M10 20.5a2.2 2.2 0 0 0 4 0"],
  bellOff: ["M6 16.5V11a6 6 0 0 1 .9-3.2M9.5 5.5A6 6 0 0 1 18 11v3M16.5 18h-12L6 16.5",
    "M10 20.5a2.2 2.2 0 0 0 4 0M4 4l16 16"],
  leave: ["M13.5 4H20v6.5M20 4l-9 9M17.5 14v6H4V6.5h6"],
  sliders: ["M3 8h9M18 8h3M3 16h3M12 16h9",
    "M15 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM9 18.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
  list: ["M8.5 6.5H20M8.5 12H20M8.5 17.5H20M4 6.5h.01M4 12h.01M4 17.5h.01"],
  calendar: ["M4 6h16v14H4zM4 10.5h16M8.5 3.5v4M15.5 3.5v4"],
  plane: ["M10.5 10V5a1.5 1.5 0 0 1 3 0v5l7.5 4.5v2l-7.5-2v4l2 1.5V21.5L12 20.5l-3.5 1V20l2-1.5v-4L3 16.5v-2L10.5 10Z"],
  signal: ["M4 20v-3M9.300 20v-7M14.600 20V9M20 20V4"],
  battery: ["M3 8h15.5v8H3zM21 11v2M6 11v2M9 11v2M12 11v2"],
  pin: ["M12 21s6.5-6.3 6.5-11.2a6.5 6.5 0 0 0-13 0C5.5 14.7 12 21 12 21Z",
    "M12 12.3a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
  position: ["M12 17.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z", "M12 3v3.5M12 17.5V21M3 12h3.5M17.5 12H21"],
  map: ["m3.5 6 5.5-2 6 2 5.5-2v14l-5.5 2-6-2-5.5 2V6Z", "M9 4v14M15 6v14"],
  minus: ["M5 12h14"],
  globe: ["M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z", "M3 12h18M12 3c5 5.5 5 12.5 0 18-5-5.5-5-12.5 0-18Z"],
  contrast: ["M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z", "M12 3v18M12 8l6-1.5M12 12.5l8.5-2M12 17l7-1.5"],
};

/** One of the phone's own icons by its name. Readers skip it, as those of icons.js. */
export function phoneIcon(name, size = "") {
  return svg("svg", { class: `icon ${size}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true" },
    shapes[name].map((d) => svg("path", { d })));
}
