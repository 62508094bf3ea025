# SPDX-License-Identifier: Apache-2.0
"""equivalent.py: mutants that change nothing that can be seen, each with its reason. random_part.py leaves them aside. Each is

    (file, function, line, operation, reason)

None stands for any: (file, None, None, None, ...) is a whole file. `line` is the text of the mutant's line, without the spaces around
it. What stands here must be there: a row that fits no mutant is an error, as the code has changed. That a test would be hard to write is no
reason."""

EQUIVALENT = [
]
