"""The files of the tables of a namespace, in a lake that others may write to as well.

Only regular files directly in a table's `data` or `metadata` folder are opened or removed: links, pipes and other targets of a location are
not ours. In a folder lake each folder is opened from the one above it, so that a concurrent change cannot lead
elsewhere.
"""

import errno
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from stat import S_ISDIR, S_ISREG

import pyarrow as pa
import pyarrow.fs
import pyiceberg.avro.file
from pyiceberg.avro.codecs import AVRO_CODEC_KEY
from pyiceberg.avro.file import AvroFileHeader
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

# Properties of a FileIO: the folder of the namespace and, if it is for one table, the table.
FOLDER = "daybook.folder"
TABLE = "daybook.table"

# Names by Daybook, pyiceberg and Spark. A file compressed as a whole could hide any size, so none is allowed; file systems allow no longer names.
NAME = r"(?!.*\.gz\.)[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}"

# The limit for a file of metadata or a manifest, which are read into memory, and for all the unpacked blocks of a manifest together.
MOST_BYTES = 64 << 20


class ForeignFile(ValueError):
    """Not a file as Daybook writes it."""


class OwnFileIO(PyArrowFileIO):
    def __init__(self, properties: dict) -> None:
        super().__init__(properties)
        self.folder = self.properties[FOLDER]

    @cached_property
    def files(self) -> "Folder | Bucket":
        scheme, _, path = self.folder.partition("://")
        return Folder(path) if scheme == "file" else Bucket(self.fs_by_scheme(scheme, path.split("/")[0]), path)

    def place_of(self, location: str) -> tuple[str, str, str]:
        """Returns the table, `data` or `metadata`, and the name."""
        table = re.escape(self.properties[TABLE]) if TABLE in self.properties else NAME
        # Hadoop writes `file:/` with one slash.
        location = re.sub("^file:/(?!/)", "file:///", location)
        found = re.fullmatch(f"{re.escape(self.folder)}/({table})/(data|metadata)/({NAME})", location)
        if found is None:
            raise ForeignFile("a file outside of the table's folder")
        return found.groups()

    def new_input(self, location: str) -> "OwnFile":
        place = self.place_of(location)
        return OwnFile(super().new_input(location), files=self.files, place=place)

    def new_output(self, location: str) -> PyArrowFile:
        self.place_of(location)
        return super().new_output(location)

    def delete(self, location) -> None:
        self.files.remove(*self.place_of(location if isinstance(location, str) else location.location))


class OwnFile(PyArrowFile):
    # Bytes of metadata that were read into memory so far: of files, and of their unpacked blocks.
    read = 0

    def __init__(self, file: PyArrowFile, *, files: "Folder | Bucket", place: tuple[str, str, str]) -> None:
        super().__init__(file.location, file._path, file._filesystem, file._buffer_size)
        self.files = files
        self.place = place

    def open(self, seekable: bool = True) -> pa.NativeFile:
        file = self.files.open(*self.place)
        if self.place[1] == "metadata" and file.size() > MOST_BYTES:
            file.close()
            raise ForeignFile(f"{self.place[2]} is too large")
        OwnFile.read += file.size() if self.place[1] == "metadata" else 0
        return file


class OwnHeader(AvroFileHeader):
    """The header of a manifest or of a manifest list; unpacks its blocks. A megabyte of deflate may hold gigabytes."""

    left = MOST_BYTES

    def compression_codec(self) -> "OwnHeader | None":
        codec = self.meta.get(AVRO_CODEC_KEY)
        if codec not in ("null", "deflate"):
            raise ForeignFile("a manifest that is packed as Daybook and Spark do not")
        return self if codec == "deflate" else None

    def decompress(self, data: bytes) -> bytes:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        block = unpacking.decompress(data, self.left + 1)
        self.left -= len(block)
        OwnFile.read += len(block)
        if self.left < 0 or not unpacking.eof:
            raise ForeignFile("a manifest that is too large once unpacked, or cut")
        return block


# pyiceberg creates the header of each file that it reads.
pyiceberg.avro.file.AvroFileHeader = OwnHeader


