-- A bot for `arena-bot pipe -- lua bot.lua`. It needs dkjson.
local json = require "dkjson"
math.randomseed(os.time())

local function choose(legal, view)
  -- Your own idea goes here; view.hand has the cards of the hand.
  return legal[math.random(#legal)]
end

for line in io.lines() do
  local answers = {}
  for _, decision in ipairs(json.decode(line).decisions or {}) do
    local action = choose(decision.legal, decision.sixthSense or decision.nullern)
    table.insert(answers, { matchId = decision.matchId, decisionId = decision.decisionId, action = action })
  end
  if #answers > 0 then
    print(json.encode({ answers = answers }))
    io.flush()
  end
end
