package client

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var unsafeInFiles = regexp.MustCompile(`[^a-z0-9._-]`)

// defaultTokenFile returns a bot's token file in the user's home. As on the server, the name's case does not matter.
func defaultTokenFile(address, name string) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", &Error{Kind: BadArgument, Text: fmt.Sprintf("there is no home for the token file (%v): name one with TokenFile or ARENA_TOKEN_FILE", err)}
	}
	safe := func(text string) string { return unsafeInFiles.ReplaceAllString(strings.ToLower(text), "_") }
	return filepath.Join(home, ".arena", "tokens", safe(address)+"-"+safe(name)+".token"), nil
}

// readToken returns the token in the file; empty if the file is missing or empty.
func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", unusable(file, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// newToken is a token for a bot that is about to register. Until the server answers, the token is in a file beside
// its final file, so that a full disk or a lost answer does no harm. The next try sends the same token.
type newToken struct{ token, file, draft string }

// offerToken uses the token that an earlier try left beside the file, or creates a new token.
func offerToken(file string) (*newToken, error) {
	made := &newToken{file: file, draft: file + ".new"}
	var err error
	if made.token, err = readToken(made.draft); err != nil || made.token != "" {
		return made, err
	}
	chance := make([]byte, 32)
	rand.Read(chance) // never fails
	made.token = "arena_" + base64.RawURLEncoding.EncodeToString(chance)
	return made, made.write(made.token)
}

// keep stores the token from the server's answer in the final file, atomically.
func (n *newToken) keep(token string) error {
	if token != n.token { // an older server, which creates tokens itself
		if err := n.write(token); err != nil {
			return err
		}
	}
	return unusable(n.file, os.Rename(n.draft, n.file))
}

// drop deletes the token that the server refused.
func (n *newToken) drop() { os.Remove(n.draft) }

func (n *newToken) write(token string) error {
	err := os.MkdirAll(filepath.Dir(n.file), 0o700)
	if err == nil {
		err = replaceFile(n.draft, token+"\n")
	}
	return unusable(n.file, err)
}

// replaceFile replaces a file, completely or not at all; only its owner can read it.
func replaceFile(file, content string) error {
	whole, err := os.CreateTemp(filepath.Dir(file), ".new-*") // for its owner only
	if err != nil {
		return err
	}
	_, err = whole.WriteString(content)
	if err = errors.Join(err, whole.Sync(), whole.Close()); err == nil {
		err = os.Rename(whole.Name(), file)
	}
	if err != nil {
		os.Remove(whole.Name())
	}
	return err
}

// unusable returns a BadArgument that names a file; nil if err is nil.
func unusable(file string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: BadArgument, Text: fmt.Sprintf("the file %s cannot be used: %v", file, err)}
}
