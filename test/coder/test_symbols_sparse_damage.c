/* test_symbols_sparse_damage.c -- bytes of the sparse form that no writer writes must be refused. The sparse
 * form stores the positions and values of the codes that differ from the common code, the most frequent one. */
#include "rig/symbols_rig.h"

#include "coder/indices.h"

enum { SPARSE = 4, SMALL = 2 * BLOCK + 1000, WIDTH = 5, COMMON = 3 };

static uint8_t byte[SMALL];

typedef struct {
    uint64_t common;
    const size_t *place;
    const uint8_t *other;
    size_t places, others;
} Parts;

/* Three codes are not COMMON. */
enum { FAR = BLOCK + 100 };
static const size_t good_places[] = {5, 6, FAR};
static const uint8_t good_others[] = {1, 31, 4};
static const Parts good = {.common = COMMON, .place = good_places, .other = good_others, .places = 3, .others = 3};

static Buf assemble(const Parts *p)
{
    Error err;
    Carrier c = {.byte = (uint8_t *)p->other, .n = p->others};
    const Symbols s = symbols_of(WIDTH, &c);
    const Indices set = indices_list(p->place, p->places);
    Buf b = {.cap = 1 + VARINT_MAX + indices_bound(SMALL) + symbols_most(c.n, WIDTH)};
    b.data = NEW(arena, uint8_t, b.cap + 1);
    buf_u8(&b, SPARSE);
    buf_varint(&b, p->common);
    indices_put(&set, SMALL, &b);
    check_ok(symbols_put(&s, &b, arena, &err), &err);
    return b;
}

/* True if the bytes are accepted and decode to the codes in `byte`. */
static bool reads(Bytes in)
{
    Carrier c = {.byte = byte, .n = SMALL};
    const Symbols s = symbols_of(WIDTH, &c);
    return comes_back(&s, &c, in);
}
static bool parts_read(Parts p)
{
    const ArenaMark mark = arena_mark(arena);
    const Buf b = assemble(&p);
    const bool good_ones = reads(buf_bytes(&b));
    arena_rewind(arena, mark);
    return good_ones;
}

static void fill_good(void)
{
    memset(byte, COMMON, sizeof byte);
    byte[5] = 1;
    byte[6] = 31;
    byte[FAR] = 4;
}

TEST(damaged_heads_are_refused)
{
    fill_good();
    check(parts_read(good));
    Parts p = good;
    p.common = 32 + COMMON;
    check(!parts_read(p));
    p.common = UINT64_C(1) << 32 | COMMON;
    check(!parts_read(p));
    for (size_t others = 1; others <= 3; others++) {
        p = good;
        p.others = others;
        check(parts_read(p) == (others == 3));
    }
    for (size_t places = 0; places <= 3; places++) {
        p = good;
        p.places = p.others = places;
        check(parts_read(p) == (places == 3));
    }
}

TEST(a_common_code_among_the_others_is_refused)
{
    static const uint8_t others[] = {1, COMMON, 4};
    fill_good();
    byte[6] = COMMON;
    Parts p = good;
    p.other = others;
    check(!parts_read(p));
}

TEST(more_others_than_a_quarter_are_refused)
{
    static size_t places[SMALL / 4 + 2];
    static uint8_t ones[SMALL / 4 + 2];
    memset(ones, 1, sizeof ones);
    for (size_t i = 0; i < countof(places); i++)
        places[i] = i;
    Parts p = {.common = COMMON, .place = places, .other = ones};
    for (size_t over = 0; over <= 2; over++) {
        p.places = p.others = SMALL / 4 + over;
        memset(byte, COMMON, SMALL);
        memset(byte, 1, p.others);
        check(parts_read(p) == (over == 0));
    }
}

CHECK_ALL(open_all, close_all)
