# SPDX-License-Identifier: Apache-2.0
"""check_similarity.py TVLM: cosines of features with queries against NumPy, and what `tvlm select` chooses by them, on
../shared/data/clip/painted: CLIP vectors painted over COCO photos, with what is where known (clip/ in its README).

Printed for every class with at least 3 cells in a photo: the area under the curve of its similarity against the true mask,
and the share of the K chosen cells that lie on it, K being the class's own number of cells, beside what chance and the
photo alone (no query) would choose.
"""
import json
import os
import tempfile

import common
from common import Checks, arguments, device_name, devices, generate, need, np, run

cv2 = need("cv2")
DATA = os.path.join(os.path.dirname(common.PHOTOS))
PAINTED = os.path.join(DATA, "clip", "painted")
BOXES = os.path.join(DATA, "boxes", "coco_panoptic")
CELL = 16


def cosines(features, queries):
    features, queries = features.astype(np.float64), queries.astype(np.float64)
    lengths = np.linalg.norm(features, axis=-1, keepdims=True)
    unit = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    return np.moveaxis(unit @ (queries / np.linalg.norm(queries, axis=-1, keepdims=True)).T, -1, 0)


def class_masks(name, rows):
    """Of each class in the photo: which cells it covers most of (16 x 16 pixels, whole ones)."""
    known = json.load(open(os.path.join(BOXES, "panoptic_val2017.json")))
    names = {category["id"]: category["name"] for category in known["categories"]}
    segments = {}
    for annotation in known["annotations"]:
        if annotation["file_name"] == name + ".png":
            segments = {s["id"]: names[s["category_id"]] for s in annotation["segments_info"]}
    bgr = cv2.imread(os.path.join(BOXES, name + "_panoptic.png")).astype(np.int64)
    ids = bgr[..., 2] + 256 * bgr[..., 1] + 65536 * bgr[..., 0]
    h, w = ids.shape[0] // CELL, ids.shape[1] // CELL
    masks = {}
    for kind in sorted(set(segments.values()) & set(rows)):
        on = np.isin(ids, [i for i, k in segments.items() if k == kind])
        cells = on[:h * CELL, :w * CELL].reshape(h, CELL, w, CELL).mean((1, 3)) >= 0.5
        if cells.sum() >= 3:
            masks[kind] = cells
    return masks


def area_under_curve(scores, mask):
    """The share of pairs (on, off) that the score puts in order, ties half."""
    from scipy.stats import rankdata
    ranks = rankdata(scores.ravel())
    on = mask.sum()
    return (ranks[mask.ravel()].sum() - on * (on + 1) / 2) / (on * (mask.size - on))


def chosen(tool, image, k, device, *words):
    words = ["select", image, "--strategy", "grid", "-k", str(k), "--stride", str(CELL), *words, *(["--device", device] if device else [])]
    found = json.loads(run(tool, *words))
    return [tuple(p["cell"]) for p in found["positions"]]


def precision(cells, mask):
    return np.mean([y < mask.shape[0] and x < mask.shape[1] and mask[y, x] for x, y in cells])


def check_random(checks, tool, folder):
    """Dimensions that fill their last layer and that do not; a zero vector; one cell."""
    rng = np.random.default_rng(5)
    picture = os.path.join(folder, "noise.ppm")
    common.save_ppm(picture, common.random_pixels(90, 70, 1))
    for height, width, dimension in ((1, 1, 1), (7, 9, 3), (14, 18, 768), (5, 4, 1024)):
        features = rng.normal(size=(height, width, dimension)).astype(np.float32) + 0.3
        features[0, 0] *= 0 if height > 1 else 1
        queries = rng.normal(size=(5, dimension)).astype(np.float32)
        np.save(os.path.join(folder, "f.npy"), features)
        np.save(os.path.join(folder, "q.npy"), queries)
        for device in devices(tool):
            got = generate(tool, picture, [f"word_{i}" for i in range(5)], device, features=os.path.join(folder, "f.npy"),
                           words=os.path.join(folder, "q.npy"), size=f"{width}x{height}", level=0)
            checks.close(f"cosines of {width}x{height}x{dimension}, {device_name(device)}", got, cosines(features, queries),
                         3e-6, "sums of float products")


def check_painted(checks, tool, folder):
    rows = json.load(open(os.path.join(PAINTED, "coco_rows.json")))["rows"]
    vectors = np.load(os.path.join(DATA, "clip", "detic_coco_clip_a+cname.npy"))
    precisions, curves = [], []
    print("photo         class             cells   AUC  chosen  chance  no query")
    for file in sorted(f for f in os.listdir(PAINTED) if f.endswith(".npy")):
        name, path = file[:-4], os.path.join(PAINTED, file)
        image, features = os.path.join(BOXES, name + ".jpg"), np.load(path)
        masks = class_masks(name, rows)
        kinds = list(masks)
        queries = vectors[[rows.index(kind) for kind in kinds]]
        np.save(os.path.join(folder, "words.npy"), queries)
        expected = cosines(features, queries)
        h, w = expected.shape[1:]
        for device in devices(tool):
            got = generate(tool, image, [f"word_{i}" for i in range(len(kinds))], device, features=path,
                           words=os.path.join(folder, "words.npy"), size=f"{w}x{h}", level=0)
            checks.close(f"cosines of {name}, {device_name(device)}", got, expected, 3e-6, "sums of float products")
        for i, kind in enumerate(kinds):
            mask, k = masks[kind], int(masks[kind].sum())
            np.save(os.path.join(folder, "query.npy"), queries[i])
            words = ["--features", path, "--feature-patch", str(CELL), "--query", os.path.join(folder, "query.npy")]
            cells = [chosen(tool, image, k, device, *words, "--weights", "0,0,1") for device in devices(tool)]
            common_cells = len(set(cells[0]) & set(cells[-1]))
            checks.true(f"{name} {kind}: the devices agree on {common_cells} of {k} cells", common_cells >= 0.99 * k)
            alone = chosen(tool, image, k, devices(tool)[0])
            auc = area_under_curve(expected[i], mask[:h, :w])
            precisions.append(precision(cells[0], mask))
            curves.append(auc)
            print(f"{name}  {kind:16s} {k:6d}  {auc:.3f}  {precisions[-1]:.3f}   {mask.mean():.3f}   "
                  f"{precision(alone, mask):.3f}")
            if kind == "person":
                checks.true(f"{name}: 'person' chooses cells on people: {precisions[-1]:.3f} >= 0.8 and half the way from "
                            f"chance {mask.mean():.3f}", precisions[-1] >= max(0.8, (1 + mask.mean()) / 2))
    checks.true(f"mean AUC {np.mean(curves):.3f} >= 0.98", np.mean(curves) >= 0.98)
    print(f"mean share of chosen cells on their class: {np.mean(precisions):.3f}")


def main():
    tool = arguments("TVLM")[0]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_random(checks, tool, folder)
        if os.path.isdir(PAINTED):
            check_painted(checks, tool, folder)
        else:
            print(f"note   no {PAINTED}: random vectors only")
    checks.done()


main()
