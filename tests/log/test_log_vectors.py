"""Leaves, heads and keys, compared with the test vectors that verifiers in other languages also read."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

import arena.log
from arena.log.head import LogEntry, LogHead, head_text, log_name, rotation_text
from arena.log.keys import KeyUnreadable, LogKeys, Signer, first_key_leaf, next_key_leaf, signed
from arena.log.leaf import FIELDS, LeafError, LeafKind, decode_leaf, encode_leaf
from arena.log.tree import consistency_proof, consistent, inclusion_proof, leaf_hash, root
from tests.log.test_log_tree import hexed, nodes_of

VECTORS: Final = json.loads((Path(arena.log.__file__).parent / "vectors.json").read_text(encoding="utf-8"))
LEAVES: Final = [each["leaf"].encode() for each in VECTORS["leaves"]]
NODES: Final = nodes_of(LEAVES)
FIRST, SECOND = (Signer(bytes.fromhex(secret)) for secret in VECTORS["secrets"])


def entry(number: int, size: int) -> LogEntry:
    head = LogHead(size, root(size, NODES), b"")
    return LogEntry(number, LEAVES[number - 1], head, tuple(inclusion_proof(number - 1, size, NODES)))


def test_the_vectors_have_a_leaf_of_every_kind() -> None:
    kinds = {(leaf["log"], LeafKind(leaf["kind"])) for leaf in map(decode_leaf, LEAVES)}
    assert kinds == {(version, kind) for version, known in FIELDS.items() for kind in known}
    assert {kind for _, kind in kinds} == set(LeafKind)


@pytest.mark.parametrize(
    "vector", VECTORS["leaves"], ids=lambda vector: "{log} {kind}".format(**json.loads(vector["leaf"]))
)
def test_a_leaf_has_one_encoding(vector: dict[str, str]) -> None:
    content = vector["leaf"].encode()
    leaf = decode_leaf(content)
    fields = {name: leaf[name] for name in FIELDS[leaf["log"]][LeafKind(leaf["kind"])]}
    assert encode_leaf(leaf["number"], LeafKind(leaf["kind"]), leaf["at"], **fields) == content
    assert leaf_hash(content).hex() == vector["hash"]
    backwards = json.dumps(dict(reversed(json.loads(content).items())), separators=(",", ":"), ensure_ascii=False)
    for other in (content.replace(b'"log":', b'"log": ', 1), content + b" ", backwards.encode()):
        with pytest.raises(LeafError, match="written otherwise"):
            decode_leaf(other)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no leaf of a log"),
        (b"[]", "no leaf of a log"),
        (b"\xff", "no leaf of a log"),
        (b"[" * 100_000, "no leaf of a log"),
        (b'{"log":3,"number":1,"kind":"key","at":1}', "version is 3, and this program knows 1 and 2; upgrade it"),
        (b'{"log":true,"number":1,"kind":"key","at":1}', "version is True, and this program knows 1 and 2; upgrade it"),
        (
            b'{"log":1,"number":1,"kind":"party","at":1}',
            "kind is 'party', and this program knows rated, .*outcome; upg",
        ),
        (
            b'{"log":1,"number":1,"kind":[],"at":1}',
            r"kind is \[\], and this program knows rated, .*outcome; upgrade it",
        ),
        (
            b'{"log":2,"number":1,"kind":"ban","at":1,"name":"x","reason":""}',
            "a leaf of the kind ban has version 1, not 2",
        ),
        (
            b'{"log":1,"number":1,"kind":"season","at":1,"name":"x","season":2,"ladder":"x/2"}',
            "a leaf of the kind season has version 2, not 1",
        ),
        (b'{"log":1,"number":1,"kind":"roll","at":1}', "a leaf of the kind roll has version 2, not 1"),
        (
            b'{"log":1,"number":1,"kind":"void","at":1,"match":1,"game":"x","ladder":"y","reason":""}',
            "has the fields match, game, reason, not match, game, ladder, reason",
        ),
        (
            b'{"log":2,"number":1,"kind":"void","at":1,"match":1,"game":"x","reason":""}',
            "has the fields match, game, ladder, reason, not match, game, reason",
        ),
        (
            b'{"log":2,"number":1,"kind":"void","at":1,"match":1,"game":"x","ladder":"x","reason":""}',
            "a leaf does not name the default ladder 'x'",
        ),
        (b'{"log":1,"kind":"ban","at":1,"name":"x","reason":""}', "lacks one of the fields log, number, kind, at"),
        (b'{"log":1,"number":1,"kind":"ban","at":1,"name":"x"}', "has the fields name, reason, not name"),
    ],
)
def test_bytes_that_are_no_leaf_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(LeafError, match=why):
        decode_leaf(content)


def test_heads_are_those_of_the_vectors_and_signed_by_the_key_of_their_time() -> None:
    keys = LogKeys([leaf for leaf in LEAVES if b'"kind":"key"' in leaf])
    assert keys.log == VECTORS["log"] == log_name(FIRST.public)
    assert (FIRST.public, SECOND.public) == tuple(bytes.fromhex(key) for key in VECTORS["keys"])
    assert keys.newest == SECOND.public
    assert FIRST.public in keys
    for vector, signer in zip(VECTORS["heads"], (FIRST, FIRST, SECOND, SECOND, SECOND), strict=True):
        made = root(vector["size"], NODES)
        assert made.hex() == vector["root"]
        signature = signer.sign(head_text(keys.log, vector["size"], made))
        assert signature.hex() == vector["signature"]
        head = LogHead(vector["size"], made, signature)
        assert keys.signed(head)
        assert keys.signed_now(head) is (signer is SECOND)
        other = (SECOND if signer is FIRST else FIRST).sign(head_text(keys.log, vector["size"], made))
        assert not keys.signed(head._replace(signature=other)), "of another time"
        assert not keys.signed_now(head._replace(signature=other))
        assert not keys.signed(head._replace(size=vector["size"] + 1))
        assert not keys.signed(head._replace(root=bytes(32)))
        assert not keys.signed(head._replace(signature=b"short"))


def test_proofs_are_those_of_the_vectors() -> None:
    sizes = {vector["size"] for vector in VECTORS["heads"]}
    for vector in VECTORS["inclusion"]:
        assert vector["size"] in sizes, "verifiers in other languages look the root up"
        made = entry(vector["number"], vector["size"])
        assert hexed(made.proof) == vector["proof"]
        assert made.included
        assert not made._replace(leaf=made.leaf + b" ").included
        assert not made._replace(number=made.number + 1).included
    for vector in VECTORS["consistency"]:
        first, second = vector["first"], vector["second"]
        assert {first, second} <= sizes
        proof = consistency_proof(first, second, NODES)
        assert hexed(proof) == vector["proof"]
        assert consistent(first, root(first, NODES), second, root(second, NODES), proof)


def test_a_key_that_the_one_before_did_not_sign_is_refused() -> None:
    first = first_key_leaf(1, 5, FIRST)
    keys = LogKeys([first])
    good = next_key_leaf(2, 6, keys, FIRST, SECOND)
    assert LogKeys([first, good]).newest == SECOND.public
    assert LogKeys([first, good]).log == keys.log
    forged = next_key_leaf(2, 6, keys, SECOND, SECOND)
    other_log = encode_leaf(
        2,
        LeafKind.KEY,
        6,
        key=SECOND.public.hex(),
        signature=FIRST.sign(rotation_text(log_name(SECOND.public), SECOND.public)).hex(),
    )
    for bad in (forged, other_log):
        with pytest.raises(LeafError, match="key of leaf 2 is not signed by the one before it"):
            LogKeys([first, bad])
    with pytest.raises(LeafError, match="leaf 2 is of the kind ban, not key"):
        LogKeys([first, encode_leaf(2, LeafKind.BAN, 6, name="a", reason="")])
    for key in ("no hex", 5):
        with pytest.raises(LeafError, match="leaf 2 holds no key"):
            LogKeys([first, encode_leaf(2, LeafKind.KEY, 6, key=key, signature="")])
    for number in (1, 0, -2, "3", True, None):
        again = next_key_leaf(number, 6, keys, FIRST, SECOND)  # type: ignore[arg-type]
        with pytest.raises(LeafError, match=f"key of leaf {number} does not come after the one before it"):
            LogKeys([first, again])
    with pytest.raises(LeafError, match="a log without a key"):
        LogKeys([])


@pytest.mark.process
def test_a_key_is_kept_as_openssl_reads_it_and_shows_itself_to_nobody(tmp_path: Path) -> None:
    signer = Signer.new()
    again = Signer.read(signer.pem())
    assert again.public == signer.public != Signer.new().public
    assert pickle.loads(pickle.dumps(signer)).sign(b"text") == signer.sign(b"text")
    assert repr(signer) == "Signer(…)"
    path = tmp_path / "log.key"
    path.write_bytes(signer.pem())
    shown = subprocess.run(
        ["openssl", "pkey", "-in", str(path), "-pubout", "-outform", "DER"], capture_output=True, check=True
    )
    assert shown.stdout[-32:] == signer.public


@pytest.mark.parametrize("secret", ["nonsense", "of another kind"])
def test_a_file_that_holds_no_key_is_refused(secret: str) -> None:
    with pytest.raises(KeyUnreadable, match="no private key" if secret == "nonsense" else "another kind than Ed25519"):
        Signer.read(_pem(secret))


def _pem(secret: str) -> bytes:
    if secret == "nonsense":
        return b"nonsense"
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key: Any = ec.generate_private_key(ec.SECP256R1())
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    content: bytes = key.private_bytes(encoding, form, serialization.NoEncryption())
    return content


def test_what_is_no_key_or_signature_signs_nothing() -> None:
    assert signed(FIRST.public, FIRST.sign(b"x"), b"x")
    for key, signature, text in (
        (FIRST.public, FIRST.sign(b"x"), b"y"),
        (SECOND.public, FIRST.sign(b"x"), b"x"),
        (b"", FIRST.sign(b"x"), b"x"),
        (FIRST.public, b"", b"x"),
    ):
        assert not signed(key, signature, text)
