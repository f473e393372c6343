/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Loading and teardown. Node calls the initialiser once for each environment
 * (main thread, worker); nothing here is global, so environments share only
 * what the engine shares: stores in the same directory.
 *
 * Teardown: node_hop.c's hook ends the lanes, then the hook here closes
 * the handles. The kn_store structs go when Node finalises their objects,
 * before or after; the door is freed with the last of them.
 */
#include "node_door.h"

#include <string.h>

void kn_door_drop(kn_door *door)
{
    if (--door->refs == 0) {
        free(door->stores);
        free(door);
    }
}

static void door_cleanup(void *data)
{
    kn_door *door = data;
    for (uint32_t i = 0; i < door->store_count; i++) {
        if (door->stores[i] != NULL) {
            kn_store_close(door->stores[i]);
        }
    }
    kn_door_drop(door);
}

/* (checkUsable, makeBuffer, a SharedArrayBuffer): see kn_door */
napi_value kn_js_setup(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    size_t argc = 3, size;
    void *data;
    kn_door *door = kn_arguments(env, info, &argc, argv);
    door->takes_shared = napi_get_arraybuffer_info(env, argv[2], &data, &size) == napi_ok;
    napi_status status = napi_create_reference(env, argv[0], 1, &door->check_usable);
    if (status == napi_ok) {
        status = napi_create_reference(env, argv[1], 1, &door->make_buffer);
    }
    if (status != napi_ok) {
        (void)kn_fail_napi(env, status, "setting up the door");
    }
    return NULL;
}

static napi_status number_export(napi_env env, napi_value exports, const char *name,
                                 uint32_t number)
{
    napi_value value;
    napi_status status = napi_create_uint32(env, number, &value);
    return status == napi_ok ? napi_set_named_property(env, exports, name, value) : status;
}

static napi_status functions_export(napi_env env, napi_value exports, kn_door *door)
{
#define FUNCTION_PROPERTY(name)                                                                    \
    {#name, NULL, kn_js_##name, NULL, NULL, NULL, napi_enumerable, door},
    const napi_property_descriptor functions[] = {KN_FUNCTION_LIST(FUNCTION_PROPERTY)};
#undef FUNCTION_PROPERTY
    size_t count = sizeof functions / sizeof functions[0];
    return napi_define_properties(env, exports, count, functions);
}

static napi_status version_export(napi_env env, napi_value exports)
{
    napi_value version;
    napi_status status = napi_create_string_utf8(env, kevy_version(), NAPI_AUTO_LENGTH, &version);
    if (status == napi_ok) {
        status = napi_set_named_property(env, exports, "version", version);
    }
    if (status == napi_ok) {
        status = number_export(env, exports, "abi", kevy_abi());
    }
    if (status == napi_ok) {
        status = number_export(env, exports, "abiBuilt", KEVY_ABI);
    }
    return status == napi_ok ? number_export(env, exports, "interface", KN_INTERFACE) : status;
}

NAPI_MODULE_INIT()
{
    kn_door *door = calloc(1, sizeof *door);
    if (door == NULL) {
        (void)kn_fail_memory(env);
        return NULL;
    }
    door->env = env;
    door->refs = 1;
    napi_status status = napi_add_env_cleanup_hook(env, door_cleanup, door);
    if (status != napi_ok) {
        free(door);
    } else {
        status = functions_export(env, exports, door);
    }
    if (status == napi_ok) {
        status = version_export(env, exports);
    }
    if (status != napi_ok) {
        (void)kn_fail_napi(env, status, "loading kevy");
    }
    return exports;
}
