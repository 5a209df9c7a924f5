"""Threads share the memory they free."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, re, sys, tempfile, threading
from rag_assets.engine.shared_heaps import share_heaps

if sys.argv[1] == "shared":
    share_heaps()
barrier = threading.Barrier(8)


def work():
    blocks = [bytearray(5000) for _ in range(200)]
    barrier.wait()


threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc = ctypes.CDLL(None)
libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
with tempfile.NamedTemporaryFile() as file:
    stream = libc.fopen(file.name.encode(), b"w")
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(len(re.findall(r"<heap ", file.read().decode())))
"""


def n_heaps(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", SCRIPT, how], check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for each thread")
def test_eight_threads_leave_two_heaps() -> None:
    """A server has forty threads: each would keep some megabytes of what a question needed once."""
    assert n_heaps("apart") > 2, "the threads did not work at the same time: the measure shows nothing"
    assert n_heaps("shared") <= 2
