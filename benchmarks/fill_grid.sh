#!/bin/sh
# Fill the study on one GPU within ten minutes: sh benchmarks/fill_grid.sh OUT SECONDS 'ARGUMENTS' ['ARGUMENTS' ...]
# Every ARGUMENTS is one fill_grid.py that shares the GPU with the others; all are stopped after SECONDS, and what they
# have finished is packed into OUT/archive.tar.*.
out=$1 seconds=$2
shift 2
mkdir -p "$out"
work=$(mktemp -d)
nvidia-cuda-mps-control -d >/dev/null 2>&1
if ! python3 -c "import torch; torch.ones(1, device='cuda')" 2>"$out/mps.txt"; then
    echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
fi
number=0
for arguments in "$@"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    timeout -k 2 "$seconds" python3 benchmarks/fill_grid.py --archive "$work/results" $arguments \
        >"$out/log-$number.txt" 2>&1 &
done
wait
ls "$work/results/runs" | wc -l
tar -C "$work" --exclude results/cache -cf - results | split -b 15m - "$out/archive.tar."
tail -n 3 "$out"/log-*.txt
