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

// defaultTokenFile returns the token file for one bot on one server, in the user's home. As on the server,
// the name's case does not matter.
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

// newToken is a token for a bot that is about to register. Until the server answers, it is in a file beside
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
	if err := os.Rename(n.draft, n.file); err != nil {
		return unusable(n.file, err)
	}
	return nil
}

// drop deletes the token that the server refused.
func (n *newToken) drop() { os.Remove(n.draft) }

func (n *newToken) write(token string) error {
	folder := filepath.Dir(n.file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return unusable(n.file, err)
	}
	whole, err := os.CreateTemp(folder, ".token-*") // for its owner only
	if err != nil {
		return unusable(n.file, err)
	}
	_, wrong := whole.WriteString(token + "\n")
	wrong = errors.Join(wrong, whole.Sync(), whole.Close())
	if wrong == nil {
		wrong = os.Rename(whole.Name(), n.draft)
	}
	if wrong != nil {
		os.Remove(whole.Name())
		return unusable(n.file, wrong)
	}
	return nil
}

func unusable(file string, err error) error {
	return &Error{Kind: BadArgument, Text: fmt.Sprintf("the file %s cannot be used: %v", file, err)}
}
