#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A parameter stands once: in its header, in the table, where it is used, and in what Python's types and docstring are made of it.
set -euo pipefail
cd "$(dirname "$0")/.."
for name in keep_regions cull_distance arrangement; do
    mapfile -t files < <(grep -rli --include='*.[ch]' --include='*.py' "$name" include lib tools python/texturevlm | sort)
    [ ${#files[@]} -ge 3 ] || { echo "check_parameters: $name is in ${#files[@]} files: was it renamed?" >&2; exit 1; }
    [ ${#files[@]} -le 6 ] && continue
    printf 'check_parameters: %s is written in %d files; lib/select/parameters.c is to be asked instead:\n' "$name" ${#files[@]} >&2
    printf '%s\n' "${files[@]}" >&2
    exit 1
done
echo "check_parameters: passed"
