"""Counts the words of a file."""

import sys

print(len(open(sys.argv[1], encoding="utf-8").read().split()))
