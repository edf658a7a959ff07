/* fields.c -- the table of all fields of results; see fields.h. */
#include "report/fields.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
const Field fields[] = {
    /* fields that identify a record */
    {"step", "step", .meaning = "training step of the gradient; * pools all selected steps"},
    {"worker", "worker", .meaning = "worker whose gradient it is; * pools all selected workers"},
    {"tensor", "tensor", .text = true, .meaning = "path of the tensor in the file; * is all tensors as one long vector"},
    {"kind", "kind", .text = true, .meaning = "conv, fc, norm, bias, embedding or other"},
    {"shape", "shape", .text = true, .meaning = "dimensions of the tensor"},
    {"n", "elements", .brief = "n", .meaning = "number of elements"},
    {"compressor", "compressor", .text = true, .meaning = "spec of the codec, as it was typed"},
    {"spec", "complete spec", .text = true, .meaning = "spec of the codec with every key: means the same after defaults have changed"},
    {"repeats", "repeats", .meaning = "number R of independent draws behind each value"},
    {"seed", "seed", .meaning = "seed of the random draws"},
    {"error", "failure", .brief = "error", .text = true, .meaning = "reason why the record has no values"},
    /* sizes and times */
    {"raw_bytes", "uncompressed", .unit = FIELD_BYTES, .meaning = "4 n: gradients travel as 32-bit floats"},
    {"bytes", "payload", .exact = "bytes_expected", .unit = FIELD_BYTES, .meaning = "mean payload over repeats, all rounds of a step together", .se = "of the mean over repeats: their standard deviation / sqrt(R); 0 for a codec that is not random"},
    {"bytes_min", "smallest payload", .unit = FIELD_BYTES, .meaning = "smallest payload of all repeats"},
    {"bytes_max", "largest payload", .unit = FIELD_BYTES, .meaning = "largest payload of all repeats"},
    {"ratio", "compression ratio", .exact = "ratio_expected", .brief = "ratio", .meaning = "uncompressed size / payload", .se = "ratio bytes_se / bytes"},
    {"ratio16", "ratio to 16-bit floats", .exact = "ratio16_expected", .brief = "ratio16", .meaning = "size as bf16 or fp16 / payload = ratio / 2: what a 16-bit all-reduce sends is the baseline", .se = "ratio_se / 2"},
    {"bits_per_element", "bits/element", .exact = "bits_per_element_expected", .brief = "bits/el", .meaning = "8 payload / n; a float32 has 32", .se = "of the mean over repeats"},
    {"encode_ms", "encode", .unit = "ms", .meaning = "median time from floats to payload, on --threads threads", .se = "of the median, by the quartiles: sqrt(pi / 2R) (quartile range) / 1.349"},
    {"encode_ms_min", "fastest encode", .unit = "ms", .meaning = "time of the fastest repeat"},
    {"decode_ms", "decode", .unit = "ms", .meaning = "median time from payload to floats; after merge, of the merged payload", .se = "of the median, by the quartiles"},
    {"decode_ms_min", "fastest decode", .unit = "ms", .meaning = "time of the fastest repeat"},
    {"encode_gbps", "encode rate", .brief = "encode", .unit = "GB/s", .meaning = "uncompressed size / encode time, 1 GB = 10^9 bytes"},
    {"decode_gbps", "decode rate", .brief = "decode", .unit = "GB/s", .meaning = "uncompressed size / decode time, 1 GB = 10^9 bytes"},
    /* errors: g is the gradient, h the decoded gradient, |.| the l2 norm, E the mean over random draws, R the
     * number of repeats */
    {"mse", "squared error", .exact = "variance_expected", .brief = "mse", .meaning = "mean of |h - g|^2 over repeats", .se = "of the mean over repeats"},
    {"variance", "variance", .exact = "variance_expected", .meaning = "variance of h around its mean; for an unbiased codec E|h - g|^2", .se = "of an unbiased estimate from R repeats: their squared errors and their mean vary"},
    {"second_moment", "second moment", .exact = "second_moment_expected", .meaning = "mean of |h|^2 over repeats, the paper's E|h|^2", .se = "of the mean over repeats"},
    {"variance_expected", "expected variance", .meaning = "E|h - g|^2 by the codec's closed form for this g", .se = "0, but for a closed form given a random rotation, which is a mean over repeats"},
    {"bias_ratio", "bias ratio", .meaning = "R |mean h - g|^2 / variance: about 1 without bias"},
    {"bias_z", "bias z", .meaning = "(bias ratio - 1) in standard errors: within 5 without bias"},
    {"gain", "gain", .meaning = "<mean h, g> / |g|^2: 1 without bias along g", .se = "from the variances of independent atoms or elements, where they are known; else of the mean over repeats"},
    {"gain_z", "gain z", .meaning = "(gain - 1) in standard errors of independent elements or atoms; null where a codec holds the gain at 1"},
    {"relative_error", "relative error", .exact = "relative_error_expected", .brief = "rel. error", .meaning = "squared error / |g|^2; sending nothing has 1", .se = "of the mean over repeats"},
    {"mean_error_4", "error of the mean of 4", .brief = "mean of 4", .meaning = "relative error of the mean of 4 workers' estimates of the same gradient (vNMSE): own random errors average out, a bias and shared draws do not", .se = "from that of the variance and, for a biased codec, of the bias"},
    {"mean_error_16", "error of the mean of 16", .brief = "mean of 16", .meaning = "the same for 16 workers", .se = "the same for 16 workers"},
    {"rel_l2", "relative l2 error", .brief = "rel. l2", .meaning = "square root of the relative error", .se = "relative_error_se / (2 rel_l2)"},
    {"rel_l1", "relative l1 error", .brief = "rel. l1", .meaning = "sum of |h_i - g_i| / sum of |g_i|", .se = "of the mean over repeats"},
    {"elem_error", "element error", .brief = "elem. error", .meaning = "mean of |h_i - g_i| / |g_i| over all g_i other than 0", .se = "of the mean over repeats"},
    {"elem_error_big", "element error, big", .brief = "big", .meaning = "element error where |g_i| is above its 95th percentile", .se = "of the mean over repeats"},
    {"elem_error_small", "element error, small", .brief = "small", .meaning = "element error of all other elements", .se = "of the mean over repeats"},
    {"elem_error_pos", "element error, too low", .brief = "too low", .meaning = "mean of (g_i - h_i) / |g_i| where it is positive", .se = "of the mean over repeats"},
    {"elem_error_neg", "element error, too high", .brief = "too high", .meaning = "mean of (h_i - g_i) / |g_i| where it is positive", .se = "of the mean over repeats"},
    {"elem_error_deciles", "element errors by size", .text = true, .meaning = "for tenths of the elements other than 0 by |g_i|, small ones first, between semicolons: the 10th, 50th and 90th percentile of |h_i - g_i| / |g_i| in the first repeat, of a sample of 16,384 elements; over several steps or workers the mean of theirs"},
    {"wasserstein", "Wasserstein distance of the first repeat", .brief = "first W1", .meaning = "W1 between the distributions of the g_i and of the h_i of the first repeat"},
    {"cosine", "cosine", .meaning = "mean of <g, h> / (|g| |h|)", .se = "of the mean over repeats"},
    {"sign_agreement", "signs kept", .brief = "signs", .meaning = "share of the g_i other than 0 whose sign h_i has", .se = "of the mean over repeats"},
    {"max_abs_error", "largest error", .brief = "max error", .meaning = "largest |h_i - g_i| of all repeats"},
    {"density", "density", .meaning = "share of the h_i other than 0", .se = "of the mean over repeats"},
    {"entropy_bits", "entropy", .unit = "bits", .meaning = "order-0 Shannon bound of the symbols sent", .se = "of the mean over repeats"},
    {"coding_efficiency", "coding efficiency", .brief = "efficiency", .meaning = "entropy / (8 payload): 1 is the limit for these symbols", .se = "of the ratio of means over repeats"},
    {"raw_fallbacks", "tensors sent raw", .brief = "raw", .meaning = "tensors whose own form would have been larger than floats"},
    {"residual_norm", "residual norm", .brief = "residual", .meaning = "l2 norm of the residual that error feedback keeps"},
    {"peak_scratch_bytes", "working memory", .unit = FIELD_BYTES, .meaning = "most memory of encode or decode beyond input and output"},
    {"relative_error_expected", "expected relative error", .brief = "exact rel. error", .meaning = "variance_expected / |g|^2: exact, where the codec has a closed form", .se = "variance_expected_se / |g|^2"},
    {"bias_p", "p of the bias ratio", .brief = "bias p", .digits = 2, .meaning = "probability of a bias ratio so large without bias, by the F distribution"},
    {"gain_p", "p of the gain", .brief = "gain p", .digits = 2, .meaning = "probability of a gain so far from 1 without bias, by Student's t with gain_freedom, with the skewness of a count; null where each draw has the gain 1, or too few tell"},
    {"gain_l1", "gain along signs", .brief = "l1 gain", .meaning = "<mean h, sign g> / |g|_1: 1 without bias; small elements count more than in the gain", .se = "from variance_expected, where the errors of elements are independent; else of the mean over repeats"},
    {"gain_l1_p", "p of the gain along signs", .brief = "l1 gain p", .digits = 2, .meaning = "the same for the gain along signs; null for atoms of a transform, whose variance along signs is unknown"},
    {"bytes_expected", "expected payload", .unit = FIELD_BYTES, .meaning = "mean payload, corrected in each repeat for the number of atoms drawn against the expected one; exact where its standard error is 0", .se = "of the mean over repeats"},
    {"bits_per_element_expected", "expected bits/element", .brief = "expected bits/el", .meaning = "8 bytes_expected / n", .se = "of the mean over repeats"},
    {"ratio_expected", "expected ratio", .meaning = "uncompressed size / bytes_expected", .se = "ratio_expected bytes_expected_se / bytes_expected"},
    {"ratio16_expected", "expected ratio to 16-bit floats", .brief = "expected ratio16", .meaning = "ratio_expected / 2", .se = "ratio_expected_se / 2"},
    {"second_moment_expected", "expected second moment", .meaning = "variance_expected + |g|^2, for an unbiased codec: exact", .se = "variance_expected_se"},
    {"wasserstein_mean", "mean Wasserstein distance", .brief = "W1", .meaning = "mean of W1 over repeats: of as many as have 2^22 elements, at least 2; of the first where a tensor has over 2^22 elements; where several tensors are one vector, of as many as --memory allows, at most 100", .se = "of that mean"},
    {"gain_freedom", "degrees of freedom of the gain", .brief = "gain df", .meaning = "of the Student's t behind gain_p and the interval of the gain; null where gain_se is known, not measured, and the interval that of the normal distribution"},
    {"gain_l1_freedom", "degrees of freedom of the gain along signs", .brief = "l1 gain df", .meaning = "the same for gain_l1_p"},
    {"bits_per_element_steps", "bits/element over steps", .brief = "bits/el by step", .meaning = "mean over steps (and workers) of each step's bits/element", .se = "standard deviation over steps / square root of their number"},
    {"encode_ms_steps", "encode over steps", .brief = "encode by step", .unit = "ms", .meaning = "mean over steps of each step's time", .se = "standard deviation over steps / square root of their number"},
    {"decode_ms_steps", "decode over steps", .brief = "decode by step", .unit = "ms", .meaning = "mean over steps of each step's time", .se = "standard deviation over steps / square root of their number"},
    {"relative_error_steps", "relative error over steps", .brief = "error by step", .meaning = "mean over steps of each step's relative error, exact where it is known; its standard error counts the steps as independent", .se = "standard deviation over steps / square root of their number"},
    {"wasserstein_steps", "Wasserstein distance over steps", .brief = "W1 by step", .meaning = "mean over steps of each step's W1", .se = "standard deviation over steps / square root of their number"},
    {"cosine_steps", "cosine over steps", .brief = "cosine by step", .meaning = "mean over steps of each step's cosine", .se = "standard deviation over steps / square root of their number"},
    {"bias_p_holm", "p of any bias", .brief = "p of bias", .digits = 2, .meaning = "least of bias_p, gain_p, gain_l1_p after Holm's correction for all three of all codecs on the same vectors"},
    {"bias_detectable", "bias that would show", .digits = 2, .meaning = "least factor 1 + b on each h that so many repeats find with probability 0.9; a shift h + b g shows as often or oftener; from 5 repeats on"},
    {"bias", "bias", .text = true, .meaning = "the verdict at p = 0.01 for all codecs together, from 5 repeats on (\"needs 5 repeats\" before); \"cannot be seen\" where only half of the gradient or more would show; \"all of the error\" where the codec is not random"},
    /* fields that sweep, compare --equal-bits, compare --against and merge add */
    {"rate", "rate", .meaning = "the parameter that sets the codec's size"},
    {"pareto", "on the front", .brief = "front", .meaning = "no codec of its kind, unbiased or biased, has for certain fewer bits and less error"},
    {"pareto_certain", "front is certain", .brief = "certain", .meaning = "false: uncertain sizes or errors alone keep the codec on the front; more repeats may take it off"},
    {"unbiased", "unbiased", .meaning = "the codec promises E h = g"},
    {"target_bits", "target bits", .meaning = "bits per element that --equal-bits asked for"},
    {"reached", "reached", .meaning = "bits_per_element_expected is within 1 % of the target"},
    {"against", "against", .text = true, .meaning = "spec of the codec that all others are compared with"},
    {"metric", "metric", .text = true, .meaning = "name of the field whose difference it is"},
    {"result", "result", .meaning = "the metric of this codec, its mean over repeats", .se = "of the mean over repeats"},
    {"result_against", "its result", .brief = "against's", .meaning = "the metric of the codec compared with", .se = "of the mean over repeats"},
    {"difference", "difference", .meaning = "mean over repeats of result - result_against, which have the same random numbers in each repeat", .se = "of the mean over repeats; 0 where all repeats differ by the same"},
    {"interval", "95 % interval", .text = true, .meaning = "difference_low and difference_high, or result_low and result_high, with the digits that their standard error supports"},
    {"result_low", "lower end of the result", .meaning = "lower end of the 95 % interval of what compare --sample estimates"},
    {"result_high", "upper end of the result", .meaning = "upper end of that interval"},
    {"difference_low", "lower end", .meaning = "lower end of the 95 % interval of the difference, by Student's t; null where all repeats differ by the same"},
    {"difference_high", "upper end", .meaning = "upper end of that interval"},
    {"difference_p", "p of the difference", .brief = "p", .digits = 2, .meaning = "probability of a difference so far from 0 where none is expected, by Student's t"},
    {"difference_p_holm", "p by Holm", .digits = 2, .meaning = "difference_p after Holm's correction for all codecs and metrics on the same vectors"},
    {"differs", "difference is", .text = true, .meaning = "the verdict at p = 0.05 for all rows on the same vectors together"},
    {"workers", "workers", .meaning = "number P of workers whose gradients are averaged"},
    {"synthetic", "made from the seed", .brief = "made by seed", .meaning = "workers whose gradients are a real one plus noise, which the seed draws"},
    {"average", "average over", .text = true, .meaning = "workers over which the mean of an element is taken: all, or senders, those that sent it"},
    {"merge_ms", "merge", .unit = "ms", .meaning = "time to merge all payloads without decoding them", .se = "of the median, by the quartiles"},
    {"decode_each_ms", "decode each", .brief = "decode-each", .unit = "ms", .meaning = "time to decode every payload and to average", .se = "of the median, by the quartiles"},
    {"bytes_up", "sent by a worker", .brief = "sent", .unit = FIELD_BYTES, .meaning = "payload of one worker; of atomo-train all that it sends, in the summary in all steps", .se = "of the mean over repeats"},
    {"bytes_merged", "merged payload", .unit = FIELD_BYTES, .meaning = "size of the merged payload", .se = "of the mean over repeats"},
    /* cost */
    {"topology", "topology", .text = true, .meaning = "who sends to whom: ps, allgather, ring, tree, twoshot or hier:node=K; any: in merge, all that were asked for"},
    {"link", "link", .text = true, .meaning = "the modelled network: its latency and bandwidth"},
    {"compute_ms", "compute", .unit = "ms", .meaning = "forward and backward pass of the slowest worker", .se = "of the median step of --compute-from; 0 for a number that was given"},
    {"comm_ms", "communicate", .brief = "comm", .unit = "ms", .meaning = "exchange by the network model", .se = "from that of the payload"},
    {"total_ms", "total", .unit = "ms", .meaning = "one iteration: compute, encode, communicate, decode", .se = "from those of measured times and payloads of all layers, which count as independent"},
    {"break_even_gbps", "break-even bandwidth", .brief = "break-even", .unit = "GB/s", .meaning = "bandwidth at which compressing takes as long as plain floats", .se = "from those of times and payloads, and those of plain floats, to first order"},
    {"pays", "pays", .text = true, .meaning = "compressing pays below or above that bandwidth, always, or never"},
    {"speedup", "speed-up", .meaning = "total of plain floats / total of this row", .se = "in the same way"},
    {"rounds", "rounds", .meaning = "exchanges in a step"},
    {"alpha_ms", "latency", .brief = "alpha", .unit = "ms", .meaning = "latency of one message", .se = "of the least squares"},
    {"beta_gbps", "bandwidth", .brief = "beta", .unit = "GB/s", .meaning = "bandwidth of the link, 1 GB = 10^9 bytes", .se = "of the least squares"},
    /* advise */
    {"rank", "rank", .meaning = "1: the fastest, and codecs equal to it: their 95 % intervals overlap"},
    {"speedup16", "speed-up over 16 bits", .brief = "over 16 bit", .meaning = "total of an all-reduce of 16-bit floats / total of this row; 16-bit: bf16 in advise, fp16 in cost", .se = "from those of both totals"},
    {"mean_error", "error of the mean", .brief = "mean error", .meaning = "relative error of the mean of all workers' estimates of one gradient", .se = "from that of the relative error"},
    {"feedback", "error feedback", .brief = "feedback", .text = true, .meaning = "whether the codec needs error feedback: no, needed, or in the spec"},
    {"travels", "payloads travel", .brief = "travels", .text = true, .meaning = "as sums, undecoded, or every payload to each worker"},
    {"why", "why not first", .text = true, .meaning = "the limit that the codec breaks, or what takes it longer"},
    {"screened", "only screened", .brief = "screened", .meaning = "measured with one worker and two repeats: the total is a lower bound"},
    /* link */
    {"exchange", "exchange", .text = true, .meaning = "ping-pong, allgather or ring; all: the fit over all of them"},
    {"measured_ms", "measured", .unit = "ms", .meaning = "time of an exchange (median over repeats) or of a training step; in a run's summary median over its steps", .se = "of the median, by the quartiles"},
    {"predicted_ms", "predicted", .unit = "ms", .meaning = "time of the exchange by the model of networks; of a step: compute, encode, link and decode, one after another"},
    {"predicted_ratio", "predicted / measured", .meaning = "predicted / measured; in a run's summary of both medians"},
    {"deviation", "deviation of the fit", .brief = "deviation", .digits = 2, .meaning = "root mean square of predicted / measured - 1"},
    {"worst_deviation", "worst deviation", .digits = 2, .meaning = "largest |predicted / measured - 1|"},
    /* training */
    {"record", "record", .text = true, .meaning = "step, or summary of a run"},
    {"epoch", "epoch", .meaning = "pass over the training data"},
    {"loss", "loss", .meaning = "loss on the step's batch before its update"},
    {"train_accuracy", "training accuracy", .brief = "train acc.", .meaning = "accuracy on the step's batch, from 0 to 1"},
    {"test_accuracy", "test accuracy", .brief = "test acc.", .meaning = "accuracy on the test data, from 0 to 1"},
    {"bytes_down", "received by a worker", .brief = "received", .unit = FIELD_BYTES, .meaning = "bytes that one worker receives in the step"},
    {"sim_seconds", "simulated time", .brief = "sim.", .unit = "s", .meaning = "compute, encode, communicate and decode of all steps so far; without ranks communication is modelled, all else is measured and grows with the load of the machine"},
    {"wall_seconds", "wall-clock time", .brief = "wall", .unit = "s", .meaning = "time that the run took on this machine, tests included"},
    {"lr", "step size", .brief = "lr", .meaning = "the learning rate"},
    {"link_ms", "modelled communication", .brief = "link", .unit = "ms", .meaning = "communication time on --link by the model of networks"},
    {"rank_compute_ms", "a rank's computing", .unit = "ms", .meaning = "time of a rank in the step, in the forward and backward passes of its workers, without drawing, loading and distorting images: mean over ranks"},
    {"rank_compute_ms_max", "most computing of a rank", .unit = "ms", .meaning = "of the rank with the most time"},
    {"rank_encode_ms", "a rank's encoding", .unit = "ms", .meaning = "time of a rank in the step, encoding the payloads of its workers: mean over ranks"},
    {"rank_encode_ms_max", "most encoding of a rank", .unit = "ms", .meaning = "of the rank with the most time"},
    {"rank_wait_ms", "a rank's waiting", .unit = "ms", .meaning = "time of a rank in the step, waiting for other ranks in the exchange: mean over ranks"},
    {"rank_wait_ms_max", "most waiting of a rank", .unit = "ms", .meaning = "of the rank with the most time"},
    {"rank_decode_ms", "a rank's decoding", .unit = "ms", .meaning = "time of a rank in the step, merging and decoding: mean over ranks"},
    {"rank_decode_ms_max", "most decoding of a rank", .unit = "ms", .meaning = "of the rank with the most time"},
    {"rank_sent", "sent by a rank", .unit = FIELD_BYTES, .meaning = "bytes that a rank sent in the step, sizes and other messages included: mean over ranks"},
    {"rank_sent_max", "most sent by a rank", .unit = FIELD_BYTES, .meaning = "of the rank that sent most"},
    {"rank_received", "received by a rank", .unit = FIELD_BYTES, .meaning = "bytes that a rank received in the step: mean over ranks"},
    {"rank_received_max", "most received by a rank", .unit = FIELD_BYTES, .meaning = "of the rank that received most"},
    {"steps_to_", "steps to", .meaning = "steps until a test first had this accuracy"},
    {"sim_seconds_to_", "seconds to", .meaning = "simulated time until a test first had this accuracy"},
    {"bytes_to_", "sent to", .unit = FIELD_BYTES, .meaning = "bytes that a worker sent until a test first had this accuracy"},
    {"accuracy_difference", "accuracy difference", .meaning = "mean over seeds of the last test accuracy less that of the baseline with the same seed", .se = "of the mean over seeds"},
    {"least_accuracy", "least test accuracy", .brief = "least acc.", .meaning = "of the tests in the second half of a run's steps", .se = "of the mean over seeds"},
    {"lr_last", "last step size", .brief = "last lr", .meaning = "step size of the last step"},
    {"seeds", "seeds", .meaning = "runs with different seeds that a mean is over"},
    {"speedup_to_", "speed-up to", .meaning = "simulated time of the baseline to this accuracy / that of this run"},
    {"steps", "steps", .meaning = "steps done; fewer where the run diverged"},
    {"train_loss", "training loss", .brief = "train loss", .meaning = "loss of the last step"},
    {"validation_loss", "validation loss", .meaning = "loss on training images that were held out"},
    {"validation_accuracy", "validation accuracy", .brief = "validation acc.", .meaning = "accuracy on training images that were held out"},
    {"chosen", "chosen", .meaning = "the step size with the least validation loss"},
    {"test_loss", "test loss", .meaning = "loss on the test data"},
    /* published values */
    {"method", "method", .text = true, .meaning = "the method as its source names it"},
    {"setting", "setting", .text = true, .meaning = "data, network or machine of the published value"},
    {"how", "how known", .text = true, .meaning = "printed in the source, read off a figure, computed by this project, or inferred"},
    {"place", "place", .text = true, .meaning = "table, figure or list of the source, with its date"},
    {"merge_and_decode_ms", "merge and decode", .unit = "ms", .meaning = "time to merge all payloads and to decode the merged one"},
    {"cause", "cause", .text = true, .meaning = "the fault behind a published value; `corrected` is the value without it"},
    /* verify */
    {"statement", "statement", .text = true, .meaning = "statement of the ATOMO paper"},
    {"left", "left side", .brief = "left", .digits = 6, .meaning = "measured value"},
    {"right", "right side", .brief = "right", .digits = 6, .meaning = "value that the statement compares it with"},
    {"tolerance", "tolerance", .brief = "within", .digits = 2, .meaning = "largest difference of the two sides that passes"},
    {"passed", "holds", .brief = "passed", .meaning = "whether the statement holds here"},
    {"relation", "relation", .brief = "is", .text = true, .meaning = "between the two sides"},
    {"note", "case", .text = true, .meaning = "case of the statement"},
    {"checked", "checked", .meaning = "checks of the statement"},
    {"failed", "failed", .meaning = "checks that failed"},
    {"not_applicable", "not applicable", .brief = "n/a", .meaning = "tensors that the statement says nothing about"},
    {"closest", "closest call", .text = true, .meaning = "the tensor with the least margin"},
    /* inspect */
    {"min", "smallest", .meaning = "smallest element"},
    {"max", "largest", .meaning = "largest element"},
    {"mean", "mean", .digits = 3, .meaning = "mean of the elements"},
    {"std", "standard deviation", .brief = "std", .digits = 3, .meaning = "standard deviation of the elements"},
    {"l1", "l1 norm", .brief = "l1", .meaning = "sum of |g_i|"},
    {"l2", "l2 norm", .brief = "l2", .meaning = "square root of the sum of g_i^2"},
    {"linf", "largest magnitude", .brief = "linf", .meaning = "largest |g_i|"},
    {"zeros", "zeros", .meaning = "elements that are exactly 0"},
    {"nonfinite", "non-finite", .brief = "nonfinite", .meaning = "elements that are NaN or infinite"},
    {"stable_rank", "stable rank", .meaning = "sum of squared singular values / square of the largest"},
    {"nuclear_norm", "nuclear norm", .brief = "nuclear", .meaning = "sum of the singular values"},
    {"theorem6_left", "Theorem 6, left", .meaning = "left side of the paper's test of spectral against entry-wise ATOMO"},
    {"theorem6_right", "Theorem 6, right", .meaning = "right side of that test"},
    {"theorem6_winner", "Theorem 6 prefers", .brief = "theorem 6", .text = true, .meaning = "svd where the left side is at most the right one, else entry"},
    {"qsgd_budget", "QSGD's budget", .brief = "s of qsgd", .meaning = "budget s at which 1-bit QSGD equals entry-wise ATOMO"},
    {"terngrad_budget", "TernGrad's budget", .brief = "s of terngrad", .meaning = "budget s at which TernGrad equals entry-wise ATOMO"},
    {"bin_low", "from", .meaning = "lower edge of the bin"},
    {"bin_high", "to", .meaning = "upper edge of the bin"},
    {"count", "count", .meaning = "elements in the bin"},
    {"index", "index", .meaning = "1 for the largest singular value"},
    {"value", "singular value", .digits = 6, .meaning = "of the tensor as a matrix"},
    /* list */
    {"codec", "codec", .text = true, .meaning = "its name in a spec"},
    {"flags", "flags", .text = true, .meaning = "promises at its default parameters"},
    {"brief", "description", .text = true, .meaning = "what the codec does"},
    {"linear", "linear", .meaning = "merged payloads decode to the sum"},
    {"stateful", "stateful", .meaning = "keeps something between steps, as a residual"},
    {"wrapper", "wrapper", .meaning = "stands before another codec in a spec"},
    {"key", "key", .text = true, .meaning = "name of a parameter in a spec"},
    {"type", "type", .text = true, .meaning = "type of its value"},
    {"range", "range", .text = true, .meaning = "values that it takes"},
    {"default", "default", .text = true, .meaning = "value where the spec has none"},
    {"excludes", "excludes", .text = true, .meaning = "key that cannot be given together with this one"},
    {"meaning", "meaning", .text = true, .meaning = "effect of the parameter"},
    /* doctor */
    {"what", "part", .brief = "what", .text = true, .meaning = "part of this machine"},
    {"found", "found", .text = true, .meaning = "state of that part"},
    {"ok", "fine", .brief = "ok", .meaning = "whether nothing is to be done"},
    {"advice", "what to do", .text = true, .meaning = "what to do about it"},
    {0},
};
/* clang-format on */

