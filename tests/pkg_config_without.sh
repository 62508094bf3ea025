#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/pkg_config_without.sh: pkg-config on a machine that lacks the modules named in $WITHOUT.
for module in $WITHOUT; do
    case " $* " in
    *" $module "*) exit 1 ;;
    esac
done
exec pkg-config "$@"
