#!/usr/bin/env python3
"""Opens what `vectable export` writes with the real reader of each format, and imports what the real writer of each
format writes. Words and numbers must be the same, to the bit where nothing else is said.

Run it with the python3 that has the distribution's packages (numpy, gensim, faiss, h5py, fasttext, torch). Parts whose
module or program is missing are skipped, each with a line that says so. Exits 1 where something differs, 77 where
nothing could run.
"""

import argparse
import csv
import gzip
import importlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
LIMIT_SECONDS = 120
DIMENSIONS = 7


def skipped(what, package):
    print(f"skipped: {what} isn't installed ({package})", flush=True)


def module(name, package):
    """The module, or None with a line that says what is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        skipped(name, package)
        return None


numpy = module("numpy", "python3-numpy")
if numpy is None:
    sys.exit(SKIPPED)  # all else needs it
gensim_models = module("gensim.models", "python3-gensim")
faiss = module("faiss", "python3-faiss")
h5py = module("h5py", "python3-h5py")
fasttext = module("fasttext", "python3-fasttext")
if fasttext is not None:
    fasttext.FastText.eprint = lambda *_: None  # it warns at each load_model
torch = module("torch", "python3-torch")
for program, its_package in (("fasttext", "fasttext"), ("zstd", "zstd")):
    if shutil.which(program) is None:
        skipped(f"the program {program}", its_package)

# Words without ASCII blanks: every format holds them.
WORDS = [
    "plain", "the", "Zürich", "naïve", "e\u0301tude", "ß", "猫", "東京都", "컴퓨터", "शब्द", "кошка", "שלום", "😀", "👩‍👩‍👧",
    "new\u00a0york", "\u00a0", "line\u2028separator", "next\u0085line", "\ufeffmark", "\u200b", "#", "#hash", "//",
    "don't", 'say"so', '"quoted"', '"', "''",
    "a,b", ",", ".", "-", "--", "-1", "3", "3.14", "1e5", "nan", "inf", "0x10", "{",
    "}", "[1]", "back\\slash", "\\n", "</s>", "<unk>", "%s", "null", "x" * 3000, "ä" * 1000,
]
BLANK_WORDS = WORDS + ["new york", "a b c d", "route 66", "two  blanks", "tab\tinside", "# 1"]
LINE_BREAK_WORDS = BLANK_WORDS + ["one\ntwo", "one\r\ntwo", "\n", 'a "b",\n"c"', "trailing,\n"]


def matrix_of(rows, seed=11):
    """Values of all sizes, with those that are easily lost: negative zero, subnormals, the largest."""
    random = numpy.random.default_rng(seed)
    scales = 10.0 ** random.uniform(-8, 8, size=(rows, 1))
    matrix = (random.standard_normal((rows, DIMENSIONS)) * scales).astype(numpy.float32)
    matrix[0, 0] = -0.0
    matrix[0, 1] = 0.0
    matrix[1, 1] = numpy.float32(1e-45)  # the smallest subnormal
    matrix[2, 2] = numpy.float32(-1.1754942e-38)  # the largest
    matrix[3, 3] = numpy.finfo(numpy.float32).max
    matrix[4, 4] = numpy.float32(-1e30)
    matrix[5] = [1, -2, 3, 0, 100000, 123456789, 16777216]
    matrix[6] = numpy.array([1e21, 0.1, 1 / 3, -0.7, 1e-5, 1e15, 1e16], dtype=numpy.float32)
    matrix[7] = [-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, 1]
    matrix[-1, 0] = -0.0  # beside a word that is escaped in JSON
    return matrix


def half_matrix_of(rows):
    """Values that fp16 holds, with its subnormals and its largest."""
    matrix = numpy.random.default_rng(12).standard_normal((rows, DIMENSIONS)).astype(numpy.float16)
    matrix[0, 0] = numpy.float16(-0.0)
    matrix[1, 1] = numpy.float16(6e-8)
    matrix[2, 2] = numpy.float16(65504)
    return matrix


def brain_matrix_of(rows):
    """fp32 values that bf16 holds."""
    bits = matrix_of(rows).view(numpy.uint32) & numpy.uint32(0xFFFF0000)
    return bits.view(numpy.float32)


class Vectable:
    """A server on a free loopback port, and the client's program."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.log = open(folder / "server.log", "w+")
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        self.tables = 0
        self.server = subprocess.Popen(
            [programs / "vectable-server", "--data", folder / "data", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=self.environment)
        match = re.fullmatch(r"listening on (\S+)\n", self.server.stdout.readline())
        if not match:
            self.server.kill()
            self.server.wait()
            self.log.seek(0)
            sys.exit("the server didn't start:\n" + self.log.read())
        self.address = match.group(1)

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        try:
            self.server.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        self.log.close()
        return self.server.returncode

    def run(self, *arguments, stdin=b"", as_json=True):
        command = [self.programs / "vectable", "--server", self.address, *(["--json"] if as_json else []), *arguments]
        return subprocess.run([str(part) for part in command], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, env=self.environment)

    def new_table_name(self):
        self.tables += 1
        return f"table{self.tables}"


vectable = None  # set by main


class FormatTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=vectable.folder))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_vectable(self, *arguments, **options):
        """The standard output of a command that must go well."""
        done = vectable.run(*arguments, **options)
        if done.returncode != 0:
            self.fail(f"vectable {' '.join(map(str, arguments))} ended with {done.returncode}:\n"
                      + done.stderr.decode(errors="replace"))
        return done.stdout

    def assert_same_bits(self, found, expected):
        found, expected = numpy.ascontiguousarray(found), numpy.ascontiguousarray(expected)
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        unsigned = numpy.dtype(f"u{expected.itemsize}")
        differing = numpy.argwhere(found.view(unsigned) != expected.view(unsigned))
        if len(differing) > 0:
            row, column = differing[0]
            self.fail(f"{len(differing)} values differ, the first in row {row}, column {column}: "
                      f"expected {expected[row, column]!r}, found {found[row, column]!r}")

    def rows_of(self, table):
        """A table's words and vectors in the order of their ids."""
        lines = self.run_vectable("words", table, "--vectors").decode().split("\n")
        rows = [json.loads(line) for line in lines if line]
        return [row["word"] for row in rows], numpy.array([row["vector"] for row in rows], dtype=numpy.float32)

    def check_table(self, table, words, matrix):
        found_words, found = self.rows_of(table)
        self.assertEqual(found_words, words)
        self.assert_same_bits(found, matrix)

    def fill(self, words, matrix, *options):
        """A new table of these rows."""
        table = vectable.new_table_name()
        lines = [json.dumps({"word": word, "vector": [float(value) for value in row]}) + "\n"
                 for word, row in zip(words, matrix)]
        self.run_vectable("import", "-", "--format", "jsonl", "--table", table, *options, stdin="".join(lines).encode())
        self.check_table(table, words, matrix.astype(numpy.float32))
        return table

    def export(self, table, name, *options):
        """Writes the table to a file of that name in the test's folder."""
        path = self.folder / name
        told = json.loads(self.run_vectable("export", table, path, *options))
        self.assertEqual(told["left_out"], 0)
        for file in told["files"]:
            self.assertTrue(pathlib.Path(file).is_file(), file)
        return path

    def words_beside(self, path, ending=".words.txt"):
        lines = path.with_name(path.name + ending).read_bytes().decode().split("\n")
        self.assertEqual(lines.pop(), "")  # the last line is whole
        return lines

    def check_import(self, path, words, matrix, *options, stdin=b""):
        """Imports the file into a new table, which must hold these rows."""
        table = vectable.new_table_name()
        told = json.loads(self.run_vectable("import", path, "--table", table, *options, stdin=stdin))
        self.assertEqual((told["rows_read"], told["inserted"], told["rejected"]), (len(words), len(words), 0))
        self.check_table(table, words, matrix)
        return table

    def check_refused(self, path, *options):
        """The import must end with an error that names the file; returns the message."""
        done = vectable.run("import", path, "--table", vectable.new_table_name(), *options)
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 1, message)
        self.assertIn("error: ", message)
        self.assertIn(path.name, message)
        return message

    def save_words(self, words):
        path = self.folder / "vocabulary.txt"
        path.write_bytes("".join(word + "\n" for word in words).encode())
        return path


