// The service worker of the student's app. The gateway writes a line before it: `release`, with the version of the app
// and the paths of its files.
//
// It keeps the page and the files of one version, and answers with them. It answers nothing else: requests to the API
// go to the hub. A newer version of the app is another worker, which keeps its own files and waits until no page of
// this one is open. The page of the first visit has no worker yet, and gets this one, so that it works offline at once.

const page = "/app/";
const files = `${page}files/${release.version}/`;
const prefix = "msi-app ";
const cacheName = prefix + release.version;

addEventListener("install", (event) => event.waitUntil(keepAll()));
addEventListener("activate", (event) => event.waitUntil(dropOthers().then(() => clients.claim())));
addEventListener("message", (event) => {
  if (event.data === "start") event.waitUntil(takeOver());
});
addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const isPage = request.mode === "navigate" && pathname === page;
  if (isPage || pathname.startsWith(files)) event.respondWith(kept(isPage ? page : pathname, request));
});

async function keepAll() {
  const cache = await caches.open(cacheName);
  const keep = async (path, isRight) => {
    // Browsers refuse a kept answer that was redirected as a page.
    const answer = await fetch(path, { cache: path === page ? "no-store" : "default", credentials: "omit",
      redirect: "error" });
    // Another gateway, or one that was upgraded in between, may have another version. The next look finds its worker.
    if (!answer.ok || !(await isRight(answer))) throw new Error(`${path} is not of the version ${release.version}`);
    await cache.put(path, answer);
  };
  await Promise.all([
    keep(page, async (answer) => (await answer.clone().text()).includes(files)),
    // The gateway says so of files of its current version only.
    ...release.files.map((path) => keep(files + path,
      (answer) => answer.headers.get("Cache-Control")?.includes("immutable"))),
  ]);
}

async function dropOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(prefix) && name !== cacheName)
    .map((name) => caches.delete(name)));
}

/** Replaces the earlier version, if the page that has just started is the only one. */
async function takeOver() {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (windows.filter(({ url }) => new URL(url).pathname === page).length === 1) await skipWaiting();
}

/** What is kept; from the gateway if the browser has evicted it, or cannot read it. */
async function kept(path, request) {
  return (await caches.match(path, { cacheName, ignoreVary: true }).catch(() => null)) ?? fetch(request);
}
