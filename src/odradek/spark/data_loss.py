"""What to do when data that should be there are not: fail, or say so and go on."""

from __future__ import annotations

import logging

from odradek.runtime.errors import OdradekError

LOG = logging.getLogger(__name__)
HINT = (
    "Some data may have been lost: they aged out, or the topic was deleted or made anew. If you do"
    " not want your query to fail on such cases, set the option failOnDataLoss to false."
)


class DataLost(OdradekError):
    """Data are gone that the query counted on."""


def report_data_loss(what: str, fails: bool) -> None:
    """Raise `DataLost`, or warn if that is what the query asked for."""
    if fails:
        raise DataLost(f"{what}. {HINT}")
    LOG.warning("%s. Some data may have been lost.", what)
