"""The successive keys of a log, as named in its leaves; each key signs the next one.

They are Ed25519 keys from the library `cryptography`, which is imported on first use.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from arena.log.head import LogHead, head_text, log_name, rotation_text, webhook_text
from arena.log.leaf import LeafError, LeafKind, decode_leaf, encode_leaf

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class KeyUnreadable(ValueError):  # noqa: N818 - the name says it
    """Error for bytes that are not a private key of a log. The message states the reason."""


class Signer:
    """A private key. It can be pickled, and its `repr` does not reveal the secret."""

    def __init__(self, secret: bytes) -> None:
        """Create a key from 32 secret bytes."""
        self._secret: Final = secret

    def __repr__(self) -> str:
        return "Signer(…)"

    def __reduce__(self) -> tuple[type[Signer], tuple[bytes]]:
        return Signer, (self._secret,)

    @staticmethod
    def new() -> Signer:
        """Create a new key with the operating system's randomness."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Signer(Ed25519PrivateKey.generate().private_bytes_raw())

    @staticmethod
    def read(pem: bytes) -> Signer:
        """Read a key from the text of a PEM file (PKCS 8), such as one that `openssl` writes.

        Raises:
            KeyUnreadable: the text is no such key.
        """
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
        """Return the key as the text of a PEM file."""
        from cryptography.hazmat.primitives import serialization

        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    @cached_property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, text: bytes) -> bytes:
        """Return the signature of a text, 64 bytes. Equal texts have equal signatures."""
        return self._key.sign(text)

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret)


def signed(key: bytes, signature: bytes, text: bytes) -> bool:
    """Return True if a text's signature is valid for a public key. Return False if key or signature is malformed."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


class LogKeys:
    """The public keys that a log has had. A head over n leaves is signed with the newest key in these leaves."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        """Read all of a log's leaves of the kind `key`, in order.

        Raises:
            LeafError: A leaf is malformed, out of order, or not signed by the key before it.
        """
        if not leaves:
            raise LeafError("a log without a key")
        self.leaves = tuple(leaves)
        self._keys: list[bytes] = []
        self._numbers: list[int] = []
        for content in leaves:
            leaf = decode_leaf(content)
            number = leaf["number"]
            if leaf["kind"] != LeafKind.KEY.value:
                raise LeafError(f"leaf {number} is of the kind {leaf['kind']}, not key")
            if type(number) is not int or number <= max(self._numbers, default=0):
                raise LeafError(f"the key of leaf {number} does not come after the one before it")
            try:
                key, signature = bytes.fromhex(leaf["key"]), bytes.fromhex(leaf["signature"])
            except (TypeError, ValueError):
                raise LeafError(f"leaf {number} holds no key") from None
            if self._keys and not signed(self._keys[-1], signature, rotation_text(self.log, key)):
                raise LeafError(f"the key of leaf {number} is not signed by the one before it")
            self._keys.append(key)
            self._numbers.append(number)

    @property
    def log(self) -> str:
        """The name of the log."""
        return log_name(self._keys[0])

    @property
    def newest(self) -> bytes:
        """The key that currently signs."""
        return self._keys[-1]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def signed(self, head: LogHead) -> bool:
        """Return True if a head is signed by the key that was valid at the head's size."""
        place = bisect(self._numbers, head.size) - 1
        return place >= 0 and signed(self._keys[place], head.signature, head_text(self.log, head.size, head.root))

    def signed_now(self, head: LogHead) -> bool:
        """Return True if the newest key signed a head that a log presents now, and the head includes that key's leaf.

        Without that leaf, anyone with a retired key could pretend that the log was restored to a time before the change
        of keys.
        """
        return head.size >= self._numbers[-1] and self.signed(head)


def first_key_leaf(number: int, at: int, signer: Signer) -> bytes:
    """Return the leaf with a log's first key. `at` is a time in microseconds since 1970."""
    return encode_leaf(number, LeafKind.KEY, at, key=signer.public.hex(), signature="")


def next_key_leaf(number: int, at: int, keys: LogKeys, old: Signer, new: Signer) -> bytes:
    """Return the leaf in which a log's key names its successor."""
    signature = old.sign(rotation_text(keys.log, new.public))
    return encode_leaf(number, LeafKind.KEY, at, key=new.public.hex(), signature=signature.hex())


class HeadSigner:
    """A signer of the heads of one log, and of messages in its name. It can be pickled."""

    def __init__(self, log: str, signer: Signer) -> None:
        """Sign for the log with this name."""
        self.log: Final = log
        self._signer: Final = signer

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._signer.public  # noqa: B018 - Load the library now, and not when the first results are waiting.

    def __call__(self, size: int, root: bytes) -> bytes:
        """Return the signature of a head."""
        return self._signer.sign(head_text(self.log, size, root))

    def sign_message(self, body: bytes) -> bytes:
        """Return the signature of a message to a webhook."""
        return self._signer.sign(webhook_text(self.log, body))