static bool is_named(const Field *f, const char *name)
{
    if (*f->name != *name) /* tables look up each column many times */
        return false;
    const size_t length = strlen(f->name);
    double v;
    if (f->name[length - 1] != '_')
        return !strcmp(f->name, name);
    return !strncmp(f->name, name, length) && text_to_real(name + length, &v);
}

const char *field_name(const void *data, size_t i)
{
    (void)data;
    return fields[i].name;
}

static const Field *field_find(const char *name)
{
    for (const Field *f = fields; f->name; f++)
        if (is_named(f, name))
            return f;
    return NULL;
}

const Field *field_of_column(const char *column, size_t *before)
{
    char base[64];
    const char *space = strrchr(column, ' '), *name = space ? space + 1 : column;
    const size_t length = strlen(name);
    const bool se = text_ends(name, "_se") && length < sizeof base;
    if (before)
        *before = (size_t)(name - column);
    if (!se)
        return field_find(name);
    snprintf(base, sizeof base, "%.*s", (int)(length - strlen("_se")), name);
    return field_find(base);
}

const char *field_meaning(const char *column)
{
    const Field *f = field_of_column(column, NULL);
    return !f ? "" : !text_ends(column, "_se") ? f->meaning : f->se ? f->se : "";
}

bool field_counts_bytes(const char *column)
{
    const Field *f = field_of_column(column, NULL);
    return f && f->unit && !strcmp(f->unit, FIELD_BYTES);
}

