/* bench_commands.h -- atomo-bench's subcommands: each parses its options, calls the library and returns an exit
 * code. */
#ifndef ATOMO_BENCH_H
#define ATOMO_BENCH_H

#include "app/cli.h"
#include "app/frame.h"

int bench_advise(int argc, char **argv);
int bench_compare(int argc, char **argv);
int bench_convert(int argc, char **argv);
int bench_cost(int argc, char **argv);
int bench_decode(int argc, char **argv);
int bench_diff(int argc, char **argv);
int bench_demo(int argc, char **argv);
int bench_doctor(int argc, char **argv);
int bench_encode(int argc, char **argv);
int bench_inspect(int argc, char **argv);
int bench_link(int argc, char **argv);
int bench_list(int argc, char **argv);
int bench_merge(int argc, char **argv);
int bench_plot(int argc, char **argv);
int bench_report(int argc, char **argv);
int bench_sweep(int argc, char **argv);
int bench_synth(int argc, char **argv);
int bench_verify(int argc, char **argv);

#endif
