"""Files wherever Spark's are: the few operations that compaction needs, by Hadoop's own classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Stat(NamedTuple):
    """What there is at a path."""

    path: str
    size: int
    modified_ms: int
    block_bytes: int


class HadoopFiles:
    """The file system of a path. Paths are URIs, as Spark writes them."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        context: Any = spark.sparkContext
        self._jvm: Any = context._jvm
        self._gateway: Any = context._gateway
        self._configuration: Any = spark._jsparkSession.sessionState().newHadoopConf()
        path: Any = self._jvm.org.apache.hadoop.fs.Path(root)
        self._system: Any = path.getFileSystem(self._configuration)
        self.root: str = self._system.makeQualified(path).toUri().toString()

    def names(self, folder: str) -> list[str]:
        """What is in a folder; nothing if it is not there."""
        path = self._path(folder)
        if not self._system.exists(path):
            return []
        return [status.getPath().getName() for status in self._system.listStatus(path)]

    def walk(self, folder: str) -> Iterator[Stat]:
        """All files below a folder."""
        path = self._path(folder)
        if not self._system.exists(path):
            return
        found = self._system.listFiles(path, True)
        while found.hasNext():
            yield self._stat_of(found.next())

    def stat(self, path: str) -> Stat:
        return self._stat_of(self._system.getFileStatus(self._path(path)))

    def read_text(self, path: str) -> str:
        stream = self._system.open(self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write_text(self, path: str, text: str) -> None:
        """Have a file hold this text: who looks sees the old one or the new one, whole."""
        fresh = self._path(f"{path}.tmp")
        stream = self._system.create(fresh, True)
        try:
            stream.write(text.encode())
        finally:
            stream.close()
        self._replace(fresh, self._path(path))

    def rename(self, source: str, target: str) -> None:
        if not self._system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} cannot be renamed to {target}")

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        self._system.delete(self._path(path), True)

    def _replace(self, source: Any, target: Any) -> None:
        options = self._jvm.org.apache.hadoop.fs.Options.Rename
        chosen = self._gateway.new_array(options, 1)
        chosen[0] = options.OVERWRITE
        context = self._jvm.org.apache.hadoop.fs.FileContext
        context.getFileContext(target.toUri(), self._configuration).rename(source, target, chosen)

    def _path(self, uri: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._jvm.java.net.URI(uri))

    def _stat_of(self, status: Any) -> Stat:
        uri: str = status.getPath().toUri().toString()
        return Stat(uri, status.getLen(), status.getModificationTime(), status.getBlockSize())