class JsonLinesTest(FormatTest):
    def setUp(self):
        super().setUp()
        self.words = LINE_BREAK_WORDS
        self.matrix = matrix_of(len(self.words))

    def save(self, rows, **options):
        path = self.folder / "rows.jsonl"
        path.write_bytes("".join(json.dumps(row, **options) + "\n" for row in rows).encode())
        return path

    def pairs(self):
        return [(word, [float(value) for value in row]) for word, row in zip(self.words, self.matrix)]

    def test_export_is_read_by_json(self):
        path = self.export(self.fill(self.words, self.matrix), "rows.jsonl")
        lines = path.read_bytes().decode().split("\n")
        self.assertEqual(lines.pop(), "")
        rows = [json.loads(line) for line in lines]
        self.assertEqual([row["word"] for row in rows], self.words)
        self.assert_same_bits(numpy.array([row["vector"] for row in rows], dtype=numpy.float32), self.matrix)

    # Of a number without a point or an exponent Python's json makes an integer, which has no negative zero.
    def test_export_keeps_each_negative_zero(self):
        path = self.export(self.fill(self.words[:1], self.matrix[7:8]), "zeros.jsonl")
        vector = json.loads(path.read_bytes())["vector"]
        self.assertTrue(numpy.signbit(numpy.array(vector[:6], dtype=numpy.float32)).all(), vector)

    def test_export_is_imported(self):
        path = self.export(self.fill(self.words, self.matrix), "rows.jsonl")
        self.check_import(path, self.words, self.matrix)

    def test_import_of_escaped_text(self):
        path = self.save([{"word": word, "vector": vector} for word, vector in self.pairs()], ensure_ascii=True)
        self.check_import(path, self.words, self.matrix)

    def test_import_of_plain_text(self):
        path = self.save([{"word": word, "vector": vector} for word, vector in self.pairs()], ensure_ascii=False)
        self.check_import(path, self.words, self.matrix)

    def test_import_with_the_keys_in_the_other_order(self):
        path = self.save([{"vector": vector, "word": word} for word, vector in self.pairs()], ensure_ascii=False)
        self.check_import(path, self.words, self.matrix)

    def test_import_with_extra_keys(self):
        extra = {"id": 7, "tags": ["word", {"vector": [1, 2]}], "none": None, "nested": {"word": "no", "vector": [9]}}
        path = self.save([{"first": True, "word": word, **extra, "vector": vector, "last": 1.5}
                          for word, vector in self.pairs()])
        self.check_import(path, self.words, self.matrix)

    def test_import_without_blanks_between_tokens(self):
        path = self.save([{"word": word, "vector": vector} for word, vector in self.pairs()], separators=(",", ":"))
        self.check_import(path, self.words, self.matrix)


