// The questions to a bot: a Decision, and the Catalog that maps its small numbers to cards and actions.
#pragma once

#include <google/protobuf/any.pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "arena/v1/play.pb.h"
#include "arena_client/open_decisions.h"

namespace arena {

/// One game: its colours, cards and actions, as arena/v1/game.proto describes them.
using Catalog = v1::GameCatalog;
/// One card of a game: name, colour, values.
using Card = v1::Card;
/// One action of a game: name, kind, and card, value and place if they apply.
using Action = v1::Action;
/// The game as one seat sees it. For later games it is a message that the game's catalogue describes.
using View = std::variant<const v1::SixthSenseView*, const v1::NullernView*, const google::protobuf::Any*>;
/// The games of a server, by the names that requests use.
using Catalogs = std::map<std::string, Catalog>;

/// Return the games whose views this client can read, by the names that requests use. A bot may also name other games.
const std::vector<std::string>& games();

/// Return the limits of a match: its ladder's if its start names a ladder, else those of the default ladders.
const v1::Conduct& conduct_of(const v1::Welcome& welcome, const v1::MatchStart& start);

/// A choice that the bot must make, with everything that its seat may know, so that a bot needs no
/// memory. Its pointers are valid only during the call that receives the decision.
class Decision {
 public:
  /// `open`: the open decisions of the message's stream; null without a stream. Throws ArenaError (protocol_mismatch)
  /// if the message's view belongs to no catalogue.
  Decision(const v1::Decision& message, const Catalogs& catalogs, std::shared_ptr<const OpenDecisions> open = nullptr);

  std::uint64_t match_id;
  /// Number of the decision, unique within the match.
  std::uint32_t decision_id;
  const Catalog& game;
  View view;
  /// The legal actions in rising order, never empty: indices into `game.actions()`.
  std::vector<int> legal;
  /// Milliseconds until the bank is used.
  int soft_ms;
  /// Milliseconds left in the bank, for the rest of the match.
  int bank_ms;

  /// True if further thinking is useless, because the server has decided for the bot or the match
  /// has ended. Check it during a long search, in any thread.
  bool closed() const { return open_ && !open_->contains(match_id, decision_id); }
  /// The view if it is of this kind, as in `view_as<arena::v1::NullernView>()`; else null.
  template <class Kind>
  const Kind* view_as() const {
    auto found = std::get_if<const Kind*>(&view);
    return found ? *found : nullptr;
  }
  /// The seat's own cards, in the order of the view's hand; empty if the seat may not see them, or
  /// if this client cannot read the view.
  std::vector<const Card*> hand() const;
  /// The legal actions with their meaning, in the order of `legal`.
  std::vector<const Action*> actions() const;
  /// Count time that has passed since the message arrived, in milliseconds.
  void pass(int milliseconds);
  /// Describe the decision and the bot's view in one line. `of`: the number of decisions in the same batch.
  std::string described(std::size_t of) const;

 private:
  const v1::Decision* message_;
  std::shared_ptr<const OpenDecisions> open_;
};

}  // namespace arena
