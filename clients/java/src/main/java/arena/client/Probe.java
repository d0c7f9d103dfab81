package arena.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Finds a permanent obstacle after the first connection has failed. */
final class Probe {
    /** Time limit in milliseconds for the other side to show its protocol. */
    private static final int GLANCE = 3000;
    /** The beginning of HTTP/2 with an empty settings frame; a server without TLS answers with its own settings. */
    private static final byte[] PREFACE =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);

    private Probe() {}

    /** A permanent error (no such host, TLS on one side only, untrusted certificate) and its remedy; empty for none. */
    static String obstacle(Profile profile) {
        String address = profile.address;
        if (address.startsWith("dns:")) {
            return ""; // another kind of address, which gRPC handles
        }
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
        InetSocketAddress server;
        try {
            server = new InetSocketAddress(InetAddress.getByName(host), Integer.parseInt(address.substring(colon + 1)));
        } catch (UnknownHostException unknown) {
            return "there is no host '" + host + "': check the address " + address;
        }
        try {
            if (!profile.tls) {
                handshake(server, host, new TrustManager[] {new Anybody()}, false);
                return "the server at " + address + " wants TLS: --tls or tls(), and --tls-roots or tlsRoots() for its authority";
            }
            if (speaksPlainly(server)) {
                return "the server at " + address + " has no TLS: leave --tls, --tls-roots, tls() and tlsRoots() out";
            }
            KeyStore roots = profile.tlsRoots == null ? null : rootsOf(profile.tlsRoots);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(roots);
            handshake(server, host, trust.getTrustManagers(), true);
        } catch (SSLHandshakeException refused) {
            for (Throwable cause = refused; profile.tls && cause != null; cause = cause.getCause()) {
                if (cause instanceof CertificateException || cause instanceof CertPathBuilderException
                        || cause instanceof CertPathValidatorException) {
                    return "the certificate of " + address + " is not trusted (" + cause.getMessage()
                            + "): --tls-roots or tlsRoots() names the authority to trust";
                }
            }
        } catch (IOException | GeneralSecurityException another) { // gRPC reports it
            return "";
        }
        return "";
    }

    /** The authorities in a PEM file; BAD_ARGUMENT if the file contains none. */
    static KeyStore rootsOf(Path file) {
        try (InputStream text = Files.newInputStream(file)) {
            Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509").generateCertificates(text);
            if (found.isEmpty()) {
                throw new CertificateException("it has no certificate");
            }
            KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
            roots.load(null, null);
            for (Certificate each : found) {
                roots.setCertificateEntry("root " + roots.size(), each);
            }
            return roots;
        } catch (IOException | GeneralSecurityException wrong) {
            throw ArenaException.unusable(file, wrong);
        }
    }

    private static void handshake(InetSocketAddress server, String host, TrustManager[] trust, boolean named)
            throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust, null);
        try (Socket plain = connected(server);
                SSLSocket line = (SSLSocket) context.getSocketFactory().createSocket(plain, host, server.getPort(), true)) {
            SSLParameters parameters = line.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            if (named) {
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
            }
            line.setSSLParameters(parameters);
            line.startHandshake();
        }
    }

    /** True if the other side answers HTTP/2 without TLS. */
    private static boolean speaksPlainly(InetSocketAddress server) {
        try (Socket line = connected(server)) {
            line.getOutputStream().write(PREFACE);
            byte[] heard = line.getInputStream().readNBytes(9);
            return heard.length == 9 && heard[3] == 4; // settings
        } catch (IOException silence) {
            return false;
        }
    }

    private static Socket connected(InetSocketAddress server) throws IOException {
        Socket line = new Socket();
        line.connect(server, GLANCE);
        line.setSoTimeout(GLANCE);
        return line;
    }

    /** Trusts every certificate, because no data is sent over the connection. */
    private static final class Anybody implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