class CsvTest(FormatTest):
    def setUp(self):
        super().setUp()
        self.words = LINE_BREAK_WORDS
        self.matrix = matrix_of(len(self.words))

    def save(self, header=None, **options):
        path = self.folder / "rows.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, **options)
            if header:
                writer.writerow(header)
            for word, row in zip(self.words, self.matrix):
                writer.writerow([word, *row.tolist()])
        return path

    def test_import_without_header(self):
        self.check_import(self.save(), self.words, self.matrix)

    def test_import_with_header_names_the_dimensions(self):
        names = [f"d{i}" for i in range(DIMENSIONS - 1)] + ['with "quotes", and a comma']
        table = self.check_import(self.save(header=["word", *names]), self.words, self.matrix)
        self.assertEqual(json.loads(self.run_vectable("table", "show", table))["dimension_names"], names)

    def test_import_with_every_field_in_quotes(self):
        self.words = self.words + [" blanks around "]
        self.matrix = matrix_of(len(self.words))
        self.check_import(self.save(quoting=csv.QUOTE_ALL), self.words, self.matrix)

    def test_import_with_only_texts_in_quotes(self):
        path = self.save(header=["word", *"abcdefg"], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        self.check_import(path, self.words, self.matrix)

    def test_import_from_standard_input(self):
        text = self.save(header=["word", *"abcdefg"]).read_bytes()
        self.check_import("-", self.words, self.matrix, stdin=text)


@unittest.skipIf(gensim_models is None, "no gensim")
class GensimTest(FormatTest):
    def setUp(self):
        super().setUp()
        self.matrix = matrix_of(len(WORDS))

    def check_vectors(self, vectors):
        self.assertEqual(vectors.index_to_key, WORDS)
        self.assert_same_bits(vectors.vectors, self.matrix)

    def load(self, path, **options):
        return gensim_models.KeyedVectors.load_word2vec_format(str(path), datatype=numpy.float32, **options)

    def save(self, name, **options):
        vectors = gensim_models.KeyedVectors(DIMENSIONS)
        vectors.add_vectors(WORDS, self.matrix)
        path = self.folder / name
        vectors.save_word2vec_format(str(path), **options)
        return path

    def test_export_of_glove_text(self):
        path = self.export(self.fill(WORDS, self.matrix), "vectors.txt")
        self.check_vectors(self.load(path, binary=False, no_header=True))

    def test_export_of_word2vec_text(self):
        path = self.export(self.fill(WORDS, self.matrix), "vectors.vec")
        self.check_vectors(self.load(path, binary=False))

    def test_export_of_word2vec_binary(self):
        path = self.export(self.fill(WORDS, self.matrix), "vectors.bin")
        self.check_vectors(self.load(path, binary=True))

    def test_import_of_word2vec_text(self):
        self.check_import(self.save("vectors.vec", binary=False), WORDS, self.matrix)

    def test_import_of_text_without_header(self):
        path = self.save("vectors.txt", binary=False, write_header=False)
        self.check_import(path, WORDS, self.matrix)

    def test_import_of_word2vec_binary(self):
        self.check_import(self.save("vectors.bin", binary=True), WORDS, self.matrix)


class TextTest(FormatTest):
    def test_glove_export_of_words_with_blanks_is_imported(self):
        # A number at a word's end would be read as a value.
        words = [word for word in BLANK_WORDS if word not in ("route 66", "# 1")]
        matrix = matrix_of(len(words))
        path = self.export(self.fill(words, matrix), "vectors.txt")
        self.check_import(path, words, matrix)

    def test_export_to_standard_output_is_the_same(self):
        table = self.fill(WORDS, matrix_of(len(WORDS)))
        endings = {"glove": ".txt", "word2vec": ".vec", "word2vec-bin": ".bin", "jsonl": ".jsonl"}
        for file_format, ending in endings.items():
            with self.subTest(file_format):
                printed = self.run_vectable("export", table, "-", "--format", file_format, as_json=False)
                self.assertEqual(printed, self.export(table, "a" + ending).read_bytes())

    def test_a_word_that_the_format_cannot_hold_leaves_no_file(self):
        table = self.fill(LINE_BREAK_WORDS, matrix_of(len(LINE_BREAK_WORDS)))
        done = vectable.run("export", table, self.folder / "vectors.npy")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class NumpyTest(FormatTest):
    def setUp(self):
        super().setUp()
        self.words = BLANK_WORDS
        self.matrix = matrix_of(len(self.words))

    def check_npy(self, array, matrix):
        path = self.folder / "vectors.npy"
        numpy.save(path, array)
        self.check_import(path, self.words, matrix, "--vocab", self.save_words(self.words))

    def test_export_of_fp32(self):
        path = self.export(self.fill(self.words, self.matrix), "vectors.npy")
        self.assert_same_bits(numpy.load(path), self.matrix)
        self.assertEqual(self.words_beside(path), self.words)

    def test_export_of_fp16(self):
        matrix = half_matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix, "--precision", "fp16"), "vectors.npy")
        self.assert_same_bits(numpy.load(path), matrix)
        self.assertEqual(self.words_beside(path), self.words)

    def test_export_of_bf16_is_fp32(self):
        matrix = brain_matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix, "--precision", "bf16"), "vectors.npy")
        self.assert_same_bits(numpy.load(path), matrix)

    def test_export_of_projector_files(self):
        words = [word for word in self.words if "\t" not in word]
        matrix = matrix_of(len(words))
        path = self.export(self.fill(words, matrix), "vectors.tsv")
        with open(path, encoding="ascii") as file:
            found = numpy.loadtxt(file, delimiter="\t", dtype=numpy.float64)
        self.assert_same_bits(found.astype(numpy.float32), matrix)
        self.assertEqual(self.words_beside(path, ".metadata.tsv"), words)

    def test_export_of_fvecs(self):
        path = self.export(self.fill(self.words, self.matrix), "vectors.fvecs")
        rows = numpy.fromfile(path, dtype="<i4").reshape(len(self.words), 1 + DIMENSIONS)
        self.assertEqual(set(rows[:, 0]), {DIMENSIONS})
        self.assert_same_bits(numpy.ascontiguousarray(rows[:, 1:]).view(numpy.float32), self.matrix)
        self.assertEqual(self.words_beside(path), self.words)

    def test_normalized_export(self):
        path = self.export(self.fill(self.words, self.matrix), "vectors.npy", "--normalize")
        wide = self.matrix.astype(numpy.float64)
        expected = wide / numpy.sqrt((wide ** 2).sum(axis=1, keepdims=True))
        numpy.testing.assert_allclose(numpy.load(path), expected, rtol=2e-7, atol=1e-44)

    def test_import_of_every_type_and_order(self):
        halves = half_matrix_of(len(self.words))
        for source in (halves, self.matrix, self.matrix.astype(numpy.float64)):
            for byte_order in "<>":
                for layout in "CF":
                    array = numpy.array(source, dtype=source.dtype.newbyteorder(byte_order), order=layout)
                    with self.subTest(f"{array.dtype.str} {layout}"):
                        self.check_npy(array, source.astype(numpy.float32))

    def test_import_rounds_f8_as_numpy_does(self):
        wide = numpy.random.default_rng(13).standard_normal((len(self.words), DIMENSIONS))
        self.check_npy(wide, wide.astype(numpy.float32))

    def test_import_of_small_integers(self):
        for kind in (numpy.int8, numpy.uint8):
            with self.subTest(kind.__name__):
                whole = numpy.random.default_rng(14).integers(1, 127, (len(self.words), DIMENSIONS)).astype(kind)
                self.check_npy(whole, whole.astype(numpy.float32))

    def test_import_finds_the_words_beside(self):
        path = self.folder / "vectors.npy"
        numpy.save(path, self.matrix)
        self.save_words(self.words).rename(self.folder / "vectors.words.txt")
        self.check_import(path, self.words, self.matrix)

    def test_import_without_words_numbers_the_rows(self):
        path = self.folder / "vectors.npy"
        numpy.save(path, self.matrix)
        self.check_import(path, [str(i) for i in range(len(self.words))], self.matrix)

    def test_import_from_standard_input(self):
        data = io.BytesIO()
        numpy.save(data, self.matrix)
        self.check_import("-", self.words, self.matrix, "--vocab", self.save_words(self.words), stdin=data.getvalue())

    def test_import_of_npz_is_refused(self):
        for save in (numpy.savez, numpy.savez_compressed):
            with self.subTest(save.__name__):
                path = self.folder / "vectors.npz"
                save(path, vectors=self.matrix)
                self.assertIn(".npz", self.check_refused(path).replace(path.name, ""))
                self.assertIn(".npz", self.check_refused(path, "--format", "npy").replace(path.name, ""))

    def test_import_of_other_arrays_is_refused(self):
        zeros = numpy.zeros((2, 3, 4), dtype=numpy.float32)
        texts, objects = numpy.array([["a", "b"]]), numpy.array([[{}]], dtype=object)
        for array in (self.matrix[0], zeros, zeros[:, :0, 0], self.matrix.astype(numpy.complex64), texts, objects):
            with self.subTest(f"{array.dtype.str} {array.shape}"):
                path = self.folder / "vectors.npy"
                numpy.save(path, array, allow_pickle=True)
                self.check_refused(path)

    def test_import_of_savetxt(self):
        vocabulary = self.save_words(self.words)
        for options in ({}, {"delimiter": "\t"}, {"delimiter": ","}, {"fmt": "%.9g"}):
            with self.subTest(str(options)):
                path = self.folder / "numbers.txt"
                numpy.savetxt(path, self.matrix, **options)
                self.check_import(path, self.words, self.matrix, "--vocab", vocabulary)

    def check_counted_rows(self, name, count_of_row, values, expected):
        rows = b"".join(count_of_row + row.tobytes() for row in values)
        path = self.folder / name
        path.write_bytes(rows)
        vocabulary = self.save_words(self.words)
        self.check_import(path, self.words, expected, "--vocab", vocabulary)
        self.check_import("-", self.words, expected, "--vocab", vocabulary, "--format", path.suffix[1:], stdin=rows)

    def test_import_of_fvecs(self):
        self.check_counted_rows("vectors.fvecs", struct.pack("<i", DIMENSIONS), self.matrix, self.matrix)

    def test_import_of_bvecs(self):
        whole = numpy.random.default_rng(15).integers(1, 256, self.matrix.shape).astype(numpy.uint8)
        self.check_counted_rows("vectors.bvecs", struct.pack("<i", DIMENSIONS), whole, whole.astype(numpy.float32))

    def test_import_of_fbin(self):
        path = self.folder / "vectors.fbin"
        path.write_bytes(struct.pack("<II", *self.matrix.shape) + self.matrix.tobytes())
        self.check_import(path, self.words, self.matrix, "--vocab", self.save_words(self.words))


