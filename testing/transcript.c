/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The transcript runner: reads the lines of a file, runs the commands, and
 * holds the replies against the answers. The notation is in transcript.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "testing/transcript.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "testing/harness.h"

enum { WORDS_MAX = 4096 };

/* ---- Words ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_hex(char c)
{
    return c != '\0' && strchr("0123456789abcdefABCDEF", c) != NULL;
}

/* Reads one escape behind a backslash; returns the character behind it. */
static const char *read_escape(const char *p, char *out)
{
    static const char from[] = "nrt0", to[] = "\n\r\t\0";
    if (p[0] == 'x' && is_hex(p[1]) && is_hex(p[2])) {
        char hex[3] = {p[1], p[2], '\0'};
        *out = (char)strtol(hex, NULL, 16);
        return p + 3;
    }
    const char *known = strchr(from, *p);
    *out = known != NULL && *p != '\0' ? to[known - from] : *p;
    return p + 1;
}

/* Reads "quoted" text, from behind its quote, with its *count. */
static const char *read_quoted(const char *p, struct transcript_buffer *out)
{
    while (*p != '"' && *p != '\0') {
        char c = *p++;
        if (c == '\\') {
            p = read_escape(p, &c);
        }
        transcript_append(out, &c, 1);
    }
    p += *p == '"';
    if (*p == '*') {
        char *end;
        unsigned long times = strtoul(p + 1, &end, 10);
        struct transcript_buffer once = {NULL, 0, 0};
        transcript_append(&once, out->data, out->size);
        out->size = 0;
        for (unsigned long i = 0; i < times; i++) {
            transcript_append(out, once.data, once.size);
        }
        transcript_free(&once);
        p = end;
    }
    return p;
}

/* Reads $S, $MS and what is added; returns NULL if it is neither. */
static const char *read_time(const char *p, int64_t *out)
{
    bool is_ms = strncmp(p, "$MS", 3) == 0;
    if (!is_ms && strncmp(p, "$S", 2) != 0) {
        return NULL;
    }
    char *end = NULL;
    p += is_ms ? 3 : 2;
    int64_t added = *p == '+' || *p == '-' ? strtoll(p, &end, 10) : 0;
    *out = (is_ms ? now_ms() : now_ms() / 1000) + added;
    return end == NULL ? p : end;
}

static const char *read_bare(const char *p, const char *stop, struct transcript_buffer *out)
{
    int64_t time;
    const char *end = read_time(p, &time);
    if (end != NULL) {
        char text[32];
        int size = snprintf(text, sizeof text, "%lld", (long long)time);
        transcript_append(out, text, (size_t)size);
        return end;
    }
    while (*p != '\0' && strchr(stop, *p) == NULL) {
        transcript_append(out, p++, 1);
    }
    return p;
}

/* ---- Answers ---- */

struct matcher {
    const char *answer; /* what is left of the answer line */
    struct bytes reply; /* what is left of the reply */
};

static void skip_blanks(struct matcher *matcher)
{
    while (*matcher->answer == ' ') {
        matcher->answer++;
    }
}

/* Cuts the first reply off; one of size 0 if there is none. */
static struct bytes take_reply(struct matcher *matcher)
{
    size_t size = transcript_reply_size(matcher->reply);
    size = size == SIZE_MAX ? 0 : size;
    struct bytes reply = bytes_of(matcher->reply.data, size);
    matcher->reply = bytes_of(matcher->reply.data + size, matcher->reply.size - size);
    return reply;
}

static bool match_bulk(struct matcher *matcher)
{
    struct transcript_buffer text = {NULL, 0, 0}, want = {NULL, 0, 0};
    char head[32];
    transcript_append(&text, "", 0);
    matcher->answer = *matcher->answer == '"' ? read_quoted(matcher->answer + 1, &text)
                                              : read_bare(matcher->answer, " ]}", &text);
    int size = snprintf(head, sizeof head, "$%zu\r\n", text.size);
    transcript_append(&want, head, (size_t)size);
    transcript_append(&want, text.data, text.size);
    transcript_append(&want, "\r\n", 2);
    bool held = bytes_equal(take_reply(matcher), bytes_of(want.data, want.size));
    transcript_free(&text);
    transcript_free(&want);
    return held;
}

