// SPDX-License-Identifier: Apache-2.0
// Photos as canvases: decoded by the browser and reduced to what is looked at, and a drawn one to begin with.

const LOOKED_AT = 1024 * 1024; // pixels
const LONGEST = 16384; // pixels of a side of what is looked at: all browsers have canvases of so many
const DECODED = 100e6; // pixels

function paper(width, height) {
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "white"; // under what is transparent, as the library has it
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  return { canvas, context };
}

// A file as {name, canvas, width, height}: the last two are the photo's own, and the canvas has at most LOOKED_AT pixels,
// and no side of more than LONGEST. What is thrown is for the user to read.
export async function photoOf(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error("this browser cannot read it as an image");
  }
  const { width, height } = bitmap;
  if (width * height > DECODED) throw new Error(`${width} x ${height} pixels are too many; at most 100 million are taken`);
  const scale = Math.min(1, Math.sqrt(LOOKED_AT / (width * height)), LONGEST / Math.max(width, height));
  const side = (length) => Math.max(1, Math.floor(length * scale + 1e-9));
  const { canvas, context } = paper(side(width), side(height));
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return { name: file.name, canvas, width, height };
}

export function pixelsOf(canvas) {
  return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer;
}

function gradient(context, from, to, colours) {
  const made = context.createLinearGradient(0, from, 0, to);
  colours.forEach((colour, i) => made.addColorStop(i / (colours.length - 1), colour));
  return made;
}

function drawHouse(context) {
  context.fillStyle = "#b4533c";
  context.fillRect(120, 420, 300, 240);
  context.strokeStyle = "rgb(90 30 20 / 60%)";
  for (let y = 420; y < 660; y += 12)
    for (let x = 120 + ((y / 12) % 2) * 12; x < 420; x += 24) context.strokeRect(x, y, Math.min(24, 420 - x), 12);
  context.fillStyle = "#4a3b36";
  context.fill(new Path2D("M90 424 L270 300 L450 424 Z"));
  context.fillStyle = "#d9ecf7";
  for (const x of [160, 320]) context.fillRect(x, 470, 60, 70);
  context.fillStyle = "#5d3a1a";
  context.fillRect(240, 560, 64, 100);
}

function drawTree(context) {
  context.fillStyle = "#6b4a2b";
  context.fillRect(862, 420, 28, 260);
  for (let i = 0; i < 420; ++i) { // leaves, along a spiral
    const turn = i * 2.399963, away = 6.2 * Math.sqrt(i);
    context.fillStyle = `hsl(${95 + (i % 7) * 7} 55% ${26 + (i % 5) * 6}%)`;
    context.beginPath();
    context.ellipse(876 + away * Math.cos(turn), 390 + 0.9 * away * Math.sin(turn), 9, 5, turn, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawSign(context) {
  context.fillStyle = "#444";
  context.fillRect(622, 600, 12, 150);
  context.fillStyle = "#fffdf2";
  context.fillRect(500, 500, 256, 120);
  context.fillStyle = "#1a1a1a";
  context.font = "bold 30px sans-serif";
  context.fillText("STATION 1.2 km", 514, 540, 228);
  context.font = "17px sans-serif";
  context.fillText("Trains to the coast: 8:15, 10:45, 17:05", 514, 573, 228);
  context.fillText("Tickets are sold in the blue house", 514, 602, 228);
}

// A sky and a lawn that need few tokens, and a house, a tree and a sign that need many.
export function samplePhoto() {
  const { canvas, context } = paper(1024, 768);
  context.fillStyle = gradient(context, 0, 470, ["#3f8fd8", "#d8ecfb"]);
  context.fillRect(0, 0, 1024, 470);
  context.fillStyle = "#fff3b0";
  context.beginPath();
  context.arc(800, 110, 48, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = gradient(context, 460, 768, ["#7cae4e", "#4c8a35"]);
  context.fill(new Path2D("M0 480 Q300 430 620 480 T1024 470 V768 H0 Z"));
  drawHouse(context);
  drawTree(context);
  drawSign(context);
  return { name: "The drawn picture", canvas, width: 1024, height: 768 };
}
