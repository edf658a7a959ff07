/* cas_model.c -- checks the parameters of the cluster-aware sketch, learns clusters, and codes the index: the list of a
 * tensor's cluster numbers, an element each (cas_parts.h). */
#include "compress/sketch/cas_parts.h"
#include "coder/huffman.h"
#include "base/parallel.h"

#include <math.h>

/* ---- the index: the cluster numbers of the elements ---- */

typedef struct {
    const ClusterIndex *index;
    uint8_t *code; /* (n) cluster number of each element; cluster_index_put only reads this array */
    uint8_t *out;
    const uint8_t *in;
    uint32_t *count; /* for each block and cluster: number of elements */
    /* (blocks + 1) at[b]: offset of the stream of block b from the first stream; at[b + 1]: the end of this
     * stream */
    uint64_t *at;
    bool *bad; /* for each block: true if its stream cannot be decoded */
    Huffman huffman;
    /* word[v]: the joined Huffman codes of the cluster numbers packed in byte v, and their length in bits
     * (WORD_LENGTH). `longest` is the largest such length. */
    uint64_t word[256], longest;
} IndexJob;

static int width_of(uint32_t clusters)
{
    int width = 1;
    while ((clusters - 1) >> width)
        width++;
    return width;
}

/* Returns an upper bound on the bytes of the cluster numbers of n elements. The table of code lengths takes at most 17
 * bits, and 28 bits for each cluster. All Huffman codes together take no more bits than codes of fixed width. */
static size_t cluster_index_most(size_t n, uint32_t clusters)
{
    const size_t width = (size_t)width_of(clusters), blocks = blocks_of(n);
    return (17 + 28 * (size_t)clusters) / 8 + 1 + n / 8 * width + (n % 8 * width) / 8 + 1 + 5 * blocks;
}

/* ---- counting the elements of each cluster ---- */

/* count_equal counts the codes that equal c. It uses ABREAST counters of one byte, so that the compiler can
 * vectorise the loop. BATCH codes cannot overflow a counter. */
enum { FEW = 16, ABREAST = 32, BATCH = 255 * ABREAST };
static uint32_t count_equal(const uint8_t *code, size_t n, uint8_t c)
{
    uint32_t count = 0;
    size_t i = 0;
    while (i + ABREAST <= n) {
        const size_t end = n - i < BATCH ? n - n % ABREAST : i + BATCH;
        uint8_t part[ABREAST] = {0};
        for (; i < end; i += ABREAST)
            for (size_t l = 0; l < ABREAST; l++)
                part[l] = (uint8_t)(part[l] + (code[i + l] == c));
        for (size_t l = 0; l < ABREAST; l++)
            count += part[l];
    }
    for (; i < n; i++)
        count += code[i] == c;
    return count;
}

static void count_each(const uint8_t *code, size_t n, uint32_t clusters, uint32_t *count)
{
    uint32_t part[4][INDEX_MOST] = {{0}};
    /* four tables of counts, because incrementing one counter many times in a row is slow */
    for (size_t i = 0; i < n; i++)
        part[i % 4][code[i]]++;
    for (uint32_t c = 0; c < clusters; c++)
        count[c] = part[0][c] + part[1][c] + part[2][c] + part[3][c];
}

static void count_block(void *data, size_t block)
{
    const IndexJob *job = data;
    const uint32_t clusters = job->index->clusters;
    const size_t n = block_size(job->index->n, block);
    const uint8_t *code = job->code + block * BLOCK;
    uint32_t *count = job->count + block * clusters;
    if (clusters > FEW)
        count_each(code, n, clusters, count);
    for (uint32_t c = 0; c < clusters && clusters <= FEW; c++)
        count[c] = count_equal(code, n, (uint8_t)c);
}

static Status count_all(IndexJob *job, uint64_t count[INDEX_MOST])
{
    const ClusterIndex *index = job->index;
    const size_t blocks = blocks_of(index->n), clusters = index->clusters;
    job->count = NEW(index->scratch, uint32_t, blocks * clusters);
    TRY(arena_check(job->count, index->scratch, index->err));
    parallel_for(index->threads, blocks, count_block, job);
    for (size_t c = 0; c < clusters; c++) {
        count[c] = 0;
        for (size_t b = 0; b < blocks; b++)
            count[c] += job->count[b * clusters + c];
    }
    return OK;
}

