# SPDX-License-Identifier: Apache-2.0
"""Bases, fitting, pictures, and the tensors of vision-language models."""
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import texturevlm as tv


def rows(png):
    """The bytes of an RGB PNG's pixels that begin after its rows' filters are undone; only filters 0 .. 4 are known."""
    position, data, size = 8, b"", None
    while position < len(png):
        length, kind = struct.unpack(">I4s", png[position:position + 8])
        if kind == b"IHDR":
            size = struct.unpack(">II", png[position + 8:position + 16])
        if kind == b"IDAT":
            data += png[position + 8:position + 8 + length]
        position += length + 12
    return size, zlib.decompress(data)


def test_a_basis_is_the_singular_vectors(photo, tmp_path):
    random = np.random.default_rng(2)
    vectors = (random.normal(size=(300, 5)) @ random.normal(size=(5, 24))).astype("f4")
    basis = tv.Basis.train([vectors[:100], vectors[100:]], 5)
    _, _, v = np.linalg.svd(vectors, full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(basis.components * v[:5], axis=1)), 1, atol=1e-4)
    assert basis.k == 5 and basis.dimension == 24 and not basis.centred and basis.variance.sum() == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(basis.project(vectors), vectors @ basis.components.T, atol=1e-4)
    basis.save(tmp_path / "b.safetensors")
    np.testing.assert_array_equal(tv.Basis.load(tmp_path / "b.safetensors").components, basis.components)
    np.testing.assert_array_equal(tv.Basis(basis.components, mean=np.ones(24)).mean, np.ones(24, "f4"))
    assert tv.Basis.train(vectors, 3, centred=True, method="range_finder").centred


def test_a_basis_of_an_image_answers_as_its_features(photo):
    random = np.random.default_rng(3)
    features = (random.normal(size=(300, 6)) @ random.normal(size=(6, 32))).astype("f4").reshape(15, 20, 32)
    query = features[4, 5]
    with tv.Stack(photo) as stack:
        stack.set_features(features)
        exact = stack.select(20, query=query, strategy="grid")
        basis = tv.Basis.of_image(stack, 6)
        stack.embed(basis)
        near = stack.select(20, query=tv.Query(query, basis=basis), strategy="grid")
    assert len(set(exact.indices) & set(near.indices)) >= 18


def test_fit_learns_what_matters(photo):
    share = np.zeros((15, 20), "f4")
    share[:, 10:] = 1  # the right half
    scorer = tv.fit([photo], [share], channels=["x", "y"])
    assert scorer.weights["x"] > 10 * abs(scorer.weights["y"])
    assert (tv.select(photo, 150, scorer=scorer, strategy="grid").cell[:, 0] >= 10).all()
    mask = np.zeros(photo.shape[:2], bool)
    mask[:, 160:] = True
    again = tv.fit([tv.Stack(photo)], [mask], channels="x,y")
    assert again.weights["x"] == scorer.weights["x"]
    with pytest.raises(tv.Error, match="object"):
        tv.fit([photo], [np.ones((15, 20))])
    with pytest.raises(tv.Error, match="15 x 20 cells"):
        tv.fit([photo], [np.ones((3, 3))])


def test_fit_learns_networks_and_what_a_query_wants(photo):
    share = np.zeros((15, 20), "f4")
    share[5:10] = 1  # the middle, which neither more nor less of y says
    scorer = tv.fit([photo], [share], channels=["x", "y"], hidden=4)
    assert scorer.network.inputs == ["x", "y"]
    assert ((tv.scores(photo, scorer=scorer) > 0) == (share > 0)).all()
    random = np.random.default_rng(3)
    queries, stack = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], tv.Stack(photo)
    stack.set_features(random.normal(size=(15, 20, 3)).astype("f4"))
    halves = [np.zeros((15, 20), "f4"), np.zeros((15, 20), "f4")]
    halves[0][:, :10] = halves[1][:, 10:] = 1  # the one asks for the left half, the other for the right
    scorer = tv.fit([stack, stack], halves, queries=queries, channels="x")
    for query, half in zip(queries, halves):
        assert set(stack.select(150, query=query, scorer=scorer, strategy="grid").indices) == set(np.flatnonzero(half))
    for wrong in ({"queries": queries[:1]}, {"queries": [queries[0], None]}, {"queries": [queries[0], [1.0, 0.0]]},
                  {"queries": queries, "hidden": 4}, {"hidden": 257}):
        with pytest.raises(tv.ArgumentError):
            tv.fit([stack, stack], halves, channels="x", **wrong)


