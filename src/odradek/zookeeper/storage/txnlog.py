"""The transaction log, written.

Files are grown ahead of the entries, in steps of zeros, so that a sync seldom has a new length to
write. Room that is only reserved has to be noted as used by the sync that first writes there, which
takes as long again; so entries that reach new ground take a stride of zeros with them.

Each file is synced to its end before the next one begins, hence a later file says that all before
it is whole. A file that the log starts is always a new one: what an earlier process left is never
appended to.

When there is no room, what was not synced is taken back and nothing of it will be seen again; the
same batch may be written once there is room. After any other failure nobody can say what the device
holds, and the log refuses to go on.
"""

from __future__ import annotations

from functools import partial

from odradek.runtime.disk import (
    Disk,
    DiskBroken,
    DiskError,
    DiskFull,
    File,
    WrittenAside,
    outcome_of,
)
from odradek.zookeeper.storage.batch import Batch, Run
from odradek.zookeeper.storage.names import log_name
from odradek.zookeeper.wire.messages.file import FileHeader

MAGIC = b"ZKLG"
HEADER = FileHeader(int.from_bytes(MAGIC, "big"), 2, 0).encode()
STEP_BYTES = 65536 * 1024
STRIDE_BYTES = 256 * 1024
MARGIN_BYTES = 4096


class TxnLog:
    """The end of the log. All methods block, and belong to one thread at a time."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        *,
        step_bytes: int = STEP_BYTES,
        file_bytes_max: int | None = None,
        is_synced: bool = True,
    ) -> None:
        """`step_bytes` is preAllocSize, `file_bytes_max` txnLogSizeLimitInKb, both in bytes."""
        self.bytes_written = 0
        self._disk = disk
        self._directory = directory
        self._step_bytes = step_bytes
        self._file_bytes_max = file_bytes_max
        self._is_synced = is_synced
        self._file: File | None = None
        self._position = 0  # The end of what is written and synced; 0 in a file not yet synced.
        self._size = 0  # The end of the zeros behind it...
        self._trodden = 0  # ...and of those that were written, not only reserved.
        self._last_zxid = 0
        self._unfinished: Batch | None = None
        self._failure: Exception | None = None

    @property
    def is_trusted(self) -> bool:
        """Whether what was written is known to be there."""
        return self._failure is None

    def write(self, batch: Batch) -> None:
        """Write a batch and return once it would survive a power cut.

        After `DiskFull` only the same batch may follow, for the log has no gaps.
        """
        self._check_trust()
        assert self._unfinished is None or self._unfinished is batch
        assert not batch.runs or batch.runs[0].first_zxid > self._last_zxid
        self._unfinished = batch
        while batch.runs:
            self._write_run(batch.runs[0])
            del batch.runs[0]
        if batch.ends_file:
            self.close()
        self._unfinished = None
        self._last_zxid = max(self._last_zxid, batch.last_zxid)

    def write_aside(self, batch: Batch, done: WrittenAside) -> bool:
        """Begin to write a batch that is a mere append, and go on; False if it cannot be.

        Nothing else may be asked of the log until `done` is told.
        """
        file = self._file
        if file is None or not self._is_synced or self._failure is not None:
            return False
        has_room = self._position + MARGIN_BYTES < self._size and not self._is_file_full()
        if not has_room or not self.only_appends(batch):
            return False
        (run,) = batch.runs
        trodden, data = self._trodden, self._with_stride(b"".join(run.frames))
        written = partial(self._written_aside, batch, done)
        is_begun = file.write_aside(self._position, data, written)
        if is_begun:
            self._unfinished = batch
        else:
            self._trodden = trodden
        return is_begun

    def _written_aside(self, batch: Batch, done: WrittenAside, failure: Exception | None) -> None:
        if failure is None:
            size = batch.runs.pop().size
            self._position += size
            self.bytes_written += size
            self._unfinished = None
            self._last_zxid = batch.last_zxid
        elif isinstance(failure, DiskFull):
            failure = outcome_of(self._take_back) or failure
        else:
            self._failure = failure
        done(failure)

    def only_appends(self, batch: Batch) -> bool:
        """Whether this is a mere write to zeros: no file to begin or to end, none to grow."""
        if len(batch.runs) != 1 or batch.ends_file or self._file is None:
            return False
        run = batch.runs[0]
        return not run.starts_file and self._position + run.size < self._size

    def go_back(self, zxid: int) -> None:
        """Go on behind this zxid, in a new file: what came later was taken out of the files."""
        self.close()
        self._last_zxid = zxid

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def _check_trust(self) -> None:
        if self._failure is not None:
            reason = f"the log cannot be trusted since a write failed: {self._failure}"
            raise DiskBroken(self._directory, reason) from self._failure

    def _write_run(self, run: Run) -> None:
        if run.starts_file or self._is_file_full():
            self.close()
        try:
            self._write_and_sync(run)
        except DiskFull:
            self._take_back()
            raise
        except (DiskError, OSError) as error:
            self._failure = error
            raise

    def _is_file_full(self) -> bool:
        return self._file_bytes_max is not None and self._position > self._file_bytes_max

    def _write_and_sync(self, run: Run) -> None:
        file = self._file or self._start_file(run.first_zxid)
        data = b"".join(run.frames)
        if self._position == 0:
            data = HEADER + data
        self._make_room(file)
        if self._is_synced:
            self._write_durably(file, data)
            if self._position == 0:
                self._disk.sync_directory(self._directory)
        else:
            file.write(self._position, data)
        self._position += len(data)
        self.bytes_written += len(data)

    def _write_durably(self, file: File, data: bytes) -> None:
        file.write_durably(self._position, self._with_stride(data))

    def _with_stride(self, data: bytes) -> bytes:
        """What is to be written at our position; on new ground, with zeros behind it."""
        end = self._position + len(data)
        if end <= self._trodden:
            return data
        self._trodden = max(end, min(next_stride(end), self._size))
        return data + bytes(self._trodden - end)

    def _start_file(self, zxid: int) -> File:
        file = self._file = self._disk.open(self._path(zxid), create=True)
        self._position = self._trodden = 0
        self._size = len(HEADER)
        # Recovery found no entry in what an earlier process may have left under this name.
        file.truncate(0)
        return file

    def _path(self, zxid: int) -> str:
        return f"{self._directory}/{log_name(zxid)}"

    def _make_room(self, file: File) -> None:
        written = max(self._position, len(HEADER))
        size = padded_size(written, self._size, self._step_bytes)
        if size == self._size:
            return
        try:
            file.preallocate(size)
            self._size = size
        except DiskFull:
            # There may be room for these entries, if not for a whole step.
            pass

    def _take_back(self) -> None:
        """Leave nothing behind the last synced entry, not even for the next crash to show."""
        file = self._file
        if file is None:
            return
        try:
            if self._position == 0:
                self.close()
                self._disk.remove(file.path)
                self._disk.sync_directory(self._directory)
            else:
                file.truncate(self._position)
                file.sync()
                self._size = self._trodden = self._position
        except (DiskError, OSError) as error:
            self._failure = error
            raise


def next_stride(position: int) -> int:
    return -(-position // STRIDE_BYTES) * STRIDE_BYTES


def padded_size(position: int, size: int, step: int) -> int:
    """How long a file should be whose entries end at `position`, and its zeros at `size`."""
    if step <= 0 or position + MARGIN_BYTES < size:
        return size
    if position > size:
        return (position + step) // step * step
    return size + step
