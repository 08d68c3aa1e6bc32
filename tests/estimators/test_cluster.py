"""A real cluster: workers that are lost, slow or out of memory, and a scheduler that is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from tests.kills import KERNELS, MANY, TARGET, WORKS, X, cluster, survive, y

from manykernels import MKLClassifierCV, MKLRegressor, MKLRegressorCV, _pieces
from manykernels.approx import Nystroem
from manykernels.families import Products

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
N, CHUNK = 2000, 200
ROWS, NUMBERS = MANY[:N], TARGET[:N]
OPTIONS = {"dashboard_address": None, "processes": True, "threads_per_worker": 1, "n_workers": 2}


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch):
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 0)


@pytest.fixture(scope="module")
def client():
    """Two workers, each replaced when it is killed, however long that takes.

    A local cluster gives a lost worker up that is not back after fifteen seconds, also where it was back in
    between and is lost for a second time.
    """
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(**OPTIONS) as found,
        distributed.Client(found) as client,
    ):
        yield client


def slowly(block, folder, seconds, most=10_000):
    """A block that takes a while, and leaves word of who computed it; after so many of them, for long."""
    with open(os.path.join(folder, str(os.getpid())), "a") as file:
        file.write(".")
        place = file.tell()
    time.sleep(seconds if place < most else 300.0)
    return block


def lagging(block, pid):
    """A block that takes long in one of the processes."""
    time.sleep(0.3 if os.getpid() == pid else 0.0)
    return block


def counted(folder):
    """How many blocks each process computed."""
    return {name: (folder / name).stat().st_size for name in os.listdir(folder)}


def data(folder, *times):
    """Rows in blocks that are watched, of sizes that nobody knows; one is empty."""
    blocks = da.from_array(ROWS, chunks=((CHUNK,) * 5 + (0,) + (CHUNK,) * 5, 4))
    blocks = blocks.map_blocks(slowly, str(folder), *times, dtype=float, meta=blocks._meta)
    return blocks[da.from_array(np.full(N, True), chunks=(blocks.chunks[0],))]


class Killer(threading.Thread):
    """Kills the busiest worker once so many blocks were computed."""

    def __init__(self, folder, count):
        super().__init__(daemon=True)
        self.folder, self.count, self.killed, self.ended = folder, count, None, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.01):
            seen = counted(self.folder)
            if sum(seen.values()) >= self.count:
                self.killed = int(max(seen, key=seen.get))
                os.kill(self.killed, signal.SIGKILL)
                return


def equal(model, other):
    np.testing.assert_allclose(model.weights_, other.weights_, atol=1e-8)
    np.testing.assert_allclose(model.feature_coef_, other.feature_coef_, rtol=1e-6, atol=1e-8)


FITS = {
    "features": lambda X, y: MKLRegressor(KERNELS, norm=2.0, approx=Nystroem(20), random_state=0).fit(X, y),
    "search": lambda X, y: MKLRegressorCV(
        KERNELS, norms=(2.0,), Cs=[0.1, 10.0], approx=Nystroem(20), random_state=0
    ).fit(X, y),
    "products": lambda X, y: MKLRegressor(Products(degree=2), approx="features", random_state=0).fit(X, y),
}


@pytest.mark.parametrize("name", FITS)
def test_a_worker_may_be_lost_at_every_stage(name, client, tmp_path):
    """Sizes of blocks, the first row, samples for kernels, landmarks, sums: each reads the blocks anew."""
    (tmp_path / "watched").mkdir()
    expected = FITS[name](ROWS, NUMBERS)
    whole = FITS[name](data(tmp_path / "watched", 0.0), NUMBERS)
    equal(whole, expected)
    blocks = sum(counted(tmp_path / "watched").values())
    for stage in range(1, blocks, blocks // 5 + 1):
        folder = tmp_path / str(stage)
        folder.mkdir()
        client.wait_for_workers(2, timeout=120)
        killer = Killer(folder, stage)
        model = FITS[name](data(folder, 0.03), NUMBERS)
        killer.ended.set()
        killer.join()
        assert killer.killed is not None
        np.testing.assert_array_equal(model.feature_coef_, whole.feature_coef_)


def test_ten_processes_with_little_memory(tmp_path):
    """More workers than processors, of which one is killed in the middle of each fit, and blocks on disk."""
    limits = {"memory_limit": "600MB", "local_directory": str(tmp_path)}
    with (
        dask.config.set({"distributed.worker.memory.target": 0.005}),
        distributed.LocalCluster(**{**OPTIONS, "n_workers": 10}, **limits) as found,
        distributed.Client(found) as client,
    ):
        assert len(set(client.run(os.getpid).values())) == 10
        for name, fit in FITS.items():
            folder = tmp_path / name
            folder.mkdir()
            killer = Killer(folder, 15)  # the others go on, whether another one comes in its place or not
            model = fit(data(folder, 0.03), NUMBERS)
            killer.ended.set()
            killer.join()
            assert killer.killed is not None and len(counted(folder)) > 2
            equal(model, fit(ROWS, NUMBERS))


def test_a_slow_worker_changes_nothing(client):
    client.wait_for_workers(2, timeout=120)
    slow = next(iter(client.run(os.getpid).values()))
    blocks = da.from_array(ROWS, chunks=(CHUNK, 4)).map_blocks(lagging, slow, dtype=float)
    equal(FITS["features"](blocks, NUMBERS), FITS["features"](ROWS, NUMBERS))


def test_frames_of_unknown_sizes_and_empty_parts(client):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=list("abcd")).assign(target=NUMBERS)
    lazy = dd.from_pandas(frame, npartitions=5)
    some = dd.concat([lazy[lazy["a"] > -10.0], lazy[lazy["a"] > 10.0]])
    equal(
        FITS["features"](some[list("abcd")], some["target"]), FITS["features"](frame[list("abcd")], NUMBERS)
    )


def test_memory_that_is_spilled_to_disk(tmp_path):
    """Rows that are held by the workers, in more memory than they may use."""
    limits = {"memory_limit": "1GB", "local_directory": str(tmp_path)}
    with (
        dask.config.set({"distributed.worker.memory.target": 0.005}),
        distributed.LocalCluster(**OPTIONS, **limits) as found,
        distributed.Client(found) as client,
    ):
        wide = da.from_array(ROWS, chunks=(CHUNK, 4)).map_blocks(
            lambda block: np.tile(block, 500), chunks=(CHUNK, 2000), dtype=float
        )
        held = wide.persist()
        distributed.wait(held)
        model = FITS["features"](held[:, :4], NUMBERS)
        on_disk = client.run(lambda dask_worker: len(dask_worker.data.slow))
    assert sum(on_disk.values()) > 0
    equal(model, FITS["features"](ROWS, NUMBERS))


def test_a_search_on_a_cluster(client, tmp_path):
    """By joblib's backend and by futures, with a worker that is killed, and kept as it goes."""
    options = {"kernels": KERNELS, "Cs": [0.1, 1.0, 10.0], "random_state": 0}
    here = MKLClassifierCV(**options).fit(X, y)
    client.wait_for_workers(2, timeout=120)
    with joblib.parallel_config(backend="dask"):
        there = MKLClassifierCV(**options, n_jobs=-1, checkpoint=tmp_path / "kept").fit(X, y)
    future = client.submit(MKLClassifierCV(**options).fit, X, y).result()
    for model in (there, future):
        np.testing.assert_array_equal(model.dual_coef_, here.dual_coef_)
    assert len(list((tmp_path / "kept").glob("*.piece"))) > 5

    def kill():
        time.sleep(0.3)
        pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    with joblib.parallel_config(backend="dask"):
        thread.start()
        again = MKLClassifierCV(**options, strategy=["finite", "aligned"], n_jobs=-1).fit(X, y)
    thread.join()
    known = MKLClassifierCV(**options, strategy=["finite", "aligned"]).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, known.dual_coef_)


