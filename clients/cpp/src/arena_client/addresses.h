// The addresses of a server's nodes. A bot connects to one of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arena/v1/play.pb.h"

namespace arena {

class Addresses {
 public:
  explicit Addresses(std::string current) : current_(std::move(current)) {}

  /// The address to connect to.
  const std::string& current() const { return current_; }

  /// Store the addresses that a welcome lists. Those without a host are on the current host.
  void list(const v1::Welcome& welcome) {
    const std::string host = current_.substr(0, current_.rfind(':'));
    nodes_.clear();
    turn_ = 0;
    for (const auto& node : welcome.nodes()) {
      const std::string& address = node.address();
      if (!address.empty()) nodes_.push_back(address.front() == ':' ? host + address : address);
    }
  }

  /// Choose another node: the first on the list, then with each call the next. If there is no other, change nothing.
  void next() {
    for (std::size_t left = nodes_.size(); left > 0; left--) {
      const std::string& address = nodes_[turn_++ % nodes_.size()];
      if (address == current_) continue;
      current_ = address;
      return;
    }
  }

 private:
  std::string current_;
  std::vector<std::string> nodes_;
  std::size_t turn_ = 0;
};

}  // namespace arena
