/* test_eden.c -- the codecs drive and eden, which rotate a vector at random and round each element: the scales
 * of estimates. */
#include "rig/try.h"

static const char *const specs[] = {"drive",
                                    "drive:scale=mse",
                                    "drive:rotations=1",
                                    "eden",
                                    "eden:bits=0.2",
                                    "eden:bits=1",
                                    "eden:bits=2.51",
                                    "eden:bits=8",
                                    "eden:bits=4,rotations=1",
                                    "eden:bits=1.999",
                                    "eden:bits=7.5"};

/* ---- the default scale of estimates (no bias) and scale=mse (least error) ---- */

/* Every estimate y must have <y, x> = |x|^2 with the default scale, and <y - x, y> = 0 with scale=mse. */
TEST(scales_are_the_unbiased_one_and_the_one_of_least_error)
{
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t n = 64; n < 200000; n = n * 5 + 7) {
            Try *t = try_open(specs[s], n);
            double xx = 0, xy = 0, yy = 0;
            try_laplace(t, 40);
            try_both(t);
            for (size_t i = 0; i < n; i++) {
                xx += (double)t->x[i] * (double)t->x[i];
                xy += (double)t->x[i] * (double)t->y[i];
                yy += (double)t->y[i] * (double)t->y[i];
            }
            if (strstr(specs[s], "mse"))
                check_rel(xy, yy, 1e-5);
            else
                check_rel(xy, xx, 1e-5);
            try_close(t);
        }
}

CHECK_ALL(NULL, NULL)
