/* guide.c -- a plain description of each codec, for people who are new to it (names.h). */
#include "compress/names.h"

#include <string.h>

/* Begins an example: makes a dump for it, with options of `synth`. */
#define SYNTH(options) "atomo-bench synth -o g.h5" options "\natomo-bench "

/* name; description; "use it when"; example */
static const Guide guides[] = {
    {"none", "Sends the gradient as it is, four bytes an element. All other codecs are measured against it.",
     "you need the baseline of a comparison, or the link is fast enough without compression.",
     SYNTH("") "compare g.h5 -c none -c qsgd"},
    {"fp16",
     "Rounds each element to a float of 16 bits: half the bytes, and an error of at most one part in "
     "2048 unless the element is tiny. Magnitudes beyond 65504 become 65504.",
     "half the bytes are few enough and almost nothing may be lost.",
     SYNTH("") "compare g.h5 -c fp16 -c fp16:rounding=stochastic"},
    {"bf16",
     "Keeps the upper 16 bits of each float: half the bytes, the range of float32, and an error of at "
     "most one part in 256.",
     "half the bytes are few enough and elements span more orders of magnitude than fp16 can hold.",
     SYNTH("") "compare g.h5 -c bf16 -c fp16"},
    {"entry",
     "Keeps some elements at random: large ones surely, small ones with a probability in proportion to "
     "their magnitude, enlarged to make up for those left out. The mean over draws is the gradient. No "
     "other probabilities with the same expected number of elements have less variance.",
     "you want an unbiased sparse gradient, and its elements differ much in size.",
     SYNTH(" --law laplace") "compare g.h5 -c entry:ratio=0.01/0.1"},
    {"svd",
     "Takes each tensor as a matrix and sends few of its singular vectors, chosen at random in "
     "proportion to the singular values. The mean over draws is the gradient. The decomposition takes "
     "far more time than rounding does.",
     "the gradients of layers are close to low rank (`inspect` then says svd under theorem 6) and the "
     "link is slow.",
     SYNTH(" --law lowrank --shape 128x128") "compare g.h5 -c svd:rank=1/2/4"},
    {"fourier",
     "Transforms each tensor to frequencies and keeps few of them, chosen at random in proportion to "
     "their amplitude. The mean over draws is the gradient. Weak frequencies are sent as a phase of 6 "
     "bits.",
     "neighbouring elements vary together, as in smooth or periodic filters.",
     SYNTH("") "compare g.h5 -c fourier:ratio=0.05 -c dct:ratio=0.05"},
    {"dct",
     "Transforms each tensor to cosines and keeps few coefficients, chosen at random in proportion to "
     "their magnitude. The mean over draws is the gradient.",
     "neighbouring elements are alike, so that few slow cosines hold most of the gradient.",
     SYNTH("") "compare g.h5 -c dct:ratio=0.05 -c entry:ratio=0.05"},
    {"wavelet",
     "Transforms each tensor to wavelets, which are differences at several scales, and keeps few "
     "coefficients, chosen at random in proportion to their magnitude. The mean over draws is the "
     "gradient.",
     "large elements stand together in runs.",
     SYNTH(" --law sparse") "compare g.h5 -c wavelet:ratio=0.05 -c entry:ratio=0.05"},
    {"hadamard",
     "Transforms each tensor by sums and differences alone (Walsh-Hadamard) and keeps few coefficients, "
     "chosen at random in proportion to their magnitude. The mean over draws is the gradient, and the "
     "error spreads evenly over all elements.",
     "no single element may bear a large error, and the transform must be fast.",
     SYNTH("") "compare g.h5 -c hadamard:ratio=0.05 -c entry:ratio=0.05"},
    {"lq",
     "Sends each element as its sign times the l_q norm of the tensor, or as zero. The probability of "
     "sending is the magnitude over the norm. q = 2 is qsgd with one level and q = inf is terngrad.",
     "you study Theorem 5 of the ATOMO paper, or what lies between qsgd and terngrad.",
     SYNTH("") "compare g.h5 -c lq -c lq:q=inf -c terngrad"},
    {"gspar",
     "Keeps elements at random, large ones more often, enlarged to make up for those left out. The mean "
     "over draws is the gradient. You set the variance, and it finds the fewest expected elements, or "
     "you set their number.",
     "you know how much variance the training bears and want the fewest elements for it.",
     SYNTH(" --law laplace") "compare g.h5 -c gspar:eps=1 -c gspar:density=0.05"},
    {"randk",
     "Sends some elements, all equally likely, times n/k. All workers choose the same ones, so that no "
     "indices travel and payloads add. The mean over draws is the gradient.",
     "an all-reduce adds the payloads, or you need the simplest unbiased sparsifier as a baseline.",
     SYNTH(" --workers 4") "merge g.h5 -c randk:ratio=0.05 --workers 4"},
    {"joint",
     "Divides one budget of bits among all tensors of a step, so that one more bit saves as much "
     "variance in any tensor as in any other. Alone it chooses between elements and singular vectors for "
     "each tensor.",
     "layers differ much in size or structure, and only the bytes of the whole model count.",
     SYNTH("") "compare g.h5 -c joint:bits=1 -c joint:bits=1+entry"},
    {"qsgd",
     "Divides each run of 512 elements by its norm and rounds each element at random to one of few "
     "evenly spaced levels, so that the mean is the element. Most levels are zero, so that few bits "
     "suffice.",
     "you want an unbiased quantiser with a rate that you choose: the usual first try.",
     SYNTH("") "compare g.h5 -c qsgd:bits=1/2/4/8"},
    {"terngrad",
     "Sends each element as the largest magnitude, as minus that, or as zero, at random so that the mean "
     "is the element.",
     "about 1.6 bits an element are wanted, encoding must be cheap, and no element is far larger than "
     "the others.",
     SYNTH("") "compare g.h5 -c terngrad -c qsgd:bits=1"},
    {"nuqsgd",
     "Rounds each element at random to a level, where each level is half the one above it, from the norm "
     "of 512 elements down. Small elements have closer levels than in qsgd.",
     "most elements are far smaller than the norm of their run, and few levels are affordable.",
     SYNTH(" --law laplace") "compare g.h5 -c nuqsgd:bits=3 -c qsgd:bits=3"},
    {"natural",
     "Rounds each element at random to the power of two below or above it, so that the mean is the "
     "element. Sign and exponent are left, 9 bits, and the variance is at most an eighth of the squared "
     "norm.",
     "three and a half times fewer bytes are few enough, and encoding must cost next to nothing.",
     SYNTH("") "compare g.h5 -c natural -c bf16"},
    {"minmax",
     "Divides the range between the least and the greatest of 512 elements into even levels and rounds "
     "each element to the nearest, or at random so that the mean is kept.",
     "elements that stand together are of similar size, or you compare with systems that quantise so "
     "(CGX).",
     SYNTH("") "compare g.h5 -c minmax:bits=4 -c minmax:bits=4,rounding=stochastic"},
    {"zipml",
     "Chooses levels that fit the elements of each run, so that random rounding has the least variance. "
     "Finding them takes more time than even spacing does.",
     "few levels must serve an uneven distribution, and encoding time matters little.",
     SYNTH(" --law laplace --shape 64x64") "compare g.h5 -c zipml:levels=4 -c qsgd:bits=2"},
    {"intsgd",
     "Multiplies the gradient by a scale that all workers share and rounds it at random to whole "
     "numbers. Sums of payloads are payloads, so that nothing is decoded on the way.",
     "an all-reduce or a switch adds whole numbers, and 8 bits or so an element are affordable.",
     SYNTH(" --workers 4") "merge g.h5 -c intsgd:bits=8 --workers 4"},
    {"thc",
     "Rotates the gradient by a rotation that all workers share, clips the few largest values and rounds "
     "the others at random to few even levels. Sums of payloads are payloads.",
     "a server or a switch adds payloads of few bits an element, and the small bias of clipping is "
     "bearable or repaired by ef+.",
     SYNTH(" --workers 4") "merge g.h5 -c thc:bits=4 --workers 4"},
    {"sign", "Sends the sign of each element, one bit. The workers vote on each sign. Magnitudes are lost.",
     "one bit an element is the limit, and the step size does not rely on magnitudes.",
     SYNTH(" --workers 4") "merge g.h5 -c sign --workers 4"},
    {"scaledsign", "Sends the sign of each element, one bit, and the mean magnitude of the tensor.",
     "one bit an element is the limit, and error feedback makes up for the bias: ef+scaledsign.",
     SYNTH(" --steps 4") "compare g.h5 -c ef+scaledsign -c scaledsign"},
    {"onebit", "Sends one bit an element, below zero or not, and the mean of each of the two classes.",
     "you reproduce 1-bit SGD: ef+onebit.", SYNTH(" --steps 4") "compare g.h5 -c ef+onebit -c ef+scaledsign"},
    {"topk",
     "Sends the elements of largest magnitude with their indices and drops the others. Of all sets of as "
     "many elements it leaves the least error, but it is biased.",
     "one element in a hundred or fewer may travel, and the others can wait: ef+topk.",
     SYNTH(" --steps 4") "compare g.h5 -c topk:ratio=0.01 -c ef+topk:ratio=0.01"},
    {"threshold",
     "Sends all elements whose magnitude reaches a threshold, and drops the others. Nothing is sorted, "
     "but the size of the payload changes from step to step.",
     "choosing the k largest takes too long, and payloads may vary in size: ef+threshold.",
     SYNTH(" --steps 4") "compare g.h5 -c ef+threshold:rel=0.3 -c ef+topk:ratio=0.01"},
    {"dgc",
     "Adds up gradients with their momentum at each worker and sends about the largest thousandth of the "
     "sums. A sample gives the threshold. The sums that are not sent wait.",
     "you train with momentum and send very few elements, or reproduce Deep Gradient Compression.",
     SYNTH(" --steps 4") "compare g.h5 -c dgc:ratio=0.01"},
    {"gaussiank",
     "Sends about the k largest elements. A normal distribution fitted to the tensor gives the "
     "threshold, so that nothing is sorted.",
     "choosing the k largest takes too long, and their number may be inexact: ef+gaussiank.",
     SYNTH(" --steps 4") "compare g.h5 -c ef+gaussiank:ratio=0.01 -c ef+topk:ratio=0.01"},
    {"sidco",
     "Sends about the k largest elements. Exponential distributions fitted to the tails give the "
     "threshold, so that nothing is sorted.",
     "choosing the k largest takes too long, and large elements are more frequent than in a normal "
     "distribution: ef+sidco.",
     SYNTH(" --law laplace --steps 4") "compare g.h5 -c ef+sidco:ratio=0.01 -c ef+topk:ratio=0.01"},
    {"stc",
     "Sends the k largest elements as signs, all with their mean magnitude. An element costs a gap "
     "between indices and one bit.",
     "the floats of topk take too many bytes: ef+stc.",
     SYNTH(" --steps 4") "compare g.h5 -c ef+stc:ratio=0.01 -c ef+topk:ratio=0.01"},
    {"adaq",
     "Sends the largest positive elements as their mean and the largest negative elements as theirs. An "
     "element costs a gap between indices and one bit.",
     "positive and negative elements are distributed differently, and floats take too many bytes: "
     "ef+adaq.",
     SYNTH(" --steps 4") "compare g.h5 -c ef+adaq:ratio=0.01 -c ef+stc:ratio=0.01"},
    {"strom",
     "Adds gradients up at each worker. An element whose sum has reached tau sends plus or minus tau, "
     "and the rest of the sum waits.",
     "you reproduce Strom's method, or payloads should be small whenever little has gathered.",
     SYNTH(" --steps 4") "compare g.h5 -c strom"},
    {"powersgd",
     "Sends each matrix as the product of two thin ones, found by one power iteration from the result of "
     "the step before. Payloads add, so that an all-reduce can carry them.",
     "layers are large matrices, an all-reduce joins the workers, and much compression is wanted: "
     "ef+powersgd.",
     SYNTH(" --law lowrank --shape 128x128 --steps 4") "compare g.h5 -c ef+powersgd:rank=2"},
    {"lowrank",
     "Multiplies each matrix by a thin random one that all workers share, and sends the product. The "
     "mean over draws is the gradient and payloads add, but the variance is large.",
     "you want the unbiased relative of powersgd in a comparison.",
     SYNTH(" --workers 4") "merge g.h5 -c lowrank:rank=2 --workers 4"},
    {"rotated",
     "Rotates the gradient at random, which makes all elements similar in size, and rounds them at "
     "random to even levels. The mean over draws is the gradient.",
     "few elements stand out and would spoil the scale of a plain quantiser.",
     SYNTH(" --law power") "compare g.h5 -c rotated:bits=4 -c qsgd:bits=4"},
    {"drive",
     "Rotates the gradient at random and sends the signs and a scale. One bit an element, unbiased, with "
     "a variance of 0.57 times the squared norm for any gradient.",
     "one bit an element is wanted without bias and without a state.",
     SYNTH(" --law power") "compare g.h5 -c drive -c sign"},
    {"eden",
     "Rotates the gradient at random and rounds it to the best levels for normal numbers, at any number "
     "of bits, fractions included. The mean over draws is the gradient, and the variance depends on the "
     "bits alone.",
     "you want a small unbiased error at 1 to 4 bits an element, whatever the gradient looks like.",
     SYNTH(" --law power") "compare g.h5 -c eden:bits=1/2/4"},
    {"countsketch",
     "Adds each element, with a random sign, to one bucket in each of several rows. An element decodes "
     "to the median of its buckets. Sketches of workers add up.",
     "payloads must add on their way, and a few heavy elements hold most of the gradient.",
     SYNTH(" --law sparse --workers 4") "merge g.h5 -c countsketch:bits=4,topk=1000 --workers 4"},
    {"countmin",
     "Adds positive and negative parts to one bucket each in each of several rows. A part decodes to the "
     "least of its buckets, which is never too small. Sketches of workers add up.",
     "you compare sketches on sparse gradients.",
     SYNTH(" --law sparse --workers 4") "merge g.h5 -c countmin:bits=4 --workers 4"},
    {"sketchml",
     "Sorts the elements that are not zero into quantile bins, and sends the gaps between their indices "
     "and the bins in a small sketch. Collisions make elements smaller, never larger.",
     "gradients are sparse, as those of embeddings and of linear models are.",
     SYNTH(" --law sparse") "compare g.h5 -c sketchml -c topk:ratio=0.01"},
    {"cas",
     "Learns clusters of similar values from a sample, shares buckets out among the clusters, and sends "
     "the mean of each bucket and the cluster of each element. Payloads add up.",
     "payloads must add on their way and the values form clusters.",
     SYNTH(" --workers 4") "merge g.h5 -c cas:clusters=4 --workers 4"},
    {"ef",
     "Keeps at each worker what the codec behind it lost, and adds that to the gradient of the next "
     "step. Nothing is lost for good.",
     "the codec behind it is biased, as topk, scaledsign and powersgd are, and takes part in every step.",
     SYNTH(" --steps 4") "compare g.h5 -c topk:ratio=0.05 -c ef+topk:ratio=0.05"},
    {"ef21",
     "Keeps a shift that sender and receivers learn together, and sends the difference from it through "
     "the codec behind it. The result is the shift plus that.",
     "the codec behind it is biased, and gradients change little from step to step.",
     SYNTH(" --steps 4") "compare g.h5 -c ef21+topk:ratio=0.05 -c ef+topk:ratio=0.05"},
    {"diana",
     "Keeps a shift that sender and receivers learn together, and sends the difference from it through "
     "the codec behind it. The mean stays the gradient.",
     "the codec behind it is unbiased, and its variance should fade as gradients settle.",
     SYNTH(" --steps 4") "compare g.h5 -c diana+qsgd:bits=2 -c qsgd:bits=2"},
    {"induced",
     "Sends the gradient with a biased codec, and what that lost with an unbiased one. The mean of the "
     "sum is the gradient.",
     "a biased codec suits the gradient, but no bias and no state is allowed.",
     SYNTH("") "compare g.h5 -c induced:with=qsgd:bits=2+topk:ratio=0.01"},
    {"zstd",
     "Compresses the payload of the codec behind it with Zstandard, and sends the shorter of the two. "
     "Nothing is lost.",
     "a payload still has patterns, or you want a general compressor as a baseline: zstd+none.",
     SYNTH(" --law sparse") "compare g.h5 -c zstd+none -c zstd+qsgd:code=fixed"},
    {"blosc",
     "Shuffles the bytes of the payload of the codec behind it, compresses them with BloscLZ, and sends "
     "the shorter of the two. Nothing is lost.",
     "you want a fast lossless baseline for floats: blosc+none.",
     SYNTH(" --law sparse") "compare g.h5 -c blosc+none -c zstd+none"},
    {NULL, NULL, NULL, NULL},
};

const Guide *guide_of(const char *name)
{
    const Guide *g = guides;
    while (g->name && strcmp(g->name, name))
        g++;
    return g->name ? g : NULL;
}
