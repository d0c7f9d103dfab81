"""Keys of a log: Ed25519 by the library `cryptography`, imported where it is first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_BYTES: Final = 32
"""Size of a private key and of a public one."""


class KeyUnreadable(ValueError):  # noqa: N818 - the name says it
    """Bytes that are no private key of a log; the message says why."""


class Signer:
    """A private key. It can be pickled, and says nothing of itself in a log."""

    def __init__(self, secret: bytes) -> None:
        """Use 32 secret bytes."""
        self._secret: Final = secret

    def __repr__(self) -> str:
        return "Signer(…)"

    def __reduce__(self) -> tuple[type[Signer], tuple[bytes]]:
        return Signer, (self._secret,)

    @staticmethod
    def new() -> Signer:
        """Make a new key from the operating system's chance."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Signer(Ed25519PrivateKey.generate().private_bytes_raw())

    @staticmethod
    def read(pem: bytes) -> Signer:
        """Read a key from the text of a file in PEM (PKCS 8), as `openssl pkey` reads it. Raises: KeyUnreadable."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(pem, None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise KeyUnreadable("it is no private key in PEM without a password") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyUnreadable("it is a key of another kind than Ed25519")
        return Signer(key.private_bytes_raw())

    def pem(self) -> bytes:
        """Return the key as the text of a file."""
        from cryptography.hazmat.primitives import serialization

        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    @cached_property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, text: bytes) -> bytes:
        """Return the signature of a text, 64 bytes, the same each time."""
        return self._key.sign(text)

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret)


def signed(key: bytes, signature: bytes, text: bytes) -> bool:
    """Return whether a signature of a text is of a public key; keys and signatures that are none never fit."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True
