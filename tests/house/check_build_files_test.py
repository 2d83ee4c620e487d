"""check_build_files.py finds planted violations."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cmake"))
import check_build_files  # noqa: E402


class CheckBuildFilesTest(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as out:
                    out.write(text)
            return check_build_files.check_tree(root)

    def test_named_sources(self):
        files = {
            "a/CMakeLists.txt": "vectable_library(a SOURCES x.cc sub/y.cc)\n",
            "a/x.cc": "",
            "a/sub/y.cc": "",
            "proto/CMakeLists.txt": "vectable_proto_library(p PROTOS v/r.proto)\n",
            "proto/v/r.proto": "",
        }
        self.assertEqual(self.check(files), [])

    def test_forgotten_sources(self):
        files = {"a/CMakeLists.txt": "vectable_library(a SOURCES x.cc # y.cc\n)\n", "a/x.cc": "", "a/y.cc": ""}
        self.assertEqual(self.check(files), ["a/y.cc: no CMakeLists.txt names it, so it isn't built"])

    def test_a_longer_name_does_not_count(self):
        files = {"a/CMakeLists.txt": "vectable_library(a SOURCES xx.cc)\n", "a/xx.cc": "", "a/x.cc": ""}
        self.assertEqual(len(self.check(files)), 1)

    def test_packages_are_found_in_one_file(self):
        self.assertEqual(self.check({"cmake/Dependencies.cmake": "find_package(absl)\n"}), [])
        found = self.check({"a/CMakeLists.txt": "\nfind_package(absl)\n"})
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("a/CMakeLists.txt:2: "))

    def test_no_glob_and_no_download(self):
        for command in ["file(GLOB sources *.cc)", "include(FetchContent)", "file( DOWNLOAD x y)"]:
            with self.subTest(command=command):
                self.assertEqual(len(self.check({"a/CMakeLists.txt": command})), 1)

    def test_comments_are_free(self):
        self.assertEqual(self.check({"a/CMakeLists.txt": "# find_package is elsewhere: find_package(x)\n"}), [])


if __name__ == "__main__":
    unittest.main()
