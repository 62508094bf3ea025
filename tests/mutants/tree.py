# SPDX-License-Identifier: Apache-2.0
"""tree.py: copies of the source tree in which mutants are built: what is worked on is never changed, and after an interrupted run
nothing is to be put back."""
import filecmp
import hashlib
import json
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COPIED = ("CMakeLists.txt", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", ".clang-format", "bench", "ci", "cl", "cmake", "doc",
          "examples", "include", "integrations", "lib", "networks", "pyproject.toml", "python", "tests", "tools")
WITHOUT = {"__pycache__", ".git"}
SEVERAL_THREADS = {"test_pool_devices"}  # what asks that a device computes while something else is done


def files_of(root):
    """The files of a tree, relative to it."""
    for name in COPIED:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield name
        for folder, folders, names in os.walk(path):
            folders[:] = [f for f in folders if f not in WITHOUT and not f.endswith(".egg-info")]
            for file in names:
                if not os.path.islink(os.path.join(folder, file)):
                    yield os.path.relpath(os.path.join(folder, file), root)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def digests(root=ROOT):
    """The SHA-256 of each file that is built or is a test."""
    found = {}
    for path in files_of(root):
        if path.startswith(("lib/", "tools/", "bench/program/", "bench/CMakeLists.txt", "cl/", "include/", "cmake/", "examples/")) or path.startswith("tests/") and not path.startswith("tests/mutants/"):
            with open(os.path.join(root, path), "rb") as file:
                found[path] = hashlib.sha256(file.read()).hexdigest()
    return found


class Tree:
    """A copy in folder/NAME, beside whose parent `shared` stands as it stands beside the source tree, and its build folder."""

    def __init__(self, folder, name, flags=()):
        self.folder, self.flags = os.path.join(folder, name), list(flags)
        self.build = os.path.join(self.folder, "build")
        shared = os.path.join(folder, "shared")
        if not os.path.lexists(shared) and os.path.isdir(os.path.join(ROOT, "..", "shared")):
            os.makedirs(folder, exist_ok=True)
            os.symlink(os.path.realpath(os.path.join(ROOT, "..", "shared")), shared)
        self.tests = self.targets = None

    def update(self):
        """Makes the copy what the source tree is; what is the same keeps its time, so that it is not built again."""
        wanted = set(files_of(ROOT))
        for path in files_of(self.folder) if os.path.isdir(self.folder) else ():
            if path not in wanted:
                os.unlink(os.path.join(self.folder, path))
        for path in wanted:
            to = os.path.join(self.folder, path)
            if not os.path.exists(to) or not filecmp.cmp(os.path.join(ROOT, path), to, shallow=False):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(os.path.join(ROOT, path), to)  # as new: ninja goes by time

    def command(self, *command, environment=None):
        return subprocess.run(command, cwd=self.folder, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, env=environment)

    def make(self, *targets):
        """Configures the copy and builds all of it, or these targets; returns what is wrong, or None."""
        self.update()
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            done = self.command("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "--log-level=NOTICE", *self.flags,
                                environment={**os.environ, "CC": "gcc"})
            if done.returncode:
                return done.stdout
        done = self.command("ninja", "-C", "build", *targets)
        if done.returncode:
            return done.stdout[-4000:]
        listed = subprocess.run(["ctest", "--show-only=json-v1", "--test-dir", "build"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.tests = {test["name"]: Test(test) for test in json.loads(listed.stdout)["tests"]}
        listed = self.command("ninja", "-C", "build", "-t", "targets", "all").stdout
        self.targets = {line.split(":")[0] for line in listed.splitlines()}
        return None

    def build_for(self, test):
        """Builds what a test needs; returns what the compiler says where that fails, or None."""
        wanted = set()
        for word in test.command:
            path = os.path.relpath(word, self.build)
            if path in self.targets:
                wanted.add(path)
            elif os.path.isdir(word) and not path.startswith(".."):
                wanted.add(os.path.join(path, "all"))
        if "tools/tvlm" in wanted:
            wanted |= {"tools/tvlm-lab", "tools/tvlm-bench", "tools/tvlm-scene"} & self.targets
        return self.build_targets(*sorted(wanted)) if wanted else None

    def build_targets(self, *targets):
        done = self.command("ninja", "-C", "build", *targets)
        return done.stdout[-4000:] if done.returncode else None

    def objects(self):
        """The object files of each source file, both relative to the tree."""
        found = {}
        with open(os.path.join(self.build, "compile_commands.json")) as file:
            for entry in json.load(file):
                path = os.path.relpath(entry["file"], self.folder)
                output = entry.get("output") or entry["command"].split(" -o ")[1].split(" ")[0]
                found.setdefault(path, []).append(output)
        return found


class Test:
    """A test as ctest runs it."""

    def __init__(self, listed):
        properties = {p["name"]: p["value"] for p in listed.get("properties", ())}
        self.name, self.command = listed["name"], listed.get("command", [])
        self.labels = set(properties.get("LABELS", ()))
        self.folder = properties["WORKING_DIRECTORY"]
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", ()))
        self.disabled = bool(properties.get("DISABLED"))

    def is_quick(self):
        """Whether ci/test runs it on what is built here: neither what needs no program (headers, format), nor the package, which is built
        anew in its own way."""
        return bool(self.command) and not self.disabled and not self.labels & {"static", "slow"} and self.name != "python_package"


    def devices(self):
        """On what it is run: on a machine without OpenCL, which takes a fraction of the time and notices most, and on the first CPU device."""
        if self.name.startswith("test_"):
            return "reference", "default"
        return ("reference",) if self.name.endswith("_reference") or self.name.startswith("fuzz") else ("default",)


def environment_of(test, device, cache, **more):
    """What a test runs under: small pictures, one thread, its own variables, and caches that are not the user's, which mutants would
    spoil."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TVLM_", "OPENCL_LAYERS", "OCL_ICD", "POCL_"))}
    threads = "2" if test.name in SEVERAL_THREADS else "1"
    alone = {"OCL_ICD_VENDORS": "/nonexistent", "TVLM_TEST_DEVICES": "reference"} if device == "reference" else {}
    return {**kept, "POCL_MAX_PTHREAD_COUNT": threads, "TVLM_UNTUNED": "1", "TVLM_TEST_SMALL": "1", "TVLM_TEST_QUICK": "1", "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": cache, "POCL_CACHE_DIR": os.path.join(cache, "pocl"), **more, **test.environment, **alone}
