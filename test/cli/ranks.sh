# ranks.sh -- functions for cases that start atomo-train under mpirun; read by `.`.

# True if this build of atomo-train runs under the mpirun of this machine.
can_launch() {
    mpirun --version >/dev/null 2>&1 && atomo-train --version | grep -q '^mpi .*Open MPI' &&
        ! ldd "$(command -v atomo-train)" | grep -q asan
}

# The arguments of mpirun before -n. It may run as root, and start more ranks than there are cores. A rank that waits
# sleeps (test/exchange/rest.c).
LAUNCH="mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -x LD_PRELOAD=${PUBLIC%/public}/rest.so --timeout 120"

# A short training run; arguments: folder, further options. Results without the times are in FOLDER.cut.
TRAIN='atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 10 -c ef+topk:ratio=0.01 -q'
cut_times() {
    cut -d, -f 1-10,17 "$1.csv" >"$1.cut"
}

# Starts N ranks in the background, each of which writes its process id to pid.RANK; $! is mpirun's.
start() { # arguments: N, then the command
    n=$1
    shift
    rm -f pid.*
    touch started
    # shellcheck disable=SC2016  # each rank expands the text
    $LAUNCH -n "$n" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh "$@" &
}

# Waits until the ranks that `start` has started have saved a checkpoint in a folder, or have ended.
until_saved() {
    until [ "$(find "$1" -name 'step_*.h5' -newer started 2>/dev/null)" ] || ! kill -0 $!; do sleep 0.02; done
}

# Prints a step with a test, ten steps or fewer after the newest checkpoint of a folder.
further() {
    last=$(printf '%s\n' "$1"/step_*.h5 | tail -n 1)
    last=${last##*step_}
    expr "${last%.h5}" / 10 \* 10 + 10
}

# Compares the runs of the folders a and b, which end at step $n.
same_run() {
    file=$(printf 'step_%08d.h5' "$n")
    cmp "a/$file" "b/$file" && echo same weights
    cut_times a
    cut_times b
    cmp a.cut b.cut && echo same records
}

# Runs a command on two ranks, on two made-up hosts; arguments: bits per second, delay in seconds, the command.
on_two_hosts() {
    hosts=${PUBLIC%/public}/two_hosts rate=$1 delay=$2
    shift 2
    "$hosts" "$rate" "$delay" mpirun --allow-run-as-root --timeout 120 -n 2 --host 10.77.0.1,10.77.0.2 --bind-to none \
        --mca plm_rsh_agent "$hosts --enter" --mca btl tcp,self --mca btl_tcp_if_include wire \
        --mca oob_tcp_if_include wire --mca mpi_yield_when_idle 1 -x LD_PRELOAD="${PUBLIC%/public}/rest.so" -x PATH "$@"
}
