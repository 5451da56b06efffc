#!/usr/bin/env python3
"""Makes programs and libraries run with an older glibc than the one they were linked with.

    old_glibc.py 2.28 FILE…

A file names, beside each function of another library, the version of it that it was linked with. Most that are
"newer" than 2.28 are old functions that moved to another library or whose errors are told in another way. The
tool takes the version off such names, so that the loader takes the function that is there, and replaces it in
the list of what the file needs by the oldest one there, which every library of glibc has. Names of libstdc++ and libgcc_s, which come
along in the wheel, lose theirs as well. What glibc 2.28 really does not have is in old_glibc.c.

The rules of the loader are those of the "Linux Standard Base" (symbol versioning): a name without a version takes
the oldest definition or, where there is one only, the default one. The files stay as long as they are.
"""

import re
import struct
import sys

GLOBAL = 1  # the version index of a name without a version
FIRST = ("GLIBC_2.2.5", "GLIBC_2.17")  # of glibc for 64-bit x86 and ARM
ALONG = ("GLIBCXX", "CXXABI", "GCC")  # what libstdc++ and libgcc_s call their versions


class Elf:
    """The tables of versions of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no 64-bit little-endian ELF file")
        (offset,) = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]
        texts = headers[names][4]
        self.sections = {self._text(texts + header[0]): header for header in headers}

    def _text(self, offset):
        return self.data[offset : self.data.index(0, offset)].decode()

    def needs(self):
        """(version, index, offset) of each version that the file asks of other libraries."""
        if ".gnu.version_r" not in self.sections:
            return
        strings = self.sections[".dynstr"][4]
        library = self.sections[".gnu.version_r"][4]
        while True:
            _, count, _, first, following = struct.unpack_from("<HHIII", self.data, library)
            entry = library + first
            for _ in range(count):
                _, _, index, name, after = struct.unpack_from("<IHHII", self.data, entry)
                yield self._text(strings + name), index & 0x7FFF, entry
                entry += after
            if not following:
                return
            library += following

    def replace(self, entry, other):
        """Makes the version at `entry` another name of the one at `other`."""
        self.data[entry : entry + 4] = self.data[other : other + 4]  # the hash
        self.data[entry + 8 : entry + 12] = self.data[other + 8 : other + 12]  # the name

    def take_version(self, indices):
        """Leaves the names that have one of these versions without any."""
        if ".gnu.version" not in self.sections:
            return
        _, _, _, _, versions, size = self.sections[".gnu.version"][:6]
        for position in range(versions, versions + size, 2):
            (index,) = struct.unpack_from("<H", self.data, position)
            if index & 0x7FFF in indices:
                struct.pack_into("<H", self.data, position, GLOBAL)


def numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def age(path, newest):
    """Takes the version off the names of `path` that are newer than glibc `newest` or of the C++ runtime."""
    elf = Elf(path)
    needs = list(elf.needs())
    taken = []
    for version, index, entry in needs:
        kind = version.rpartition("_")[0]
        if kind in ALONG or (kind == "GLIBC" and numbers(version) > numbers(newest)):
            oldest = min((need for need in needs if need[0].startswith(kind + "_")), key=lambda need: numbers(need[0]))
            # All libraries of glibc have its first version, whichever of them this entry was of.
            if kind == "GLIBC" and oldest[0] not in FIRST:
                raise ValueError(f"{path} asks for no name of glibc's first version, only for {oldest[0]} and later")
            taken.append((index, entry, oldest[2]))
    for _, entry, oldest in taken:
        elf.replace(entry, oldest)
    elf.take_version({index for index, _, _ in taken})
    with open(path, "r+b") as file:
        file.write(elf.data)


def main():
    newest, *files = sys.argv[1:]
    for path in files:
        try:
            age(path, newest)
        except (OSError, ValueError) as error:
            sys.exit(f"old_glibc: error: {error}")


if __name__ == "__main__":
    main()