/* One number, or a range a..b, in the place of an integer. */
static bool match_int(struct matcher *matcher)
{
    int64_t low, high;
    char *end = NULL;
    const char *behind = read_time(matcher->answer, &low);
    if (behind == NULL) {
        low = strtoll(matcher->answer, &end, 10);
        behind = end;
    }
    high = low;
    if (strncmp(behind, "..", 2) == 0) {
        high = strtoll(behind + 2, &end, 10);
        high += *matcher->answer == '$' ? low : 0;
        behind = end;
    }
    matcher->answer = behind;
    struct bytes reply = take_reply(matcher);
    if (reply.size < 4 || reply.data[0] != ':') {
        return false;
    }
    int64_t got = strtoll((const char *)reply.data + 1, NULL, 10);
    return got >= low && got <= high;
}

/* A status or error: the whole rest of the line, or a word inside an array. */
static bool match_line(struct matcher *matcher, bool is_inside)
{
    size_t size = is_inside ? strcspn(matcher->answer, " ]}") : strlen(matcher->answer);
    const char *want = matcher->answer;
    matcher->answer += size;
    struct bytes reply = take_reply(matcher);
    if (reply.size < 2) {
        return false;
    }
    if (size >= 3 && memcmp(want + size - 3, "...", 3) == 0) {
        return reply.size >= size - 3 && memcmp(reply.data, want, size - 3) == 0;
    }
    return bytes_equal(bytes_of(reply.data, reply.size - 2), bytes_of(want, size));
}

static bool match_one(struct matcher *matcher, bool is_inside);

static bool array_head(struct matcher *matcher, struct bytes *elements, long *count)
{
    struct bytes reply = take_reply(matcher);
    const uint8_t *lf = reply.size == 0 ? NULL : memchr(reply.data, '\n', reply.size);
    if (lf == NULL || reply.data[0] != '*' || reply.data[1] == '-') {
        return false;
    }
    size_t head = (size_t)(lf - reply.data) + 1;
    *count = strtol((const char *)reply.data + 1, NULL, 10);
    *elements = bytes_of(lf + 1, reply.size - head);
    return true;
}

static bool match_ordered(struct matcher *matcher)
{
    struct matcher inner = {matcher->answer + 1, {NULL, 0}};
    long count, seen = 0;
    if (!array_head(matcher, &inner.reply, &count)) {
        return false;
    }
    for (skip_blanks(&inner); *inner.answer != ']' && *inner.answer != '\0'; skip_blanks(&inner)) {
        if (!match_one(&inner, true)) {
            return false;
        }
        seen++;
    }
    matcher->answer = inner.answer + (*inner.answer == ']');
    return seen == count;
}

/* Each answer takes the first element not yet taken that it fits. */
static bool match_unordered(struct matcher *matcher)
{
    struct matcher inner = {matcher->answer + 1, {NULL, 0}};
    struct bytes elements;
    long count, seen = 0;
    if (!array_head(matcher, &elements, &count)) {
        return false;
    }
    bool *taken = calloc((size_t)count + 1, sizeof *taken);
    bool held = taken != NULL;
    for (skip_blanks(&inner); held && *inner.answer != '}' && *inner.answer != '\0';
         skip_blanks(&inner)) {
        const char *answer = inner.answer;
        inner.reply = elements;
        held = false;
        for (long i = 0; i < count && !held; i++) {
            struct matcher attempt = {answer, take_reply(&inner)};
            held = !taken[i] && match_one(&attempt, true);
            taken[i] = taken[i] || held;
            inner.answer = attempt.answer;
        }
        seen++;
    }
    free(taken);
    matcher->answer = inner.answer + (*inner.answer == '}');
    return held && seen == count;
}

static bool match_text(struct matcher *matcher, const char *word, const char *reply)
{
    matcher->answer += strlen(word);
    return bytes_equal(take_reply(matcher), bytes_of(reply, strlen(reply)));
}

static bool begins_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    return strncmp(text, word, size) == 0 && strchr(" ]}", text[size]) != NULL;
}

