// SPDX-License-Identifier: Apache-2.0
// The page: a photo and a budget in, and what worker.js answers drawn. Nothing is sent anywhere.
import { photoOf, pixelsOf, samplePhoto } from "./photo.js";
import { drawPhoto, drawSheet, drawShown, SCALES, tilesOf } from "./views.js";

const SIDE = 16; // of a patch in pixels
const BUDGET = 273; // to begin with
const LEAST = 16; // where the slider begins
const STEPS = 100; // of the slider

const root = document.getElementById("tvlm");
const part = (name) => root.querySelector(`.tvlm-${name}`);
const slider = part("slider"), number = part("number");

let worker = null;
let shown = null; // the photo that the worker has
let pictures = 0; // how many it was given
let files = 0, latest = 0; // how many the user has given, and which of them was shown last
let reading = ""; // what the status says while the last one is read
let wish = BUDGET; // the budget that the user chose last, of which a small photo gets less
let wanted = 0, asked = 0; // budgets: what the photo shall get of it, and what the worker is at (0: nothing)
let takenAt = 0, movedAt = 0; // when the photo came, and when the budget was changed last
let described = ""; // what the status says of the photo that is shown

// ---- Words ----

function say(text) {
  part("status").textContent = text;
}

function sayWhatIs() {
  say(reading || described);
}

function complain(text) {
  part("error").textContent = text;
  part("error").hidden = text === "";
}

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;

function allPatches({ canvas }) {
  return Math.ceil(canvas.width / SIDE) * Math.ceil(canvas.height / SIDE);
}

function tell(answer) {
  const all = allPatches(shown), tiles = answer.count - answer.cells;
  part("count").textContent = answer.count;
  part("all").textContent = all;
  part("share").textContent = `${((100 * answer.count) / all).toFixed(1)} %`;
  part("made").textContent = answer.thumbnail ? `a thumbnail of ${answer.columns} x ${answer.rows} cells, and ${tiles} tiles` : `all ${tiles} tiles`;
  part("loss").textContent = answer.thumbnail
    ? `It is predicted to lose ${(100 * answer.loss).toFixed(1)} % of what a picture of one token would lose; the whole photo made smaller to as many tokens, ${(100 * answer.downsampled).toFixed(1)} %.`
    : "Nothing is lost.";
  part("photo").setAttribute("aria-label", `${shown.name}, with ${tiles} tiles outlined where detail is needed`);
  part("sheet").setAttribute("aria-label", `The thumbnail and ${tiles} tiles of 16 x 16 pixels`);
}

// ---- The worker ----

function startWorker() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.picture !== pictures || shown === null) return; // another photo is on its way, or this one has failed
    if (data.error) failed(data);
    else answered(data);
  };
  worker.onerror = () => failed({ error: "the page's worker.js cannot be loaded", broken: true });
}

function show(photo) {
  const { canvas } = photo, pixels = pixelsOf(canvas), all = allPatches(photo);
  if (worker === null) startWorker();
  shown = photo;
  asked = 0;
  number.max = all;
  setBudget(Math.min(wish, all));
  for (const control of [slider, number]) control.disabled = all === 1;
  worker.postMessage({ picture: ++pictures, width: canvas.width, height: canvas.height, pixels }, [pixels]);
  ask();
}

// One budget at a time: those that the user passes over meanwhile are left out.
function ask() {
  if (asked !== 0 || shown === null) return;
  asked = wanted;
  worker.postMessage({ picture: pictures, k: wanted });
}

function answered(answer) {
  const { canvas, name, width, height } = shown, tiles = tilesOf(answer);
  drawPhoto(part("photo"), canvas, tiles);
  drawShown(part("shown"), canvas.width, canvas.height, answer, tiles);
  drawSheet(part("sheet"), answer);
  tell(answer);
  const now = performance.now(), first = takenAt !== 0, time = now - (first ? takenAt : movedAt);
  if (first) {
    const reduced = canvas.width === width ? "" : `, looked at as ${canvas.width} x ${canvas.height}`;
    described = `${name}: ${width} x ${height} pixels${reduced}. Tiles after ${seconds(time)}, in this browser.`;
    sayWhatIs();
  }
  takenAt = asked = 0;
  if (answer.k !== wanted) ask();
  root.dispatchEvent(new CustomEvent("tvlm-answer", { detail: { ...answer, first, time } }));
}

function failed({ error, broken }) {
  complain(`${shown?.name ?? "The page"}: ${error}`);
  described = "";
  sayWhatIs();
  shown = null;
  takenAt = asked = 0;
  if (broken) worker.terminate();
  if (broken) worker = null;
  for (const control of [slider, number]) control.disabled = true;
}

// ---- Photos ----

// Files may be ready in another order than they were given in. A later one stays once it is shown, and until then an earlier one is better
// than none; only the last one's error is told.
async function take(file) {
  if (!file) return;
  const began = performance.now(), mine = ++files;
  complain("");
  say((reading = `${file.name}: is read`));
  try {
    const photo = await photoOf(file);
    if (mine === files) reading = "";
    if (mine < latest) return;
    latest = mine;
    takenAt = began;
    show(photo);
  } catch (error) {
    if (mine !== files) return;
    reading = "";
    complain(`${file.name}: ${error.message}`);
    sayWhatIs();
  }
}

function fileOf(transfer) {
  return Array.from(transfer?.files ?? [])[0];
}

function listenForPhotos() {
  const input = part("file");
  input.addEventListener("change", () => {
    take(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    root.classList.add("tvlm-over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) root.classList.remove("tvlm-over");
  });
  document.addEventListener("drop", (event) => {
    root.classList.remove("tvlm-over");
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    take(fileOf(event.dataTransfer));
  });
  document.addEventListener("paste", (event) => take(fileOf(event.clipboardData)));
}

// ---- Budgets ----

// The slider's steps are shares of the way from LEAST to all tokens, as a logarithm: a tenth more is a step of the same length anywhere.
function setBudget(k) {
  const all = allPatches(shown), least = Math.min(LEAST, all);
  wanted = k;
  number.value = k;
  slider.value = all > least ? (STEPS * Math.log(Math.max(k, least) / least)) / Math.log(all / least) : STEPS;
  slider.setAttribute("aria-valuetext", `${k} tokens`);
}

function move(k) {
  movedAt = performance.now();
  complain("");
  wish = wanted = k;
  ask();
}

function listenForBudgets() {
  slider.max = STEPS;
  slider.addEventListener("input", () => {
    const all = allPatches(shown), least = Math.min(LEAST, all);
    const k = Math.round(least * (all / least) ** (slider.value / STEPS));
    number.value = k;
    slider.setAttribute("aria-valuetext", `${k} tokens`);
    move(k);
  });
  number.addEventListener("change", () => {
    const k = Number(number.value), all = allPatches(shown);
    if (!Number.isInteger(k) || k < 1 || k > all) {
      complain(`A budget is a whole number from 1 to ${all}.`);
      number.value = wanted;
      return;
    }
    setBudget(k);
    move(k);
  });
}

function listScales() {
  const items = SCALES.map(({ words, colour }) => {
    const item = document.createElement("li"), mark = document.createElement("span");
    mark.style.borderColor = colour;
    item.append(mark, words);
    return item;
  });
  part("scales").replaceChildren(...items);
}

part("start").remove();
part("work").hidden = false;
listScales();
listenForPhotos();
listenForBudgets();
takenAt = performance.now();
show(samplePhoto());
