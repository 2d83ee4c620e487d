"""check_layers.py finds planted violations, ours and third party, and accepts what the table allows."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cmake"))
import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def check(self, path, *lines):
        """The violations of a tree that holds one file."""
        with tempfile.TemporaryDirectory() as root:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full))
            with open(full, "w", encoding="utf-8") as source:
                source.write("\n".join(lines) + "\n")
            return check_layers.check_tree(root)

    def assert_allowed(self, path, include):
        self.assertEqual(self.check(path, f"#include {include}"), [])

    def assert_refused(self, path, include, reason):
        violations = self.check(path, "#pragma once", f"#include {include}")
        self.assertEqual(len(violations), 1, violations)
        self.assertTrue(violations[0].startswith(f"{path}:2: "), violations[0])
        self.assertIn(reason, violations[0])

    def test_our_folders_point_downwards(self):
        for path, include in [
            ("sizing/a.cc", '"common/status_util.h"'),
            ("storage/a.cc", '"common/status_util.h"'),
            ("storage/a.cc", '"storage/store.h"'),
            ("index/a.cc", '"common/status_util.h"'),
            ("engine/a.h", '"storage/store.h"'),
            ("engine/a.h", '"index/segment.h"'),
            ("engine/a.cc", '"sizing/footprint.h"'),
            ("server/a.cc", '"engine/database.h"'),
            ("server/a.cc", '"vectable/v1/row.grpc.pb.h"'),
            ("client/a.cc", '"vectable/v1/row.pb.h"'),
            ("client/formats/a.cc", '"sizing/model.h"'),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_allowed(path, include)

    def test_our_folders_never_point_upwards_or_sideways(self):
        for path, include, reason in [
            ("common/a.cc", '"storage/store.h"', "common/ may not include storage/"),
            ("sizing/a.cc", '"storage/store.h"', "sizing/ may not include storage/"),
            ("storage/a.cc", '"index/segment.h"', "storage/ may not include index/"),
            ("storage/a.cc", '"engine/table.h"', "storage/ may not include engine/"),
            ("storage/a.cc", '"vectable/v1/row.pb.h"', "storage/ may not include proto/"),
            ("index/a.cc", '"storage/store.h"', "index/ may not include storage/"),
            ("engine/a.cc", '"vectable/v1/row.pb.h"', "engine/ may not include proto/"),
            ("engine/a.cc", '"server/options.h"', "engine/ may not include server/"),
            ("server/a.cc", '"client/table.h"', "server/ may not include client/"),
            ("server/a.cc", '"storage/store.h"', "server/ may not include storage/"),
            ("server/sub/main.cc", '"index/segment.h"', "server/ may not include index/"),
            ("client/a.cc", '"engine/table.h"', "client/ may not include engine/"),
            ("client/a.cc", '"server/options.h"', "client/ may not include server/"),
            ("engine/a.cc", '"tests/support/x.h"', "engine/ may not include tests/"),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_refused(path, include, reason)

    def test_only_main_wires_storage_and_index(self):
        self.assert_allowed("server/main.cc", '"storage/rocks_store.h"')
        self.assert_allowed("server/main.cc", '"index/segment_index.h"')
        self.assert_refused("server/main.cc", '"client/table.h"', "server/ may not include client/")

    def test_third_party_where_the_table_says(self):
        for path, include in [
            ("common/a.h", '"absl/status/status.h"'),
            ("common/a.cc", "<hwy/highway.h>"),
            ("sizing/a.cc", "<nlohmann/json.hpp>"),
            ("storage/a.cc", "<rocksdb/db.h>"),
            ("storage/rocks_status.h", '"rocksdb/status.h"'),
            ("index/a.cc", "<faiss/IndexHNSW.h>"),
            ("index/kernels/dot-inl.h", "<hwy/highway.h>"),
            ("index/a.cc", "<omp.h>"),
            ("server/a.cc", "<spdlog/spdlog.h>"),
            ("server/a.h", "<grpcpp/grpcpp.h>"),
            ("client/a.cc", "<fast_float/fast_float.h>"),
            ("client/a.cc", "<zlib.h>"),
            ("client/a.cc", "<CLI/CLI.hpp>"),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_allowed(path, include)

    def test_third_party_nowhere_else(self):
        for path, include, reason in [
            ("common/a.h", "<rocksdb/db.h>", "common/ may not include rocksdb"),
            ("sizing/a.cc", "<grpcpp/grpcpp.h>", "sizing/ may not include grpc"),
            ("storage/store.h", "<rocksdb/db.h>", "only *.cc rocks_*.h may include rocksdb"),
            ("storage/a.cc", "<faiss/Index.h>", "storage/ may not include faiss"),
            ("index/segment.h", "<faiss/Index.h>", "may include faiss"),
            ("index/segment.h", "<hwy/highway.h>", "may include highway"),
            ("engine/a.cc", "<rocksdb/db.h>", "engine/ may not include rocksdb"),
            ("engine/a.cc", '"faiss/Index.h"', "engine/ may not include faiss"),
            ("engine/a.cc", "<google/protobuf/message.h>", "engine/ may not include protobuf"),
            ("server/a.cc", "<rocksdb/db.h>", "server/ may not include rocksdb"),
            ("client/a.cc", "<rocksdb/db.h>", "client/ may not include rocksdb"),
            ("engine/a.cc", "<gtest/gtest.h>", "engine/ may not include gtest"),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_refused(path, include, reason)

    def test_private_headers(self):
        self.assert_refused("engine/a.cc", '"storage/rocks_store.h"', "private to storage/")
        self.assert_refused("engine/a.cc", '"index/kernels/dot.h"', "private to index/")
        self.assert_allowed("index/a.cc", '"index/kernels/dot.h"')
        self.assert_allowed("tests/storage/a_test.cc", '"storage/rocks_store.h"')

    def test_tests_and_bench_may_include_all(self):
        for path in ["tests/engine/a_test.cc", "bench/search.cc"]:
            for include in ["<rocksdb/db.h>", "<faiss/Index.h>", '"server/options.h"', "<gtest/gtest.h>"]:
                with self.subTest(path=path, include=include):
                    self.assert_allowed(path, include)

    def test_standard_and_system_headers_are_free(self):
        for include in ["<vector>", "<unistd.h>", "<sys/stat.h>", "<stdint.h>"]:
            with self.subTest(include=include):
                self.assert_allowed("common/a.cc", include)

    def test_unknown_headers(self):
        self.assert_refused("common/a.cc", '"sibling.h"', "neither a path")
        self.assert_refused("common/a.cc", '"../storage/store.h"', "neither a path")
        self.assert_refused("common/a.cc", "<boost/any.hpp>", "neither a path")

    def test_unknown_folder(self):
        violations = self.check("helpers/a.cc", "int x;")
        self.assertEqual(len(violations), 1)
        self.assertIn("isn't in the table", violations[0])

    def test_spacing_and_line_numbers(self):
        violations = self.check("engine/a.cc", "// #include <rocksdb/db.h>", "", "  #  include <rocksdb/db.h>")
        self.assertEqual(len(violations), 1)
        self.assertTrue(violations[0].startswith("engine/a.cc:3: rocksdb/db.h: "))

    def test_built_folders_are_skipped(self):
        self.assertEqual(self.check("build/release/a.cc", "#include <rocksdb/db.h>"), [])


if __name__ == "__main__":
    unittest.main()
