"""House bots for 6th Sense: `careful` goes by simple rules, `counter` by the cards it has not seen."""
