// QR codes as ISO/IEC 18004 has them: byte mode, error correction level M, versions 1 to 10.

// By version: codewords of error correction in a block, blocks, their codewords of data, and blocks with one codeword
// of data more.
const layouts = [
  [10, 1, 16, 0], [16, 1, 28, 0], [26, 1, 44, 0], [18, 2, 32, 0], [24, 2, 43, 0],
  [16, 4, 27, 0], [18, 4, 31, 0], [22, 2, 38, 2], [22, 3, 36, 2], [26, 4, 43, 1],
];
const alignments = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46],
  [6, 28, 50]];
const masks = [
  (row, column) => (row + column) % 2, (row) => row % 2, (row, column) => column % 3,
  (row, column) => (row + column) % 3,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2, (row, column) => ((row * column) % 2) +
    ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
];

const powers = [1];
while (powers.length < 255) powers.push((powers.at(-1) << 1) ^ (powers.at(-1) & 128 ? 0x11d : 0));
const logarithms = new Map(powers.map((power, index) => [power, index]));
const times = (a, b) => (a && b ? powers[(logarithms.get(a) + logarithms.get(b)) % 255] : 0);

/** The codewords of error correction of a block: the remainder of its division by the generator. */
function correction(data, count) {
  let generator = [1];
  for (let index = 0; index < count; index += 1) {
    const next = [...generator, 0];
    generator.forEach((factor, place) => { next[place + 1] ^= times(factor, powers[index]); });
    generator = next;
  }
  const rest = [...data, ...Array(count).fill(0)];
  for (let place = 0; place < data.length; place += 1) {
    const factor = rest[place];
    generator.forEach((each, index) => { rest[place + index] ^= times(each, factor); });
  }
  return rest.slice(data.length);
}

/** The codewords in the order in which they are drawn: the blocks take turns. */
function codewords(bytes, version) {
  const [count, blocks, length, longBlocks] = layouts[version - 1];
  const total = blocks * length + longBlocks * (length + 1);
  let bits = "0100" + bytes.length.toString(2).padStart(version < 10 ? 8 : 16, "0");
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  bits += "0000".slice(0, total * 8 - bits.length);
  const data = bits.match(/.{1,8}/g).map((byte) => parseInt(byte.padEnd(8, "0"), 2));
  for (let index = 0; data.length < total; index += 1) data.push(index % 2 ? 0x11 : 0xec);

  const parts = [];
  for (let index = 0, start = 0; index < blocks + longBlocks; index += 1) {
    const end = start + length + (index < blocks ? 0 : 1);
    parts.push(data.slice(start, end));
    start = end;
  }
  const turns = (lists) => Array.from({ length: Math.max(...lists.map((list) => list.length)) },
    (_, place) => lists.map((list) => list[place]))
    .flat().filter((word) => word !== undefined);
  return [...turns(parts), ...turns(parts.map((part) => correction(part, count)))];
}

/** A value with the bits of its BCH code behind it. */
function protectedBits(value, generator, bits) {
  let rest = value << bits;
  for (let place = 31 - Math.clz32(rest); place >= bits; place -= 1) {
    if (rest & (1 << place)) {
      rest ^= generator << (place - bits);
    }
  }
  return (value << bits) | rest;
}

/** The matrix with everything but data and format: `true` is dark, `undefined` is free for data. */
function patterns(version) {
  const size = 17 + 4 * version;
  const matrix = Array.from({ length: size }, () => Array(size).fill(undefined));
  const square = (row, column, radius, isDark) => {
    for (let y = -radius; y <= radius; y += 1) {
      for (let x = -radius; x <= radius; x += 1) {
        if (matrix[row + y] && column + x >= 0 && column + x < size) {
          matrix[row + y][column + x] = isDark(Math.max(Math.abs(x), Math.abs(y)));
        }
      }
    }
  };
  for (let index = 8; index < size - 8; index += 1) matrix[6][index] = matrix[index][6] = index % 2 === 0;
  for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]]) {
    square(row, column, 4, (distance) => distance !== 2 && distance !== 4);
  }
  const places = alignments[version - 1];
  const last = places.at(-1);
  for (const row of places) {
    for (const column of places) {
      const isFinder = (row === 6 && (column === 6 || column === last)) || (row === last && column === 6);
      if (!isFinder) square(row, column, 2, (distance) => distance !== 1);
    }
  }
  if (version >= 7) {
    const bits = protectedBits(version, 0x1f25, 12);
    for (let index = 0; index < 18; index += 1) {
      const [far, near] = [size - 11 + (index % 3), Math.floor(index / 3)];
      matrix[far][near] = matrix[near][far] = Boolean((bits >> index) & 1);
    }
  }
  return matrix;
}

/** Draws the format: the level M is 00, and the mask has three bits. */
function drawFormat(matrix, mask) {
  const size = matrix.length;
  const bits = protectedBits(mask, 0x537, 10) ^ 0x5412;
  for (let index = 0; index < 15; index += 1) {
    const isDark = Boolean((bits >> index) & 1);
    matrix[index < 6 ? index : index < 8 ? index + 1 : size - 15 + index][8] = isDark;
    matrix[8][index < 8 ? size - 1 - index : index < 9 ? 7 : 14 - index] = isDark;
  }
  matrix[size - 8][8] = true;
}

/** How hard a matrix is to read: the four rules of the standard. */
function penalty(matrix) {
  const size = matrix.length;
  let points = 0;
  let dark = 0;
  const lines = [...matrix, ...matrix.map((_, column) => matrix.map((row) => row[column]))].map((line) =>
    line.map((isDark) => (isDark ? 1 : 0)).join(""));
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    points += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      dark += matrix[row][column] ? 1 : 0;
      if (row && column &&
        new Set([matrix[row][column], matrix[row - 1][column], matrix[row][column - 1],
            matrix[row - 1][column - 1]]).size === 1) points += 3;
    }
  }
  return points + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}

/** The QR code of a text as rows of booleans, `true` for dark; `null` if it has more than 213 bytes in UTF-8. */
export function qrCode(text, wantedMask) {
  const bytes = new TextEncoder().encode(text);
  const version = layouts.findIndex(([, blocks, length, long], index) => bytes.length +
    (index < 9 ? 2 : 3) <= blocks * length + long * (length + 1)) + 1;
  if (!version) return null;
  const bare = patterns(version);
  const size = bare.length;
  // The format's places are taken before the data are drawn.
  drawFormat(bare, 0);
  const bits = codewords(bytes, version).map((word) => word.toString(2).padStart(8, "0")).join("");
  const places = [];
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const row = isUp ? size - 1 - step : step;
      for (const column of [right, right - 1]) if (bare[row][column] === undefined) places.push([row, column]);
    }
  }
  const candidates = masks.map((isKept, mask) => {
    const matrix = bare.map((row) => [...row]);
    places.forEach(([row, column],
        index) => { matrix[row][column] = (bits[index] === "1") !== (isKept(row, column) === 0); });
    drawFormat(matrix, mask);
    return matrix;
  });
  if (wantedMask !== undefined) return candidates[wantedMask];
  return candidates.map((matrix) => [penalty(matrix), matrix])
    .reduce((best, each) => (each[0] < best[0] ? each : best))[1];
}
