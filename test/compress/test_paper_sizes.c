/* test_paper_sizes.c -- the message sizes in plots/published/figure-4.json, for the compressors of figure 4 of
 * the ATOMO paper. The figure has no numbers; this project computed the sizes from the shapes of ResNet-18 and
 * from the formats of the coders released with the paper. The test computes the sizes again. */
#include "rig/codec_rig.h"
#include "train/model.h"
#include "report/report_stored.h"

static Arena *a;
static Model *model;

static int open_model(void **state)
{
    const ModelSpec spec = {
        .network = "resnet18", .channels = 3, .rows = 32, .columns = 32, .classes = 10, .images = 1};
    Error err;
    a = arena_open(0);
    check_ok(model_open(&model, &spec, &err), &err);
    return 0;
}

static int close_model(void **state)
{
    model_close(model);
    arena_close(a);
    return 0;
}

/* Returns the total bytes of the payloads of all tensors in one step. The gradients begin with the same normal numbers,
 * which are drawn once. */
static double message(const char *spec)
{
    static float *x;
    const SliceList *slices = model_parameters(model);
    double bytes = 0;
    if (!x) {
        const Rng rng = rng_open(3, 0, 0, 0, 0);
        size_t most = 0;
        for (size_t i = 0; i < slices->count; i++)
            most = slices->item[i].shape.n > most ? slices->item[i].shape.n : most;
        x = NEW(a, float, most);
        rng_normals(&rng, USE_DATA, 0, most, 1, x);
    }
    for (size_t i = 0; i < slices->count; i++) {
        const Shape shape = slices->item[i].shape;
        Rig rig;
        rig_open(&rig, spec, shape);
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        bytes += (double)rig.payload.size;
        rig_close(&rig);
    }
    return bytes;
}

typedef struct {
    const char *method;
    double (*bytes)(const Shape *shape, double parameter); /* returns the bytes for a tensor */
    /* number of atoms (SVD) or of bits (other coders) */
    double parameter;
} PaperCoder;

/* Returns the bytes of min(s, m, n) atoms of the tensor as an m x n matrix. An atom is two singular vectors and
 * a scale, all floats. */
static double bytes_of_svd(const Shape *shape, double s)
{
    double m, n;
    if (shape->rank == 1) { /* a tensor of rank 1 becomes a matrix with two columns */
        m = (double)shape->n / 2;
        n = 2;
    } else if (shape->rank == 2 || shape->dim[2] == 1) {
        m = (double)shape->dim[0];
        n = (double)shape->dim[1];
    } else { /* a convolution becomes a matrix; each row holds two kernels of dim[2] x dim[3] elements */
        n = 2. * (double)(shape->dim[2] * shape->dim[3]);
        m = (double)shape->n / n;
    }
    return 4 * fmin(s, fmin(m, n)) * (m + n + 1);
}

static double bytes_of_terngrad(const Shape *shape, double bits)
{
    return ceil((double)shape->n * bits / 8) + 4;
}

/* Returns the bytes of a QSGD payload with 2 + `bits` bits per element. No element is split between two 64-bit
 * words. */
static double bytes_of_words(const Shape *shape, double bits)
{
    return 8 * ceil((double)shape->n / floor(64 / (2 + bits)));
}

/* Returns the bytes of a QSGD payload with 1 + `bits` bits per element, and a norm for every 512 elements. */
static double bytes_of_bits(const Shape *shape, double bits)
{
    return ceil((double)shape->n * (1 + bits) / 8) + 4 * ceil((double)shape->n / 512);
}

static double step_bytes(double (*bytes)(const Shape *, double), double parameter)
{
    const SliceList *slices = model_parameters(model);
    double sum = 0;
    for (size_t i = 0; i < slices->count; i++)
        sum += bytes(&slices->item[i].shape, parameter);
    return sum;
}

/* In each row, "computed bytes_up" is the size in the format of the released coder. "corrected bytes_up" (QSGD
 * only) is the size without unused bits. The payloads of this project may differ by 0.05 %, as their headers
 * are different. */
TEST(sizes_follow_from_shapes)
{
    static const PaperCoder coders[] = {{"SVD, s = 1", bytes_of_svd, 1},
                                        {"SVD, s = 6", bytes_of_svd, 6},
                                        {"TernGrad", bytes_of_terngrad, 2},
                                        {"QSGD, 2 bits", bytes_of_words, 2},
                                        {"QSGD, 4 bits", bytes_of_words, 4}};
    Stored file;
    Error err;
    check_ok(stored_load(&file, "plots/published/figure-4.json", a, &err), &err);
    const Csv *t = &file.table;
    assert_int_equal(t->rows, countof(coders));
    for (size_t row = 0; row < t->rows; row++) {
        const PaperCoder *c = &coders[row];
        double expected = step_bytes(c->bytes, c->parameter);
        assert_string_equal(csv_cell(t, row, "method"), c->method);
        check(csv_real(t, row, "computed bytes_up") == expected);
        if (c->bytes == bytes_of_words) {
            expected = step_bytes(bytes_of_bits, c->parameter);
            check(csv_real(t, row, "corrected bytes_up") == expected);
        }
        const double ours = message(csv_cell(t, row, "compressor"));
        print_message("%s: %.0f bytes, expected %.0f\n", c->method, ours, expected);
        check_rel(ours, expected, 5e-4);
    }
}

CHECK_ALL(open_model, close_model)
