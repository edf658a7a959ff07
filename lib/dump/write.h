/* write.h -- writes whole dumps: of another dump's tensors (convert.c), and of random numbers (synth.c). */
#ifndef ATOMO_WRITE_H
#define ATOMO_WRITE_H

#include "dump/tensor.h"

/* ---- the tensors of a dump in a new file; the ending of its name determines the format ---- */

typedef struct {
    Tick tick; /* called after each tensor, with its path */
    void *tick_data;
} ConvertJob;

typedef struct {
    size_t tensors;
    uint64_t bytes;    /* bytes of all elements */
    size_t left_out;   /* number of attributes that the new file cannot hold */
    size_t nonfinite;  /* number of tensors with NaN or Inf, as float64 beyond float32's range gives */
    const char *first; /* path of the first of them, in the dump */
} ConvertSum;

/* Fails with ERR_USAGE if the path has none of the known endings. */
Status convert_check(const char *path, Error *err);

/* Writes all tensors as float32, and those attributes that the format can hold. On failure no new file is
 * left. */
Status convert_dump(Dump *d, const char *path, const ConvertJob *job, ConvertSum *sum, Arena *a, Error *err);

/* ---- gradients with known properties, for tests and for trying out codecs ----
 *
 *     normal    scale z                                             z ~ N(0, 1)
 *     laplace   scale s e                                           s a fair sign, e ~ Exp(1): E|x| = scale
 *     power     scale s u^(-1/alpha)                                u uniform: P(|x| > t) = (scale/t)^alpha
 *     lowrank   scale (U V' / sqrt(rank) + noise Z)                 elements of U, V, Z ~ N(0, 1)
 *     sparse    scale z with probability `density`, else 0
 *
 * The matrix of lowrank is the view RESHAPE_PAPER of the tensor (tensor.h). An element depends only on the
 * parameters, seed, worker, step, the tensor's name and the element's index. */

typedef enum { LAW_NORMAL, LAW_LAPLACE, LAW_POWER, LAW_LOWRANK, LAW_SPARSE } Law;
extern const char *const law_names[];

typedef struct {
    Law law;
    double scale;   /* factor on all elements; > 0, at most 1e20 */
    double alpha;   /* exponent of the tail, for power: at least 0.5 */
    int64_t rank;   /* rank of U V', for lowrank: at least 1 */
    double noise;   /* factor on the noise Z, for lowrank: at least 0 */
    double density; /* the fraction of non-zero elements, for sparse: 0 to 1 */
    uint64_t seed;
    int threads;
    /* called before each block of elements; if true, `synth_fill` returns ERR_STOPPED; may be NULL */
    bool (*stopped)(void);
} Synth;

/* Fills x (shape->n) with the gradient of tensor `name`. */
Status synth_fill(const Synth *s, int64_t worker, int64_t step, const char *name, const Shape *shape,
                  float *x, Arena *scratch, Error *err);

typedef struct {
    const Shape *shape; /* one for each tensor; the tensors are called layer0.weight, layer1.weight, ... */
    size_t shapes;
    /* number of step groups (step_000001, ...) and of worker groups in each (worker_0, ...); with one worker
     * there are no worker groups */
    int64_t steps, workers;
} SynthLayout;

/* Writes a whole dump, with the distribution and its parameters as attributes of the file. Does not call
 * `dump_finish`. */
Status synth_dump(const Synth *s, const SynthLayout *layout, DumpWriter *to, Arena *a, Error *err);

/* Parses a shape such as "64x3x3x3". Returns false if the text is not a shape. */
bool synth_shape(const char *text, Shape *shape);

#endif
