/* two_hosts.c -- two made-up hosts on this machine, joined by a link of a given rate and delay, for programs of MPI:
 *
 *     two_hosts BITS_PER_SECOND DELAY_SECONDS COMMAND...   runs a command on the first host
 *     two_hosts --enter HOST COMMAND...                    runs a command on the second host, as `ssh HOST COMMAND`
 *
 * A host is a network namespace with a name of its own and the address 10.77.0.1 or 10.77.0.2. The link is the process of
 * the first form: packets that a host sends come out of its device /dev/net/tun, wait until the link has carried the
 * packets before them at its rate and then for the delay, and go into the other host's device. Both directions are
 * independent. Exits with the command's exit code, or with 77 if the hosts cannot be made. Needs Linux. Without the rights
 * of root it takes a user namespace. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_MOST = 9000, WAITING_MOST = 1 << 26, CANNOT = 77 };
static const char device[] = "wire", variable[] = "TWO_HOSTS_LINK";

/* Ends the process if a call has failed. */
static int must(int result, const char *what)
{
    if (result >= 0)
        return result;
    fprintf(stderr, "two_hosts: %s: %s\n", what, strerror(errno));
    exit(CANNOT);
}

/* ---- hosts ---- */

static void write_file(const char *path, const char *format, unsigned id)
{
    char text[40];
    const int size = snprintf(text, sizeof text, format, id);
    const int fd = must(open(path, O_WRONLY), path);
    must(write(fd, text, (size_t)size) == size ? 0 : -1, path);
    close(fd);
}

/* Becomes root of a user namespace, unless this process is root. */
static void gain_rights(void)
{
    const unsigned user = geteuid(), group = getegid();
    if (user == 0)
        return;
    must(unshare(CLONE_NEWUSER), "user namespace");
    write_file("/proc/self/setgroups", "deny", 0);
    write_file("/proc/self/uid_map", "0 %u 1", user);
    write_file("/proc/self/gid_map", "0 %u 1", group);
}

static struct sockaddr address(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr out;
    inet_pton(AF_INET, text, &in.sin_addr);
    memcpy(&out, &in, sizeof out);
    return out;
}

static void set_flags(int socket, const char *name)
{
    struct ifreq r = {0};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    must(ioctl(socket, SIOCGIFFLAGS, &r), name);
    r.ifr_flags |= IFF_UP | IFF_RUNNING;
    must(ioctl(socket, SIOCSIFFLAGS, &r), name);
}

/* Limits the bytes of a connection that are under way to about what the link carries in two round trips and 5 ms (TCP
 * uses half of a buffer for data). The network card of a real host tells TCP how much of its data still waits; /dev/net/tun
 * does not, and megabytes would wait in front of each acknowledgement. */
static void limit_queues(double rate, double delay)
{
    static const char *const files[] = {"/proc/sys/net/ipv4/tcp_wmem", "/proc/sys/net/ipv4/tcp_rmem"};
    const double least = 1 << 16, most = 2 * rate * (5e-3 + 4 * delay);
    for (int i = 0; i < 2; i++)
        write_file(files[i], "4096 65536 %u", (unsigned)(most > least ? most : least));
}