class SafetensorsTest(FormatTest):
    """The file as the format's own text describes it: the header's length, JSON, and the values."""

    TYPES = {"F32": numpy.dtype("<f4"), "F16": numpy.dtype("<f2"), "BF16": numpy.dtype("<u2")}

    def setUp(self):
        super().setUp()
        self.words = BLANK_WORDS

    def load(self, path, expected_type):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        self.assertEqual(length % 8, 0)
        header = json.loads(data[8:8 + length])
        header.pop("__metadata__", None)
        ((_, tensor),) = header.items()
        self.assertEqual(tensor["dtype"], expected_type)
        self.assertEqual(tensor["shape"], [len(self.words), DIMENSIONS])
        values = data[8 + length:]
        self.assertEqual(tensor["data_offsets"], [0, len(values)])
        self.assertEqual(self.words_beside(path), self.words)
        return numpy.frombuffer(values, dtype=self.TYPES[expected_type]).reshape(tensor["shape"]), bytearray(values)

    def test_export_of_fp32(self):
        matrix = matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix), "vectors.safetensors")
        self.assert_same_bits(self.load(path, "F32")[0], matrix)

    def test_export_of_fp16(self):
        matrix = half_matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix, "--precision", "fp16"), "vectors.safetensors")
        self.assert_same_bits(self.load(path, "F16")[0], matrix)

    def test_export_of_bf16(self):
        matrix = brain_matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix, "--precision", "bf16"), "vectors.safetensors")
        halves, values = self.load(path, "BF16")
        self.assert_same_bits((halves.astype(numpy.uint32) << 16).view(numpy.float32), matrix)
        if torch is not None:
            tensor = torch.frombuffer(values, dtype=torch.bfloat16).reshape(len(self.words), DIMENSIONS)
            self.assert_same_bits(tensor.to(torch.float32).numpy(), matrix)

    @unittest.skipIf(torch is None, "no torch")
    def test_export_is_read_by_torch(self):
        matrix = matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix), "vectors.safetensors")
        tensor = torch.frombuffer(self.load(path, "F32")[1], dtype=torch.float32)
        self.assert_same_bits(tensor.reshape(len(self.words), DIMENSIONS).numpy(), matrix)

    def test_export_is_imported(self):
        matrix = brain_matrix_of(len(self.words))
        path = self.export(self.fill(self.words, matrix, "--precision", "bf16"), "vectors.safetensors")
        self.check_import(path, self.words, matrix)


