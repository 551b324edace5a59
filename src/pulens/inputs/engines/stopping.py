"""Ctrl-C inside a query of DuckDB, which looks for it in some of its queries and not in others."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stopped_by_ctrl_c(connection: Any) -> Iterator[None]:
    """Interrupt the connection's query as soon as Ctrl-C is pressed.

    Python's own handler waits until the query gives the main thread back, which may be hours. But the operating
    system's signal leaves a mark at once where Python is asked to leave one, and a second thread reads it there.
    An event loop that has asked for these marks before, or a program with other plans for Ctrl-C, is left in peace.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reader, writer = socket.socketpair()
    watcher = threading.Thread(target=_watch, args=(reader, connection), daemon=True)
    try:
        watcher.start()  # first: a system that has no thread left must not be asked for marks that nobody reads
    except RuntimeError:
        reader.close()
        writer.close()
        yield
        return
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)
    try:
        yield
    finally:
        if before == -1:
            signal.set_wakeup_fd(-1)
        writer.close()  # which ends the watcher
        watcher.join()
        reader.close()


def _watch(marks: socket.socket, connection: Any) -> None:
    while heard := marks.recv(64):
        if signal.SIGINT in heard:
            connection.interrupt()
