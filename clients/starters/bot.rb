# A bot for `arena-bot pipe -- ruby bot.rb`.
require "json"

def choose(legal, view)
  # Your own idea goes here; view["hand"] has the cards of the hand.
  legal.sample
end

$stdout.sync = true
$stdin.each_line do |line|
  answers = JSON.parse(line).fetch("decisions", []).map do |decision|
    view = decision["sixthSense"] || decision["nullern"]
    { matchId: decision["matchId"], decisionId: decision["decisionId"], action: choose(decision["legal"], view) }
  end
  puts JSON.generate(answers: answers) unless answers.empty?
end
