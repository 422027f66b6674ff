"""Passwords among the settings that are kept in ZooKeeper: encrypted, or not kept at all.

`password.encoder.secret` is what they are encrypted with. Without it a broker neither keeps a
password nor reads one that another kept. What is kept is a text of named parts in any order:

    keyLength:128,iterations:4096,salt:<base64>,encryptedPassword:<base64>,...
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from odradek.kafka.settings.dynamic import is_password
from odradek.runtime.kinds import INT
from odradek.runtime.secret import Secret


@dataclass(frozen=True, slots=True)
class EncryptedPassword:
    """What must be known, besides the secret, to read a password."""

    key_factory_algorithm: str
    cipher_algorithm: str
    key_length_bits: int
    iterations: int
    salt: bytes = field(repr=False)
    initialization_vector: bytes = field(repr=False)
    encrypted: bytes = field(repr=False)
    password_length: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for a text that is none."""
        parts = dict(part.partition(":")[::2] for part in text.split(","))
        try:
            return cls(
                parts["keyFactoryAlgorithm"],
                parts["cipherAlgorithm"],
                INT.read(parts["keyLength"]),
                INT.read(parts["iterations"]),
                binascii.a2b_base64(parts["salt"]),
                binascii.a2b_base64(parts["initializationVector"]),
                binascii.a2b_base64(parts["encryptedPassword"]),
                INT.read(parts["passwordLength"]),
            )
        except KeyError as missing:
            raise ValueError(f"is not an encrypted password: it lacks {missing}") from None

    def __str__(self) -> str:
        parts = {
            "keyFactoryAlgorithm": self.key_factory_algorithm,
            "cipherAlgorithm": self.cipher_algorithm,
            "keyLength": self.key_length_bits,
            "iterations": self.iterations,
            "salt": base64_text(self.salt),
            "initializationVector": base64_text(self.initialization_vector),
            "encryptedPassword": base64_text(self.encrypted),
            "passwordLength": self.password_length,
        }
        return ",".join(f"{name}:{part}" for name, part in parts.items())


def base64_text(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def to_keep(
    texts: Mapping[str, str], encrypt: Callable[[Secret], EncryptedPassword]
) -> dict[str, str]:
    """Settings as they are written to ZooKeeper."""
    return {
        key: str(encrypt(Secret(text))) if is_password(key) else text for key, text in texts.items()
    }


def kept(
    texts: Mapping[str, str], decrypt: Callable[[EncryptedPassword], Secret] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Settings read from ZooKeeper, and the passwords that cannot be, each with the reason."""
    readable: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    for key, text in texts.items():
        if not is_password(key):
            readable[key] = text
        elif decrypt is None:
            unreadable[key] = "is encrypted, and there is no password.encoder.secret"
        else:
            try:
                readable[key] = decrypt(EncryptedPassword.parse(text)).reveal()
            except ValueError as error:
                unreadable[key] = str(error)
    return readable, unreadable
