# SPDX-License-Identifier: Apache-2.0
"""A recipe for Conan 2, to be used from a checkout or an unpacked release: conan create packaging/conan

Option libraries: where what texturevlm is built from comes from. `conan`: packages of ConanCenter. `system`: what the system has, which on
Debian is asked for by name. `vendored`: the copies of ci/vendor, which must have been fetched.
"""
import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apt

SOURCES = ("CMakeLists.txt", "LICENSE", "bench/CMakeLists.txt", "bench/program/*", "cl/*", "cmake/*", "doc/*.md", "include/*", "lib/*", "tools/*", "vendored/*")


class Texturevlm(ConanFile):
    name = "texturevlm"
    description = "Where a vision-language model should look, on any OpenCL device"
    license = "Apache-2.0"
    topics = ("opencl", "computer-vision", "vision-language-models")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tools": [True, False], "libraries": ["conan", "system", "vendored"]}
    default_options = {"shared": False, "fPIC": True, "tools": True, "libraries": "conan"}
    implements = ["auto_shared_fpic"]
    languages = "C"

    @property
    def top(self):
        return Path(self.recipe_folder).resolve().parents[1]

    def set_version(self):
        text = load(self, self.top / "include/texturevlm/version.h")
        self.version = ".".join(re.search(rf"TVLM_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, self.top, self.export_sources_folder)

    def requirements(self):
        if self.options.libraries == "conan":
            # CLBlast and OpenCL are loaded when a device is opened: their headers are enough.
            self.requires("cjson/[>=1.7.15 <2]")
            self.requires("libmd/[>=1.0.4 <2]")
            self.requires("stb/[>=cci.20210910, include_prerelease]")
            self.requires("uthash/[>=2.1.0 <3]")
            self.requires("clblast/[>=1.5.1 <2]", libs=False)
            self.requires("opencl-headers/[>=2022.01.04]")

    def system_requirements(self):
        if self.options.libraries == "system":
            Apt(self).install(["libcjson-dev", "libclblast-dev", "libmd-dev", "libstb-dev", "ocl-icd-opencl-dev", "opencl-c-headers", "pkg-config",
                               "uthash-dev"], check=True)

    def validate(self):
        if self.settings.compiler == "msvc":
            raise ConanInvalidConfiguration("texturevlm needs a compiler with typeof and the attribute cleanup: gcc, clang or mingw-w64")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        # The smallest library, the same wherever it is built: pictures by stb_image, no lab, no videos.
        toolchain.cache_variables.update({
            "TVLM_BUILD_TESTS": False, "TVLM_BUILD_BENCH": False, "TVLM_BUILD_TOOLS": bool(self.options.tools), "TVLM_WITH_LAB": "OFF",
            "TVLM_VENDORED": self.options.libraries == "vendored", **{f"TVLM_{part}": "OFF" for part in ("JPEG", "PNG", "WEBP", "HEIF", "FFMPEG", "ARCHIVE", "GSTREAMER")}})
        toolchain.generate()
        if self.options.libraries == "conan":
            CMakeDeps(self).generate()
            PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        linux = ["dl", "m"] if self.settings.os in ("Linux", "FreeBSD") else []
        bound = not self.options.shared and self.options.libraries == "system"  # else they are in the libraries, or Conan knows them
        self.cpp_info.set_property("cmake_file_name", "texturevlm")
        main = self.cpp_info.components["core"]
        main.libs = ["texturevlm"]
        main.system_libs = (["md"] if bound else []) + linux
        main.set_property("cmake_target_name", "texturevlm::texturevlm")
        main.set_property("pkg_config_name", "texturevlm")
        files = self.cpp_info.components["io"]
        files.libs = ["texturevlm-io"]
        files.system_libs = (["cjson"] if bound else []) + linux
        files.requires = ["core"]
        files.set_property("cmake_target_name", "texturevlm::io")
        files.set_property("pkg_config_name", "texturevlm-io")
        if self.options.libraries == "conan":
            main.requires = ["libmd::libmd", "clblast::clblast", "opencl-headers::opencl-headers", "uthash::uthash"]
            files.requires += ["cjson::cjson", "stb::stb"]
