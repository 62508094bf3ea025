// SPDX-License-Identifier: Apache-2.0
// The module in a thread of its own, so that the page stays live. It takes two messages, in order:
//   {picture, width, height, pixels}   RGBA to be looked at, and `picture` a number that comes back with all answers about it
//   {picture, k}                       a budget of so many patches for that picture
// It answers a budget with {picture, k, positions, count, ...} (answerOf), and what fails with {picture, error, broken}. Where it is
// `broken`, only another worker helps.
import makeModule from "./tvlm-web.js";

const POSITION = 12; // the words of a tvlm_position (include/texturevlm/select.h)
const SIDE = 16; // of a patch in texels
const loading = makeModule({ print() {}, printErr() {} }).catch(() => null);

function fail(module) {
  throw new Error(module.UTF8ToString(module._tvlm_web_error()));
}

function look(module, { width, height, pixels }) {
  const room = module._tvlm_web_room(width, height);
  if (room === 0) fail(module);
  module.HEAPU8.set(new Uint8Array(pixels), room);
  if (!module._tvlm_web_look()) fail(module);
}

// A picture of the module's memory, copied.
function copied(module, at, width, height) {
  return { width, height, data: new Uint8ClampedArray(module.HEAPU8.buffer, at, width * height * 4).slice() };
}

// The struct tvlm_web_answer (module.c).
function answerOf(module, at) {
  const [positions, count, cells, columns, rows, thumbnail, tiles] = module.HEAP32.subarray(at >> 2, (at >> 2) + 7);
  const [loss, downsampled] = module.HEAPF32.subarray((at >> 2) + 7, (at >> 2) + 9);
  return {
    positions: module.HEAPF32.slice(positions >> 2, (positions >> 2) + count * POSITION),
    count, cells, columns, rows, loss, downsampled,
    thumbnail: thumbnail === 0 ? null : copied(module, thumbnail, columns * SIDE, rows * SIDE),
    tiles: copied(module, tiles, SIDE, (count - cells) * SIDE), // one below the other
  };
}

function choose(module, { picture, k }) {
  const at = module._tvlm_web_choose(k);
  if (at === 0) fail(module);
  const answer = answerOf(module, at);
  const pictures = [answer.tiles.data.buffer, ...(answer.thumbnail ? [answer.thumbnail.data.buffer] : [])];
  postMessage({ picture, k, ...answer }, [answer.positions.buffer, ...pictures]);
}

onmessage = async ({ data }) => {
  const { picture } = data, module = await loading;
  if (module === null) return postMessage({ picture, error: "the module tvlm-web.wasm cannot be loaded", broken: true });
  try {
    if (data.pixels) look(module, data);
    else choose(module, data);
  } catch (error) {
    postMessage({ picture, error: error.message, broken: error instanceof WebAssembly.RuntimeError });
  }
};
