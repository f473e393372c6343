/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Redis as a peer: a server of our own on a unix socket in the lane's folder,
 * spoken to by hiredis, one command at a time. It is another process, so its
 * numbers say what leaving the process costs.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "bench/engine/store.h"

#ifdef HAVE_HIREDIS
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct redis {
    pid_t server;
    redisContext *context;
};

static void exec_server(const char *dir, const char *socket, enum store_mode mode)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir,
           "--save", "", "--appendonly", mode == MODE_MEMORY ? "no" : "yes", "--appendfsync",
           mode == MODE_DURABLE ? "always" : "everysec", (char *)NULL);
    _exit(127);
}

static void *redis_open(const char *dir, enum store_mode mode)
{
    struct redis *self = calloc(1, sizeof *self);
    char socket[100];
    if (snprintf(socket, sizeof socket, "%s/s", dir) >= (int)sizeof socket) {
        free(self);
        return NULL;
    }
    self->server = fork();
    if (self->server == 0) {
        exec_server(dir, socket, mode);
    }
    for (unsigned i = 0; i < 300; i++) {
        usleep(10000);
        self->context = redisConnectUnix(socket);
        if (self->context != NULL && self->context->err == 0) {
            return self;
        }
        redisFree(self->context);
    }
    kill(self->server, SIGKILL);
    waitpid(self->server, NULL, 0);
    free(self);
    return NULL;
}

static void redis_close(void *handle)
{
    struct redis *self = handle;
    redisFree(self->context);
    kill(self->server, SIGKILL);
    waitpid(self->server, NULL, 0);
    free(self);
}

static int redis_set(void *handle, const char *key, size_t key_size, const char *value, size_t size)
{
    struct redis *self = handle;
    redisReply *reply = redisCommand(self->context, "SET %b %b", key, key_size, value, size);
    int result = reply != NULL && reply->type == REDIS_REPLY_STATUS ? 0 : -1;
    freeReplyObject(reply);
    return result;
}

static long redis_get(void *handle, const char *key, size_t key_size, char *out, size_t capacity)
{
    struct redis *self = handle;
    redisReply *reply = redisCommand(self->context, "GET %b", key, key_size);
    long result = -1;
    if (reply != NULL && reply->type == REDIS_REPLY_STRING && reply->len <= capacity) {
        memcpy(out, reply->str, reply->len);
        result = (long)reply->len;
    }
    freeReplyObject(reply);
    return result;
}
#define REDIS_OPEN redis_open
#define REDIS_REST redis_close, redis_set, redis_get
#else
#define REDIS_OPEN NULL
#define REDIS_REST NULL, NULL, NULL
#endif

const struct store store_redis_memory = {"Redis, unix socket", MODE_MEMORY, false, false, true,
                                         REDIS_OPEN,           REDIS_REST};
const struct store store_redis_durable = {"Redis, AOF always", MODE_DURABLE, false, false, true,
                                          REDIS_OPEN,          REDIS_REST};
