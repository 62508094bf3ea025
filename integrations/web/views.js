// SPDX-License-Identifier: Apache-2.0
// Draws what worker.js answers: tiles over the photo, what a model would see, and all that it is given.

const POSITION = 12; // the words of a tvlm_position (include/texturevlm/select.h)
const SIDE = 16; // of a patch in texels
const GAP = 2; // between the tiles of the sheet

// The scales at which tiles are cut out of the photo, the finest first: a tile's side in pixels, its words, and its colour.
export const SCALES = [
  { size: SIDE, words: "full size", colour: "#ff9100" },
  { size: (SIDE * 4) / 3, words: "three quarters", colour: "#ffd600" },
  { size: SIDE * 2, words: "a half", colour: "#00e5ff" },
  { size: SIDE * 3, words: "a third", colour: "#76ff03" },
  { size: SIDE * 4, words: "a quarter", colour: "#ff4081" },
];

export function tilesOf(answer) {
  return Array.from({ length: answer.count - answer.cells }, (_, i) => {
    const [x, y, , , size] = answer.positions.subarray((answer.cells + i) * POSITION);
    return { x, y, size };
  });
}

function scaleOf(tile) {
  return SCALES.find(({ size }) => Math.abs(size - tile.size) < 1) ?? SCALES[0];
}

// Where a tile lies in a photo. The border may clip it, and x, y are then the middle of what remains.
function placeOf(tile, width, height) {
  const left = tile.size * Math.floor(tile.x / tile.size), top = tile.size * Math.floor(tile.y / tile.size);
  return { left, top, wide: Math.min(tile.size, width - left), high: Math.min(tile.size, height - top) };
}

function canvasOf({ width, height, data }) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").putImageData(new ImageData(data, width, height), 0, 0);
  return canvas;
}

// The pixels of one tile.
function pixelsOf({ data }, number) {
  const bytes = SIDE * SIDE * 4;
  return new ImageData(data.subarray(number * bytes, (number + 1) * bytes), SIDE, SIDE);
}

function begin(canvas, width, height) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  return context;
}

export function drawPhoto(canvas, photo, tiles) {
  const { width, height } = photo, context = begin(canvas, width, height);
  context.drawImage(photo, 0, 0);
  context.fillStyle = "rgb(0 0 0 / 45%)";
  context.fillRect(0, 0, width, height);
  const places = tiles.map((tile) => placeOf(tile, width, height));
  for (const { left, top, wide, high } of places) context.drawImage(photo, left, top, wide, high, left, top, wide, high);
  context.lineWidth = Math.max(1, width / 500);
  tiles.forEach((tile, i) => {
    const { left, top, wide, high } = places[i], half = context.lineWidth / 2;
    context.strokeStyle = scaleOf(tile).colour;
    context.strokeRect(left + half, top + half, wide - 2 * half, high - 2 * half);
  });
}

// The thumbnail enlarged, and on it the tiles, from coarse to fine. A tile is enlarged alone, so that it takes nothing of others.
export function drawShown(canvas, width, height, answer, tiles) {
  const context = begin(canvas, width, height), alone = new OffscreenCanvas(SIDE, SIDE), only = alone.getContext("2d");
  if (answer.thumbnail) context.drawImage(canvasOf(answer.thumbnail), 0, 0, width, height);
  const order = tiles.map((_, i) => i).sort((a, b) => tiles[b].size - tiles[a].size);
  for (const i of order) {
    const { x, y, size } = tiles[i], { left, top, wide, high } = placeOf(tiles[i], width, height);
    only.putImageData(pixelsOf(answer.tiles, i), 0, 0);
    context.save();
    context.beginPath();
    context.rect(left, top, wide, high);
    context.clip();
    context.drawImage(alone, x - size / 2, y - size / 2, size, size);
    context.restore();
  }
}

// The thumbnail in its own size, and the tiles, each of SIDE x SIDE texels.
export function drawSheet(canvas, answer) {
  const count = answer.count - answer.cells;
  const thumbnail = answer.thumbnail ?? { width: 0, height: 0 };
  const columns = Math.max(1, Math.ceil(Math.sqrt(count * 3))), rows = Math.ceil(count / columns), step = SIDE + GAP;
  const left = thumbnail.width > 0 ? thumbnail.width + 4 * GAP : 0;
  const context = begin(canvas, left + columns * step - GAP, Math.max(thumbnail.height, rows * step - GAP, 1));
  if (answer.thumbnail) context.drawImage(canvasOf(answer.thumbnail), 0, 0);
  for (let i = 0; i < count; ++i) {
    context.putImageData(pixelsOf(answer.tiles, i), left + (i % columns) * step, Math.floor(i / columns) * step);
  }
}
