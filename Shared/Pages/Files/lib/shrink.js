// Pictures that a person has chosen, made small enough for the hub. They are drawn again, so that nothing of the file
// is sent but what can be seen: not where it was taken, nor by which camera.

/** The files that can be chosen. Of others, such as those of a phone's camera, some systems make one of these. */
export const pictureTypes = "image/png,image/jpeg,image/webp";

/** The hub takes no larger file, in bytes. */
const maxBytes = 1 << 20;
/** The longest side in pixels and the quality of what is sent: the first that gives a file of this size is taken. */
const sides = [2_048, 1_448, 1_024];
const qualities = [0.85, 0.7, 0.5];

function drawn(bitmap, side) {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height].map((each) => Math.max(1, Math.round(each * scale)));
  const context = canvas.getContext("2d");
  // JPEG has no transparency.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** A picture as a JPEG that the hub takes, upright. Rejects for a file of which the browser makes no picture. */
export async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  try {
    for (const side of sides) {
      const canvas = drawn(bitmap, side);
      for (const quality of qualities) {
        const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", quality); });
        if (blob && blob.size <= maxBytes) return blob;
      }
    }
  } finally {
    bitmap.close();
  }
  throw new Error("the picture stays too large");
}
