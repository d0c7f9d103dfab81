package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// glance is the time limit for the other side to show its protocol.
const glance = 3 * time.Second

// preface begins HTTP/2, with an empty settings frame; a server without TLS answers with its own settings.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// obstacle describes a permanent error (no such host, TLS on one side only, a certificate that is not trusted) and its
// remedy in a sentence; empty if another try may succeed.
func obstacle(profile *profile) string {
	address := profile.address
	host, _, err := net.SplitHostPort(address)
	if err != nil || strings.HasPrefix(address, "dns:") || strings.HasPrefix(address, "unix:") {
		return "" // another kind of address, which gRPC handles
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*glance)
	defer stop()
	var unknown *net.DNSError
	if _, err := net.DefaultResolver.LookupHost(ctx, host); errors.As(err, &unknown) && unknown.IsNotFound {
		return fmt.Sprintf("there is no host '%s': check the address %s", host, address)
	}
	if !profile.tls {
		if handshake(address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) == nil {
			return fmt.Sprintf("the server at %s wants TLS: --tls or TLS: true, and --tls-roots or TLSRoots for its authority", address)
		}
		return ""
	}
	if speaksPlainly(address) {
		return fmt.Sprintf("the server at %s has no TLS: leave --tls, --tls-roots, TLS and TLSRoots out", address)
	}
	roots, err := rootsOf(profile.tlsRoots)
	if err != nil {
		return ""
	}
	var untrusted *tls.CertificateVerificationError
	if err := handshake(address, &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}}); errors.As(err, &untrusted) {
		return fmt.Sprintf("the certificate of %s is not trusted (%v): --tls-roots or TLSRoots names the authority to trust", address, untrusted.Err)
	}
	return ""
}

func handshake(address string, config *tls.Config) error {
	line, err := tls.DialWithDialer(&net.Dialer{Timeout: glance}, "tcp", address, config)
	if err == nil {
		line.Close()
	}
	return err
}

// speaksPlainly reports whether the other side answers HTTP/2 without TLS.
func speaksPlainly(address string) bool {
	line, err := net.DialTimeout("tcp", address, glance)
	if err != nil {
		return false
	}
	defer line.Close()
	line.SetDeadline(time.Now().Add(glance))
	heard := make([]byte, 9)
	if _, err := io.Copy(line, bytes.NewBufferString(preface)); err != nil {
		return false
	}
	_, err = io.ReadFull(line, heard)
	return err == nil && heard[3] == 4 // settings
}
