import { cube, refresh } from "./model.js";

async function counting(name, work) {
  cube[name] += 1;
  try {
    return await work();
  } finally {
    cube[name] -= 1;
  }
}

/** Does a change of this page, and then reads the cube. */
export const change = (work) => counting("changing", async () => {
  const result = await work();
  // The change is made, even if the gateway is lost now. The page reads again when it is back.
  await refresh().catch(() => {});
  return result;
});

/** Keeps an order that is shown, but not stored yet, from being replaced by an older one. */
export const holding = (work) => counting("holding", work);
