# ranks.sh -- functions for cases that start atomo-train under mpirun; read by `.`.

# True if this build of atomo-train runs under the mpirun of this machine.
can_launch() {
    mpirun --version >/dev/null 2>&1 && atomo-train --version | grep -q '^mpi .*Open MPI' &&
        ! ldd "$(command -v atomo-train)" | grep -q asan
}

# The arguments of mpirun before -n. It may run as root, and start more ranks than there are cores. A rank that waits
# gives its core to others.
LAUNCH='mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --timeout 120'

# A short training run; arguments: folder, further options. Results without the times are in FOLDER.cut.
TRAIN='atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 10 -c ef+topk:ratio=0.01 -q'
cut_times() {
    cut -d, -f 1-10,17 "$1.csv" >"$1.cut"
}

# Starts N ranks in the background, each of which writes its process id to pid.RANK; $! is mpirun's.
start() { # arguments: N, then the command
    n=$1
    shift
    # shellcheck disable=SC2016  # each rank expands the text
    $LAUNCH -n "$n" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh "$@" &
}
