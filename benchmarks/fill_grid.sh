#!/bin/sh
# Fill the study on one GPU within ten minutes: sh benchmarks/fill_grid.sh OUT SECONDS 'ARGUMENTS' ['ARGUMENTS' ...]
# Every ARGUMENTS is one fill_grid.py, or several one after another with ';' between them, that shares the GPU with the
# others; all are stopped after SECONDS, and what they have finished is packed into OUT/archive.tar.*. With FROM=FOLDER
# it goes on with that archive.
out=$1 seconds=$2
shift 2
mkdir -p "$out"
work=$(mktemp -d)
[ -z "$FROM" ] || cp -r "$FROM" "$work/results"
nvidia-cuda-mps-control -d >/dev/null 2>&1
if ! python3 -c "import torch; torch.ones(1, device='cuda')" 2>"$out/mps.txt"; then
    echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
fi
(while sleep 20; do nvidia-smi --query-gpu=utilization.gpu,power.draw,memory.used --format=csv,noheader; done) \
    >"$out/gpu.txt" 2>&1 &
seen=$!
number=0
others=
for arguments in "$@"; do
    number=$((number + 1))
    printf '%s\n' "$arguments" | tr ';' '\n' |
        sed "s|^|python3 benchmarks/fill_grid.py --archive $work/results |" >"$work/lane-$number"
    timeout -k 2 "$seconds" sh "$work/lane-$number" >"$work/log-$number.txt" 2>&1 &
    others="$others $!"
done
wait $others
kill $seen
echo get_server_list | nvidia-cuda-mps-control >>"$out/mps.txt" 2>&1
ls "$work/results/runs" | wc -l
tar -C "$work" --exclude results/cache -cf - results | split -b 15m - "$out/archive.tar."
tail -n 3 "$work"/log-*.txt | tee "$out/log.txt"
