"""What only the controller does: asked of it, whoever it is by then.

A picture of the cluster may name one that has been succeeded, or has died. A request whose answer
was lost is sent again: whoever creates a thing may then hear that it is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import ConnectionLost, NoBroker
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.schema import Message

R = TypeVar("R", bound=Message)


def ask_the_controller(
    cluster: Cluster,
    what: str,
    request: Message,
    response: type[R],
    codes_of: Callable[[R], Iterable[int]],
) -> R:
    """The answer of the one that is the controller when it answers."""
    patience = cluster.patience(what)
    while True:
        try:
            answer = cluster.ask_controller(request, response)
        except (ConnectionLost, NoBroker) as error:
            trouble = str(error)
        else:
            if ErrorCode.NOT_CONTROLLER not in codes_of(answer):
                return answer
            trouble = ErrorCode.NOT_CONTROLLER.name
        patience.pause(trouble)
        cluster.topics()  # It tells who is the controller, too.
