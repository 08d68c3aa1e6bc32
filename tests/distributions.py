"""Build what is released, twice, and install it in empty environments: `make dist`.

The wheel and the sdist are made of the last commit, in two exports of it, under settings that differ in
everything that a build may take in by accident (folder, time zone, locale, rights of files, seed of hashes).
They must be equal to the byte, and the wheel that the unpacked sdist builds must be the same once more. Then
both are installed in an empty environment of every Python at hand that the package supports, and fit there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
# Two builders who share nothing but the sources.
BUILDERS = [
    {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1", "umask": "022"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "umask": "077"},
]
# What an installed package must be able to do, away from its sources.
FIT = """
import pathlib, sys, tempfile
import numpy as np
import manykernels as mk
from manykernels.kernels import Gaussian, Linear

assert pathlib.Path(mk.__file__).is_relative_to(sys.argv[1]), mk.__file__
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] * X[:, 1] > 0
model = mk.MKLClassifier([Linear(), Gaussian(1.0), Gaussian(2.0)], C=10.0).fit(X, y)
assert model.certified_ and model.score(X, y) > 0.9
if len(sys.argv) > 2:  # with the extra that has files of models
    path = pathlib.Path(tempfile.mkdtemp()) / "model"
    mk.save(model, path)
    np.testing.assert_array_equal(mk.load(path).decision_function(X), model.decision_function(X))
print("manykernels", mk.__version__, "fits under Python", sys.version.split()[0])
"""


# -- building -------------------------------------------------------------------------------------
def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def export(folder: Path) -> Path:
    """The files of the last commit, and nothing else of the working tree."""
    archive = folder / "export.tar"
    archive.write_bytes(git("archive", "HEAD"))
    return unpacked(archive, folder / "sources")


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


def build(sources: Path, to: Path, builder: dict[str, str], *targets: str) -> dict[str, bytes]:
    """What hatchling builds, by file name."""
    epoch = git("log", "-1", "--format=%ct").decode().strip()
    settings = {key: value for key, value in builder.items() if key != "umask"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(to)]
    for target in targets:
        command += ["-t", target]
    subprocess.run(
        command,
        cwd=sources,
        env={**os.environ, **settings, "SOURCE_DATE_EPOCH": epoch},
        umask=int(builder["umask"], 8),
        check=True,
        capture_output=True,
    )
    return {file.name: file.read_bytes() for file in sorted(to.iterdir())}


def reproduced(folder: Path) -> dict[str, bytes]:
    """The wheel and the sdist of the last commit; an error where two builds of it differ."""
    made = []
    for number, builder in enumerate(BUILDERS):
        work = folder / (f"builder{number}" * (number + 1))  # paths of different lengths
        work.mkdir(parents=True)
        made.append(build(export(work), work / "made", builder, "sdist", "wheel"))
    require_equal(made[0], made[1], "two builds of the same commit")
    sdist = next(name for name in made[0] if name.endswith(".tar.gz"))
    packed = folder / sdist
    packed.write_bytes(made[0][sdist])
    (inside,) = unpacked(packed, folder / "unpacked").iterdir()
    again = build(inside, folder / "again", BUILDERS[0], "wheel")
    require_equal(
        {name: data for name, data in made[0].items() if name in again}, again, "wheels of tree and sdist"
    )
    return made[0]


def require_equal(left: dict[str, bytes], right: dict[str, bytes], what: str) -> None:
    if left.keys() != right.keys():
        raise SystemExit(f"{what} have different files: {sorted(left)} and {sorted(right)}.")
    differing = [name for name in left if left[name] != right[name]]
    if differing or not left:
        raise SystemExit(f"{what} differ in {', '.join(differing) or 'everything'}; nothing was kept.")


# -- installing -----------------------------------------------------------------------------------
def pythons() -> list[Path]:
    """One Python of each supported minor version at hand: this one, those on the path, those of pyenv."""
    folders = [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders += sorted((folder / "bin" for folder in versions.glob("3.*")), reverse=True)
    found = [Path(sys.executable)]
    found += [file for folder in folders for file in sorted(folder.glob("python3.[0-9][0-9]"))]
    return list(by_version(found).values())


def by_version(found: Iterable[Path]) -> dict[tuple[int, int], Path]:
    """The first Python of each minor version that runs, has venv, and is new enough."""
    kept: dict[tuple[int, int], Path] = {}
    probe = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    for file in found:
        if not os.access(file, os.X_OK):
            continue
        answer = subprocess.run([file, "-c", probe], capture_output=True, text=True)
        if answer.returncode == 0:
            major, minor = map(int, answer.stdout.split())
            if (major, minor) >= OLDEST:
                kept.setdefault((major, minor), file)
    return dict(sorted(kept.items()))


def fits_when_installed(python: Path, package: Path, folder: Path, extra: str = "[cli]") -> str:
    """Install a wheel or an sdist in an empty environment, and fit there; what the fit says."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    inside = folder / "bin" / "python"
    quiet = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([inside, *quiet, f"{package}{extra}"], check=True, env=plain())
    subprocess.run([inside, "-m", "pip", "--disable-pip-version-check", "check"], check=True, env=plain())
    subprocess.run([folder / "bin" / "manykernels", "--help"], check=True, env=plain(), capture_output=True)
    answer = subprocess.run(
        [inside, "-c", FIT, folder.resolve(), "files"],
        check=True,
        env=plain(),
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    return answer.stdout.strip()


def plain() -> dict[str, str]:
    """The environment without what would lead Python to other packages."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="where wheel and sdist are put")
    to = parser.parse_args().to
    if git("status", "--porcelain"):
        print("There are changes that are not committed: they are not in what is built.", flush=True)
    with tempfile.TemporaryDirectory() as name:
        made = reproduced(Path(name))
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        for file, data in made.items():
            (to / file).write_bytes(data)
        print("Two builds are equal to the byte:", *sorted(made), flush=True)
        for python in pythons():
            for file in sorted(made, reverse=True):
                print(f"{file}:", fits_when_installed(python, to / file, Path(name) / "empty"), flush=True)


if __name__ == "__main__":
    main()
