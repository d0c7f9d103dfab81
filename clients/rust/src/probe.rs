//! Permanent obstacles to a connection.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{self, ClientConfig, RootCertStore, crypto::ring::default_provider, pki_types::ServerName},
};

use crate::connection::ANSWER_TIME;
use crate::options::Settings;

/// Time limit for the other side to show its protocol.
const GLANCE: Duration = Duration::from_secs(3);
/// The beginning of HTTP/2 with an empty settings frame; a server without TLS answers with its own settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
const SETTINGS_FRAME: u8 = 4;
/// Messages by which operating systems report an unknown host name.
const NO_HOST: [&str; 3] = ["not known", "does not resolve", "No address associated"];
/// Text that rustls puts before the reason why a certificate is invalid.
const UNTRUSTED: &str = "invalid peer certificate: ";

/// Describes a permanent error (no such host, TLS on one side only, a certificate that is not trusted) and its remedy
/// in a sentence; `None` if another try may succeed.
///
/// `lost`: the text of the failure that ended the last try.
pub(crate) async fn obstacle(settings: &Settings, lost: &str) -> Option<String> {
    let address = &settings.address;
    let (host, _) = address.rsplit_once(':')?;
    if let Ok(Err(problem)) = timeout(ANSWER_TIME, lookup_host(address)).await
        && NO_HOST.iter().any(|words| problem.to_string().contains(words))
    {
        return Some(format!("there is no host '{host}': check the address {address}"));
    }
    if !settings.options.tls {
        let wants = timeout(GLANCE, speaks_tls(address, host)).await.unwrap_or(false);
        let remedy = "--tls or `tls`, and --tls-roots or `tls_roots` for its authority";
        return wants.then(|| format!("the server at {address} wants TLS: {remedy}"));
    }
    if let Some((_, why)) = lost.split_once(UNTRUSTED) {
        let why = why.rsplit_once(" (").map_or(why, |(why, _status)| why);
        let remedy = "--tls-roots or `tls_roots` names the authority to trust";
        return Some(format!("the certificate of {address} is not trusted ({why}): {remedy}"));
    }
    let plain = matches!(timeout(GLANCE, speaks_plainly(address)).await, Ok(Ok(true)));
    plain.then(|| format!("the server at {address} has no TLS: leave --tls, --tls-roots, `tls` and `tls_roots` out"))
}

/// Returns true if the other side shows any certificate, trusted or not.
async fn speaks_tls(address: &str, host: &str) -> bool {
    let builder = ClientConfig::builder_with_provider(default_provider().into()).with_safe_default_protocol_versions();
    let Ok(builder) = builder else { return false };
    let mut config = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".into()];
    let Ok(name) = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()) else { return false };
    let Ok(line) = TcpStream::connect(address).await else { return false };
    match TlsConnector::from(Arc::new(config)).connect(name, line).await {
        Ok(_) => true,
        Err(problem) => {
            let found = problem.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
            matches!(found, Some(rustls::Error::InvalidCertificate(_)))
        }
    }
}

/// Returns true if the other side answers HTTP/2 without TLS.
async fn speaks_plainly(address: &str) -> std::io::Result<bool> {
    let mut line = TcpStream::connect(address).await?;
    line.write_all(PREFACE).await?;
    let mut heard = [0; 9];
    line.read_exact(&mut heard).await?;
    Ok(heard[3] == SETTINGS_FRAME)
}