@unittest.skipIf(faiss is None, "no faiss")
class FaissTest(FormatTest):
    def setUp(self):
        super().setUp()
        self.words = BLANK_WORDS
        self.matrix = matrix_of(len(self.words))

    def metrics(self):
        return {"cosine": faiss.METRIC_INNER_PRODUCT, "dot": faiss.METRIC_INNER_PRODUCT, "euclidean": faiss.METRIC_L2}

    def test_export_is_read_by_faiss(self):
        for metric, expected in self.metrics().items():
            with self.subTest(metric):
                path = self.export(self.fill(self.words, self.matrix, "--metric", metric), f"{metric}.faiss")
                index = faiss.read_index(str(path))
                self.assertEqual((index.ntotal, index.d), (len(self.words), DIMENSIONS))
                self.assertEqual(index.metric_type, expected)
                self.assertTrue(index.is_trained)
                self.assert_same_bits(index.reconstruct_n(0, index.ntotal), self.matrix)
                self.assertEqual(self.words_beside(path), self.words)

    def test_each_row_of_a_normalized_export_finds_itself(self):
        for metric, self_score in (("cosine", 1), ("euclidean", 0)):
            with self.subTest(metric):
                table = self.fill(self.words, self.matrix, "--metric", metric)
                index = faiss.read_index(str(self.export(table, f"{metric}.faiss", "--normalize")))
                scores, rows = index.search(index.reconstruct_n(0, index.ntotal), 1)
                self.assertEqual(rows[:, 0].tolist(), list(range(len(self.words))))
                numpy.testing.assert_allclose(scores[:, 0], self_score, atol=1e-5)

    def test_import_of_flat_indexes(self):
        vocabulary = self.save_words(self.words)
        for make in (faiss.IndexFlatIP, faiss.IndexFlatL2):
            with self.subTest(make.__name__):
                index = make(DIMENSIONS)
                index.add(self.matrix)
                path = self.folder / "vectors.faiss"
                faiss.write_index(index, str(path))
                self.check_import(path, self.words, self.matrix, "--vocab", vocabulary)

    def test_import_of_another_index_is_refused(self):
        index = faiss.index_factory(DIMENSIONS, "HNSW8")
        index.add(numpy.ascontiguousarray(half_matrix_of(50).astype(numpy.float32)))
        path = self.folder / "vectors.faiss"
        faiss.write_index(index, str(path))
        self.check_refused(path)
        self.check_refused(path, "--format", "faiss")