/* Moves this process to a new host, and returns the host's device. */
static int make_host(int number, double rate, double delay)
{
    char name[20], own[20];
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(name, sizeof name, "host%d", number);
    snprintf(own, sizeof own, "10.77.0.%d", number);
    must(unshare(CLONE_NEWNET | CLONE_NEWUTS), "network namespace");
    must(sethostname(name, strlen(name)), "sethostname");
    const int tun = must(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun");
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", device);
    must(ioctl(tun, TUNSETIFF, &r), "TUNSETIFF");
    const int s = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    r.ifr_addr = address(own);
    must(ioctl(s, SIOCSIFADDR, &r), "address");
    r.ifr_netmask = address("255.255.255.0");
    must(ioctl(s, SIOCSIFNETMASK, &r), "netmask");
    r.ifr_mtu = PACKET_MOST;
    must(ioctl(s, SIOCSIFMTU, &r), "mtu");
    r.ifr_qlen = 10000;
    must(ioctl(s, SIOCSIFTXQLEN, &r), "queue");
    set_flags(s, device);
    set_flags(s, "lo");
    close(s);
    limit_queues(rate, delay);
    return tun;
}

/* ---- the link ---- */

typedef struct Packet Packet;
struct Packet {
    Packet *next;
    double due; /* time at which the other host gets it */
    size_t size;
    char data[];
};

/* One direction. */
typedef struct {
    int from, to;
    double free; /* time at which the link has carried all packets so far */
    size_t waiting;
    Packet *first, **end;
} Way;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void take_packets(Way *w, double rate, double delay)
{
    static char data[PACKET_MOST];
    ssize_t size;
    while (w->waiting < WAITING_MOST && (size = read(w->from, data, sizeof data)) > 0) {
        Packet *p = malloc(sizeof *p + (size_t)size);
        must(p ? 0 : -1, "memory");
        const double t = now();
        w->free = (w->free > t ? w->free : t) + (double)size / rate;
        *p = (Packet){.due = w->free + delay, .size = (size_t)size};
        memcpy(p->data, data, (size_t)size);
        *w->end = p;
        w->end = &p->next;
        w->waiting += p->size;
    }
}

static void give_packets(Way *w)
{
    while (w->first && w->first->due <= now()) {
        Packet *p = w->first;
        if (write(w->to, p->data, p->size) < 0 && errno == EAGAIN)
            return;
        w->waiting -= p->size;
        w->first = p->next;
        if (!w->first)
            w->end = &w->first;
        free(p);
    }
}

/* Carries packets until the process `command` ends; returns its wait status. */
static int carry(Way way[2], double rate, double delay, pid_t command)
{
    int status;
    while (waitpid(command, &status, WNOHANG) == 0) {
        double wait = 0.1;
        struct pollfd fd[2];
        for (int i = 0; i < 2; i++) {
            fd[i] = (struct pollfd){.fd = way[i].from, .events = way[i].waiting < WAITING_MOST ? POLLIN : 0};
            if (way[i].first && way[i].first->due - now() < wait)
                wait = way[i].first->due - now();
        }
        const struct timespec t = {.tv_nsec = wait > 0 ? (long)(wait * 1e9) : 0};
        ppoll(fd, 2, &t, NULL);
        for (int i = 0; i < 2; i++) {
            give_packets(&way[i]);
            take_packets(&way[i], rate, delay);
        }
    }
    return status;
}

/* ---- the program ---- */

static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        exit(1);
}

/* The process of the link is on the second host. */
static int enter(char **command)
{
    static const char *const kinds[] = {"net", "uts"};
    const char *link = getenv(variable);
    char line[20000] = "", path[60];
    for (int i = 0; i < 2 && link; i++) {
        snprintf(path, sizeof path, "/proc/%s/ns/%s", link, kinds[i]);
        const int fd = must(open(path, O_RDONLY), path);
        must(setns(fd, 0), path);
        close(fd);
    }
    for (; *command; command++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", *command);
    execl("/bin/sh", "sh", "-c", line, NULL);
    return must(-1, "sh");
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "--enter"))
        return enter(argv + 3);
    const double rate = argc > 3 ? atof(argv[1]) / 8 : 0, delay = argc > 3 ? atof(argv[2]) : 0;
    if (!(rate > 0 && delay >= 0)) {
        fprintf(stderr, "usage: two_hosts BITS_PER_SECOND DELAY_SECONDS COMMAND...\n");
        return 2;
    }
    char self[20];
    int ready[2];
    const pid_t parent = getpid();
    gain_rights();
    snprintf(self, sizeof self, "%d", (int)parent);
    setenv(variable, self, 1);
    must(pipe(ready), "pipe");
    Way way[2] = {{.from = make_host(1, rate, delay)}, {0}};
    const pid_t command = must(fork(), "fork");
    if (command == 0) {
        char go;
        die_with(parent);
        close(ready[1]);
        if (read(ready[0], &go, 1) != 1)
            return CANNOT;
        close(ready[0]);
        execvp(argv[3], argv + 3);
        return must(-1, argv[3]);
    }
    way[1].from = way[0].to = make_host(2, rate, delay);
    way[1].to = way[0].from;
    for (int i = 0; i < 2; i++)
        way[i].end = &way[i].first;
    /* where it may, the link goes before the ranks, which keep their cores busy while they wait */
    prctl(PR_SET_TIMERSLACK, 1);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    must(write(ready[1], "g", 1) == 1 ? 0 : -1, "pipe");
    const int status = carry(way, rate, delay, command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
