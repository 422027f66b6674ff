"""Running the console: NiceGUI's pages behind the guard, in one uvicorn on one loop."""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from odradek.console.entrance import Entrance, is_loopback
from odradek.console.guard import Guard
from odradek.console.observer import Observer, Options
from odradek.console.pages import register
from odradek.runtime.errors import OdradekError

PASSWORD_LENGTH_MIN = 8
FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#6366f1"/>'
    '<path d="M16 5l2.6 8.4L27 16l-8.4 2.6L16 27l-2.6-8.4L5 16l8.4-2.6z" fill="#fff"/></svg>'
)


class CannotServe(OdradekError):
    """The console cannot listen there, or it would let anybody in."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where the console listens, and who may come."""

    host: str
    port: int
    password: str | None = None

    def check(self) -> None:
        """Refuse what would be open to all."""
        if not is_loopback(self.host) and not self.password:
            raise CannotServe(f"to listen on {self.host}, give a --password: others can reach it")
        if self.password is not None and len(self.password) < PASSWORD_LENGTH_MIN:
            raise CannotServe(f"a password has at least {PASSWORD_LENGTH_MIN} characters")


def serve(options: Options, where: Where, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes."""
    where.check()
    with listening_on(where) as listener:
        announce(address_of(listener, where.host))
        serve_at(listener, options, where)


def serve_at(listener: socket.socket, options: Options, where: Where) -> None:
    """Put all together, and serve."""
    observer = Observer(options, Random())
    entrance = Entrance(
        where.password, not is_loopback(where.host), lambda: secrets.token_urlsafe(32)
    )

    servers: list[uvicorn.Server] = []

    def give_up() -> None:
        for server in servers:
            server.should_exit = True

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        observer.start(give_up)
        yield
        await observer.stop()

    app = FastAPI(lifespan=living, docs_url=None, redoc_url=None, openapi_url=None)
    register(observer)
    ui.run_with(
        app,
        title="Odradek",
        favicon=FAVICON,
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=10.0,
        show_welcome_message=False,
    )
    config = uvicorn.Config(
        Guard(app, entrance),
        log_level="warning",
        server_header=False,
        ws_max_size=4 * 1024 * 1024,
        timeout_graceful_shutdown=1,
    )
    servers.append(uvicorn.Server(config))
    servers[0].run(sockets=[listener])


def listening_on(where: Where) -> socket.socket:
    """A socket that listens; a port that is taken is told in words."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    try:
        return socket.create_server((where.host, where.port), family=family)
    except OSError as error:
        raise CannotServe(
            f"cannot listen on {where.host}:{where.port}: {error.strerror}"
        ) from error


def address_of(listener: socket.socket, host: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"