@unittest.skipIf(h5py is None, "no h5py")
class Hdf5Test(FormatTest):
    """Files like those of ann-benchmarks."""

    def setUp(self):
        super().setUp()
        self.words = BLANK_WORDS
        self.matrix = matrix_of(len(self.words))

    def save(self, kind=numpy.float32, **storage):
        path = self.folder / "vectors.hdf5"
        with h5py.File(path, "w") as file:
            file.attrs["type"] = "dense"
            file.attrs["distance"] = "angular"
            file.attrs["dimension"] = DIMENSIONS
            file.attrs["point_type"] = "float"
            file.create_dataset("train", data=self.matrix.astype(kind), **storage)
            file.create_dataset("test", data=self.matrix[:10], dtype=numpy.float32)
            file.create_dataset("neighbors", data=numpy.zeros((10, 100)), dtype=numpy.int32)
            file.create_dataset("distances", data=numpy.zeros((10, 100)), dtype=numpy.float32)
        return path

    def test_import_takes_train(self):
        self.check_import(self.save(), self.words, self.matrix, "--vocab", self.save_words(self.words))

    def test_import_of_another_dataset(self):
        numbers = [str(i) for i in range(10)]
        self.check_import(self.save(), numbers, self.matrix[:10], "--tensor", "test")

    def test_import_of_doubles_and_of_big_endian(self):
        for kind in ("<f8", ">f4", ">f8"):
            with self.subTest(kind):
                self.check_import(self.save(kind), self.words, self.matrix, "--vocab", self.save_words(self.words))

    def test_import_of_packed_chunks(self):
        path = self.save(chunks=(4, 3), compression="gzip", shuffle=True)
        self.check_import(path, self.words, self.matrix, "--vocab", self.save_words(self.words))


