/* report_kinds.c -- the table of all kinds of results, and finding the kind of a stored result
 * (report_stored.h). */
#include "report/report_stored.h"

#include "report/fields.h"

#include <string.h>

/* ---- choosing the rows that are shown first ---- */

enum { FEW = 60 };

static void rank_few(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = t->rows <= FEW ? ROW_LEAD : ROW_MORE;
}

static void rank_all(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = ROW_LEAD;
}

/* ROW_LEAD: rows about all tensors together and, if there are such rows, all steps together. */
static void rank_whole(const Csv *t, RowRank *rank)
{
    bool pooled = false;
    for (size_t i = 0; i < t->rows; i++)
        pooled = pooled || !strcmp(csv_cell(t, i, "step"), "*");
    for (size_t i = 0; i < t->rows; i++) {
        const bool whole = !strcmp(csv_cell(t, i, "tensor"), "*");
        rank[i] = whole && (!pooled || !strcmp(csv_cell(t, i, "step"), "*")) ? ROW_LEAD : ROW_MORE;
    }
}

static void rank_steps(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = !strcmp(csv_cell(t, i, "record"), "summary") ? ROW_LEAD
                  : *csv_cell(t, i, "test_accuracy")           ? ROW_MORE
                                                               : ROW_COUNT;
}

static void rank_verdicts(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = !strcmp(csv_cell(t, i, "passed"), "false") ? ROW_LEAD : ROW_MORE;
}

/* ---- the kinds of results ---- */

static void rank_ranked(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = *csv_cell(t, i, "rank") ? ROW_LEAD : ROW_MORE;
}

static void rank_fits(const Csv *t, RowRank *rank)
{
    for (size_t i = 0; i < t->rows; i++)
        rank[i] = !strcmp(csv_cell(t, i, "record"), "fit") ? ROW_LEAD : ROW_MORE;
}

#define COMPARED "tensor,compressor,repeats"
#define WHOSE    "step,worker,tensor,compressor,"