Status cluster_index_counts(const ClusterIndex *index, const uint8_t *code, uint64_t count[INDEX_MOST])
{
    IndexJob job = {.index = index, .code = (uint8_t *)(uintptr_t)code};
    return count_all(&job, count);
}

/* Sets *bits to the mean length of a Huffman code for cluster numbers; share[k] is the share of elements in
 * cluster k. */
static Status cluster_index_bits(const double *share, uint32_t clusters, double *bits, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    uint64_t count[INDEX_MOST], total = 0;
    Huffman h;
    for (uint32_t c = 0; c < clusters; c++)
        total += count[c] = (uint64_t)(share[c] * 0x1p40);
    TRY(arena_check(huffman_open(&h, clusters, scratch) && huffman_build(&h, count), scratch, err));
    *bits = total ? (double)huffman_bits(&h, count) / (double)total : 0;
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- blocks ---- */

/* Returns how many cluster numbers the encoder packs into a byte, to look up all their Huffman codes at once:
 * four of 2 bits, two of 4 bits, or one. */
static size_t group_of(uint32_t clusters)
{
    return clusters <= 4 ? 4 : clusters <= 16 ? 2 : 1;
}

static inline unsigned lookup(const uint8_t *code, size_t group)
{
    if (group == 1)
        return code[0];
    if (group == 2)
        return code[0] | (unsigned)code[1] << 4;
    const uint32_t v = load_u32(code);
    return (v | v >> 6 | v >> 12 | v >> 18) & 0xff;
}

/* Returns the k-th cluster number of the `group` numbers packed in the byte `value`. */
static unsigned code_of(unsigned value, size_t group, size_t k)
{
    return value >> 8 / group * k & ((256u >> (8 - 8 / group)) - 1);
}

/* job->word[v] has the joined Huffman codes in bits 0 .. 55, and their length in the bits from 56 on. */
enum { WORD_LENGTH = 56 };

static void make_words(IndexJob *job)
{
    const Huffman *h = &job->huffman;
    const uint32_t clusters = job->index->clusters;
    const size_t group = group_of(clusters);
    for (unsigned v = 0; v < 256; v++) {
        uint64_t bits = 0, length = 0;
        for (size_t k = 0; k < group; k++) {
            const unsigned c = code_of(v, group, k);
            /* cluster c does not exist, so no packed byte equals v */
            if (c >= clusters)
                break;
            bits = bits << h->length[c] | (h->length[c] ? h->code[c] : 0);
            length += h->length[c];
        }
        job->word[v] = bits | length << WORD_LENGTH;
        job->longest = length > job->longest ? length : job->longest;
    }
}

static inline uint64_t join_words(uint64_t a, uint64_t b)
{
    const uint64_t bits = (UINT64_C(1) << WORD_LENGTH) - 1, length = b >> WORD_LENGTH;
    return (a & bits) << length | (b & bits) | ((a >> WORD_LENGTH) + length) << WORD_LENGTH;
}

static inline void put_word(BitWriter *w, uint64_t word)
{
    bits_put(w, word & ((UINT64_C(1) << WORD_LENGTH) - 1), (unsigned)(word >> WORD_LENGTH));
}

/* Writes the Huffman codes of lookups * group cluster numbers, `group` of them for each lookup in job->word. If
 * four lookups always fit into BITS_MAX bits, one bits_put writes all four. */
static inline void put_lookups(const IndexJob *job, const uint8_t *code, size_t lookups, size_t group,
                               BitWriter *w)
{
    const uint64_t *word = job->word;
    BitWriter local = *w;
    size_t i = 0;
    for (; job->longest * 4 <= BITS_MAX && i + 4 <= lookups; i += 4) {
        const uint8_t *at = code + group * i;
        const uint64_t first = join_words(word[lookup(at, group)], word[lookup(at + group, group)]);
        const uint64_t last =
            join_words(word[lookup(at + 2 * group, group)], word[lookup(at + 3 * group, group)]);
        put_word(&local, join_words(first, last));
    }
    for (; i < lookups; i++)
        put_word(&local, word[lookup(code + group * i, group)]);
    *w = local;
}

static void put_block(void *data, size_t block)
{
    const IndexJob *job = data;
    const size_t n = block_size(job->index->n, block), group = group_of(job->index->clusters);
    const uint8_t *code = job->code + block * BLOCK;
    BitWriter w = bits_writer(job->out + job->at[block], (size_t)(job->at[block + 1] - job->at[block]));
    if (group == 4)
        put_lookups(job, code, n / 4, 4, &w);
    else if (group == 2)
        put_lookups(job, code, n / 2, 2, &w);
    else
        put_lookups(job, code, n, 1, &w);
    for (size_t i = n / group * group; i < n; i++)
        bits_put(&w, job->huffman.length[code[i]] ? job->huffman.code[code[i]] : 0,
                 job->huffman.length[code[i]]);
    bits_close(&w);
}

static void get_block(void *data, size_t block)
{
    const IndexJob *job = data;
    const size_t n = block_size(job->index->n, block);
    uint8_t *code = job->code + block * BLOCK;
    uint16_t symbol[4096 + HUFFMAN_SLACK];
    const Bytes own = {job->in + job->at[block], (size_t)(job->at[block + 1] - job->at[block])};
    BitReader r = bits_reader(own);
    bool good = true;
    for (size_t from = 0; good && from < n; from += 4096) {
        const size_t size = n - from < 4096 ? n - from : 4096;
        good = huffman_get(&job->huffman, &r, size, symbol);
        for (size_t i = 0; i < size; i++)
            code[from + i] = (uint8_t)symbol[i];
    }
    job->bad[block] = !good || !bits_finish(&r);
}

static uint64_t block_bytes(const IndexJob *job, size_t block)
{
    const uint32_t *count = job->count + block * job->index->clusters;
    uint64_t bits = 0;
    for (uint32_t c = 0; c < job->index->clusters; c++)
        bits += (uint64_t)count[c] * job->huffman.length[c];
    return (bits + 7) / 8;
}

static Status put_all(IndexJob *job, Buf *out)
{
    const ClusterIndex *index = job->index;
    const size_t blocks = blocks_of(index->n);
    uint64_t count[INDEX_MOST];
    job->at = NEW(index->scratch, uint64_t, blocks + 1);
    TRY(arena_check(job->at, index->scratch, index->err));
    TRY(count_all(job, count));
    TRY(arena_check(huffman_open(&job->huffman, index->clusters, index->scratch) &&
                        huffman_build(&job->huffman, count),
                    index->scratch, index->err));
    make_words(job);
    const size_t table = (size_t)((huffman_table_bits(&job->huffman) + 7) / 8);
    BitWriter w = bits_writer(buf_room(out, table), table);
    huffman_table_put(&job->huffman, &w);
    bits_close(&w);
    job->at[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        const uint64_t size = block_bytes(job, b);
        job->at[b + 1] = job->at[b] + size;
        if (blocks > 1)
            buf_u32(out, (uint32_t)size);
    }
    job->out = buf_room(out, (size_t)job->at[blocks]);
    parallel_for(index->threads, blocks, put_block, job);
    return OK;
}

static Status open_streams(IndexJob *job, Reader *r, const char **why)
{
    const ClusterIndex *index = job->index;
    const size_t blocks = blocks_of(index->n);
    job->at = NEW(index->scratch, uint64_t, blocks + 1);
    TRY(arena_check(job->at && huffman_open(&job->huffman, index->clusters, index->scratch), index->scratch,
                    index->err));
    BitReader bits = bits_reader((Bytes){r->at, reader_left(r)});
    *why = "a table of cluster codes that no encoder writes";
    if (!huffman_table_get(&job->huffman, &bits) || job->huffman.present == 0)
        return ERR_CORRUPT;
    if (bits_get(&bits, (unsigned)(-bits.at & 7)))
        return ERR_CORRUPT;
    take_bytes(r, (size_t)(bits.at / 8));
    const uint8_t *length = blocks > 1 ? take_bytes(r, 4 * blocks) : NULL;
    job->at[0] = 0;
    for (size_t b = 0; b < blocks && !r->bad; b++)
        job->at[b + 1] = job->at[b] + (length ? load_u32(length + 4 * b) : reader_left(r));
    *why = "cluster streams of other lengths";
    if (r->bad || job->at[blocks] != reader_left(r))
        return ERR_CORRUPT;
    return huffman_ready(&job->huffman) ? OK : arena_fail(index->scratch, index->err);
}

/* ---- writing and reading an index ---- */

Status cluster_index_put(const ClusterIndex *index, const uint8_t *code, Buf *out)
{
    const ArenaMark mark = arena_mark(index->scratch);
    IndexJob job = {.index = index, .code = (uint8_t *)(uintptr_t)code};
    const Status status = put_all(&job, out);
    arena_rewind(index->scratch, mark);
    return status;
}

Status cluster_index_get(const ClusterIndex *index, Reader *r, uint8_t *code, const char **why)
{
    const ArenaMark mark = arena_mark(index->scratch);
    const size_t blocks = blocks_of(index->n);
    IndexJob job = {.index = index, .code = code, .bad = NEW(index->scratch, bool, blocks)};
    TRY(arena_check(job.bad, index->scratch, index->err));
    Status status = open_streams(&job, r, why);
    if (status == OK) {
        job.in = take_bytes(r, reader_left(r));
        parallel_for(index->threads, blocks, get_block, &job);
        *why = "cluster numbers that no encoder writes";
        for (size_t b = 0; b < blocks; b++)
            status = job.bad[b] ? ERR_CORRUPT : status;
    }
    arena_rewind(index->scratch, mark);
    return status;
}

/* ---- parameters and limits ---- */

/* Returns the largest number of clusters per sign to try when the payload may take `bits` bits per element.
 * With k clusters per sign, the index (each element's cluster number) takes about log2(2 k) bits per element, or
 * fewer. Half a bit less is assumed, because learn_for_bits reduces the number of clusters if they take too many
 * bits. */
static size_t clusters_for(double bits)
{
    size_t k = 1;
    while (k < SIDE_MOST && log2_whole(2 * (k + 1)) - 0.5 <= bits)
        k++;
    return k;
}

static size_t clusters_of(const Codec *codec)
{
    const Cas *p = codec->params;
    return isnan(p->bits) ? (size_t)p->clusters : clusters_for(p->bits);
}

/* Parses sizes=a:b:...; returns the number of sizes, or 0 if a size is not a number from 1 to 2^30. */
static size_t read_sizes(const char *text, uint64_t size[CLUSTERS_MOST])
{
    size_t count = 0;
    for (const char *at = text; *at; count++) {
        uint64_t v = 0;
        const char *digit = at;
        for (; *digit >= '0' && *digit <= '9' && v < UINT64_C(1) << 30; digit++)
            v = 10 * v + (uint64_t)(*digit - '0');
        if (count == CLUSTERS_MOST || digit == at || (*digit && (*digit != ':' || !digit[1])) || v < 1 ||
            v > UINT64_C(1) << 30)
            return 0;
        size[count] = v;
        at = *digit ? digit + 1 : digit;
    }
    return count;
}

Status cas_check(const Codec *codec, Error *err)
{
    const Cas *p = codec->params;
    uint64_t size[CLUSTERS_MOST];
    const size_t k = clusters_of(codec), count = read_sizes(p->sizes, size);
    if (p->sizes[0] && p->allocate != BY_HAND)
        return FAIL(err, ERR_USAGE, "cas: sizes=%s without allocate=manual", p->sizes);
    if (p->sizes[0] && count != k && count != 2 * k)
        return FAIL(err, ERR_USAGE, "cas: sizes=%s: want %zu or %zu numbers of buckets, from 1 to 2^30",
                    p->sizes, k, 2 * k);
    if (p->buckets && (p->sizes[0] || !isnan(p->bits)))
        return FAIL(err, ERR_USAGE, "cas: buckets=%lld, but %s sets the number of buckets",
                    (long long)p->buckets, p->sizes[0] ? "sizes" : "bits");
    if (p->sizes[0] && !isnan(p->bits))
        return FAIL(err, ERR_USAGE, "cas: bits and sizes, but both set the number of buckets");
    return OK;
}

static uint64_t sizes_sum(const Cas *p, size_t k)
{
    uint64_t size[CLUSTERS_MOST], sum = 0;
    const size_t count = read_sizes(p->sizes, size);
    for (size_t j = 0; j < count; j++)
        sum += count == k ? 2 * size[j] : size[j];
    return sum;
}

CasLimits cas_limits(const Call *c)
{
    const Cas *p = cas_params(c);
    const size_t n = c->shape->n, k = clusters_of(c->self);
    CasLimits l = {.clusters = 2 * k};
    l.buckets = p->sizes[0]       ? sizes_sum(p, k)
                : !isnan(p->bits) ? (uint64_t)(p->bits / 32 * (double)n)
                : p->buckets      ? (uint64_t)p->buckets
                                  : n / 100;
    l.buckets = l.buckets < l.clusters ? l.clusters : l.buckets > UINT32_MAX ? UINT32_MAX : l.buckets;
    l.bytes = 3 + 8 * l.clusters + 4 * (size_t)l.buckets +
              cluster_index_most(n, (uint32_t)l.clusters);
    l.raw = n < (uint64_t)p->min || l.bytes >= raw_size(c);
    if (l.raw)
        l.bytes = raw_size(c);
    return l;
}

/* ---- learning ---- */

/* Sets the clusters' numbers of buckets to the sizes of the spec. k sizes are for the clusters of each sign,
 * from zero outwards; 2 k sizes are for all clusters, from the lowest to the highest. If there are fewer
 * clusters than sizes, the sizes for the outermost clusters are not used. */
static void share_by_hand(ClusterModel *m, const Cas *p, size_t k)
{
    uint64_t size[CLUSTERS_MOST];
    const size_t count = read_sizes(p->sizes, size);
    for (size_t j = 0; j < cluster_model_clusters(m); j++) {
        const size_t outwards = j < m->minus ? m->minus - 1 - j : j - m->minus;
        const size_t at = count == k ? outwards : j < m->minus ? k - 1 - outwards : k + outwards;
        m->cluster[j].buckets = (uint32_t)size[at];
    }
}

/* The index may take at most the share INDEX_SHARE of the wanted bits per element; the buckets take the
 * remaining bits. */
#define INDEX_SHARE 0.97

/* Starts from the largest number of clusters, and decreases it until the index takes at most INDEX_SHARE of
 * `bits` per element. Sets *budget to the number of buckets for which the remaining bits suffice. */
static Status learn_for_bits(const Call *c, const float *x, ClusterSpec *spec, ClusterModel *m,
                             ClusterStats *s, uint64_t *budget)
{
    const double bits = cas_params(c)->bits, n = (double)c->shape->n;
    double index;
    for (;;) {
        TRY(clusters_train(m, s, spec, x, c->shape->n, &c->rng_shared, c->scratch, c->err));
        TRY(cluster_index_bits(s->share, (uint32_t)cluster_model_clusters(m), &index, c->scratch, c->err));
        if (spec->clusters == 1 || index <= INDEX_SHARE * bits)
            break;
        spec->clusters -= 1 + spec->clusters / 8;
    }
    const double left = ((bits - index) * n - 8 * (3 + 8 * (double)cluster_model_clusters(m))) / 32;
    *budget = left > 0 ? (uint64_t)left : 0;
    return OK;
}

static void weigh(const Cas *p, const ClusterModel *m, const ClusterStats *s, double *weight)
{
    double most = 0;
    for (size_t j = 0; j < cluster_model_clusters(m); j++)
        if (fabs((double)m->cluster[j].centre) > most)
            most = fabs((double)m->cluster[j].centre);
    for (size_t j = 0; j < cluster_model_clusters(m); j++)
        weight[j] = p->allocate == BY_DENSITY   ? s->share[j]
                    : p->allocate == BY_HAND    ? 1
                    : p->allocate == BY_ENTROPY ? s->entropy[j]
                    : most > 0                  ? s->entropy[j] * (fabs((double)m->cluster[j].centre) / most)
                                                : 0;
}

Status cas_learn(const Call *c, const float *x, ClusterModel *m)
{
    const Cas *p = cas_params(c);
    const CasLimits l = cas_limits(c);
    ClusterSpec spec = {l.clusters / 2, (size_t)p->sample, (size_t)p->bins, p->percentile};
    ClusterStats s;
    uint64_t budget = l.buckets;
    double weight[CLUSTERS_MOST];
    if (isnan(p->bits))
        TRY(clusters_train(m, &s, &spec, x, c->shape->n, &c->rng_shared, c->scratch, c->err));
    else
        TRY(learn_for_bits(c, x, &spec, m, &s, &budget));
    if (p->sizes[0]) {
        share_by_hand(m, p, spec.clusters);
        return OK;
    }
    weigh(p, m, &s, weight);
    clusters_share(m, weight, budget < l.buckets ? budget : l.buckets);
    return OK;
}

bool cas_fits(const ClusterModel *m, const CasLimits *l)
{
    return cluster_model_good(m) && m->minus <= l->clusters / 2 && m->plus <= l->clusters / 2 &&
           cluster_model_buckets(m) <= l->buckets;
}
