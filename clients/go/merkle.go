package client

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	arenav1 "arena.example/client/v1"
)

// Proofs (RFC 9162, 2.1) that a log of results includes a leaf, and that it has only grown.

func hashed(parts ...[]byte) []byte {
	made := sha256.New()
	for _, part := range parts {
		made.Write(part)
	}
	return made.Sum(nil)
}

func nodeHash(left, right []byte) []byte { return hashed([]byte{1}, left, right) }

// included reports whether a leaf's proof leads to the root of its head.
func included(entry *arenav1.LogEntry) bool {
	if entry.GetHead() == nil || entry.Number < 1 || entry.Number > entry.Head.Size {
		return false
	}
	_, root, whole := climbed(entry.Number-1, entry.Head.Size-1, hashed([]byte{0}, entry.Leaf), entry.Proof)
	return whole && bytes.Equal(root, entry.Head.Root)
}

// consistent reports whether a proof shows that the first log, which is not empty, is the beginning of the second.
func consistent(first, second *arenav1.LogHead, proof [][]byte) bool {
	if first.Size < 1 || first.Size > second.Size {
		return false
	}
	if first.Size == second.Size {
		return len(proof) == 0 && bytes.Equal(first.Root, second.Root)
	}
	if first.Size&(first.Size-1) == 0 {
		proof = append([][]byte{first.Root}, proof...)
	}
	if len(proof) == 0 {
		return false
	}
	place, last := first.Size-1, second.Size-1
	for place&1 == 1 {
		place, last = place>>1, last>>1
	}
	old, made, whole := climbed(place, last, proof[0], proof[1:])
	return whole && bytes.Equal(old, first.Root) && bytes.Equal(made, second.Root)
}

// climbed returns the roots to which a proof leads from a node's hash: of the log up to this node, and of the whole
// log. place and last: the numbers of this node and of the last on its level. whole: the proof has the right length.
func climbed(place, last uint64, start []byte, proof [][]byte) (old, made []byte, whole bool) {
	old, made = start, start
	for _, each := range proof {
		if last == 0 {
			return nil, nil, false
		}
		if place&1 == 1 || place == last {
			old, made = nodeHash(each, old), nodeHash(each, made)
			for place&1 == 0 && place > 0 {
				place, last = place>>1, last>>1
			}
		} else {
			made = nodeHash(made, each)
		}
		place, last = place>>1, last>>1
	}
	return old, made, last == 0
}

// fieldsOf returns the fields of a leaf, by name.
func fieldsOf(leaf []byte) (fields map[string]json.RawMessage, err error) {
	if err = json.Unmarshal(leaf, &fields); err == nil && fields == nil {
		err = errors.New("it is no JSON object")
	}
	return fields, err
}

// logKeys are the successive public keys of a log. Each key signs the next.
type logKeys struct {
	log    string
	newest []byte
}

// readKeys reads the leaves that name the keys. Each must be well formed, and signed by the key before it.
func readKeys(leaves [][]byte) (*logKeys, error) {
	if len(leaves) == 0 {
		return nil, errors.New("a log without a key")
	}
	keys := &logKeys{}
	for _, leaf := range leaves {
		var named struct{ Key, Signature *string }
		if json.Unmarshal(leaf, &named) != nil || named.Key == nil || named.Signature == nil {
			return nil, errors.New("a leaf that names no key")
		}
		key, wrong := hex.DecodeString(*named.Key)
		signature, wrongToo := hex.DecodeString(*named.Signature)
		if wrong != nil || wrongToo != nil {
			return nil, errors.New("a leaf that names no key")
		}
		if keys.log == "" {
			keys.log = hex.EncodeToString(hashed(key))
		} else if !signedBy(keys.newest, signature, fmt.Sprintf("arena-log/%s\nkey\n%s\n", keys.log, *named.Key)) {
			return nil, errors.New("a key that the one before it did not sign")
		}
		keys.newest = key
	}
	return keys, nil
}

// signed reports whether a head is signed by the newest key.
func (k *logKeys) signed(head *arenav1.LogHead) bool {
	root := base64.StdEncoding.EncodeToString(head.Root)
	return signedBy(k.newest, head.Signature, fmt.Sprintf("arena-log/%s\n%d\n%s\n", k.log, head.Size, root))
}

func signedBy(key, signature []byte, text string) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, []byte(text), signature)
}
