"""Found by Spark by its name: registers `format("odradek-log")` without a word of code."""

from odradek.spark.log_source import OdradekLogSource as DefaultSource

__all__ = ["DefaultSource"]
