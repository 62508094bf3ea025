#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/devices.sh TVLM TVLM_SCENE [DEVICE]: `tvlm devices`: the lines and the JSON say the same, of all devices and of one, of
# those that can be used and of those that cannot. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

cat >"$work/lines.py" <<'END'
import json, sys
def lines(d):
    yield f"{d['index']}: {d['name']} ({d['type']})"
    if d["type"] != "reference":
        yield f"   platform   {d['platform']}"
        yield f"   driver     {d['driver']}, {d['version']}"
        yield (f"   memory     {d['memory_bytes'] / 2**30:.1f} GiB, one allocation up to {d['allocation_max_bytes'] / 2**30:.1f} GiB; "
               f"local {d['local_bytes'] / 2**10:.0f} KiB; {d['compute_units']} compute units")
        width, height, slices = d["image_limits"]
        yield (f"   images     up to {width} x {height}, {slices} slices; cl_khr_mipmap_image: {'yes' if d['mipmap_extension'] else 'no'}"
               if d["images"] else "   images     none that can be used")
    if not d["usable"]:
        assert d["storage"] is None and "storage_reason" not in d, d
        yield f"   NOT USABLE {d['error']}"
        return
    assert "error" not in d, d
    yield f"   storage    {d['storage']}: {d['storage_reason']}"
    tests = d["self_tests"]
    yield f"   self-test  {sum(t['passed'] for t in tests)} of {len(tests)} passed" if tests else "   self-test  none needed"
    for t in tests:
        yield f"     {'pass' if t['passed'] else 'FAIL'}  {t['name']:22} {t['detail']}"
report = json.load(open(sys.argv[1], encoding="utf-8"))
for device in report["devices"]:
    print("\n".join(lines(device)))
made = [f"{name} by {library}" if library else f"no {name}" for name, library in report["decoders"].items()]
print("pictures: " + ", ".join(made))
END

# alike ARGUMENTS...: prints the same, and ends in the same way, with --json. What is said of no OpenCL device at all is on stderr.
alike() {
    local rc=0 json_rc=0
    "$tvlm" devices "$@" >"$work/text" 2>"$work/stderr" || rc=$?
    "$tvlm" devices "$@" --json >"$work/json" 2>"$work/stderr" || json_rc=$?
    is "devices $*: exit $rc and $json_rc" test $rc -eq 0 -a $json_rc -eq 0
    is "devices $*: the JSON is not what is meant" python3 "$work/lines.py" "$work/json" >"$work/lines"
    same "devices $*: the lines and the JSON" "$work/text" "$work/lines"
}
alike
cp "$work/text" "$work/all"
for storage in image buffer mipmapped; do alike --storage $storage; done
# One alone is shown as it is among all.
for one in $(sed -nE 's/^([0-9]+): .*/\1/p' "$work/all") reference; do
    [ "$one" != "$(sed -nE 's/^([0-9]+): reference .*/\1/p' "$work/all")" ] || continue
    alike --device "$one"
    { [ "$one" = reference ] && sed -n '/^[0-9]*: reference (/,$p' "$work/all" || sed -n "/^$one: /,/^[1-9]*$((one + 1)): /{/^$((one + 1)): /!p}" "$work/all"; } >"$work/wanted"
    is "devices --device $one is not what is said of it among all" test "$(grep -v '^pictures:' "$work/text")" = "$(grep -v '^pictures:' "$work/wanted")"
done
refused 1 "no device 'nothing-of-this-name'|no OpenCL device" "$tvlm" devices --device nothing-of-this-name
refused 2 "--seconds is for --tune" "$tvlm" devices --seconds 3
refused 2 "one argument too many" "$tvlm" devices photo.png
finish
