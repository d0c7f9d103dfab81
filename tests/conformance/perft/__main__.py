"""`python -m tests.conformance.perft` counts every case again. It writes the counts if engine and reference agree."""

import sys

from tests.conformance.perft.cases import path_of, read, write
from tests.conformance.perft.tables import RULES, count, count_plainly

for name, rules in RULES.items():
    path = path_of(name)
    head, cases = read(path.read_text())
    counts = {case.name: count(rules.game, case) for case in cases}
    differing = [case.name for case in cases if count_plainly(rules, case) != counts[case.name]]
    if differing:
        sys.exit(f"{name}: engine and oracle differ in {differing}; nothing written")
    path.write_text(write(head, cases, counts))
    print(f"{name}: {len(cases)} cases, {sum(sum(counts[case.name].lines) for case in cases)} choices")
