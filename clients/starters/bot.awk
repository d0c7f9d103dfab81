# A bot for `arena-bot pipe -- awk -W interactive -f bot.awk`. mawk, the awk of Debian, needs -W interactive: without it,
# it waits for more lines.
BEGIN { srand() }

/"decisions"/ {
    split("", json)
    value("")
    for (i = 0; (at = "decisions." i ".") "matchId" in json; i++) {
        for (legal = 0; at "legal." legal in json;) legal++
        # Your own idea goes here. json[at "nullern.hand.0"] is the first card of a hand.
        action = json[at "legal." int(rand() * legal)]
        printf "{\"answers\": [{\"matchId\": \"%s\", \"decisionId\": %s, \"action\": %s}]}\n",
            json[at "matchId"], json[at "decisionId"], action
        fflush()
    }
}

# Takes a token from the line.
function token(   text) {
    match($0, /^[ \t]*("([^"\\]|\\.)*"|[^][{}:," \t]+|[][{}:,])/)
    text = substr($0, 1, RLENGTH)
    $0 = substr($0, RLENGTH + 1)
    gsub(/^[ \t]*"?|"$/, "", text)
    return text
}

# Takes a value from the line and stores its parts by their paths.
function value(path,   open, key, n) {
    open = token()
    if (open !~ /^[[{]$/) { json[path] = open; return }
    path = path == "" ? "" : path "."
    while ($0 !~ /^[ \t]*[]}]/) {
        if ($0 ~ /^[ \t]*,/) token()
        key = n++
        if (open == "{") { key = token(); token() }
        value(path key)
    }
    token()
}