@pytest.mark.parametrize("options, arguments", [
    ({"k": 40, "strategy": "grid"}, ["-k", "40", "--strategy", "grid"]),
    ({"k": 40, "strategy": "quadtree"}, ["-k", "40", "--strategy", "quadtree"]),
    ({"k": 40, "strategy": "budget"}, ["-k", "40", "--strategy", "budget"])])
def test_show_is_the_overlay_of_the_tool(ten_photos, tmp_path, options, arguments):
    path = ten_photos[2]
    subprocess.run([sys.executable, "-m", "texturevlm", "select", str(path), *arguments, "--overlay", str(tmp_path / "o.png"),
                    "-o", str(tmp_path / "o.json")], check=True)
    selection = tv.select(path, **options)
    from texturevlm._show import _title
    picture = tv.show(path, selection, title=f"{path.stem}: {_title(selection)}")
    assert rows(picture._repr_png_()) == rows((tmp_path / "o.png").read_bytes())
    picture.save(tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == picture._repr_png_()
    with pytest.raises(tv.Error, match="10 x 10 pixels"):
        tv.show(np.zeros((10, 10), "u1"), selection)


@pytest.mark.parametrize("model, options, words, chosen", [
    ("qwen3-vl", {"budget": 20}, [], 20), ("qwen2-vl", {"budget": 20}, [], 20), ("llava", {"budget": 20}, [], 20),
    ("siglip", {"strategy": "grid", "budget": 20}, [], 20), ("qwen2-vl", {"strategy": "budget", "budget": 20}, [], 20),
    ("qwen2-vl", {"strategy": "budget", "share": 0.1, "emphasis": 8, "emphasis_channel": "edges"}, ["--emphasis", "8:edges"], None),
    ("qwen2-vl", {"strategy": "budget", "tolerance": 0}, [], None),
    ("llava-onevision", {"budget": 1500}, [], 2), ("internvl", {"tolerance": 1}, [], 1)])
def test_export_is_what_the_tool_writes(ten_photos, tmp_path, model, options, words, chosen):
    path = ten_photos[0]
    tensors = tv.export(path, model, **options)
    words = words + [word for name, value in options.items() if not name.startswith("emphasis") for word in (f"--{name}", str(value))]
    subprocess.run([sys.executable, "-m", "texturevlm", "tensors", str(path), "--for", model, *words, "-o", str(tmp_path / "t.safetensors")],
                   check=True)
    data = (tmp_path / "t.safetensors").read_bytes()
    import json
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    assert set(header) == set(tensors)
    for name, about in header.items():
        begin, end = about["data_offsets"]
        assert list(tensors[name].shape) == about["shape"] and tensors[name].tobytes() == data[8 + size + begin:8 + size + end], name
    assert chosen is None or len(tensors["selected_indices"]) == chosen


def test_export_takes_several_images_and_videos(photo):
    tensors = tv.export([photo, photo[:120]], "qwen2-vl", all=True)
    assert tensors["image_grid_thw"].shape == (2, 3) and len(tensors["selected_indices"]) == len(tensors["scores"])
    video = tv.export([photo] * 4, "qwen2.5-vl", video=True, budget=10)
    assert video["video_grid_thw"][0, 0] == 2 and "pixel_values_videos" in video
    with pytest.raises(tv.Error, match="there is no model"):
        tv.export(photo, "qwen9")
    with pytest.raises(tv.Error, match="clip takes one picture"):
        tv.export(photo, "clip", strategy="budget")
    assert "picture_source" in tv.export(photo, "qwen2-vl", share=0.5)  # asks for the budget
    assert "picture_source" in tv.export(photo, "qwen2-vl", tolerance="auto")
    for model, options in (("clip", {}), ("siglip", {}), ("llava", {"strategy": "grid"}), ("qwen2-vl", {"strategy": "grid"})):
        found = tv.export(photo, model, share=0.1, **options)
        assert "picture_source" not in found and len(found["selected_indices"]) == int(0.1 * len(found["scores"]) + 1e-6)
        with pytest.raises(tv.ArgumentError, match=f"tokens of {model} are chosen by their score here: give a budget or a share"):
            tv.export(photo, model, tolerance=0.1, **options)
    with pytest.raises(tv.ArgumentError, match="a share of 2; it is above 0 and at most 1"):
        tv.export(photo, "clip", share=2)


@pytest.mark.parametrize("module, package, needs, extra", [
    ("hf", "torch", "PyTorch and transformers", "texturevlm[hf]"), ("hf", "transformers", "PyTorch and transformers", "texturevlm[hf]"),
    ("index", "pyarrow", "pyarrow and pylance", "texturevlm[index]"), ("index", "lance", "pyarrow and pylance", "texturevlm[index]"),
    ("ray", "ray", "ray[data], pyarrow and pylance", "texturevlm[ray]"), ("lmms_eval", "lmms_eval", "lmms-eval", "lmms-eval"), ("torch", "torch", "PyTorch", "torch")])
def test_a_module_without_its_packages_says_what_to_install(run, module, package, needs, extra):
    ways = [f"import texturevlm.{module}", f"import texturevlm; texturevlm.{module}"]
    for way in ways[:1] if module == "lmms_eval" else ways:  # which lmms-eval alone imports
        said = run(f"""
import sys
sys.modules[{package!r}] = None
try:
    {way}
except ImportError as error:
    import texturevlm
    assert isinstance(error, texturevlm.MissingPackageError) and error.__suppress_context__
    print(error)
""")
        assert said.startswith(f"texturevlm.{module} needs {needs} (pip install '{extra}'): ") and said.count("\n") == 1


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python says from 3.10 on what it was started with")
def test_the_indexs_program_without_its_packages_is_one_line(tmp_path):
    (tmp_path / "lance.py").write_text("raise ImportError('none here')")
    (tmp_path / "pyarrow.py").write_text("")
    import os
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-m", "texturevlm.index", "info", "archive"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 1 and done.stderr == "texturevlm.index needs pyarrow and pylance (pip install 'texturevlm[index]'): none here\n"


def test_what_a_build_lacks_is_named_by_its_packages(tmp_path):
    """What `pip install .` shows where pkg-config knows nothing; and the document has the same packages, and all of them."""
    import os
    import pathlib
    import re
    import shutil
    top = pathlib.Path(__file__).resolve().parents[2]
    known = set(re.findall(r"=(lib[^=\s]+-dev)", (top / "cmake" / "System.cmake").read_text()))
    assert len(known) == 5
    wanted = {*known, "gcc", "pkg-config", "python3-dev", "python3-venv", "uthash-dev", "opencl-c-headers", "ocl-icd-opencl-dev"}
    said = re.search(r"the system needs these packages, by Debian's names: (.*?)\. `ci/setup`", (top / "doc" / "python.md").read_text(), re.DOTALL)
    assert set(re.findall("`([^`]+)`", said[1])) == wanted
    setup = (top / "ci" / "setup").read_text().split()
    assert wanted - set(setup) <= {"gcc", "python3-dev"}, wanted - set(setup)  # which others of its packages bring
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    done = subprocess.run(["cmake", "-S", str(top / "python"), "-B", str(tmp_path), f"-DPython_EXECUTABLE={sys.executable}"], text=True,
                          capture_output=True, env={**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": str(tmp_path)})
    line = " ".join(done.stderr.split())
    assert done.returncode and "texturevlm needs more of the system to be built (Debian: apt install " in line
    # stb's headers are found where they lie.
    assert known - {"libstb-dev"} <= set(line.split("apt install ")[1].split(")")[0].split())


def test_a_library_that_is_missing_is_named_by_its_package(run, tmp_path):
    """The package as it is installed, but with a binding that says what the dynamic loader says."""
    import pathlib
    package = tmp_path / "texturevlm"
    package.mkdir()
    for path in pathlib.Path(tv.__file__).parent.iterdir():
        if not path.name.startswith(("_binding", "__pycache__")):
            (package / path.name).symlink_to(path)
    for library, line in (("liblapacke.so.3", "texturevlm needs the system's liblapacke.so.3, which is not there (Debian: apt install liblapacke)"),
                          ("libmd.so.0", "(Debian: apt install libmd0)"), ("libother.so.9", "the package that has it")):
        text = f"{library}: cannot open shared object file: No such file or directory"
        (package / "_binding.py").write_text(f"raise ImportError({text!r})")
        said = run("try:\n    import texturevlm\nexcept ImportError as error:\n    print(error)", PYTHONPATH=str(tmp_path),
                   PYTHONDONTWRITEBYTECODE="1")
        assert line in said and said.count("\n") == 1
