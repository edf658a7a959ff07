/* report_terms.c -- see report_terms.h. The test of this file holds the table against what the commands write. */
#include "report/report_terms.h"

#include "base/text.h"

#include <string.h>

/* clang-format off */
const Term terms[] = {
    {"step", "step", NULL, "the training step whose gradient this is; * stands for all that were selected", false},
    {"worker", "worker", NULL, "the worker whose gradient this is; * stands for all that were selected", false},
    {"tensor", "tensor", NULL, "its path in the file; * stands for all tensors as one long vector", true},
    {"kind", "kind", NULL, "conv, fc, norm, bias, embedding or other", true},
    {"shape", "shape", NULL, "the tensor's dimensions", true},
    {"n", "elements", NULL, "how many numbers the tensor has", false},
    {"compressor", "compressor", NULL, "the codec and the keys that differ from their defaults", true},
    {"repeats", "repeats", NULL, "independent draws that the figures are taken over", false},
    {"error", "failure", NULL, "why there are no figures", true},
    {"raw_bytes", "uncompressed", NULL, "4 n: gradients travel as 32-bit floats", false},
    {"bytes", "payload", NULL, "mean length over repeats of everything the receiver needs beside spec, seed and shape, all rounds", false},
    {"bytes_min", "payload, least", NULL, "shortest payload of all repeats", false},
    {"bytes_max", "payload, most", NULL, "longest payload of all repeats", false},
    {"ratio", "compression", NULL, "uncompressed size over payload", false},
    {"bits_per_element", "bits/element", NULL, "8 bytes / n: what one number costs on the wire, where a float costs 32", false},
    {"encode_ms", "encode", "ms", "median over repeats, from floats in memory to payload", false},
    {"encode_ms_min", "encode, least", "ms", "fastest repeat", false},
    {"decode_ms", "decode", "ms", "median over repeats, from payload to floats; after a merge: of the aggregate", false},
    {"decode_ms_min", "decode, least", "ms", "fastest repeat", false},
    {"encode_gbps", "encode rate", "GB/s", "uncompressed size over encode time, 10^9 bytes a second", false},
    {"decode_gbps", "decode rate", "GB/s", "uncompressed size over decode time, 10^9 bytes a second", false},
    {"mse", "squared error", NULL, "mean over repeats of |h - g|^2, g the gradient and h the decoded one", false},
    {"variance", "variance", NULL, "of the decoded gradient around its mean: the squared error of an unbiased codec", false},
    {"second_moment", "second moment", NULL, "mean over repeats of |h|^2, the paper's E|h|^2", false},
    {"variance_expected", "variance expected", NULL, "E|h - g|^2 from the codec's own closed form for this gradient", false},
    {"bias_ratio", "bias ratio", NULL, "R |mean h - g|^2 / variance: about 1 for an unbiased codec, far above for a biased one", false},
    {"bias_z", "bias z", NULL, "bias ratio less 1, in its standard deviations: within about 5 for an unbiased codec", false},
    {"gain", "gain", NULL, "<mean h, g> / |g|^2: 1 where nothing shrinks or grows", false},
    {"gain_z", "gain z", NULL, "gain less 1, in its standard deviations", false},
    {"relative_error", "relative error", NULL, "squared error over |g|^2: 1 is as bad as sending nothing", false},
    {"rel_l2", "relative l2 error", NULL, "square root of the relative error", false},
    {"rel_l1", "relative l1 error", NULL, "sum of |h_i - g_i| over sum of |g_i|, mean over repeats", false},
    {"elem_error", "element error", NULL, "mean of |h_i - g_i| / |g_i| over the elements that are not 0", false},
    {"elem_error_big", "element error, big", NULL, "the same over elements above the 95th percentile of |g|", false},
    {"elem_error_small", "element error, small", NULL, "the same over all other elements", false},
    {"elem_error_pos", "too small by", NULL, "mean of (g_i - h_i) / |g_i| where it is above 0", false},
    {"elem_error_neg", "too large by", NULL, "minus the mean of (g_i - h_i) / |g_i| where it is below 0", false},
    {"wasserstein", "Wasserstein distance", NULL, "W1 between the distributions of the gradient's values and of the decoded ones", false},
    {"cosine", "cosine", NULL, "mean of <g, h> / (|g| |h|)", false},
    {"sign_agreement", "signs kept", NULL, "share of the elements that are not 0 whose sign the decoded ones have", false},
    {"max_abs_error", "largest error", NULL, "largest |h_i - g_i| over all repeats", false},
    {"density", "density", NULL, "share of the decoded elements that are not 0", false},
    {"entropy_bits", "entropy", "bits", "order-0 Shannon bound of the symbols the codec chose to send", false},
    {"coding_efficiency", "coding efficiency", NULL, "entropy over the payload's bits: 1 is the limit for these symbols", false},
    {"raw_fallbacks", "sent raw", NULL, "tensors sent as floats because the method's own form would have been longer", false},
    {"residual_norm", "residual", NULL, "l2 norm of what a codec with memory still owes after the step", false},
    {"peak_scratch_bytes", "working memory", NULL, "the most that encode or decode held beyond input and output", false},
    {"rate", "rate", NULL, "what sets the codec's size", false},
    {"pareto", "on the front", NULL, "no other codec of its kind, unbiased or biased, has both fewer bits and less error", false},
    {"unbiased", "unbiased", NULL, "what the codec promises: over draws, the mean of what is decoded is the gradient", false},
    {"target_bits", "bits asked for", NULL, "bits per element that the rate was solved for", false},
    {"reached", "reached", NULL, "whether the size came within 1 % of what was asked for", false},
    {"workers", "workers", NULL, "how many gradients are averaged", false},
    {"synthetic", "made up", NULL, "workers whose gradients are a real one plus noise", false},
    {"merge_ms", "merge", "ms", "payloads to one aggregate, undecoded", false},
    {"decode_each_ms", "decode each", "ms", "every payload decoded, and the average taken", false},
    {"bytes_up", "sent", NULL, "payload bytes of one worker; in a summary of the whole run", false},
    {"bytes_merged", "aggregate", NULL, "payload bytes of the merged workers", false},
    {"topology", "topology", NULL, "who sends to whom: a parameter server, an all-gather, or an all-reduce by ring or tree", true},
    {"link", "link", NULL, "latency and bandwidth of the network model", true},
    {"compute_ms", "compute", "ms", "forward and backward pass, the slowest worker's", false},
    {"comm_ms", "communicate", "ms", "by the network model", false},
    {"total_ms", "iteration", "ms", "compute, encode, communicate and decode", false},
    {"break_even_gbps", "break-even", "GB/s", "the bandwidth at which compressing costs what not compressing costs", false},
    {"pays", "pays", NULL, "compressing does, below or above the break-even bandwidth, always, or never", true},
    {"speedup", "speed-up", NULL, "the iteration with plain floats over this one", false},
    {"rounds", "rounds", NULL, "of messages that the codec exchanges in a step", false},
    {"alpha_ms", "latency", "ms", "of one message, by the network model", false},
    {"beta_gbps", "bandwidth", "GB/s", "of the network model, 10^9 bytes a second", false},
    {"record", "record", NULL, "step, or the summary of a run", true},
    {"epoch", "epoch", NULL, "pass over the training data", false},
    {"loss", "loss", NULL, "over the step's batch, before its update", false},
    {"train_accuracy", "training accuracy", NULL, "over the step's batch, from 0 to 1", false},
    {"test_accuracy", "test accuracy", NULL, "over the test data, from 0 to 1", false},
    {"bytes_down", "received", NULL, "bytes that one worker hears in the step", false},
    {"sim_seconds", "simulated time", "s", "compute, encode, communicate and decode of all steps so far", false},
    {"wall_seconds", "time here", "s", "what the run took on this machine, tests included", false},
    {"lr", "step size", NULL, "the learning rate", false},
    {"steps_to_", "steps to", NULL, "steps until a test first had that accuracy", false},
    {"sim_seconds_to_", "time to", "s", "simulated time until a test first had that accuracy", false},
    {"bytes_to_", "sent to", NULL, "bytes that one worker sent until a test first had that accuracy", false},
    {"speedup_to_", "speed-up to", NULL, "simulated time that the baseline took until a test first had that accuracy, over this run's", false},
    {"steps", "steps", NULL, "done; fewer where the run diverged", false},
    {"train_loss", "training loss", NULL, "of the last step", false},
    {"validation_loss", "validation loss", NULL, "over training images that were held out", false},
    {"validation_accuracy", "validation accuracy", NULL, "over training images that were held out", false},
    {"chosen", "chosen", NULL, "the step size with the least validation loss", false},
    {"test_loss", "test loss", NULL, "over the test data", false},
    {"method", "method", NULL, "what others printed a value of", true},
    {"setting", "setting", NULL, "on what, and how", true},
    {"MiB", "size, MiB", NULL, "in 1,048,576 bytes, as the source prints it", false},
    {"merge_and_decode_ms", "merge and decode", "ms", "payloads to one aggregate, and that decoded", false},
    {"cause", "cause", NULL, "why the printed value is not what it is called; what is corrected is without that", true},
    {"statement", "statement", NULL, "of the ATOMO paper", true},
    {"left", "left side", NULL, "what was found", false},
    {"right", "right side", NULL, "what it is held to", false},
    {"tolerance", "tolerance", NULL, "how far the sides may be apart", false},
    {"passed", "holds", NULL, "whether the statement holds here", false},
    {"relation", "relation", NULL, "between the two sides", true},
    {"note", "case", NULL, "which case of the statement this is", true},
    {"min", "least", NULL, "smallest element", false},
    {"max", "most", NULL, "largest element", false},
    {"mean", "mean", NULL, "of the elements", false},
    {"std", "deviation", NULL, "standard deviation of the elements", false},
    {"l1", "l1 norm", NULL, "sum of |g_i|", false},
    {"l2", "l2 norm", NULL, "root of the sum of g_i^2", false},
    {"linf", "largest magnitude", NULL, "largest |g_i|", false},
    {"zeros", "zeros", NULL, "elements that are exactly 0", false},
    {"nonfinite", "not finite", NULL, "elements that are NaN or infinite", false},
    {"stable_rank", "stable rank", NULL, "sum of squared singular values over the largest one's square", false},
    {"nuclear_norm", "nuclear norm", NULL, "sum of the singular values", false},
    {"theorem6_left", "Theorem 6, left", NULL, "left side of the paper's test of spectral against entry-wise ATOMO", false},
    {"theorem6_right", "Theorem 6, right", NULL, "right side of that test", false},
    {"theorem6_winner", "Theorem 6 prefers", NULL, "svd where the left side is the smaller one, else entry", true},
    {"qsgd_budget", "QSGD's budget", NULL, "the budget s at which 1-bit QSGD equals entry-wise ATOMO", false},
    {"terngrad_budget", "TernGrad's budget", NULL, "the budget s at which TernGrad equals entry-wise ATOMO", false},
    {"bin_low", "from", NULL, "lower edge of the bin", false},
    {"bin_high", "to", NULL, "upper edge of the bin", false},
    {"count", "count", NULL, "elements in the bin", false},
    {"index", "index", NULL, "1 for the largest singular value", false},
    {"value", "singular value", NULL, "of the tensor as a matrix", false},
    {"codec", "codec", NULL, "its name in a spec", true},
    {"flags", "flags", NULL, "what it promises at its defaults", true},
    {"brief", "what it is", NULL, "what it is", true},
    {"linear", "linear", NULL, "merged payloads decode to the sum", false},
    {"stateful", "stateful", NULL, "keeps something between steps", false},
    {"wrapper", "wrapper", NULL, "stands before another codec", false},
    {"key", "key", NULL, "as a spec has it", true},
    {"type", "type", NULL, "what its value is", true},
    {"range", "range", NULL, "what it may be", true},
    {"default", "default", NULL, "what it is when a spec does not say", true},
    {"excludes", "excludes", NULL, "the key that it stands for in another way", true},
    {"meaning", "meaning", NULL, "what it does", true},
    {"what", "part", NULL, "of this machine", true},
    {"found", "found", NULL, "what there is", true},
    {"ok", "fine", NULL, "whether anything is to be done", false},
    {"advice", "what to do", NULL, "what to do", true},
    {0},
};
/* clang-format on */

static bool stands_for(const Term *t, const char *name)
{
    const size_t length = strlen(t->name);
    double v;
    if (t->name[length - 1] != '_')
        return !strcmp(t->name, name);
    return !strncmp(t->name, name, length) && text_to_real(name + length, &v);
}

const Term *term_find(const char *name)
{
    for (const Term *t = terms; t->name; t++)
        if (stands_for(t, name))
            return t;
    return NULL;
}

const Term *term_of_column(const char *name, size_t *before)
{
    const char *space = strrchr(name, ' '), *field = space ? space + 1 : name;
    if (before)
        *before = (size_t)(field - name);
    return term_find(field);
}

const char *term_rest(const Term *t, const char *name)
{
    return name + strlen(t->name);
}
