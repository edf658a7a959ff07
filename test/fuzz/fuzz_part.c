/* fuzz_part.c -- fuzzes --resume on FILE.part (a file of records, one line for each): the file must be refused and left
 * unchanged, or be accepted up to its last complete line. The records of an accepted file become rows, and a record can be
 * added. Reading it as a result must not crash. */
#include "report/report_part.h"
#include "report/report_stored.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replace the C library's fdatasync and fsync, which would make each run take milliseconds. */
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

int fsync(int fd)
{
    (void)fd;
    return 0;
}

static const Column columns[] = {{.name = "place"}, {.name = "tensor"}, {.name = "shape"}, {.name = "mse"}};

static void put(const char *path, const uint8_t *data, size_t size)
{
    static const char head[] = "{\"part\": \"atomo-compare/1\", \"seed\": 1}\n";
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    /* a valid first line is put in front of three quarters of the inputs */
    const bool headed = size && data[0] % 4;
    if (fd < 0 || (headed && write(fd, head, sizeof head - 1) < 0) || write(fd, data, size) < 0)
        abort();
    close(fd);
}

static off_t length_of(const char *path)
{
    struct stat now;
    return stat(path, &now) ? -1 : now.st_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char output[64], path[80];
    const Fact settings[] = {{"part", value_text("atomo-compare/1")}, {"seed", value_int(1)}};
    Arena *a = arena_open((size_t)1 << 28);
    Error err;
    Part p;
    Stored s;
    /* a file system in memory, where there is one */
    snprintf(output, sizeof output, "%s/atomo-fuzz-%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (long)getpid());
    snprintf(path, sizeof path, "%s.part", output);
    put(path, data, size);
    (void)!stored_load(&s, path, a, &err);
    const PartSpec spec = {.output = output, .resume = true, .command = "go", .setting = settings, .settings = 2};
    const off_t before = length_of(path);
    if (part_open(&p, &spec, a, &err) != OK) {
        if (length_of(path) != before)
            abort();
        part_close(&p);
    } else {
        const size_t records = p.count;
        for (size_t i = 0; i < records; i++) {
            Value row[countof(columns)];
            stored_row(p.record[i], columns, countof(columns), row);
        }
        if (part_add(&p, "{\"place\": 1}", a, &err) != OK)
            abort();
        part_close(&p);
        if (part_open(&p, &spec, a, &err) != OK || p.count != records + 1)
            abort();
        part_remove(&p);
    }
    unlink(path);
    arena_close(a);
    return 0;
}