static bool match_one(struct matcher *matcher, bool is_inside)
{
    skip_blanks(matcher);
    const char *p = matcher->answer;
    if (begins_word(p, "...")) {
        matcher->answer += 3;
        return take_reply(matcher).size > 0;
    }
    if (begins_word(p, "nil")) {
        return match_text(matcher, "nil", "$-1\r\n");
    }
    if (begins_word(p, "nil-array")) {
        return match_text(matcher, "nil-array", "*-1\r\n");
    }
    switch (*p) {
    case '+':
    case '-':
        return match_line(matcher, is_inside);
    case ':':
        matcher->answer++;
        return match_int(matcher);
    case '[':
        return match_ordered(matcher);
    case '{':
        return match_unordered(matcher);
    default:
        return match_bulk(matcher);
    }
}

static bool answer_matches(const char *answer, struct bytes reply)
{
    struct matcher matcher = {answer, reply};
    bool held = match_one(&matcher, false);
    skip_blanks(&matcher);
    return held && *matcher.answer == '\0' && matcher.reply.size == 0;
}

/* ---- Running ---- */

struct run {
    const char *path;
    const struct transcript_target *target;
    unsigned line;
    bool has_reply; /* a reply waits for its answer */
    char *command;
    struct transcript_buffer reply;
    size_t count;
};

static void run_command(struct run *run, const char *text)
{
    static struct transcript_buffer words[WORDS_MAX];
    static struct bytes argv[WORDS_MAX];
    size_t argc = 0;
    for (const char *p = text; *p != '\0' && argc < WORDS_MAX;) {
        if (*p == ' ') {
            p++;
            continue;
        }
        words[argc] = (struct transcript_buffer){NULL, 0, 0};
        transcript_append(&words[argc], "", 0);
        p = *p == '"' ? read_quoted(p + 1, &words[argc]) : read_bare(p, " ", &words[argc]);
        argv[argc] = bytes_of(words[argc].data, words[argc].size);
        argc++;
    }
    run->reply.size = 0;
    run->has_reply = run->target->run(run->target->self, argc, argv, &run->reply);
    run->count++;
    if (!CHECK(run->has_reply)) {
        printf("    %s:%u: %s gave no reply: %s\n", run->path, run->line, run->target->name, text);
    }
    for (size_t i = 0; i < argc; i++) {
        transcript_free(&words[i]);
    }
}

static void check_answer(struct run *run, const char *answer)
{
    struct bytes reply = bytes_of(run->reply.data, run->reply.size);
    run->has_reply = false;
    if (!CHECK(answer_matches(answer, reply))) {
        struct transcript_buffer shown = {NULL, 0, 0};
        transcript_show(reply, &shown);
        printf("    %s:%u: %s\n      %s says %s\n      the transcript  %s\n", run->path, run->line,
               run->command, run->target->name, (const char *)shown.data, answer);
        transcript_free(&shown);
    }
}

/* Takes `>name ` off; false when the line is for another target. */
static bool for_target(const struct run *run, const char **text)
{
    if (**text == ' ') {
        *text += 1;
        return true;
    }
    size_t size = strcspn(*text, " ");
    bool is_ours =
        strlen(run->target->name) == size && strncmp(*text, run->target->name, size) == 0;
    *text += size;
    *text += **text == ' ';
    return is_ours;
}

static void run_line(struct run *run, char *line, bool *is_skipped)
{
    const char *text = line + 1;
    if (line[0] == '>') {
        *is_skipped = !for_target(run, &text);
        if (!*is_skipped) {
            free(run->command);
            run->command = strdup(text);
            run_command(run, text);
        }
    } else if (line[0] == '<' && !*is_skipped) {
        if (CHECK(run->has_reply)) {
            check_answer(run, text + (*text == ' '));
        }
    } else if (line[0] == '~') {
        long ms = strtol(text, NULL, 10);
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    } else if (!CHECK(line[0] == '#' || line[0] == '\0' || line[0] == '<')) {
        printf("    %s:%u: what is this line?\n", run->path, run->line);
    }
}

size_t transcript_run(const char *path, const struct transcript_target *target)
{
    struct run run = {.path = path, .target = target};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    bool is_skipped = false;
    if (!CHECK(file != NULL)) {
        printf("    cannot read %s\n", path);
        return 0;
    }
    while (getline(&line, &capacity, file) >= 0) {
        run.line++;
        line[strcspn(line, "\n")] = '\0';
        run_line(&run, line, &is_skipped);
    }
    free(line);
    free(run.command);
    transcript_free(&run.reply);
    fclose(file);
    return run.count;
}
