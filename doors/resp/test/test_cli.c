/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-cli as a user runs it: exit codes, what is said, streams that go out and
 * come in again, and a real redis-server in between.
 */
#if !defined(_GNU_SOURCE) && !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "kevy/check.h"
#include "testing/harness.h"

/* ---- Running ---- */

static char said[8192]; /* what the last command said, on both outputs */

/* Runs a shell command in the test's folder, where $CLI is the program. */
__attribute__((format(printf, 1, 2))) static int sh(const char *format, ...)
{
    char words[2048], line[4096];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    (void)snprintf(line, sizeof line, "cd '%s' && CLI='%s' && { %s; } >said 2>&1 </dev/null",
                   test_dir(), KEVY_CLI, words);
    int status = system(line);
    FILE *in = fopen(test_path("said"), "rb");
    size_t size = in == NULL ? 0 : fread(said, 1, sizeof said - 1, in);
    said[size] = '\0';
    if (in != NULL) {
        (void)fclose(in);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
    bool answer = strstr(said, text) != NULL;
    if (!answer) {
        printf("it says: %s\n", said);
    }
    return answer;
}

/* ---- Stores ---- */

enum { ENTRIES_MAX = 4000 };

struct entries {
    uint64_t hash[ENTRIES_MAX];
    size_t count;
};

static int32_t entry_note(void *user, const KevyEntry *entry)
{
    struct entries *entries = user;
    uint64_t hash = hash_bytes(entry->key, entry->key_len, entry->database);
    hash = hash_bytes(entry->value, entry->value_len, hash);
    REQUIRE(entries->count < ENTRIES_MAX);
    entries->hash[entries->count++] = hash_bytes(&entry->expiry_ms, sizeof entry->expiry_ms, hash);
    return 0;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static size_t entries_of(const char *name, struct entries *out)
{
    const char *dir = test_path(name);
    KevyCheckOptions options = {.user = out, .entry = entry_note};
    out->count = 0;
    CHECK_INT(kevy_check((const uint8_t *)dir, strlen(dir), &options, NULL, NULL), 0);
    qsort(out->hash, out->count, sizeof out->hash[0], by_hash);
    return out->count;
}

/* Both hold the same keys with the same values and expiries. */
static bool stores_equal(const char *a, const char *b)
{
    static struct entries left, right;
    size_t count = entries_of(a, &left);
    return CHECK(count > 0) && CHECK_INT(entries_of(b, &right), count) &&
           CHECK(memcmp(left.hash, right.hash, count * sizeof left.hash[0]) == 0);
}

static void session_say(KevySession *session, size_t argc, const void *const *argv,
                        const size_t *lens)
{
    const uint8_t *words[8];
    KevyBuf reply;
    for (size_t i = 0; i < argc; i++) {
        words[i] = argv[i];
    }
    REQUIRE_INT(kevy_session_cmd(session, argc, words, lens, &reply), 0);
    REQUIRE(reply.ptr[0] != '-');
    kevy_buf_free(reply.ptr, reply.len, reply.cap);
}

/* A store with binary keys and values of many sizes, in three databases, some
 * with a time to live. */
static void store_make(const char *name)
{
    static uint8_t value[600000];
    const char *dir = test_path(name);
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    KevySession *session = kevy_session_new(db);
    uint64_t random = test_seed();
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (uint8_t)test_random(&random);
    }
    for (unsigned number = 0; number < 900; number++) {
        char key[64], when[32], database[2] = {"037"[number / 300], '\0'};
        size_t key_size = 4 + number % 50,
               size = number % 100 == 7 ? 300000 + number : number % 700;
        memcpy(key, value + number, sizeof key);
        memcpy(key, &number, sizeof number);
        (void)snprintf(when, sizeof when, "%llu", 4000000000000ULL + number);
        session_say(session, 2, (const void *[]){"SELECT", database}, (size_t[]){6, 1});
        session_say(session, number % 3 == 0 ? 5 : 3,
                    (const void *[]){"SET", key, value + number, "PXAT", when},
                    (size_t[]){3, key_size, size, 4, strlen(when)});
    }
    kevy_session_free(session);
    kevy_close(db);
}

/* ---- The command line ---- */

TEST(cli_usage)
{
    CHECK_INT(sh("$CLI"), 2);
    CHECK_INT(sh("$CLI check"), 2);
    CHECK_INT(sh("$CLI check a b"), 2);
    CHECK_INT(sh("$CLI salvage a"), 2);
    CHECK_INT(sh("$CLI --nonsense check a"), 2);
    CHECK_INT(sh("$CLI -n 16 store GET a"), 2);
    CHECK_INT(sh("$CLI store"), 2);
    CHECK_INT(sh("$CLI --help"), 0);
    CHECK(says("kevy-cli export DIR"));
    CHECK_INT(sh("$CLI --version"), 0);
    CHECK_INT(sh("$CLI --help >/dev/full"), 3);
    CHECK_INT(sh("$CLI check nowhere"), 1);
    CHECK_INT(sh("$CLI store GET a"), 1);
    CHECK(says("there is no store"));
    CHECK_INT(sh("test ! -e nowhere && test ! -e store"), 0);
}

TEST(cli_runs_one_command)
{
    CHECK_INT(sh("printf 'SET a 1\\r\\n' | $CLI -q import store"), 0);
    CHECK_INT(sh("$CLI store GET a"), 0);
    CHECK_STR(said, "1\n");
    CHECK_INT(sh("$CLI -n 5 store SET b 'two words'"), 0);
    CHECK_INT(sh("$CLI -n 5 store KEYS '*'"), 0);
    CHECK_STR(said, "b\n");
    CHECK_INT(sh("$CLI store MGET a nothing"), 0);
    CHECK_STR(said, "1\n\n");
    CHECK_INT(sh("$CLI store INCR"), 1);
    CHECK(says("wrong number of arguments"));
}

/* ---- Streams ---- */

TEST_LIMIT(cli_export_and_import_are_inverse, 180)
{
    store_make("store");
    CHECK_INT(sh("$CLI export store a.resp"), 0);
    CHECK(says("900 keys written"));
    CHECK_INT(sh("$CLI export store - >b.resp 2>/dev/null && cmp a.resp b.resp"), 0);
    CHECK_INT(sh("$CLI import copy a.resp"), 0);
    CHECK(says("0 refused"));
    CHECK(stores_equal("store", "copy"));
    CHECK_INT(sh("test ! -e a.resp.part"), 0);
    CHECK_INT(sh("$CLI export store /dev/full"), 3);
    CHECK_INT(sh("test -c /dev/full && mkfifo pipe && { cmp pipe a.resp & $CLI export store pipe "
                 "&& wait $!; }"),
              0);
    CHECK_INT(sh("cat a.resp >pipe & $CLI import third pipe"), 0);
    CHECK(stores_equal("store", "third"));
    CHECK_INT(sh("$CLI export store >/dev/full"), 3);
    CHECK_INT(sh("$CLI export store nowhere/a"), 3);
    CHECK_INT(sh("$CLI import copy nowhere/a"), 3);
}

TEST(cli_import_says_where_it_stopped)
{
    CHECK_INT(sh("printf '*2\\r\\n$3\\r\\nSET\\r\\n$1\\r\\na\\r\\nXX' >wrong; $CLI import s wrong"),
              1);
    CHECK(says("SET"));
    CHECK_INT(sh("printf 'SET a 1\\r\\n*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nb\\r\\n$5\\r\\nab' >torn;"
                 "$CLI import s torn"),
              1);
    CHECK(says("from byte 9 on, is cut short"));
    CHECK_INT(sh("$CLI s EXISTS a b"), 0);
    CHECK_STR(said, "1\n");
    CHECK_INT(sh("printf 'SET a 2\\r\\n*3\\r\\n$3\\r\\nSET\\r\\n:1\\r\\n' | $CLI import s"), 1);
    CHECK(says("at byte 22: an argument that does not begin with $"));
    CHECK_INT(sh("printf '*1\\r\\n$99999999999\\r\\n' | $CLI import s"), 1);
    CHECK(says("at byte 4: a size that is too large"));
    CHECK_INT(sh("printf '*1\\r\\n$536870912\\r\\nab' | $CLI import s"), 1);
    CHECK(says("cut short"));
    CHECK_INT(sh("printf '*1\\r\\n$1\\r\\nabc' | $CLI import s"), 1);
    CHECK(says("longer than it says"));
    CHECK_INT(sh("printf 'REDIS0010x' | $CLI import s"), 1);
    CHECK_INT(sh("printf 'REDIS0010\\372x\\n' | $CLI import s"), 1);
    CHECK(says("aof-use-rdb-preamble no"));
    CHECK_INT(sh("printf '\\001\\002\\n' | $CLI import s"), 1);
    CHECK_INT(sh("printf 'NOTHING a\\r\\nSET c 3\\r\\n' | $CLI import s"), 1);
    CHECK(says("at byte 0: NOTHING: ERR unknown command"));
    CHECK(says("1 commands run, 1 refused"));
}

/* A transaction is run as a whole, once its end was read. */
TEST(cli_import_of_transactions)
{
    CHECK_INT(sh("printf '#TS:1\\r\\nMULTI\\r\\nSET a 1\\r\\nSET b 2\\r\\nEXEC\\r\\n' | "
                 "$CLI import s"),
              0);
    CHECK(says("2 commands run"));
    CHECK_INT(sh("printf 'MULTI\\r\\nSET a 9\\r\\n' | $CLI import s"), 1);
    CHECK(says("ends within a transaction"));
    CHECK_INT(sh("$CLI s MGET a b"), 0);
    CHECK_STR(said, "1\n2\n");
}

/* ---- Looking ---- */

/* Names, sizes, times and bytes of a folder. */
static uint64_t folder_hash(const char *name)
{
    static uint8_t bytes[1 << 22];
    char path[1024];
    uint64_t all = 0;
    struct stat info;
    DIR *dir = opendir(test_path(name));
    REQUIRE(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/%s", test_path(name), entry->d_name);
        REQUIRE_INT(stat(path, &info), 0);
        FILE *in = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
        size_t size = in == NULL ? 0 : fread(bytes, 1, sizeof bytes, in);
        if (in != NULL) {
            (void)fclose(in);
        }
        uint64_t hash = hash_bytes(entry->d_name, strlen(entry->d_name), (uint64_t)info.st_size);
        hash = hash_bytes(&info.st_mtim, sizeof info.st_mtim, hash);
        hash = hash_bytes(&info.st_ctim, sizeof info.st_ctim, hash);
        all += hash_bytes(bytes, size, hash);
    }
    (void)closedir(dir);
    return all;
}

TEST(cli_check_and_export_change_nothing)
{
    store_make("store");
    CHECK_INT(sh("printf 'end' >>store/00000.seg"), 0);
    uint64_t before = folder_hash("store");
    CHECK_INT(sh("$CLI check store"), 0);
    CHECK_INT(sh("$CLI export store >/dev/null"), 0);
    CHECK_INT(sh("$CLI salvage store saved"), 0);
    CHECK(folder_hash("store") == before);
    CHECK(stores_equal("store", "saved"));
}

/* What a user who may read and not write is told. */
static int check_as_nobody(void)
{
    const char *dir = test_path("store");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool is_other = getuid() != 0 || setuid(65534) == 0;
        _exit(is_other ? -kevy_check((const uint8_t *)dir, strlen(dir), NULL, NULL, NULL) : 99);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return -WEXITSTATUS(status);
}

TEST(cli_check_of_what_cannot_be_written)
{
    store_make("store");
    CHECK_INT(sh("chmod 0444 store/* && chmod 0555 store && chmod 0755 ."), 0);
    CHECK_INT(check_as_nobody(), 0);
    CHECK_INT(sh("rm -f store/lock || (chmod 0755 store && rm -f store/lock && chmod 0555 store)"),
              0);
    CHECK_INT(check_as_nobody(), KEVY_EACCESS);
    CHECK_INT(sh("test ! -e store/lock; chmod 0755 store"), 0);
}

TEST(cli_of_a_store_in_use)
{
    const char *dir = test_path("store");
    KevyError error;
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    REQUIRE(db != NULL);
    CHECK_INT(sh("$CLI check store"), 1);
    CHECK(says("in use"));
    CHECK_INT(sh("$CLI import store /dev/null"), 1);
    CHECK_INT(kevy_check((const uint8_t *)dir, strlen(dir), NULL, NULL, &error), KEVY_EINUSE);
    CHECK_INT(error.status, KEVY_EINUSE);
    kevy_close(db);
    CHECK_INT(kevy_check((const uint8_t *)dir, strlen(dir), NULL, NULL, &error), 0);
}

TEST(cli_salvages)
{
    store_make("store");
    CHECK_INT(sh("dd if=/dev/zero of=store/00000.seg bs=1 seek=20000 count=9 conv=notrunc"), 0);
    CHECK_INT(sh("$CLI check store"), 1);
    CHECK(says("damage: 00000.seg"));
    CHECK_INT(sh("$CLI export store a.resp"), 1);
    CHECK_INT(sh("test ! -e a.resp && test ! -e a.resp.part"), 0);
    CHECK_INT(sh("$CLI export --damaged store a.resp && false; test -e a.resp"), 0);
    CHECK_INT(sh("$CLI salvage store store"), 1);
    CHECK(says("not empty"));
    CHECK_INT(sh("$CLI salvage store saved"), 1);
    CHECK(says("what could be saved"));
    CHECK_INT(sh("$CLI check saved"), 0);
    CHECK_INT(sh("rm store/mark; $CLI check store"), 1);
    CHECK(says("salvage"));
    CHECK_INT(sh("$CLI salvage store other"), 1);
    CHECK_INT(sh("test ! -e other"), 0);
    CHECK_INT(sh("$CLI salvage --unverified store other"), 1);
    CHECK_INT(sh("$CLI check other"), 0);
}

/* Makes a store where the new one is to be, while the old one is read. */
static void take_place(void *user, const KevyFound *found)
{
    const char *dir = test_path("taken");
    KevyDb *db = kevy_open((const uint8_t *)dir, strlen(dir));
    (void)user;
    (void)found;
    REQUIRE(db != NULL);
    CHECK_INT(kevy_set(db, (const uint8_t *)"mine", 4, (const uint8_t *)"1", 1, 0), 0);
    kevy_close(db);
}

TEST(cli_salvages_into_no_store_that_came_meanwhile)
{
    char from[256], to[256];
    KevyCheckOptions options = {.found = take_place};
    KevyError error;
    store_make("store");
    CHECK_INT(sh("dd if=/dev/zero of=store/00000.seg bs=1 seek=20000 count=9 conv=notrunc"), 0);
    (void)snprintf(from, sizeof from, "%s", test_path("store"));
    (void)snprintf(to, sizeof to, "%s", test_path("taken"));
    CHECK_INT(kevy_salvage((const uint8_t *)from, strlen(from), (const uint8_t *)to, strlen(to), 0,
                           &options, NULL, &error),
              KEVY_EPATH);
    CHECK_INT(sh("$CLI taken KEYS '*'"), 0);
    CHECK_STR(said, "mine\n");
}

/* ---- Redis ---- */

static void need_redis(void)
{
    const char *ci = getenv("CI");
    if (sh("command -v redis-server && command -v redis-cli") != 0) {
        if (ci == NULL || ci[0] == '\0') {
            SKIP("redis-server is not installed");
        }
        CHECK(!"redis-server is installed");
        REQUIRE(false);
    }
}

/* A server in a folder, on a socket of its own; waits until it answers. */
static int redis_up(const char *dir)
{
    return sh("mkdir -p %s; redis-server --port 0 --unixsocket \"$PWD/%s.sock\" --dir %s --save '' "
              "--appendonly yes --aof-use-rdb-preamble no --daemonize yes "
              "--pidfile \"$PWD/%s.pid\" >/dev/null; for i in $(seq 600); do "
              "test \"$(redis-cli -s %s.sock PING 2>/dev/null)\" = PONG && exit 0; sleep 0.05; "
              "done; exit 1",
              dir, dir, dir, dir, dir);
}

static int redis_down(const char *dir)
{
    return sh("pid=$(cat %s.pid); redis-cli -s %s.sock SHUTDOWN NOSAVE; for i in $(seq 600); do "
              "kill -0 $pid 2>/dev/null || exit 0; sleep 0.05; done; exit 1",
              dir, dir);
}

/* kevy's export through redis-cli --pipe into Redis; Redis's AOF, and what it
 * rewrites of it, back into kevy. */
TEST_LIMIT(cli_through_redis_and_back, 180)
{
    need_redis();
    store_make("store");
    REQUIRE_INT(redis_up("one"), 0);
    CHECK_INT(sh("$CLI -q export store | redis-cli -s one.sock --pipe"), 0);
    CHECK(says("errors: 0"));
    CHECK_INT(sh("test $(redis-cli -s one.sock -n 7 DBSIZE) = 300"), 0);
    CHECK_INT(redis_down("one"), 0);
    CHECK_INT(sh("$CLI import back one/appendonlydir/appendonly.aof.manifest"), 0);
    CHECK(stores_equal("store", "back"));
    REQUIRE_INT(redis_up("one"), 0);
    CHECK_INT(sh("redis-cli -s one.sock BGREWRITEAOF; for i in $(seq 600); do redis-cli -s "
                 "one.sock INFO persistence | grep -q 'aof_rewrite_in_progress:0' && ls "
                 "one/appendonlydir | grep -q '2.base' && exit 0; sleep 0.05; done; exit 1"),
              0);
    CHECK_INT(redis_down("one"), 0);
    CHECK_INT(sh("$CLI import again one/appendonlydir/appendonly.aof.manifest"), 0);
    CHECK(stores_equal("store", "again"));
}

/* redis-server loads an export as its AOF. */
TEST_LIMIT(cli_export_is_an_aof, 180)
{
    need_redis();
    store_make("store");
    CHECK_INT(sh("mkdir -p two && $CLI export store two/appendonly.aof"), 0);
    REQUIRE_INT(redis_up("two"), 0);
    CHECK_INT(sh("test $(redis-cli -s two.sock -n 3 DBSIZE) = 300"), 0);
    CHECK_INT(redis_down("two"), 0);
    CHECK_INT(sh("$CLI import back two/appendonlydir/appendonly.aof.manifest"), 0);
    CHECK(stores_equal("store", "back"));
}
