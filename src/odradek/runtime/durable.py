"""Directories that a loss of power does not take back."""

from __future__ import annotations

from os.path import dirname

from odradek.runtime.disk import Disk


def make_durable_directories(disk: Disk, path: str) -> None:
    """Make a directory and those above it, such that a loss of power does not take them back."""
    made = []
    while not disk.is_directory(path):
        made.append(path)
        path = dirname(path)
    if made:
        disk.make_directories(made[0])
    for directory in reversed(made):
        disk.sync_directory(dirname(directory))