const ResultKind result_kinds[] = {
    {"compare", "atomo-compare/1", COMPARED, "Comparisons",
     "Each codec on the same gradients: what it sends, how long it takes, how far off it is.",
     WHOSE
     "error,target_bits,reached,bytes,ratio,bits_per_element,encode_ms,decode_ms,relative_error,variance,"
     "bias,wasserstein_mean,cosine",
     "pareto,errors", rank_whole},
    {"against", "atomo-against/1", "tensor,compressor,against,metric,difference", "Paired differences",
     "Each codec against one of them, with the same random numbers in each repeat.", NULL, NULL,
     rank_whole},
    {"sweep", "atomo-sweep/1", COMPARED ",rate,pareto", "Size against error",
     "Each codec at many rates. On the front are those that no other one of their kind beats in both.",
     WHOSE
     "error,rate,pareto,pareto_certain,unbiased,bytes,bits_per_element,encode_ms,decode_ms,relative_error,wasserstein_mean",
     "pareto", rank_whole},
    {"merge", "atomo-merge/1", COMPARED ",workers,synthetic", "Many workers",
     "The gradients of many workers, encoded, aggregated and averaged.",
     WHOSE
     "error,workers,synthetic,bytes_up,bytes_merged,encode_ms,merge_ms,decode_ms,decode_each_ms,relative_error",
     "merge", rank_whole},
    {"cost", "atomo-cost/1", "compressor,workers,topology,comm_ms", "Iteration time",
     "What an iteration costs with measured codecs on a modelled network.", NULL,
     "iteration-time,runtime,break-even", rank_all},
    {"advise", "atomo-advise/1", "compressor,total_ms,speedup16,mean_error,travels", "Advice",
     "Which codec makes an iteration fastest on one network, and why others lose.",
     "rank,compressor,error,total_ms,speedup16,bytes_up,mean_error,feedback,travels,why", NULL, rank_ranked},
    {"link", "atomo-link/1", "record,exchange,alpha_ms,beta_gbps", "Links",
     "The latency and bandwidth of a network, by the times of exchanges between processes.", NULL, NULL,
     rank_fits},
    {"run", "atomo-run/1", "record,compressor,step,sim_seconds", "Training",
     "Runs from the same weights on the same batches, one with each codec between the workers.", NULL,
     "convergence", rank_steps},
    {"tune", "atomo-tune/1", "compressor,lr,validation_loss", "Step sizes",
     "The step size that suits each codec, by the loss on images that were held out.", NULL, NULL, rank_all},
    {"eval", "atomo-eval/1", "step,compressor,test_loss", "Checkpoints", "Checkpoints on the test data.",
     NULL, NULL, rank_few},
    {"verify", "atomo-verify/1", "statement,left,right,passed", "Statements of the paper",
     "The ATOMO paper's statements, checked on these tensors.", NULL, NULL, rank_verdicts},
    {"published", "atomo-published/1", "compressor,setting", "Published values",
     "Values from the literature, beside values measured here where there are any. `how known` says whether the source prints them; a value that a fault explains has its cause and the corrected value.",
     NULL, NULL, rank_few},
    {"pivot", "atomo-pivot/1", "repeats", "Side by side", "Results of several codecs, a row for each tensor.",
     NULL, NULL, rank_few},
    {"means", "atomo-means/1", "compressor,seeds", "Over seeds", "Means of runs with several seeds.", NULL,
     NULL, rank_few},
    {"inspect", "atomo-inspect/1", "tensor,stable_rank", "Gradients", "What the tensors are like.", NULL,
     NULL, rank_few},
    {"histogram", "atomo-inspect/1", "tensor,bin_low,bin_high,count", "Distributions",
     "How many elements of each tensor are how large.", NULL, "histogram", rank_few},
    {"spectrum", "atomo-inspect/1", "tensor,index,value", "Singular values",
     "How the singular values of each tensor fall.", NULL, "spectrum", rank_few},
    {"list", "atomo-list/1", "codec,flags,brief", "Codecs", "What can be compared.", NULL, NULL, rank_all},
    {"keys", "atomo-list/1", "key,type,default", "Keys of a codec", "What can be set.", NULL, NULL, rank_all},
    {"doctor", "atomo-doctor/1", "what,found,advice", "The machine", "What the machine gives.", NULL, NULL,
     rank_all},
    {0},
};

/* ---- finding the kind of a result ---- */

bool result_has_field(const Csv *t)
{
    for (size_t i = 0; i < t->columns; i++)
        if (field_of_column(t->name[i], NULL))
            return true;
    return false;
}

/* Returns the number of names in the list `marks` if the table has all these columns, else 0. */
static size_t marks_there(const char *marks, const Csv *t)
{
    size_t count = 0;
    for (const char *at = marks, *next; at; at = next) {
        char name[32];
        const size_t length = strcspn(at, ",");
        next = at[length] ? at + length + 1 : NULL;
        if (length >= sizeof name)
            return 0;
        memcpy(name, at, length);
        name[length] = 0;
        if (!csv_has(t, name))
            return 0;
        count++;
    }
    return count;
}

bool result_known(const char *schema)
{
    for (const ResultKind *k = result_kinds; k->name; k++)
        if (!strcmp(k->schema, schema))
            return true;
    return false;
}

/* Of the kinds whose `marks` are all columns of the result, takes the kind with the most: a sweep has all
 * columns of a comparison and more. A result without records has no columns, so the schema alone decides. */
const ResultKind *result_kind(const Stored *s, const char **why)
{
    const ResultKind *best = NULL;
    size_t most = 0;
    *why = s->schema && !result_known(s->schema) ? "its schema is none of those known here"
           : s->schema                           ? "its fields are not those of its schema"
                                                 : "its columns are those of no command's results";
    for (const ResultKind *k = result_kinds; k->name; k++) {
        const size_t marks = marks_there(k->marks, &s->table);
        if (s->schema && strcmp(k->schema, s->schema) != 0)
            continue;
        if (s->schema && s->table.columns == 0)
            return k;
        if (marks > most) {
            most = marks;
            best = k;
        }
    }
    return best;
}