/* True when `column` has means over random draws, and the first `length` characters of `beside` name their exact expected values. */
static bool is_exact(const char *column, const char *beside, size_t length)
{
    size_t before;
    const Field *f = field_of_column(column, &before);
    return f && f->exact && !text_ends(column, "_se") && length == before + strlen(f->exact) && !strncmp(column, beside, before) &&
           !strncmp(f->exact, beside + before, length - before);
}

FieldBeside field_beside(const char *column, const char *beside)
{
    const size_t own = strlen(column), length = strlen(beside);
    if (!text_ends(beside, "_se"))
        return is_exact(column, beside, length) ? BESIDE_EXACT : BESIDE_NOT;
    if (length == own + strlen("_se") && !strncmp(column, beside, own))
        return BESIDE_SE;
    return is_exact(column, beside, length - strlen("_se")) ? BESIDE_EXACT_SE : BESIDE_NOT;
}

int field_digits(const char *column)
{
    const Field *f = field_of_column(column, NULL);
    return f && f->digits ? f->digits : 4;
}

const char *field_heading(const char *column, bool brief, Arena *a)
{
    size_t before;
    const Field *f = field_of_column(column, &before);
    if (!f)
        return column;
    const bool unit = f->unit && strcmp(f->unit, FIELD_BYTES) != 0, se = text_ends(column, "_se");
    const char *number = f->name[strlen(f->name) - 1] == '_' ? column + before + strlen(f->name) : "";
    return text_format(a, "%.*s%s%s%s%.*s%s%s%s", (int)before, column, se && !brief ? "standard error of " : "",
                       brief && f->brief ? f->brief : f->heading, *number ? " " : "", (int)strcspn(number, "_"), number,
                       se && brief ? " se" : "", !unit ? "" : brief ? " " : ", ", unit ? f->unit : "");
}
