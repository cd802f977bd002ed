#!/bin/sh
# The product in a minute: a rare race, caught once and replayed as often as you like; then found
# without waiting for it, explained and replayed.
set -e
cd "$(dirname "$0")"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }
[ -t 2 ] || say() { printf '\n%s\n' "$*" >&2; }
# A command that ends with 1, as the bank does if its total is wrong.
failing() {
    code=0
    "$@" || code=$?
    [ $code -eq 1 ] || { echo "exit code $code, where 1 was expected: $*" >&2; exit 1; }
}

say '$ python bank.py        (five times: the race is rare)'
for _ in 1 2 3 4 5; do python bank.py || :; done

say '$ reenact record --strategy random bank.py        (until the bug is in the recording)'
seed=1
while :; do
    rm -f "$place/bank.reenact"
    reenact record --strategy random --seed $seed -o "$place/bank.reenact" bank.py \
        >"$place/out" 2>"$place/err" || :
    grep -q WRONG "$place/out" && break
    seed=$((seed + 1))
    [ $seed -gt 200 ] && { echo "no failing run in 200 seeds" >&2; exit 1; }
done
cat "$place/out" "$place/err"
echo "(seed $seed)"

say '$ reenact replay bank.reenact        (three times)'
for _ in 1 2 3; do
    failing reenact replay "$place/bank.reenact"
done

say '$ reenact info bank.reenact'
reenact info "$place/bank.reenact"

say '$ reenact explore -o found.reenact bank.py        (no luck needed: the race is searched for)'
failing reenact explore -o "$place/found.reenact" bank.py

say '$ reenact replay found.reenact        (what was found is a recording like any other)'
failing reenact replay "$place/found.reenact"
