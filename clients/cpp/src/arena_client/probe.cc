#include "arena_client/probe.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace arena {
namespace {

using Time = std::chrono::steady_clock;

constexpr auto GLANCE = std::chrono::seconds(3);  // time limit for the other side to show its protocol

// The beginning of HTTP/2 with an empty settings frame; a server without TLS answers with its own settings.
constexpr char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
constexpr std::size_t FRAME_HEAD = 9;
constexpr char SETTINGS = 4;

using Hosts = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// A connection to the first of several hosts that accepts it. Only `wait` blocks.
class Line {
 public:
  explicit Line(const addrinfo* hosts) : end_(Time::now() + GLANCE) {
    for (const addrinfo* host = hosts; host && !open_; host = host->ai_next) {
      close();
      file_ = ::socket(host->ai_family, host->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, host->ai_protocol);
      if (file_ < 0) continue;
      open_ = !::connect(file_, host->ai_addr, host->ai_addrlen);
      if (open_ || errno != EINPROGRESS || !wait(POLLOUT)) continue;
      int error = 0;
      socklen_t size = sizeof error;
      open_ = !::getsockopt(file_, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
    }
  }
  ~Line() { close(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  bool open() const { return open_; }
  int file() const { return file_; }

  /// Wait until the connection can be read or written. Return false after the time limit.
  bool wait(short events) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Time::now()).count();
    pollfd waiting{file_, events, 0};
    return left > 0 && ::poll(&waiting, 1, static_cast<int>(left)) > 0;
  }

 private:
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  const Time::time_point end_;
  int file_ = -1;
  bool open_ = false;
};

/// Result of a handshake: whether it succeeded, and the fault found in the certificate, if any.
struct Handshake {
  bool made = false;
  std::string distrusted;
};

/// Make a TLS handshake like gRPC's. `authorities`: true to check the certificate, against
/// `tls_roots` or OpenSSL's authorities.
Handshake shake_hands(const addrinfo* hosts, const std::string& host, bool authorities, const std::string& tls_roots) {
  Handshake came;
  const Line line(hosts);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!line.open() || !context) return came;
  if (authorities) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    const bool read = tls_roots.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                        : SSL_CTX_load_verify_locations(context.get(), tls_roots.c_str(), nullptr);
    if (!read) return came;
  }
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
  const unsigned char h2[] = {2, 'h', '2'};
  SSL_set_alpn_protos(tls.get(), h2, sizeof h2);
  if (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls.get()), host.c_str())) {
    SSL_set_tlsext_host_name(tls.get(), host.c_str());
    SSL_set1_host(tls.get(), host.c_str());
  }
  SSL_set_fd(tls.get(), line.file());
  for (;;) {
    const int done = SSL_connect(tls.get());
    if (done == 1) {
      came.made = true;
      break;
    }
    const int wanted = SSL_get_error(tls.get(), done);
    if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE) break;
    if (!line.wait(wanted == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) break;
  }
  const long verdict = SSL_get_verify_result(tls.get());
  if (authorities && !came.made && verdict != X509_V_OK) came.distrusted = X509_verify_cert_error_string(verdict);
  ERR_clear_error();
  return came;
}

/// Return true if the other side answers HTTP/2 without TLS.
bool speaks_plainly(const addrinfo* hosts) {
  const Line line(hosts);
  if (!line.open() || ::send(line.file(), PREFACE, sizeof PREFACE, MSG_NOSIGNAL) != sizeof PREFACE) return false;
  char heard[FRAME_HEAD];
  std::size_t count = 0;
  while (count < sizeof heard && line.wait(POLLIN)) {
    const auto more = ::recv(line.file(), heard + count, sizeof heard - count, 0);
    if (more <= 0) return false;
    count += static_cast<std::size_t>(more);
  }
  return count == sizeof heard && heard[3] == SETTINGS;
}

}  // namespace

std::string obstacle(const Profile& profile) {
  // OpenSSL may write to a connection that the other side has closed; SIGPIPE would end the program
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const std::string& address = profile.address;
  for (const char* scheme : {"dns:", "ipv4:", "ipv6:", "unix:"}) {
    if (address.rfind(scheme, 0) == 0) return "";  // another kind of address, which gRPC handles
  }
  const auto colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (!host.empty() && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found);
  if (unknown == EAI_NONAME) return "there is no host '" + host + "': check the address " + address;
  if (unknown) return "";
  const Hosts hosts(found, ::freeaddrinfo);
  if (!profile.tls) {
    if (!shake_hands(found, host, false, "").made) return "";
    return "the server at " + address + " wants TLS: --tls or tls = true, and --tls-roots or tls_roots for its authority";
  }
  if (speaks_plainly(found)) return "the server at " + address + " has no TLS: leave --tls, --tls-roots, tls and tls_roots out";
  const std::string distrusted = shake_hands(found, host, true, profile.tls_roots).distrusted;
  if (distrusted.empty()) return "";
  return "the certificate of " + address + " is not trusted (" + distrusted +
         "): --tls-roots or tls_roots names the authority to trust";
}

Probe probe(const Profile& profile, std::shared_ptr<Loop> loop) {
  return [profile, loop](std::function<void(std::string)> found) {
    start_thread(loop, [profile, loop, found = std::move(found)] {
      loop->post([found, why = obstacle(profile)] { found(why); });
    });
  };
}

}  // namespace arena