SCHEDULER = (
    "import distributed, asyncio, sys\n"
    "async def run():\n"
    "    async with distributed.Scheduler(port=0, dashboard=False, host='127.0.0.1') as found:\n"
    "        print(found.address, flush=True)\n"
    "        await found.finished()\n"
    "asyncio.run(run())\n"
)


@pytest.mark.parametrize("kept", [False, True])
def test_a_scheduler_that_is_killed_is_named(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(_pieces, "_SHARE", np.inf)
    (tmp_path / "blocks").mkdir()
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
    address = scheduler.stdout.readline().strip()
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    worker = subprocess.Popen([*command, "--no-dashboard", "--no-nanny"], env=path)
    model = MKLRegressor(
        KERNELS, norm=2.0, approx=Nystroem(20), random_state=0, checkpoint=tmp_path / "kept" if kept else None
    )
    try:
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            threading.Thread(target=wait_and_kill, args=(tmp_path / "blocks", 27, scheduler)).start()
            with pytest.raises(ConnectionError, match=r"scheduler at tcp://.* was lost.*nothing was learned"):
                model.fit(data(tmp_path / "blocks", 0.0, 27), NUMBERS)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert not hasattr(model, "weights_")
    if kept:  # and goes on without a cluster
        before = len(list((tmp_path / "kept").glob("*.piece")))
        assert before > 2
        np.testing.assert_array_equal(
            model.fit(data(tmp_path / "blocks", 0.0, 27), NUMBERS).feature_coef_,
            model.set_params(checkpoint=None).fit(data(tmp_path / "blocks", 0.0), NUMBERS).feature_coef_,
        )


def wait_and_kill(folder, count, process):
    while sum(counted(folder).values()) < count:
        time.sleep(0.01)
    process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that begin in the middle")
def test_a_fit_that_is_killed_goes_on(tmp_path):
    """A few kills; ``python -m tests.kills dask --kills 50`` does more."""
    running = cluster()
    try:
        assert not survive(WORKS["dask"], 3, tmp_path).different
    finally:
        running.communicate()
