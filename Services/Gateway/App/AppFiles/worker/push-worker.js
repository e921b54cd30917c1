// The service worker as a module, which also takes pushes. The gateway writes the path of the files for @files@, and
// puts service-worker.js behind this. Browsers that take no modules as workers (Firefox before 147) use
// service-worker.js alone.

import "@files@/background.js";
