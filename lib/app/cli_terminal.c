/* cli_terminal.c -- what the reader of stdout can take: colours and characters a line (cli.h). */
#include "app/cli.h"

#include "exchange/net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool cli_color(const Common *common)
{
    enum { AUTO, ALWAYS, NEVER };
    const char *plain = getenv("NO_COLOR"), *term = getenv("TERM");
    if (common->color != AUTO)
        return common->color == ALWAYS;
    /* mpirun gives ranks a terminal of its own, whatever becomes of their output */
    return !(plain && *plain) && term && strcmp(term, "dumb") != 0 && !net_under_launcher() &&
           isatty(STDOUT_FILENO);
}

size_t cli_width(const Common *common)
{
    const char *columns = getenv("COLUMNS");
    int64_t wanted = 0;
    struct winsize size;
    if (common->output)
        return 0;
    if (columns && text_to_int(columns, &wanted) && wanted > 0)
        return (size_t)wanted;
    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t cli_help_width(void)
{
    enum { WIDTH = 80 };
    const size_t width = cli_width(&(Common){0});
    return width && width < WIDTH ? width : WIDTH;
}
