"""Passwords are kept in ZooKeeper encrypted, or not at all."""

from __future__ import annotations

import pytest

from odradek.kafka.settings.passwords import EncryptedPassword, kept, to_keep
from odradek.runtime.secret import Secret

# As a live broker wrote it, but for a shorter salt.
KEPT = (
    "initializationVector:j2wUuzHfM286uYnyxuVxyg==,keyLength:128,salt:HrBFJnXd,"
    "keyFactoryAlgorithm:PBKDF2WithHmacSHA512,cipherAlgorithm:AES/CBC/PKCS5Padding,"
    "iterations:4096,passwordLength:6,encryptedPassword:hyS5eCr0wVD6/Mm39aLhgQ=="
)
KEY = "listener.name.plaintext.ssl.key.password"


def backwards(secret: Secret) -> EncryptedPassword:
    """No cipher at all, but enough to see where one would be used."""
    password = EncryptedPassword.parse(KEPT)
    text = secret.reveal()[::-1].encode()
    return EncryptedPassword(
        password.key_factory_algorithm,
        password.cipher_algorithm,
        password.key_length_bits,
        password.iterations,
        password.salt,
        password.initialization_vector,
        text,
        len(text),
    )


def forwards(password: EncryptedPassword) -> Secret:
    return Secret(password.encrypted.decode("latin-1")[::-1])


def test_an_encrypted_password_is_parts_in_any_order() -> None:
    password = EncryptedPassword.parse(KEPT)
    assert (password.key_length_bits, password.iterations) == (128, 4096)
    assert password.cipher_algorithm == "AES/CBC/PKCS5Padding"
    assert len(password.initialization_vector) == len(password.encrypted) == 16
    assert EncryptedPassword.parse(str(password)) == password
    assert sorted(str(password).split(",")) == sorted(KEPT.split(","))


@pytest.mark.parametrize("text", ["", "hunter2", KEPT.replace("keyLength", "length"), "salt:x"])
def test_what_is_no_encrypted_password_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(ValueError, match="is not an encrypted password: it lacks") as caught:
        EncryptedPassword.parse(text)
    assert "hunter" not in str(caught.value)


def test_only_passwords_are_encrypted() -> None:
    texts = {KEY: "hunter2", "log.retention.ms": "5"}
    written = to_keep(texts, backwards)
    assert written["log.retention.ms"] == "5"
    assert "hunter2" not in written[KEY]
    assert kept(written, forwards) == (texts, {})


def test_without_the_secret_a_password_is_left_out_and_named() -> None:
    readable, unreadable = kept({KEY: KEPT, "log.retention.ms": "5"}, None)
    assert readable == {"log.retention.ms": "5"}
    assert unreadable == {KEY: "is encrypted, and there is no password.encoder.secret"}


def test_a_password_that_cannot_be_read_does_not_hide_the_rest() -> None:
    readable, unreadable = kept({KEY: "hunter2", "log.retention.ms": "5"}, forwards)
    assert readable == {"log.retention.ms": "5"}
    assert unreadable.keys() == {KEY}
