/* fuzz_journal.c -- fuzzes --resume on a journal (a file of results, one line for each): the journal must be
 * refused and left unchanged, or be accepted up to its last complete line. The records of an accepted journal
 * become rows, and a record can be added. */
#include "report/report_journal.h"

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
    static const char head[] = "{\"journal\": \"atomo-records/2\", \"seed\": 1}\n";
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
    const Fact settings[] = {{"journal", value_text("atomo-records/2")}, {"seed", value_int(1)}};
    Arena *a = arena_open((size_t)1 << 28);
    Error err;
    Journal j;
    /* a file system in memory, where there is one */
    snprintf(output, sizeof output, "%s/atomo-fuzz-%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (long)getpid());
    snprintf(path, sizeof path, "%s.journal", output);
    put(path, data, size);
    const off_t before = length_of(path);
    if (journal_open(&j, output, true, settings, countof(settings), a, &err) != OK) {
        if (length_of(path) != before)
            abort();
        journal_close(&j);
    } else {
        const size_t records = j.old_count;
        for (size_t i = 0; i < records; i++) {
            Value row[countof(columns)];
            (void)!journal_row(j.old[i], columns, countof(columns), row, a, &err);
        }
        if (journal_add(&j, "{\"place\": 1}", a, &err) != OK)
            abort();
        journal_close(&j);
        if (journal_open(&j, output, true, settings, countof(settings), a, &err) != OK ||
            j.old_count != records + 1)
            abort();
        journal_remove(&j);
    }
    unlink(path);
    arena_close(a);
    return 0;
}
