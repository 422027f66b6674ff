"""What is kept of users, client ids and addresses: found, and written as Kafka writes it.

Of whom nothing is said any more no node is left: it goes, and what stood above it for its sake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from odradek.kafka.admin.entities import Absent, Entity, escaped, unescaped
from odradek.kafka.controller import paths
from odradek.zookeeper.client.errors import NotEmpty

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker


async def users(broker: Broker) -> list[Entity]:
    return [Entity(user=unescaped(it)) for it in await children(broker, "users")]


async def client_ids(broker: Broker) -> list[Entity]:
    return [Entity(client_id=unescaped(it)) for it in await children(broker, "clients")]


async def addresses(broker: Broker) -> list[Entity]:
    return [Entity(ip=unescaped(it)) for it in await children(broker, "ips")]


async def users_clients(broker: Broker, is_wanted: Callable[[str | None], bool]) -> list[Entity]:
    """Users together with client ids, of those users that are wanted."""
    return [
        Entity(user=unescaped(user), client_id=unescaped(client))
        for user in await children(broker, "users")
        if is_wanted(unescaped(user))
        for client in await children(broker, f"users/{user}/clients")
    ]


async def children(broker: Broker, path: str) -> list[str]:
    return await broker.keeper.children(paths.entity(path))


async def write_entity(broker: Broker, entity: Entity, texts: Mapping[str, str]) -> None:
    """Have this be all that is said of someone, and let every broker know."""
    await broker.configs.write(entity.path, texts)
    if not texts:
        await clean(broker, entity)


async def clean(broker: Broker, entity: Entity) -> None:
    """Remove a node that says nothing, unless there is something below it."""
    try:
        await broker.keeper.forget(paths.entity(entity.path))
        if isinstance(entity.user, Absent) or isinstance(entity.client_id, Absent):
            return
        user = f"users/{escaped(entity.user)}"
        await broker.keeper.forget(paths.entity(f"{user}/clients"))
        if not await broker.configs.fetch(user):
            await broker.keeper.forget(paths.entity(user))
    except NotEmpty:
        pass  # Others are kept there.
