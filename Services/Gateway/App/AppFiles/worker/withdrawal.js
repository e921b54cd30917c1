// Takes the place of service-worker.js when a released one is broken: it removes itself and what was kept, and loads
// the open pages again, from the gateway. README.md says when to use it.

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(withdraw()));

async function withdraw() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("msi-app ")).map((name) => caches.delete(name)));
  await registration.unregister();
  for (const client of await clients.matchAll({ type: "window" })) client.navigate(client.url);
}
