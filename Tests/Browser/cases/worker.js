// The app in a worker, where there is no page.

import { started } from "./app.js";

const { app } = await started({ cube: [{ path: "Campus/Weather/Storms", level: "Forced" }], accepts: [{ key: "a" }] });
const { messages } = await app.state();
const file = await app.request("GET", "/export?format=text");
postMessage({ messages: messages.map(({ title }) => title), file: file.body });