# Fewer threads leave most of a new matrix zero (fastText, DenseMatrix::uniform).
FASTTEXT_THREADS = 12
FASTTEXT_TEXT = """the cat sat on the mat and the dog lay by the door
Zürich und Genève sind Städte , naïve étude schön straße
東京都 は 日本 の 首都 です 猫 が 好き 😀 😀 👩‍👩‍👧
слово за слово кошка и собака new\u00a0york 3.14 # "quoted" don't a <unk>
""" * 5


@unittest.skipIf(fasttext is None and shutil.which("fasttext") is None, "no fastText")
class FasttextTest(FormatTest):
    def setUp(self):
        super().setUp()
        (self.folder / "text").write_text(FASTTEXT_TEXT, encoding="utf-8")

    def train_with_program(self):
        subprocess.run(["fasttext", "skipgram", "-input", self.folder / "text", "-output", self.folder / "m",
                        "-dim", "10", "-minCount", "1", "-epoch", "1", "-minn", "2", "-maxn", "4", "-bucket", "1000",
                        "-thread", str(FASTTEXT_THREADS)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_SECONDS)

    def train(self, how, text, **options):
        """A small model of the text, by one of the module's functions."""
        (self.folder / "text").write_text(text, encoding="utf-8")
        return how(str(self.folder / "text"), dim=10, minCount=1, epoch=1, verbose=0, thread=FASTTEXT_THREADS,
                   **options)

    def check_model(self, model):
        table = vectable.new_table_name()
        self.run_vectable("import", self.folder / "m.bin", "--table", table, "--metric", "euclidean")
        words, found = self.rows_of(table)
        self.assertEqual(words, model.get_words())
        expected = numpy.array([model.get_word_vector(word) for word in words])
        # A value is a mean of others that may cancel each other out: the error is relative to the vector.
        lengths = numpy.linalg.norm(expected, axis=1)
        self.assertGreater(lengths.min(), 0)
        self.assertLess((numpy.linalg.norm(found - expected, axis=1) / lengths).max(), 1e-6)

    @unittest.skipIf(fasttext is None, "no module fasttext")
    def test_import_of_models(self):
        kinds = {
            "n-grams": {"minn": 2, "maxn": 4, "bucket": 1000},
            "from one letter": {"minn": 1, "maxn": 3, "bucket": 500},
            "no n-grams": {"minn": 0, "maxn": 0, "bucket": 1000},
            "usual n-grams": {"bucket": 20000},
            "cbow": {"model": "cbow", "minn": 3, "maxn": 6, "bucket": 10},
        }
        for name, options in kinds.items():
            with self.subTest(name):
                model = self.train(fasttext.train_unsupervised, FASTTEXT_TEXT, **options)
                model.save_model(str(self.folder / "m.bin"))
                self.check_model(model)

    @unittest.skipIf(fasttext is None, "no module fasttext")
    def test_import_of_a_classifier(self):
        lines = [f"__label__{'ab'[i % 2]} {line}\n" for i, line in enumerate(FASTTEXT_TEXT.splitlines())]
        model = self.train(fasttext.train_supervised, "".join(lines), minn=2, maxn=3, bucket=1000, wordNgrams=2)
        model.save_model(str(self.folder / "m.bin"))
        self.check_model(model)

    @unittest.skipIf(shutil.which("fasttext") is None, "no program fasttext")
    def test_import_of_the_programs_text(self):
        self.train_with_program()
        lines = (self.folder / "m.vec").read_bytes().decode().split("\n")
        rows = [line.rstrip(" ").split(" ") for line in lines[1:] if line]
        self.assertEqual(lines[0], f"{len(rows)} 10")
        matrix = numpy.array([row[1:] for row in rows], dtype=numpy.float64).astype(numpy.float32)
        self.check_import(self.folder / "m.vec", [row[0] for row in rows], matrix, "--metric", "euclidean")

    @unittest.skipIf(shutil.which("fasttext") is None or fasttext is None, "no program or no module fasttext")
    def test_import_of_the_programs_model(self):
        self.train_with_program()
        self.check_model(fasttext.load_model(str(self.folder / "m.bin")))

    @unittest.skipIf(fasttext is None, "no module fasttext")
    def test_import_of_a_quantised_model_is_refused(self):
        text = "__label__a the cat\n__label__b the dog\n" * 20
        model = self.train(fasttext.train_supervised, text, minn=2, maxn=3, bucket=1000)
        model.quantize()
        model.save_model(str(self.folder / "m.ftz"))
        self.assertIn("quantised", self.check_refused(self.folder / "m.ftz"))


class PackedTest(FormatTest):
    """Text packed by the usual programs, and pipes."""

    def setUp(self):
        super().setUp()
        self.words = BLANK_WORDS
        self.matrix = matrix_of(len(self.words))
        self.path = self.folder / "vectors.txt"
        with open(self.path, "w", newline="", encoding="utf-8") as file:
            for word, row in zip(self.words, self.matrix):
                file.write(" ".join([word, *map(repr, row.tolist())]) + "\n")

    def test_plain(self):
        self.check_import(self.path, self.words, self.matrix)
        self.check_import("-", self.words, self.matrix, stdin=self.path.read_bytes())

    def test_gzip(self):
        packed = self.folder / "vectors.txt.gz"
        packed.write_bytes(gzip.compress(self.path.read_bytes()))
        self.check_import(packed, self.words, self.matrix)
        self.check_import("-", self.words, self.matrix, stdin=packed.read_bytes())

    def test_gzip_of_several_parts(self):
        text = self.path.read_bytes()
        packed = self.folder / "vectors.txt.gz"
        packed.write_bytes(gzip.compress(text[:1001]) + gzip.compress(b"") + gzip.compress(text[1001:]))
        self.check_import(packed, self.words, self.matrix)

    @unittest.skipIf(shutil.which("zstd") is None, "no program zstd")
    def test_zstd(self):
        packed = self.folder / "vectors.txt.zst"
        subprocess.run(["zstd", "-q", "-T1", self.path, "-o", packed], check=True, timeout=LIMIT_SECONDS)
        self.check_import(packed, self.words, self.matrix)
        self.check_import("-", self.words, self.matrix, stdin=packed.read_bytes())

    @unittest.skipIf(shutil.which("zstd") is None, "no program zstd")
    def test_zstd_of_several_frames(self):
        packed = b""
        for part in (self.path.read_bytes()[:1001], self.path.read_bytes()[1001:]):
            packed += subprocess.run(["zstd", "-q", "-c", "--check"], input=part, stdout=subprocess.PIPE, check=True,
                                     timeout=LIMIT_SECONDS).stdout
        path = self.folder / "vectors.txt.zst"
        path.write_bytes(packed)
        self.check_import(path, self.words, self.matrix)

    def test_packed_npy(self):
        data = io.BytesIO()
        numpy.save(data, self.matrix)
        path = self.folder / "vectors.npy.gz"
        path.write_bytes(gzip.compress(data.getvalue()))
        self.check_import(path, self.words, self.matrix, "--vocab", self.save_words(self.words))


def main():
    global vectable
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, required=True,
                        help="the folder of vectable and vectable-server")
    parser.add_argument("tests", nargs="*", help="only these, such as FaissTest or CsvTest.test_import_without_header")
    arguments = parser.parse_args()
    for name in ("vectable", "vectable-server"):
        if not os.access(arguments.programs / name, os.X_OK):
            print(f"skipped: {arguments.programs / name} isn't built")
            return SKIPPED
    loader = unittest.defaultTestLoader
    this = sys.modules[__name__]
    tests = loader.loadTestsFromNames(arguments.tests, this) if arguments.tests else loader.loadTestsFromModule(this)
    with tempfile.TemporaryDirectory() as folder:
        vectable = Vectable(arguments.programs.resolve(), pathlib.Path(folder))
        try:
            result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(tests)
        finally:
            ended = vectable.stop()
    if ended != 0:
        print(f"the server ended with {ended}")
    if not result.wasSuccessful() or ended != 0:
        return 1
    return SKIPPED if result.testsRun == len(result.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
