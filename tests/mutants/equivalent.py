# SPDX-License-Identifier: Apache-2.0
"""equivalent.py: mutants that change nothing that can be seen, each with its reason. random_part.py leaves them aside. Each is

    (file, function, line, operation, reason)

None stands for any: (file, None, None, None, ...) is a whole file. `line` is the text of the mutant's line, without the spaces around
it; where it has several places, `operation` is COLUMN:OPERATION. What stands here must be there: a row that fits no mutant is an error, as the code has changed. That a test would be hard to write is no
reason."""

EQUIVALENT = [
    ("lib/select/budget_emphasis.c", "tvlm_budget_importance", "const float share = high > low ? (scores[i] - low) / (high - low) : 0.0f;", ">=",
     "where both are equal it is 0 / 0, and NaN counts as 0"),
    ("lib/select/budget_tree.c", "take", "while (count > 0 && w->heap.count > 0) {", "18:>=",
     "with a count of 0 each tile that waits is too many patches, and is dropped"),
]
