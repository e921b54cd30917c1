// The cube as the browser keeps it, so that an unchanged one does not come over a slow line again. There is one: its
// tag names what the reader sees of it, so the gateway confirms it only to somebody who sees the same. Another version
// of the portal has its own. Without a working IndexedDB nothing is kept.

// The address of a module has the version of the portal.
const [database, store, key] = ["msi", "cube", import.meta.url];
/** A database that hangs does not stop a page. */
const patience = 500;

function open() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(database, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(store);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

async function ask(mode, request) {
  const opened = await open();
  try {
    return await new Promise((resolve, reject) => {
      const asked = request(opened.transaction(store, mode).objectStore(store));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
  } finally {
    opened.close();
  }
}

const run = (mode, request) =>
  Promise.race([ask(mode, request), new Promise((resolve) => { setTimeout(resolve, patience); })])
    .catch(() => undefined);

/** `{channels, tag}` as kept by `keepCube`; `undefined` if the browser keeps none. */
export const keptCube = () => run("readonly", (cubes) => cubes.get(key));

export const keepCube = (cube) => run("readwrite", (cubes) => {
  cubes.clear();
  return cubes.put(cube, key);
});

export const forgetCube = () => run("readwrite", (cubes) => cubes.clear());
