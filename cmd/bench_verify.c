/* bench_verify.c -- verify FILE.h5: checks the statements of the ATOMO paper on a dump. */
#include "bench_commands.h"

#include "app/verify_job.h"

static const char *details(Arena *a)
{
    TextBuf text = {.arena = a};
    text_addf(
        &text,
        "csv, json and --per-tensor have a row for each statement and tensor; it passes if left and right are in `relation` "
        "up to `tolerance`. Otherwise the table has a row for each statement, with the tensor that comes closest to "
        "failing. The exit code is 1 if any check fails.\n"
        "f(p) = sum lambda_i^2 / p_i and other second moments are in units of |g|^2, water levels in units of the largest "
        "|lambda_i|, norms of matrices in units of the Frobenius norm. Means over random draws have a tolerance by "
        "Bernstein's inequality: a true statement fails with probability 5e-10 at most, so a run over 100 tensors raises "
        "a false alarm less than once in a million.\n"
        "Sums over elements use all of them. Statements that cannot use all elements use %d, one drawn from each of as many "
        "equal stretches, or a submatrix drawn likewise, whose size the list below says (otherwise at most %d by %d). "
        "Matrices are those of svd:reshape=paper; tensors of rank 1 have none. Tensors that a codec sends as plain floats "
        "are left out.\n"
        "Misprints of the paper are corrected, and named in brackets:\n",
        VERIFY_PART, VERIFY_LONG, VERIFY_SHORT);
    for (size_t i = 0; i < statement_count(); i++)
        text_addf(&text, "  %-43s %s\n", statement_at(i)->name, statement_at(i)->says);
    return text_done(&text);
}

static Status run(void *options, const TextList *arguments)
{
    return verify_job_run(options, arguments->item[0]);
}

int bench_verify(int argc, char **argv)
{
    Error err = {.status = OK};
    VerifyJob o = {
        .methods = &verify_methods, .forever = arena_open(0), .scratch = arena_open(0), .err = &err};
    const Option options[] = {
        OPTIONS_SELECTION(&o.groups.selection),
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "group", "G", &o.grouping, "check each tensor, each kind of tensors, or all as one vector",
               .choices = grouping_names),
        OPTION(0, "per-tensor", NULL, &o.per_tensor, "a row for each statement and tensor in the table"),
        OPTION(0, "skip-nonfinite", NULL, &o.groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "verify",
        .usage = "FILE.h5",
        .brief = "check the statements of the ATOMO paper on a dump",
        .examples = "FILE.h5\n"
                    "FILE.h5 -t 'fc*'\n",
        .details = details(o.forever),
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    const int code = cli_run(&command, argc, argv, run, &o, o.forever, &err);
    arena_close(o.scratch);
    return code;
}
