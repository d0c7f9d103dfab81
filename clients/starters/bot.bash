#!/usr/bin/env bash
# A bot for `arena-bot pipe -- bash bot.bash`. It needs jq.
set -eu

choose() { # prints the action; $legal has the legal ones, $view the view as JSON
    # Your own idea goes here.
    echo "${legal[RANDOM % ${#legal[@]}]}"
}

# jq writes each decision as four lines.
jq --unbuffered --compact-output --raw-output \
    '.decisions[]? | .matchId, .decisionId, (.legal | join(" ")), (.sixthSense // .nullern)' |
    while read -r match && read -r decision && read -ra legal && read -r view; do
        echo "{\"answers\": [{\"matchId\": \"$match\", \"decisionId\": $decision, \"action\": $(choose)}]}"
    done
