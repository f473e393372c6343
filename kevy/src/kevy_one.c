/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy in one file: the whole engine as a single translation unit, for apps
 * that build it into themselves, and its table of contents. The order is the
 * order of the layers: each room includes only what stands before it.
 *
 * Compile with -I pointing at this repository's root and at kevy/include. It
 * is for apps with a single door: doors that share a store in one process link
 * one shared libkevy.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "kevy/src/os/os_clock.c"
#include "kevy/src/os/os_epoch.c"
#include "kevy/src/os/os_fork.c"
#include "kevy/src/os/os_park.c"
#include "kevy/src/os/os_posix.c"
#include "kevy/src/os/os_thread.c"

#include "kevy/src/mem/grave.c"
#include "kevy/src/mem/mem.c"
#include "kevy/src/mem/buffers.c"

#include "kevy/src/text/glob.c"
#include "kevy/src/text/number.c"
#include "kevy/src/text/packed.c"
#include "kevy/src/text/reply.c"
#include "kevy/src/text/request.c"

#include "kevy/src/store/check.c"
#include "kevy/src/store/mark.c"
#include "kevy/src/store/namespaces.c"
#include "kevy/src/store/record.c"
#include "kevy/src/store/segment.c"
#include "kevy/src/store/segment_read.c"
#include "kevy/src/store/space.c"
#include "kevy/src/store/view.c"

#include "kevy/src/keyspace/blocks.c"
#include "kevy/src/keyspace/deadlines.c"
#include "kevy/src/keyspace/heat.c"
#include "kevy/src/keyspace/keyspace.c"
#include "kevy/src/keyspace/keyspace_drop.c"
#include "kevy/src/keyspace/keyspace_evict.c"
#include "kevy/src/keyspace/keyspace_map.c"
#include "kevy/src/keyspace/keyspace_reclaim.c"
#include "kevy/src/keyspace/keyspace_walk.c"
#include "kevy/src/keyspace/keyspace_write.c"
#include "kevy/src/keyspace/table.c"
#include "kevy/src/keyspace/table_walk.c"

#include "kevy/src/log/log_adopt.c"
#include "kevy/src/log/log_append.c"
#include "kevy/src/log/log_collect.c"
#include "kevy/src/log/log_compact.c"
#include "kevy/src/log/log_damage.c"
#include "kevy/src/log/log_destroy.c"
#include "kevy/src/log/log_extent.c"
#include "kevy/src/log/log_file.c"
#include "kevy/src/log/log_flush.c"
#include "kevy/src/log/log_live.c"
#include "kevy/src/log/log_mark.c"
#include "kevy/src/log/log_memory.c"
#include "kevy/src/log/log_open.c"
#include "kevy/src/log/log_recover.c"
#include "kevy/src/log/log_remove.c"
#include "kevy/src/log/log_replay.c"
#include "kevy/src/log/log_reserve.c"
#include "kevy/src/log/log_segment.c"
#include "kevy/src/log/log_start.c"
#include "kevy/src/log/log_sweep.c"
#include "kevy/src/log/log_tail.c"
#include "kevy/src/log/log_thread.c"
#include "kevy/src/log/log_view.c"
#include "kevy/src/log/log_window.c"

#include "kevy/src/bus/bus.c"
#include "kevy/src/bus/bus_frame.c"
#include "kevy/src/bus/bus_hold.c"
#include "kevy/src/bus/bus_names.c"
#include "kevy/src/bus/bus_pool.c"
#include "kevy/src/bus/bus_publish.c"
#include "kevy/src/bus/bus_queue.c"
#include "kevy/src/bus/bus_sub.c"
#include "kevy/src/bus/bus_take.c"
#include "kevy/src/bus/bus_topic.c"
#include "kevy/src/bus/bus_verify.c"

#include "kevy/src/command/cmd_args.c"
#include "kevy/src/command/cmd_bitfield.c"
#include "kevy/src/command/cmd_bits.c"
#include "kevy/src/command/cmd_bytes.c"
#include "kevy/src/command/cmd_command.c"
#include "kevy/src/command/cmd_config.c"
#include "kevy/src/command/cmd_connection.c"
#include "kevy/src/command/cmd_database.c"
#include "kevy/src/command/cmd_expire.c"
#include "kevy/src/command/cmd_info.c"
#include "kevy/src/command/cmd_keys.c"
#include "kevy/src/command/cmd_lcs.c"
#include "kevy/src/command/cmd_number.c"
#include "kevy/src/command/cmd_object.c"
#include "kevy/src/command/cmd_pubsub.c"
#include "kevy/src/command/cmd_scan.c"
#include "kevy/src/command/cmd_server.c"
#include "kevy/src/command/cmd_string.c"
#include "kevy/src/command/command.c"

#include "kevy/src/engine/api_cmd.c"
#include "kevy/src/engine/api_many.c"
#include "kevy/src/engine/api_open.c"
#include "kevy/src/engine/api_sub.c"
#include "kevy/src/engine/api_value.c"
#include "kevy/src/engine/engine.c"
#include "kevy/src/engine/error.c"
#include "kevy/src/engine/gate.c"
#include "kevy/src/engine/host.c"
#include "kevy/src/engine/listen.c"
#include "kevy/src/engine/listen_clock.c"
#include "kevy/src/engine/registry.c"
#include "kevy/src/engine/room.c"
#include "kevy/src/engine/stats.c"
#include "kevy/src/engine/write.c"
