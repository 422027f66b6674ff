"""Found by Spark by its name: registers `format("odradek")` without a word of code."""

from odradek.spark.source import OdradekSource as DefaultSource

__all__ = ["DefaultSource"]
