"""Partitions on disk: segments and their indexes, producers' state, epochs and checkpoints."""
