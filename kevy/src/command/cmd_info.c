/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * INFO: what the engine knows of itself, in Redis's form: sections of lines
 * `name:value`. Only sections and fields that mean something here; the names
 * are Redis's where the meaning is.
 */
#include "kevy.h"
#include "kevy/src/command/cmd_args.h"
#include "kevy/src/command/cmd_run.h"
#include "kevy/src/text/number.h"

/* redis_version says which Redis the commands behave as. */
#define REDIS_VERSION "7.0.15"

struct info {
    struct kv_reply text; /* used as a growing text */
    const struct kv_keyspace *keyspace;
    struct kv_facts facts;
};

static void put_text(struct info *info, const char *text)
{
    kv_reply_raw(&info->text, bytes_of(text, strlen(text)));
}

static void put_number(struct info *info, uint64_t number)
{
    uint8_t text[KV_INT_TEXT];
    kv_reply_raw(&info->text, bytes_of(text, kv_number_format_uint(number, text)));
}

static void line_text(struct info *info, const char *name, const char *value)
{
    put_text(info, name);
    put_text(info, ":");
    put_text(info, value);
    put_text(info, "\r\n");
}

static void line_number(struct info *info, const char *name, uint64_t value)
{
    put_text(info, name);
    put_text(info, ":");
    put_number(info, value);
    put_text(info, "\r\n");
}

static void section_server(struct info *info)
{
    uint64_t now = kv_keyspace_now(info->keyspace), opened = info->facts.opened_ms;
    line_text(info, "redis_version", REDIS_VERSION);
    line_text(info, "kevy_version", info->facts.version);
    line_text(info, "redis_mode", "embedded");
    line_number(info, "arch_bits", sizeof(void *) * 8);
    line_number(info, "uptime_in_seconds", now > opened ? (now - opened) / 1000 : 0);
}

static void section_memory(struct info *info)
{
    const KevyStats *stats = &info->facts.stats;
    line_number(info, "used_memory", stats->memory_used);
    line_number(info, "used_memory_dataset", stats->memory_records);
    line_number(info, "used_memory_overhead", stats->memory_used - stats->memory_records);
    line_number(info, "kevy_memory_table", stats->memory_table);
    line_number(info, "kevy_memory_bus", stats->memory_bus);
    line_number(info, "kevy_memory_dead", stats->memory_dead);
    line_number(info, "maxmemory", stats->memory_max);
    line_text(info, "maxmemory_policy", kv_evict_names[info->facts.policy % KV_EVICT_COUNT]);
}

static void section_persistence(struct info *info)
{
    static const char *const policies[] = {"everysec", "always", "no"};
    bool has_files = info->facts.dir.size > 0;
    line_number(info, "loading", 0);
    line_number(info, "aof_enabled", has_files);
    if (has_files) {
        line_text(info, "aof_last_write_status", info->facts.stats.log_error == 0 ? "ok" : "err");
        line_text(info, "kevy_fsync", policies[info->facts.fsync % 3]);
    }
    line_number(info, "aof_current_size", info->facts.stats.log_size);
    line_number(info, "kevy_live_size", info->facts.stats.memory_records);
    line_number(info, "kevy_flushes", info->facts.stats.log_flushes);
}

static void section_stats(struct info *info)
{
    line_number(info, "expired_keys", info->facts.stats.expired_keys);
    line_number(info, "evicted_keys", info->facts.stats.evicted_keys);
    line_number(info, "kevy_changes", info->keyspace->changes);
    line_number(info, "kevy_deliveries", info->facts.stats.bus_deliveries);
    line_number(info, "kevy_deliveries_dropped", info->facts.stats.bus_dropped);
}

static void section_keyspace(struct info *info)
{
    for (uint32_t db = 0; db < KV_DATABASE_COUNT; db++) {
        uint64_t keys = kv_keyspace_count(info->keyspace, db);
        if (keys == 0) {
            continue;
        }
        put_text(info, "db");
        put_number(info, db);
        put_text(info, ":keys=");
        put_number(info, keys);
        put_text(info, ",expires=");
        put_number(info, kv_keyspace_expiring(info->keyspace, db));
        put_text(info, ",avg_ttl=0\r\n");
    }
}

static const struct info_section {
    const char *name;
    const char *title;
    void (*write)(struct info *info);
} sections[] = {{"server", "# Server\r\n", section_server},
                {"memory", "# Memory\r\n", section_memory},
                {"persistence", "# Persistence\r\n", section_persistence},
                {"stats", "# Stats\r\n", section_stats},
                {"keyspace", "# Keyspace\r\n", section_keyspace}};

static bool is_wanted(const struct kv_call *call, const struct info_section *section)
{
    for (size_t i = 1; i < call->argc; i++) {
        struct bytes arg = call->argv[i];
        if (kv_arg_is(arg, section->name) || kv_arg_is(arg, "all") || kv_arg_is(arg, "default") ||
            kv_arg_is(arg, "everything")) {
            return true;
        }
    }
    return call->argc == 1;
}

void kv_run_info(struct kv_call *call)
{
    struct info info = {.keyspace = call->keyspace};
    kv_reply_init(&info.text, call->mem, 2);
    info.facts.version = "";
    if (call->host->facts != NULL) {
        call->host->facts(call->host->self, true, &info.facts);
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (is_wanted(call, &sections[i])) {
            put_text(&info, info.text.size == 0 ? "" : "\r\n");
            put_text(&info, sections[i].title);
            sections[i].write(&info);
        }
    }
    kv_reply_bulk(call->reply, bytes_of(info.text.data, info.text.size));
    call->reply->failed |= info.text.failed;
    kv_reply_done(&info.text);
}
