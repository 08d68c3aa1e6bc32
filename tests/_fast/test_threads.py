"""Splitting work over threads: complete, safe when nested, shared or forked, and honest about errors."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from manykernels._fast import threads


@pytest.fixture(autouse=True)
def several_threads(monkeypatch):
    monkeypatch.setattr(threads.numba, "get_num_threads", lambda: 3)
    monkeypatch.setattr(threads, "_PARALLEL", 0)


def count(n: int) -> np.ndarray:
    hits = np.zeros(n, dtype=int)

    def run(lo: int, hi: int) -> None:
        hits[lo:hi] += 1

    threads.split(n, 1e9, run)
    return hits


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1001])
def test_every_item_is_served_once(n):
    assert np.all(count(n) == 1)


def test_nested_splits_do_not_wait_for_each_other():
    total = np.zeros((40, 40), dtype=int)

    def outer(lo: int, hi: int) -> None:
        for i in range(lo, hi):

            def inner(a: int, b: int, i: int = i) -> None:
                total[i, a:b] += 1

            threads.split(40, 1e9, inner)

    threads.split(40, 1e9, outer)
    assert np.all(total == 1)


def test_many_callers_share_the_pool():
    with ThreadPoolExecutor(8) as callers:
        assert all(np.all(hits == 1) for hits in callers.map(count, [500] * 64))


def test_an_error_of_any_part_is_raised_after_all_parts_ended():
    ended = []

    def run(lo: int, hi: int) -> None:
        ended.append(lo)
        if lo > 0:
            raise RuntimeError("part failed")

    with pytest.raises(RuntimeError, match="part failed"):
        threads.split(9, 1e9, run)
    assert sorted(ended) == [0, 3, 6]
    assert np.all(count(9) == 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_makes_its_own_threads():
    count(100)  # the parent's pool exists
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        assert np.all(pool.apply_async(count, (100,)).get(timeout=20) == 1)


def test_blas_threads_are_given_back():
    before = threads._controller().info()
    with threads.blas_threads(1):
        inside = threads._controller().info()
    assert all(pool["num_threads"] == 1 for pool in inside if pool["user_api"] == "blas")
    assert threads._controller().info() == before


def test_blas_threads_are_given_back_in_whatever_order_threads_leave():
    before = blas_limits()
    first, second = threads.blas_threads(1), threads.blas_threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_limits()) == {1}
    second.__exit__(None, None, None)
    assert blas_limits() == before
    with threads.blas_threads(2), threads.blas_threads(1):
        assert set(blas_limits()) == {1}
    assert blas_limits() == before


def blas_limits():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_limits_end_with_an_error(error):
    before = blas_limits()
    with pytest.raises(error), threads.blas_threads(1), threads.blas_threads(2):
        raise error
    assert blas_limits() == before
    assert not threads._limits and not threads._before


def test_a_limit_that_cannot_be_set_is_forgotten():
    before = blas_limits()
    with pytest.raises(Exception), threads.blas_threads("many"):  # noqa: B017
        pass
    assert not threads._limits and blas_limits() == before


def test_who_is_interrupted_while_leaving_is_not_counted(monkeypatch):
    before = blas_limits()

    def interrupted():
        raise KeyboardInterrupt

    context = threads.blas_threads(1)
    context.__enter__()
    with monkeypatch.context() as patch:
        patch.setattr(threads, "_apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            context.__exit__(None, None, None)
    with threads.blas_threads(2):
        pass
    assert blas_limits() == before


def test_processes_are_no_more_than_tasks():
    assert threads.processes(None, 3) is None
    assert threads.processes(2, 3) == 2 and threads.processes(10**30, 3) == 3
    assert threads.processes(-1, 3) == -1 and threads.processes(-(10**30), 3) < 0
    with pytest.raises(ValueError, match="n_jobs=inf"):
        threads.processes(float("inf"), 3)
