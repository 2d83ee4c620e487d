"""The scripts parse and explain themselves, and install_deps.sh tells each failure in one clear line."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SCRIPTS = os.path.join(ROOT, "scripts")
TOOLS = "bash env awk sed tail mktemp rm cat dirname".split()

LISTS_NOTHING = "exit 0"
LISTS_COMPILER = "printf 'g++ installed\\nlibfoo:amd64 installed\\n'"
MUCH_SPACE = "printf 'head\\nfs 9 9 99999 1%% /\\n'"
LITTLE_SPACE = "printf 'head\\nfs 9 9 17 1%% /\\n'"
IS_ROOT = "echo 0"
IS_USER = "echo 1000"
FAILS = "echo 'E: no such mirror' >&2; exit 100"


class InstallDepsTest(unittest.TestCase):
    """Runs the script with nothing on the path but a few real tools and the stubs given."""

    def setUp(self):
        self.bin = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.bin)
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(self.bin, tool))

    def stub(self, **commands):
        for name, body in commands.items():
            path = os.path.join(self.bin, {"gxx": "g++"}.get(name, name.replace("_", "-")))
            with open(path, "w", encoding="utf-8") as out:
                out.write(f'#!{shutil.which("bash")}\n{body}\n')
            os.chmod(path, stat.S_IRWXU)

    def run_script(self, *arguments):
        return subprocess.run(
            [shutil.which("bash"), os.path.join(SCRIPTS, "install_deps.sh"), *arguments],
            env={"PATH": self.bin, "TMPDIR": self.bin},
            cwd="/",
            text=True,
            capture_output=True,
            check=False,
        )

    def assert_fails(self, result, *words):
        self.assertEqual(result.returncode, 1, result)
        last = result.stderr.strip().splitlines()[-1]
        for word in ("install_deps.sh: ", *words):
            self.assertIn(word, last)

    def calls(self):
        """What the stub of apt-get was asked for."""
        path = os.path.join(self.bin, "calls")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as text:
            return text.read()

    def record(self, then=""):
        return f'echo "$DEBIAN_FRONTEND $*" >>{self.bin}/calls; {then}'

    def test_no_apt(self):
        self.assert_fails(self.run_script(), "no apt-get", "librocksdb-dev")

    def test_nothing_missing(self):
        with open(os.path.join(SCRIPTS, "install_deps.sh"), encoding="utf-8") as text:
            listed = text.read().split("packages=(", 1)[1].split(")", 1)[0].split()
        every = "\n".join(f"echo '{package}:amd64 installed'" for package in listed)
        self.stub(dpkg_query=every, apt_get=self.record(), id=IS_USER, df=LITTLE_SPACE)
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stderr, "")
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertEqual(self.calls(), "")
        self.assert_fails(self.run_script("--test"), "not enough disk space")

    def test_a_removed_package_counts_as_missing(self):
        removed = "printf 'cmake config-files\\ng++ installed\\n'"
        self.stub(dpkg_query=removed, apt_get=self.record(), id=IS_ROOT, df=MUCH_SPACE, gxx="")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn(" cmake ", self.calls())
        self.assertNotIn(" g++ ", self.calls())

    def test_root_installs_without_asking(self):
        self.stub(dpkg_query=LISTS_COMPILER, apt_get=self.record(), id=IS_ROOT, df=MUCH_SPACE, gxx="")
        result = self.run_script("--test")
        self.assertEqual(result.returncode, 0, result)
        update, install = self.calls().splitlines()
        self.assertTrue(update.startswith("noninteractive ") and " update" in update, update)
        self.assertIn(" install -y --no-install-recommends ", install)
        self.assertIn(" clang-tidy", install)

    def test_neither_root_nor_sudo(self):
        self.stub(dpkg_query=LISTS_NOTHING, apt_get=self.record(), id=IS_USER, df=MUCH_SPACE)
        self.assert_fails(self.run_script(), "needs root", "sudo apt-get install", "librocksdb-dev")
        self.stub(sudo="exit 1")
        self.assert_fails(self.run_script(), "needs root")
        self.assertEqual(self.calls(), "")

    def test_user_with_sudo(self):
        self.stub(
            dpkg_query=LISTS_NOTHING,
            apt_get=self.record(),
            id=IS_USER,
            df=MUCH_SPACE,
            sudo='[[ $1 == -n ]] || exit 1; shift; "$@"',
            true="exit 0",
            gxx="",
        )
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(len(self.calls().splitlines()), 2)

    def test_little_disk_space(self):
        self.stub(dpkg_query=LISTS_NOTHING, apt_get=self.record(), id=IS_ROOT, df=LITTLE_SPACE)
        self.assert_fails(self.run_script(), "not enough disk space", "/usr", "17 MiB", "MiB")
        self.assertEqual(self.calls(), "")

    def test_no_network(self):
        self.stub(dpkg_query=LISTS_NOTHING, apt_get=FAILS, id=IS_ROOT, df=MUCH_SPACE)
        result = self.run_script()
        self.assert_fails(result, "apt-get update failed", "network")
        self.assertIn("E: no such mirror", result.stderr)

    def test_no_such_package(self):
        fails = f'[[ " $* " == *" update "* ]] || {{ {FAILS}; }}'
        self.stub(dpkg_query=LISTS_NOTHING, apt_get=fails, id=IS_ROOT, df=MUCH_SPACE)
        result = self.run_script()
        self.assert_fails(result, "apt-get install failed")
        self.assertIn("E: no such mirror", result.stderr)

    def test_still_no_compiler(self):
        self.stub(dpkg_query=LISTS_NOTHING, apt_get="exit 0", id=IS_ROOT, df=MUCH_SPACE)
        self.assert_fails(self.run_script(), "no g++")

    def test_leaves_no_log_behind(self):
        self.stub(dpkg_query=LISTS_NOTHING, apt_get=FAILS, id=IS_ROOT, df=MUCH_SPACE)
        self.run_script()
        self.assertEqual([name for name in os.listdir(self.bin) if "vectable" in name], [])


class AllScriptsTest(unittest.TestCase):
    def scripts(self):
        names = [os.path.join(SCRIPTS, name) for name in sorted(os.listdir(SCRIPTS)) if name.endswith(".sh")]
        return names + [os.path.join(ROOT, ".ci", "run")]

    def test_parse_and_run_strictly(self):
        for script in self.scripts():
            with self.subTest(script=script):
                subprocess.run(["bash", "-n", script], check=True)
                self.assertTrue(os.access(script, os.X_OK))
                with open(script, encoding="utf-8") as text:
                    self.assertIn("\nset -euo pipefail\n", text.read())

    def test_help_and_wrong_usage(self):
        for script in self.scripts()[:-1]:
            with self.subTest(script=script):
                for argument, status in [("--help", 0), ("--no-such-option", 2)]:
                    result = subprocess.run(
                        [script, argument], cwd="/", text=True, capture_output=True, check=False
                    )
                    self.assertEqual(result.returncode, status, result)
                    self.assertIn("Usage: " + os.path.basename(script), result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
