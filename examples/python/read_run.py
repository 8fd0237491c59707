#!/usr/bin/env python3
"""Reads a run file and prints how long each stream was busy, with the standard library only.

A run file is an SQLite database (docs/store.md). The view `slices` has a row for each
piece of work with its run, rank and track spelled out; times are integer picoseconds.

    stave sim ring.stave -o run.sqlite
    read_run.py run.sqlite
"""
import argparse
import json
import pathlib
import sqlite3
import sys

QUERY = """
    SELECT run, rank, track, start_ps, start_ps + duration_ps
    FROM slices
    WHERE track_kind = 'stream'
    ORDER BY run_id, rank, track_id, start_ps, slice_id
"""


def busy_times(connection):
    """A list of {run, rank, stream, busy_ps, slices_count}, in the order of the file.

    Slices of one stream may overlap, so this is the length of their union.
    """
    streams = []
    reached = 0
    for run, rank, track, start, end in connection.execute(QUERY):
        last = streams[-1] if streams else None
        if last is None or (last["run"], last["rank"], last["stream"]) != (run, rank, track):
            last = {"run": run, "rank": rank, "stream": track, "busy_ps": 0, "slices_count": 0}
            streams.append(last)
            reached = start
        last["busy_ps"] += max(0, end - max(start, reached))
        last["slices_count"] += 1
        reached = max(reached, end)
    return streams


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    options = parser.parse_args()
    if not options.file.is_file():
        sys.exit(f"{options.file}: there is no such file")
    # Read-only: looking at a run never changes it.
    connection = sqlite3.connect(options.file.absolute().as_uri() + "?mode=ro", uri=True)
    try:
        streams = busy_times(connection)
    except sqlite3.DatabaseError as error:
        sys.exit(f"{options.file}: not a run file ({error})")
    finally:
        connection.close()
    if options.json:
        print(json.dumps(streams, indent=2))
        return
    print(f"{'run':<20} {'rank':>5} {'stream':<20} {'busy us':>12} {'slices':>8}")
    for stream in streams:
        print(f"{stream['run']:<20} {stream['rank']:>5} {stream['stream']:<20} "
              f"{stream['busy_ps'] / 1e6:>12.3f} {stream['slices_count']:>8}")


if __name__ == "__main__":
    main()
