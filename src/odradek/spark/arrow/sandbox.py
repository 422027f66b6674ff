"""A WebAssembly program, and a view of its memory that grows when it must."""

from __future__ import annotations

import ctypes
from typing import Any

import wasmtime

from odradek.runtime.errors import ProtocolError

PAGE_BYTES = 65_536
MEMORY_BYTES_MAX = 2**32 - PAGE_BYTES
ALIGNMENT = 64  # What Arrow likes.


class TooLarge(ProtocolError):
    """More than the program's memory can hold at once."""


class Sandbox:
    """One program with its memory. Not for two threads at once."""

    def __init__(self, text: str) -> None:
        self._engine = wasmtime.Engine()
        self._store = wasmtime.Store(self._engine)
        self._module = wasmtime.Module(self._engine, text)
        self._exports = wasmtime.Instance(self._store, self._module, []).exports(self._store)
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = memory
        self._functions: dict[str, Any] = {}
        self.view = memoryview(b"")
        self.address = 0

    def close(self) -> None:
        """Give the memory back; whoever still looks at it looks into the void."""
        self.view = memoryview(b"")
        self._store.close()
        self._module.close()
        self._engine.close()

    def call(self, name: str, *arguments: int) -> int:
        """Run one function of the program."""
        function: Any = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._exports[name]
        result: int = function(self._store, *arguments)
        return result

    def reserve(self, size: int) -> None:
        """Let the memory have at least this size; what is in it stays, the view is a new one."""
        if size > MEMORY_BYTES_MAX:
            raise TooLarge(f"{size} bytes at once")
        missing = size - len(self.view)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // PAGE_BYTES))
            length = self._memory.data_len(self._store)
            address = ctypes.addressof(self._memory.data_ptr(self._store).contents)
            # The address space of 32 bits is set aside at once: what is lent stays where it is.
            assert self.address in (0, address), "the memory of the program has moved"
            self.address = address
            whole = (ctypes.c_ubyte * length).from_address(address)
            self.view = memoryview(whole).cast("B")