class Folder:
    """The files in a folder. The lake itself may be a link, because its operator chose it."""

    def __init__(self, path: str) -> None:
        self.lake, *self.names = path.rsplit("/", 2)

    def open(self, table: str, kind: str, name: str) -> pa.NativeFile:
        with self._opened(table, kind) as folder:
            # Does not wait for a pipe.
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        if not S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise ForeignFile(f"{name} is not a regular file")
        return pa.PythonFile(os.fdopen(file, "rb"), mode="r")

    def names_in(self, table: str, kind: str) -> list[str]:
        try:
            with self._opened(table, kind) as folder:
                return [one.name for one in os.scandir(folder) if one.is_file(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, table: str, kind: str, name: str) -> None:
        with self._opened(table, kind) as folder:
            os.unlink(name, dir_fd=folder)

    def tables(self) -> list[str]:
        try:
            with self._opened() as folder:
                return [one.name for one in os.scandir(folder) if one.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []

    def remove_table(self, table: str, require_lock: Callable[[], None]) -> None:
        """Removes as much as permissions allow; `left_of` counts the rest."""
        with self._opened() as folder:
            for _, folders, files, inner in os.fwalk(table, topdown=False, dir_fd=folder):
                for name in [*folders, *files]:
                    require_lock()
                    with suppress(OSError):
                        is_folder = S_ISDIR(os.lstat(name, dir_fd=inner).st_mode)
                        (os.rmdir if is_folder else os.unlink)(name, dir_fd=inner)
            with suppress(OSError):
                os.rmdir(table, dir_fd=folder)

    def left_of(self, table: str) -> int:
        if table not in self.tables():
            return 0
        with self._opened() as folder:
            # A folder that stays without a visible file may be one that nobody may list.
            return max(1, sum(len(files) for *_, files, _ in os.fwalk(table, dir_fd=folder)))

    @contextmanager
    def _opened(self, *names: str) -> Iterator[int]:
        folder = os.open(self.lake, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in [*self.names, *names]:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)


class Bucket:
    """The files in a bucket, which has neither links nor pipes."""

    def __init__(self, filesystem: pyarrow.fs.FileSystem, path: str) -> None:
        self.filesystem = filesystem
        self.path = path

    def open(self, table: str, kind: str, name: str) -> pa.NativeFile:
        try:
            return self.filesystem.open_input_file(f"{self.path}/{table}/{kind}/{name}")
        except FileNotFoundError:
            # One answer may come from a server that lags behind, or from a server in the place of storage.
            if name in self.names_in(table, kind):
                raise OSError(errno.ESTALE, f"{name} is listed, and not found") from None
            raise

    def names_in(self, table: str, kind: str) -> list[str]:
        return self._names(f"{self.path}/{table}/{kind}", pyarrow.fs.FileType.File)

    def remove(self, table: str, kind: str, name: str) -> None:
        self.filesystem.delete_file(f"{self.path}/{table}/{kind}/{name}")

    def tables(self) -> list[str]:
        return self._names(self.path, pyarrow.fs.FileType.Directory)

    def remove_table(self, table: str, require_lock: Callable[[], None]) -> None:
        require_lock()
        with suppress(OSError):
            self.filesystem.delete_dir(f"{self.path}/{table}")

    def left_of(self, table: str) -> int:
        folder = f"{self.path}/{table}"
        selector = pyarrow.fs.FileSelector(folder, allow_not_found=True, recursive=True)
        files = [one.path for one in self.filesystem.get_file_info(selector) if one.type == pyarrow.fs.FileType.File]
        return sum(re.fullmatch(rf"{re.escape(folder)}(/{NAME})+", path) is not None for path in files)

    def _names(self, folder: str, kind: pyarrow.fs.FileType) -> list[str]:
        # The key of an object may be any text, and a folder is a prefix of keys: for "folder//x" pyarrow lists the folder itself.
        selector = pyarrow.fs.FileSelector(folder, allow_not_found=True)
        return [
            one.base_name
            for one in self.filesystem.get_file_info(selector)
            if one.type == kind and one.path == f"{folder}/{one.base_name}" and re.fullmatch(NAME, one.base_name)
        ]
