/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Starting, asking and stopping the server of redis_server.h. One per test
 * process.
 */
#define _GNU_SOURCE
#include "testing/redis_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/harness.h"

enum { PATIENCE_MS = 30000 };

static pid_t server = -1;
static int connection = -1;
static char socket_dir[64];

static void run_server(const char *path)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, 1);
    dup2(null, 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
           "--appendonly", "no", "--dir", socket_dir, "--enable-debug-command", "yes",
           (char *)NULL);
    _exit(127);
}

static void no_server(void)
{
    const char *ci = getenv("CI");
    if (ci == NULL || ci[0] == '\0') {
        SKIP("redis-server is not installed");
    }
    CHECK(!"redis-server is installed");
    REQUIRE(false);
}

/* Connects, as soon as the server listens; false when it ended instead. */
static bool connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (int tries = 0; tries < 3000; tries++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            connection = fd;
            return true;
        }
        close(fd);
        if (waitpid(server, NULL, WNOHANG) == server) {
            server = -1;
            return false;
        }
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

/* ---- Asking ---- */

static bool send_all(const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

static size_t whole_replies(const struct transcript_buffer *buffer, size_t from, size_t *end)
{
    size_t count = 0, at = from;
    while (at < buffer->size) {
        size_t size = transcript_reply_size(bytes_of(buffer->data + at, buffer->size - at));
        if (size == 0 || size == SIZE_MAX) {
            break;
        }
        at += size;
        count++;
    }
    *end = at;
    return count;
}

static bool receive(size_t replies, int timeout_ms, struct transcript_buffer *out)
{
    static uint8_t chunk[1 << 16];
    size_t from = out->size, end;
    while (whole_replies(out, from, &end) < replies) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        if (poll(&wait, 1, timeout_ms) <= 0) {
            return false;
        }
        ssize_t got = recv(connection, chunk, sizeof chunk, 0);
        if (got <= 0) {
            return false;
        }
        transcript_append(out, chunk, (size_t)got);
    }
    return true;
}

static bool ask(void *self, size_t argc, const struct bytes *argv, struct transcript_buffer *reply)
{
    struct transcript_buffer request = {NULL, 0, 0};
    char head[32];
    (void)self;
    transcript_append(&request, head, (size_t)snprintf(head, sizeof head, "*%zu\r\n", argc));
    for (size_t i = 0; i < argc; i++) {
        int size = snprintf(head, sizeof head, "$%zu\r\n", argv[i].size);
        transcript_append(&request, head, (size_t)size);
        transcript_append(&request, argv[i].data, argv[i].size);
        transcript_append(&request, "\r\n", 2);
    }
    bool done = send_all(request.data, request.size) && receive(1, PATIENCE_MS, reply);
    transcript_free(&request);
    return done;
}

bool redis_raw(struct bytes request, size_t replies, struct transcript_buffer *out)
{
    char path[128];
    int kept = connection;
    snprintf(path, sizeof path, "%s/socket", socket_dir);
    bool done = connect_to(path) && send_all(request.data, request.size) &&
                receive(replies, PATIENCE_MS, out);
    if (connection != kept) {
        close(connection);
    }
    connection = kept;
    return done;
}

/* ---- Starting and stopping ---- */

void redis_start(struct transcript_target *out)
{
    char path[128];
    if (system("command -v redis-server >/dev/null 2>&1") != 0) {
        no_server();
    }
    /* A socket's path has to be short, shorter than a test's folder may be. */
    snprintf(socket_dir, sizeof socket_dir, "/tmp/kevy-redis.XXXXXX");
    REQUIRE(mkdtemp(socket_dir) != NULL);
    snprintf(path, sizeof path, "%s/socket", socket_dir);
    server = fork();
    REQUIRE(server >= 0);
    if (server == 0) {
        run_server(path);
    }
    REQUIRE(connect_to(path));
    *out = (struct transcript_target){"redis", NULL, ask};
}

void redis_stop(void)
{
    char path[128];
    if (server > 0) {
        close(connection);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        server = -1;
    }
    snprintf(path, sizeof path, "%s/socket", socket_dir);
    unlink(path);
    rmdir(socket_dir);
}
