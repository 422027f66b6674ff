"""Looks for what is wrong: with a machine, a config, a data directory; and says it plainly."""

from odradek.doctor.examination import examine
from odradek.doctor.finding import Finding, Level, is_well

__all__ = ["Finding", "Level", "examine", "is_well"]
