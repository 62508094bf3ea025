# SPDX-License-Identifier: Apache-2.0
"""peers_table.py: what the times of peers.py say: a row of each stage, and which of them fail."""
import statistics

SHORT_MS = 0.2  # what takes less is mostly the cost of a command
COPY, LAUNCH, WAIT = "copy", "launch", "wait"


class Spread:
    """The median of all rounds, with the lowest and the highest."""

    def __init__(self, times):
        self.median, self.low, self.high = statistics.median(times), min(times), max(times)

    def __str__(self):
        return f"{self.median:.3f} ({self.low:.3f} .. {self.high:.3f})"

    def values(self):
        return {"median": self.median, "low": self.low, "high": self.high}


def limit_ms(report, row):
    """The least milliseconds of a row's bytes, by the copy that the same run of the tool measured."""
    copied = next(stage for stage in report["stages"] if stage["name"] == COPY)
    return row["bytes"] * copied["median_ms"] / copied["bytes"]


def row_of(name, stages, limits, peers, same):
    """`stages`: the tool's, one a round; `limits`: of each round; `peers`: {who: times}; `same`: times, or none."""
    ours = Spread([stage["median_ms"] for stage in stages])
    peers = {who: Spread(times) for who, times in peers.items()}
    who = min(peers, key=lambda who: peers[who].median)
    row = {"stage": name, "ours": ours, "peers": peers, "fastest": who, "ratio": peers[who].median / ours.median,
           "limit_ms": statistics.median(limits), "commands": stages[-1]["kernels"] + stages[-1]["transfers"], "waits": stages[-1]["waits"],
           "same": Spread(same) if same else None}
    row["over_limit"] = ours.median / row["limit_ms"]
    row["same_ratio"] = row["same"].median / ours.median if same else None
    row["judged"] = row["same_ratio"] if same else row["ratio"]
    return row


def is_short(row):
    return row["ours"].median < SHORT_MS


def fails(row):
    """The copy is what limits are measured by, no stage."""
    return row["judged"] < 1 and not is_short(row) and row["stage"] != COPY


def mark(row, commands):
    """What a row below 1 fails by; or, of a short one, what its commands alone cost."""
    if row["judged"] >= 1 or row["stage"] == COPY:
        return ""
    if not is_short(row):
        return "FAILS"
    cost = sum(row[count] * commands[name].median for count, name in (("commands", LAUNCH), ("waits", WAIT)) if name in commands)
    return f"short: {row['commands']} commands, {row['waits']} waits, {cost:.3f} ms"


def line(row, commands):
    others = ", ".join(f"{who} {times.median:.3f}" for who, times in row["peers"].items() if who != row["fastest"])
    same = f"{row['same']} {row['same_ratio']:.2f}" if row["same"] else "-"
    return (f"{row['stage']:19s}{str(row['ours']):>26s}  {row['fastest']:>16s} {str(row['peers'][row['fastest']]):>26s}{row['ratio']:7.2f}  "
            f"{same:>33s}{row['limit_ms']:9.3f}{row['over_limit']:7.1f}  {mark(row, commands)}" + (f"  [{others}]" if others else "")).rstrip()


def print_table(rows, commands):
    """`commands`: {launch or wait: Spread}."""
    for name, times in commands.items():
        print(f"{name}: {times} ms, what one costs on this device; rows of less than {SHORT_MS} ms are mostly such")
    print(f"{'stage':19s}{'ours':>26s}  {'fastest peer':>43s}{'ratio':>7s}  {'same work, ratio':>33s}{'limit':>9s}{'over':>7s}")
    for row in rows:
        print(line(row, commands))


def as_json(row):
    return {"stage": row["stage"], "ours_ms": row["ours"].median, "ours_rounds_ms": row["ours"].values(),
            "peers_ms": {who: times.median for who, times in row["peers"].items()},
            "peers_rounds_ms": {who: times.values() for who, times in row["peers"].items()}, "ratio": row["ratio"],
            **({"same_work_ms": row["same"].median, "same_work_rounds_ms": row["same"].values(), "same_work_ratio": row["same_ratio"]}
               if row["same"] else {}),
            "limit_ms": row["limit_ms"], "over_limit": row["over_limit"], "short": is_short(row), "fails": fails(row)}
