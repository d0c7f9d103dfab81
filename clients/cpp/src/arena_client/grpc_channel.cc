#include "arena_client/grpc_channel.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "arena/v1/bots.grpc.pb.h"
#include "arena/v1/play.grpc.pb.h"

namespace arena {
namespace {

const char* const STATUSES[] = {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
                                "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
                                "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
                                "UNAUTHENTICATED"};

CallStatus status_of(const grpc::Status& status) {
  const int code = status.error_code();
  CallStatus said;
  said.status = code >= 0 && code < 17 ? STATUSES[code] : "UNKNOWN";
  said.text = status.error_message();
  const std::string mark = "last error: ";  // gRPC's text begins by saying that all addresses failed
  const auto at = said.text.rfind(mark);
  if (at != std::string::npos) said.text.erase(0, at + mark.size());
  read_details(status.error_details(), said);
  return said;
}

/// One stream: one thread reads, another writes. (With gRPC 1.51, gRPC's own callback threads sometimes abort when one
/// channel replaces another.)
class Stream : public Call {
 public:
  Stream(std::shared_ptr<grpc::Channel> channel, const std::string& token, CallEvents events, std::shared_ptr<Loop> loop)
      : channel_(std::move(channel)), stub_(channel_), events_(std::move(events)), loop_(std::move(loop)) {
    context_.AddMetadata("authorization", "Bearer " + token);
  }

  static std::shared_ptr<Stream> start(std::shared_ptr<Stream> self) {
    start_thread(self->loop_, [self] { self->read_all(self); });
    return self;
  }

  void write(const v1::PlayRequest& request) override {
    std::lock_guard lock(mutex_);
    if (!ending_) outgoing_.push_back(request);
    changed_.notify_one();
  }

  void end() override {
    std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }

  void cancel() override { context_.TryCancel(); }

 private:
  using Line = grpc::ClientReaderWriter<v1::PlayRequest, v1::PlayResponse>;

  void read_all(const std::shared_ptr<Stream>& self) {
    const std::unique_ptr<Line> line = stub_.Play(&context_);
    std::thread writer([&] { write_all(*line); });
    for (auto message = std::make_shared<v1::PlayResponse>(); line->Read(message.get()); message = std::make_shared<v1::PlayResponse>()) {
      loop_->post([self, message] { self->events_.message(message); });
    }
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_one();
    }
    writer.join();
    const CallStatus status = status_of(line->Finish());
    loop_->post([self, status] { self->events_.ended(status); });
  }

  void write_all(Line& line) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return over_ || ending_ || !outgoing_.empty(); });
      if (over_) return;
      if (outgoing_.empty()) break;
      const v1::PlayRequest request = std::move(outgoing_.front());
      outgoing_.pop_front();
      lock.unlock();
      if (!line.Write(request)) return;  // the status says why
      lock.lock();
    }
    lock.unlock();
    line.WritesDone();
  }

  const std::shared_ptr<grpc::Channel> channel_;
  v1::PlayService::Stub stub_;
  const CallEvents events_;
  const std::shared_ptr<Loop> loop_;
  grpc::ClientContext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::PlayRequest> outgoing_;
  bool ending_ = false, over_ = false;
};

class GrpcChannel : public Channel {
 public:
  GrpcChannel(std::shared_ptr<grpc::Channel> channel, std::shared_ptr<Loop> loop)
      : channel_(std::move(channel)), loop_(std::move(loop)) {}
  GrpcChannel(const GrpcChannel&) = delete;
  GrpcChannel& operator=(const GrpcChannel&) = delete;

  /// Cancels all pending calls.
  ~GrpcChannel() override {
    for (const auto& question : questions_) question->TryCancel();
  }

  std::shared_ptr<Call> play(const std::string& token, CallEvents events) override {
    return Stream::start(std::make_shared<Stream>(channel_, token, std::move(events), loop_));
  }

  void register_bot(const v1::RegisterBotRequest& request, double patience_ms, Registered registered) override {
    const auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(static_cast<long>(patience_ms)));
    questions_.push_back(context);
    start_thread(loop_, [context, channel = channel_, loop = loop_, request, registered = std::move(registered)] {
      v1::RegisterBotResponse response;
      const CallStatus status = status_of(v1::BotService::Stub(channel).RegisterBot(context.get(), request, &response));
      loop->post([registered, response, status] {
        registered(status.status == "OK" ? std::optional(response) : std::nullopt, status);
      });
    });
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<Loop> loop_;
  std::vector<std::shared_ptr<grpc::ClientContext>> questions_;
};

std::shared_ptr<grpc::ChannelCredentials> credentials(const Profile& profile) {
  if (!profile.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  if (!profile.tls_roots.empty()) options.pem_root_certs = file_content(profile.tls_roots);
  return grpc::SslCredentials(options);
}

}  // namespace

std::shared_ptr<Channel> open_grpc_channel(const Profile& profile, const std::string& address, std::shared_ptr<Loop> loop) {
  grpc::ChannelArguments options;
  options.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  options.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  options.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new try is a new connection, without the old one's back-off
  options.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  auto channel = grpc::CreateCustomChannel(address, credentials(profile), options);
  return std::make_shared<GrpcChannel>(std::move(channel), std::move(loop));
}

}  // namespace arena
